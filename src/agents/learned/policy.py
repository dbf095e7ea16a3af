"""The learned agent as a compiled policy: its networks as a row for the kernel of `play`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.learned.answers import MOST_PLAYERS, nothing
from agents.learned.choices import NUM_CHOICES, is_asked
from agents.learned.networks import NAMES, architectures
from agents.learned.observation import NAME, length, names
from agents.learned.options import forget, new_options
from agents.learned.play import look, play, write_probabilities
from agents.learned.prices import BARGAINERS_MARGINS, MARGINS, PREMIUMS
from agents.networks import layout
from agents.networks.saved import NetworksPolicy
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.core import check_sound
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.game import MIN_PLAYERS, Games
from monopoly_env.kernels import borrowed, entry
from monopoly_env.policy.protocol import Row

HIDDEN: Final = (128, 64)


class LearnedAgent(NetworksPolicy):
    """Networks, one for each kind of decision. They choose every action.

    Attributes:
        num_players: The size of the tables that it is for. At smaller ones it plays as if the
            others had gone.
        hidden: Units of the hidden layers of each network.
        temperature: 0: it plays the best choice; else it draws one by exp(score / temperature).
        learned_at: The temperature at which it drew its choices when it learned; None: not known.
    """

    fewest_players = MIN_PLAYERS

    def __init__(
        self,
        num_players: int = 2,
        hidden: Sequence[int] = HIDDEN,
        *,
        temperature: float = 0.0,
        learned_at: float | None = None,
        rules: Mapping[str, Any] | None = None,
        features: str | None = None,
        name: str = "networks",
    ) -> None:
        """Create networks of zeros; `set_arrays` fills them.

        Args:
            num_players: 2 to 4.
            hidden: Units of the hidden layers.
            temperature: See above.
            learned_at: See above.
            rules: The options in which the rules of training differ from the official ones; kept
                for the reader.
            features: The digest of features and choices in a saved file; it is compared with this
                version's.
            name: What tables call it.

        Raises:
            ConfigurationError: A number is out of range.
            FormatError: Features or choices are not those of this version.
        """
        if isinstance(num_players, bool) or num_players not in range(MIN_PLAYERS, MOST_PLAYERS + 1):
            raise ConfigurationError(
                f"num_players={num_players!r}: networks play at tables of {MIN_PLAYERS} to"
                f" {MOST_PLAYERS}."
            )
        if not temperature >= 0:
            raise ConfigurationError(f"temperature={temperature!r} must not be negative.")
        if learned_at is not None and not 0 < learned_at < math.inf:
            raise ConfigurationError(f"learned_at={learned_at!r} must be more than 0.")
        if features not in (None, _digest(num_players)):
            raise FormatError(
                f"it was trained on other features than this version's encoding {NAME!r} for"
                f" {num_players} players"
            )
        self.num_players: int = int(num_players)
        self.hidden = tuple(int(units) for units in hidden)
        self.temperature = float(temperature)
        self.learned_at = None if learned_at is None else float(learned_at)
        self._rules = dict(rules or {})
        self._architectures = architectures(self.num_players, self.hidden)
        super().__init__(name, play, layout.zeros(self._architectures), kind="networks")

    def _row(self) -> NDArray[np.float64]:
        # The network of states is for learners
        played = {name: self._architectures[name] for name in NAMES}
        weights = layout.pack_all(played, self._arrays).view(np.float64)
        return np.concatenate(
            [[self.num_players, self.temperature], layout.starts(played), weights]
        )

    def encoding(self) -> str:
        """What its networks see."""
        return NAME

    def options(self) -> dict[str, Any]:
        """What the networks are and what they were trained for."""
        return {
            "num_players": self.num_players,
            "hidden": list(self.hidden),
            "temperature": self.temperature,
            "learned_at": self.learned_at,
            "rules": self._rules,
            "features": _digest(self.num_players),
        }

    def probabilities(self, games: Games) -> NDArray[np.float64]:
        """The probability of each action if one were drawn: how sure the agent is.

        It is drawn as when the agent learned, or by exp(score) if that is not known.

        Args:
            games: (B,) records that wait for a decision.

        Returns:
            (B, NUM_ACTIONS); zeros where it only goes on with an offer.

        Raises:
            ConfigurationError: A table is too large for it.
            PositionError: No game can reach one of the records.
        """
        check_sound(games)
        for size in np.unique(games["num_players"]):
            self.check_table(int(size))
        chances = np.zeros((len(games), NUM_CHOICES))
        _write_probabilities(games, self.params, chances, length(self.num_players))
        if self.learned_at is not None:
            chances **= 1.0 / self.learned_at
            chances /= np.maximum(chances.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        return chances[:, :NUM_ACTIONS]

    def drawing(self, temperature: float, name: str | None = None) -> LearnedAgent:
        """A copy that draws its choices, or with temperature 0 plays the best."""
        learned_at, rules = self.learned_at, self._rules
        agent = LearnedAgent(
            self.num_players,
            self.hidden,
            temperature=temperature,
            learned_at=learned_at,
            rules=rules,
            name=name or self.name,
        )
        agent.set_arrays(self._arrays)
        return agent


@entry()
def _write_probabilities(
    games: Games, params: Row, chances: NDArray[np.float64], features: int
) -> None:
    params, chances, options = borrowed(params), borrowed(chances), new_options()
    open_, seen, outputs = (
        np.empty(NUM_CHOICES, np.bool_),
        np.empty(features, np.float32),
        np.empty(NUM_CHOICES, np.float32),
    )
    for row in range(len(games)):
        forget(options)  # each row is another game
        if is_asked(games[row]):
            count = look(games[row], options, nothing(), open_, seen)
            write_probabilities(games[row], params, count, open_, seen, outputs, chances[row])


def _digest(num_players: int) -> str:
    """A short hash of what the numbers stand for."""
    words = [
        *names(num_players),
        str(NUM_CHOICES),
        *map(str, PREMIUMS + MARGINS + BARGAINERS_MARGINS),
    ]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
