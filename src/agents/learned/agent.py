"""The learned agent: a compiled policy of networks, one for each kind of decision.

The network of the decision scores the open choices; the agent plays the best, or draws one. The
networks make all decisions, or some: then the base policy `expert/versatile` makes the others.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.learned.action_space import (
    NO_CHOICE,
    NUM_CHOICES,
    PACKAGE,
    PRICE,
    is_asked,
    only_open,
    write_open,
)
from agents.learned.answers import MOST_PLAYERS, note_answer, note_offer, nothing
from agents.learned.architectures import NAMES, NETWORK_OF, NONE, OUTPUT, architectures
from agents.learned.compact import NAME, length, names, write
from agents.learned.menus import NETWORK, OfferMenus, clear, new_menus, write_menus
from agents.learned.packages import ASKED, LENT
from agents.learned.prices import BARGAINER, BARGAINERS_MARGINS, EXPERT, MARGINS, PREMIUMS
from agents.networks import layout
from agents.networks.forward import forward
from agents.networks.layout import AT_LAYERS, SIZES
from agents.networks.policy import NetworkPolicy
from agents.players.expert import bargainer
from agents.players.vocabulary.offers import compose, plan
from monopoly_env.actions import DECISION_NAMES, NUM_ACTIONS
from monopoly_env.core import check_sound
from monopoly_env.engine import agenda
from monopoly_env.engine.legal import nth_legal
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.game import MIN_PLAYERS, Game, Games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.signatures import Array2
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

HIDDEN: Final = (128, 64)

# The row: the size of the table; the temperature (0: the best choice; else one drawn by
# exp(score / temperature)); the decisions of the networks as bits, or 0: all; the start of each
# network in float32 numbers and the end of the last; the networks.
PLAYERS: Final = 0
TEMPERATURE: Final = 1
DECIDES: Final = 2
STARTS: Final = 3
WEIGHTS: Final = STARTS + len(NAMES) + 1

BASE: Final = "expert/versatile"
_BASE_ROW: Final = bargainer.POLICIES[BASE]().params
# Decisions that networks may make beside the base policy. It makes those of turns and offers, as it
# remembers the answers; the networks then have no memory.
SEPARABLE: Final = (
    "buy", "bid", "sealed_bid", "place", "jail", "reply", "debt", "tax", "fine_or_chance",
    "takeover",
)  # fmt: skip
_LONGEST: Final = length(MOST_PLAYERS)
_DRAWS: Final = 1 << 30
ILLEGAL: Final = -1


@kernel
def is_own(game: Game, params: Row) -> bool:
    """Whether networks make the open decision, not the base policy."""
    own = int(params[DECIDES])
    return own == 0 or (own >> int(game.decision)) & 1 == 1


@kernel
def own_memory(params: Row, memory: Row) -> Row:
    """The memory of the networks: none beside a base policy, which uses the player's."""
    return memory if params[DECIDES] == 0 else nothing()


@kernel
def score(game: Game, params: Row, seen: Any, outputs: Any) -> int:
    """Compute all outputs of the network that answers the open decision.

    Args:
        game: A game that waits for a decision.
        params: The row.
        seen: (features,) float32, the observation.
        outputs: (NUM_CHOICES,) float32, receives the scores.

    Returns:
        The index of the network.
    """
    number = int(NETWORK_OF[game.decision])
    weights = params[WEIGHTS:].view(np.float32)
    row = weights[int(params[STARTS + number]) : int(params[STARTS + number + 1])]
    count = int(row[SIZES + int(row[AT_LAYERS])])
    forward(row, seen[: int(row[SIZES])], 0, outputs[:count])
    return number


@kernel
def look(game: Game, menus: OfferMenus, memory: Row, open_: Any, seen: Any) -> int:
    """Write the open choices and, if there are several, the observation.

    Returns the number of open choices. `memory` is the player's; the answer to its last offer is
    noted there.
    """
    seat, offering = int(game.player), agenda.ASK <= game.decision <= agenda.CASH
    note_answer(game, seat, memory)
    if offering:
        write_menus(game, seat, menus)
    count = write_open(game, menus, open_)
    if count > 1:
        if not offering:
            write_menus(game, seat, menus)
        write(game, seat, menus, memory, seen)
    elif not offering:
        clear(menus)
    return count


@kernel
def _best(game: Game, params: Row, open_: Any, seen: Any, outputs: Any) -> int:
    """Score the choices; returns the best open one, and closes those without an output."""
    number, table = score(game, params, seen, outputs), OUTPUT
    best, high = NO_CHOICE, -math.inf
    for choice in range(NUM_CHOICES):
        open_[choice] &= table[number, choice] != NONE
        if open_[choice] and outputs[table[number, choice]] > high:
            best, high = choice, float(outputs[table[number, choice]])
    return best


@kernel
def choose(game: Game, params: Row, count: int, open_: Any, seen: Any, outputs: Any) -> int:
    """The open choice with the highest score, or one drawn by the scores; NO_CHOICE without any.

    `count`, `open_` and `seen` are those of `look`.
    """
    if count < 2:
        return only_open(open_)
    best, heat = _best(game, params, open_, seen, outputs), params[TEMPERATURE]
    if heat <= 0.0 or best == NO_CHOICE:
        return best
    number, table = NETWORK_OF[game.decision], OUTPUT
    high = float(outputs[table[number, best]])
    total = 0.0
    for choice in range(NUM_CHOICES):
        if open_[choice]:
            total += math.exp((float(outputs[table[number, choice]]) - high) / heat)
    left = total * policy_draw(game, int(game.player), _DRAWS) / _DRAWS
    for choice in range(NUM_CHOICES):
        if open_[choice]:
            left -= math.exp((float(outputs[table[number, choice]]) - high) / heat)
            if left < 0.0:
                return choice
    return best


@kernel
def write_probabilities(
    game: Game, params: Row, count: int, open_: Any, seen: Any, outputs: Any, probabilities: Any
) -> None:
    """Write the probability of each choice at a temperature of 1, (NUM_CHOICES,).

    `count`, `open_` and `seen` are those of `look`.
    """
    probabilities[:] = open_
    if count < 2:
        return
    best = _best(game, params, open_, seen, outputs)
    number, table = NETWORK_OF[game.decision], OUTPUT
    high = float(outputs[table[number, best]])
    for choice in range(NUM_CHOICES):
        if open_[choice]:
            probabilities[choice] = math.exp(float(outputs[table[number, choice]]) - high)
    probabilities /= probabilities.sum()


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play the choice and the picks that follow from it; ILLEGAL at a table that is too large."""
    if game.num_players > params[PLAYERS]:
        return ILLEGAL
    if not is_own(game, params):
        return int(bargainer.play(game, _BASE_ROW, memory))
    if not is_asked(game):
        return compose(game, memory)
    menus = new_menus()
    open_ = np.empty(NUM_CHOICES, np.bool_)
    outputs = np.empty(NUM_CHOICES, np.float32)
    seen = np.empty(_LONGEST, np.float32)[: length(int(params[PLAYERS]))]
    count = look(game, menus, own_memory(params, memory), open_, seen)
    return first_action(game, choose(game, params, count, open_, seen, outputs), menus, memory)


@kernel
def first_action(game: Game, choice: int, menus: OfferMenus, memory: Row) -> int:
    """The first action of a choice; `compose` returns the picks that follow."""
    if 0 <= choice < PACKAGE:
        return choice
    if choice == NO_CHOICE and game.decision != agenda.ASK:  # a debtor who could only trade
        return nth_legal(game, 0)
    _plan(game, choice, menus, memory)
    return compose(game, memory)


@kernel
def _plan(game: Game, choice: int, menus: OfferMenus, memory: Row) -> None:
    """Plan the package or the price of an offer; without a choice, nothing."""
    ask, give, cash = int(game.offer_ask), int(game.offer_give), 0
    if choice >= PRICE:
        cash = int(menus.prices[choice - PRICE])
        note_offer(game, cash, menus.limits, memory)
    elif choice >= PACKAGE:
        package = menus.packages[int(game.offer_to), choice - PACKAGE]
        ask, give = int(package[ASKED]), int(package[LENT])
    plan(ask, give, cash, memory)


class LearnedAgent(NetworkPolicy):
    """A policy of networks, one for each kind of decision.

    Attributes:
        num_players: The largest table; at a smaller one it plays as if the others were out.
        hidden: Units of the hidden layers of each network.
        temperature: 0: it plays the best choice; else it draws one by exp(score / temperature).
        training_temperature: The temperature during training, if known.
        decisions: Decisions of the networks; empty: all. `BASE` makes the others.
    """

    fewest_players = MIN_PLAYERS

    def __init__(
        self,
        num_players: int = 2,
        hidden: Sequence[int] = HIDDEN,
        *,
        temperature: float = 0.0,
        training_temperature: float | None = None,
        decisions: Sequence[str] = (),
        rules: Mapping[str, Any] | None = None,
        features: str | None = None,
        name: str = "networks",
    ) -> None:
        """Create networks of zeros; `set_arrays` fills them.

        Args:
            num_players: 2 to 4.
            hidden: Units of the hidden layers.
            temperature: As above.
            training_temperature: As above.
            decisions: As above, from `SEPARABLE`.
            rules: Options of the training rules that are not official; only saved.
            features: The digest of features and choices in a saved file, checked against this
                version's.
            name: Its name in results and messages.

        Raises:
            ConfigurationError: A number is out of range.
            FormatError: Features or choices differ from this version's.
        """
        if isinstance(num_players, bool) or num_players not in range(MIN_PLAYERS, MOST_PLAYERS + 1):
            raise ConfigurationError(
                f"num_players={num_players!r}: networks play at tables of {MIN_PLAYERS} to"
                f" {MOST_PLAYERS}."
            )
        if not temperature >= 0:
            raise ConfigurationError(f"temperature={temperature!r} must not be negative.")
        if training_temperature is not None and not 0 < training_temperature < math.inf:
            raise ConfigurationError(
                f"training_temperature={training_temperature!r} must be more than 0."
            )
        for decision in decisions:
            if decision not in SEPARABLE:
                raise ConfigurationError(
                    f"Decision {decision!r} is not one that networks can make beside a base policy."
                    f" {nearest(decision, SEPARABLE)}"
                )
        if features not in (None, _digest(num_players)):
            raise FormatError(
                f"it was trained on other features than this version's encoding {NAME!r} for"
                f" {num_players} players, or features were computed by another `expert/bargaining`"
                " or value of states"
            )
        self.num_players: int = int(num_players)
        self.hidden = tuple(int(units) for units in hidden)
        self.temperature = float(temperature)
        self.training_temperature = (
            None if training_temperature is None else float(training_temperature)
        )
        self.decisions = tuple(decisions)
        self._rules = dict(rules or {})
        self._architectures = architectures(self.num_players, self.hidden)
        super().__init__(name, play, layout.zeros(self._architectures), kind="networks")

    def _row(self) -> NDArray[np.float64]:
        # Only learners use the value network
        played = {name: self._architectures[name] for name in NAMES}
        weights = layout.pack_all(played, self._arrays).view(np.float64)
        own = sum(1 << DECISION_NAMES.index(decision) for decision in self.decisions)
        return np.concatenate(
            [[self.num_players, self.temperature, own], layout.starts(played), weights]
        )

    def encoding(self) -> str:
        """The name of the encoding of its observations."""
        return NAME

    def options(self) -> dict[str, Any]:
        """The arguments of the constructor, as JSON values."""
        return {
            "num_players": self.num_players,
            "hidden": list(self.hidden),
            "temperature": self.temperature,
            "training_temperature": self.training_temperature,
            "decisions": list(self.decisions),
            "rules": self._rules,
            "features": _digest(self.num_players),
        }

    def probabilities(self, games: Games) -> NDArray[np.float64]:
        """Action probabilities at the training temperature, or at 1 if that is unknown.

        Args:
            games: (B,) records that wait for a decision.

        Returns:
            (B, NUM_ACTIONS); zeros where it completes an offer, or where no network decides.

        Raises:
            ConfigurationError: A table is too large for it.
            PositionError: A record is invalid.
        """
        games = check_sound(games)
        for size in np.unique(games["num_players"]):
            self.check_table(int(size))
        chances = np.zeros((len(games), NUM_CHOICES))
        _write_probabilities(games, self.params, chances, length(self.num_players))
        if self.training_temperature is not None:
            chances **= 1.0 / self.training_temperature
            chances /= np.maximum(chances.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return chances[:, :NUM_ACTIONS]


@entry
def _write_probabilities(
    games: Games, params: Row, chances: Array2[np.float64], features: int
) -> None:
    params, chances, menus = borrowed(params), borrowed(chances), new_menus()
    open_ = np.empty(NUM_CHOICES, np.bool_)
    seen = np.empty(features, np.float32)
    outputs = np.empty(NUM_CHOICES, np.float32)
    for row in range(len(games)):
        clear(menus)  # each row is another game
        if is_own(games[row], params) and is_asked(games[row]):
            count = look(games[row], menus, nothing(), open_, seen)
            write_probabilities(games[row], params, count, open_, seen, outputs, chances[row])


@cache
def _digest(num_players: int) -> str:
    """A short hash of the features, the prices and the parameters that they are computed from."""
    words = [*names(num_players), *map(str, PREMIUMS + MARGINS + BARGAINERS_MARGINS)]
    numbers = (EXPERT, BARGAINER, NETWORK)
    content = "\n".join(words).encode() + b"".join(part.tobytes() for part in numbers)
    return hashlib.sha256(content).hexdigest()[:16]
