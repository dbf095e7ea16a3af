"""The player of Ocnaru's thesis (Bucharest, 2025): seven small networks, and a scripted parent for everything else.

Each network values the answers to one kind of decision from the 100 features of `ocnaru100`, by layers of 128, 64 and 32 units with
ReLU. What an output stands for, when a network is asked and how it chooses is the table `NETWORKS`. Trades and debts are always the
parent's, and so is a table of more than two players, which the features do not know.

The whole player is compiled, so that games with it run at the speed of scripted ones. `python -m training.dqn --preset ocnaru`
trains it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.neural import features_digest
from agents.players.strategic import POLICIES
from agents.players.strategic.money import streets_at
from agents.players.strategic.parameters import AT, NUM_PARAMETERS
from agents.players.strategic.play import play as play_strategic
from agents.players.strategic.values import SLOT, danger
from agents.players.vocabulary.reading import NO_LOT, legal
from monopoly_env import encoding as encodings
from monopoly_env.actions import (
    A_BUILD,
    A_BUY,
    A_JAIL,
    A_MORTGAGE,
    A_SELL,
    A_TURN,
    A_UNMORTGAGE,
    H_BUILD,
    H_MORTGAGE,
    H_SELL,
    H_TURN,
    H_UNMORTGAGE,
    HEAD_OF,
)
from monopoly_env.board import GROUP_OF, LOT_SQUARE, NUM_LOTS, NUM_STREETS
from monopoly_env.encoding import ocnaru
from monopoly_env.engine import agenda
from monopoly_env.engine.building import highest_level, lowest_level
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.engine.sets import has, lowest
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.game import Game
from monopoly_env.kernels import array_kernel, kernel
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Mask, Row, array_differences, policy_kernel

ENCODING: Final = "ocnaru100"
HIDDEN: Final = (128, 64, 32)
KIND: Final = "ocnaru/networks"


@dataclass(frozen=True)
class Network:
    """What one of the networks decides.

    Attributes:
        size: Outputs.
        outputs: What output i stands for.
        head: Our head of actions that it plays.
        asked: When it is asked.
        rule: How it chooses by the values of the legal outputs.
        gated: Whether it acts by default only where the parent would act with that head.
    """

    size: int
    outputs: str
    head: str
    asked: str
    rule: str
    gated: bool = False


_ONCE: Final = "once in a window of the turn, in the parent's order of phases"
_STAYING: Final = "after a failed throw in jail, unless leaving is forced"

# In the order in which the thesis trains them: jail last.
NETWORKS: Final[dict[str, Network]] = {
    "buy": Network(2, "0 decline, 1 buy", "buy", "a lot for sale that the cash in hand pays for", "the higher value"),
    "upgrade": Network(
        8, "the colour group", "build", _ONCE + ", last",
        "the legal group of the highest value goes up one level; no abstention and no reserve, as in the published program",
    ),
    "downgrade": Network(8, "the colour group", "sell", _ONCE, "the legal group of the highest value goes down one level", gated=True),
    "mortgage": Network(
        40, "the square of the lot", "mortgage", _ONCE, "lots above the mean value of the legal ones, the best 3; of a single one, none",
        gated=True,
    ),
    "unmortgage": Network(40, "the square of the lot", "unmortgage", _ONCE, "the same, the best 2", gated=True),
    "fine": Network(2, "0 stay, 1 pay", "jail, action 0, and turn", _STAYING + ", if no card is used", "the higher value"),
    "card": Network(2, "0 keep, 1 use", "jail, action 1", _STAYING, "the higher value"),
}  # fmt: skip
NAMES: Final = tuple(NETWORKS)
BUY, UPGRADE, DOWNGRADE, MORTGAGE, UNMORTGAGE, FINE, CARD = range(len(NETWORKS))
GATED: Final = tuple(name for name, network in NETWORKS.items() if network.gated)
MAX_OUTPUTS: Final = max(network.size for network in NETWORKS.values())

# Of the heads in a window, in the order of the parent's phases: our head of actions, its first action, its length, most picks.
_PHASES: Final = np.array([DOWNGRADE, MORTGAGE, UNMORTGAGE, UPGRADE])
_FIRST: Final = np.array([0, A_BUILD, A_SELL, A_MORTGAGE, A_UNMORTGAGE, 0, 0])
_COUNT: Final = np.array([0, NUM_STREETS, NUM_STREETS, NUM_LOTS, NUM_LOTS, 0, 0])
_MOST: Final = np.array([1, 1, 1, 3, 2, 1, 1])
_SIZE: Final = np.array([network.size for network in NETWORKS.values()])


def shapes(name: str) -> dict[str, tuple[int, ...]]:
    """The arrays of a network: names and shapes, weights as (out, in)."""
    sizes = (ocnaru.SIZE, *HIDDEN, NETWORKS[name].size)
    arrays: dict[str, tuple[int, ...]] = {}
    for layer, (before, after) in enumerate(itertools.pairwise(sizes)):
        arrays |= {f"{name}.{layer}.weight": (after, before), f"{name}.{layer}.bias": (after,)}
    return arrays


# The row that the kernel reads: the parent's parameters, which networks play, which of them are gated, then each network's layers,
# a bias and its weights (in, out) for each.
_PLAYS: Final = NUM_PARAMETERS
_GATES: Final = _PLAYS + len(NETWORKS)
_LENGTHS: Final = np.array([sum(int(np.prod(shape)) for shape in shapes(name).values()) for name in NETWORKS])
_STARTS: Final = _GATES + len(NETWORKS) + np.concatenate([[0], np.cumsum(_LENGTHS)])

# What the player remembers beside what the parent does.
(
    WATCHED,  # the number of the network whose decisions are noted below, and 1; 0: none
    EPSILON,  # the share of its decisions that are left to chance
    NOTED,  # 1: it has decided
    CHOICE, OPEN,  # the output that it chose, and those that were open, a bit each
    PARENTS,  # the action that the parent would have taken; NO_LOT if that was noted with an earlier pick
    _STAMP,  # the window under way
    _DONE,  # the networks that have acted in it, a bit each
    _PARENT_DONE,  # whether the parent has closed it
    _NETWORK, _LEFT,  # who picked the lots that are still to be acted on
) = range(SLOT.end, SLOT.end + 11)  # fmt: skip
assert _LEFT < MEMORY - 3  # the last three are of `offers`

_DICE: Final = 1 << 20  # in how many parts chance is cut

_ask_parent: Final = kernel(play_strategic.function)


# --- networks -------------------------------------------------------------------------------------------------------------


@array_kernel
def _layer(params: Row, at: int, signal: Any, rectified: bool, out: Row) -> int:
    """A layer whose numbers begin at `at`; returns where they end. Most of what comes in is 0 and skipped."""
    count = len(out)
    out[:] = params[at : at + count]
    at += count
    for i in range(len(signal)):
        value = float(signal[i])
        if value > 0.0 or (value < 0.0 and not rectified):
            weights = params[at : at + count]
            for k in range(count):
                out[k] += value * weights[k]
        at += count
    return at


@array_kernel
def _forward(params: Row, at: int, seen: Any, values: Row) -> None:
    first, second, third = np.empty(HIDDEN[0]), np.empty(HIDDEN[1]), np.empty(HIDDEN[2])
    at = _layer(params, at, seen, False, first)
    at = _layer(params, at, first, True, second)
    at = _layer(params, at, second, True, third)
    _layer(params, at, third, True, values)


@kernel
def _plays(params: Row, network: int) -> bool:
    return params[_PLAYS + network] != 0


@kernel
def _value(game: Game, seat: int, network: int, params: Row, memory: Row, values: Row) -> None:
    """Values of all outputs; where chance decides, random ones."""
    if memory[WATCHED] == network + 1 and policy_draw(game, seat, _DICE) < memory[EPSILON] * _DICE:
        for output in range(len(values)):
            values[output] = policy_draw(game, seat, _DICE)
        return
    seen = np.empty(ocnaru.SIZE, np.float32)
    ocnaru.write(game, seat, seen)
    _forward(params, int(_STARTS[network]), seen, values)


@kernel
def _note(network: int, choice: int, open_: int, by_parent: int, memory: Row) -> None:
    if memory[WATCHED] == network + 1:
        memory[NOTED] = 1
        memory[CHOICE] = choice
        memory[OPEN] = open_
        memory[PARENTS] = by_parent


@kernel
def _yes(game: Game, seat: int, network: int, by_parent: int, params: Row, memory: Row) -> bool:
    """The answer of a network with two outputs."""
    values = np.empty(2)
    _value(game, seat, network, params, memory, values)
    answer = values[1] > values[0]
    _note(network, 1 if answer else 0, 3, by_parent, memory)
    return answer


# --- the window of a turn -------------------------------------------------------------------------------------------------


@kernel
def _output_of(game: Game, network: int, lot: int) -> int:
    """The output that stands for a lot: of its group, or of its square."""
    return int(GROUP_OF[lot]) if network == UPGRADE or network == DOWNGRADE else int(LOT_SQUARE[game.rules.board, lot])


@kernel
def _open_outputs(game: Game, network: int) -> int:
    """The outputs that some legal action stands behind, a bit each."""
    lots, outputs = legal(game, int(_FIRST[network]), int(_COUNT[network])), 0
    while lots:
        outputs |= 1 << _output_of(game, network, lowest(lots))
        lots &= lots - 1
    return outputs


@kernel
def _lots_of(game: Game, network: int, output: int) -> int:
    """The lots that an output acts on, a bit each: those of the group that stand lowest or highest, or the one on the square."""
    lots, open_ = 0, legal(game, int(_FIRST[network]), int(_COUNT[network]))
    if network == UPGRADE:
        lots = streets_at(game, output, lowest_level(game, output))
    elif network == DOWNGRADE:
        lots = streets_at(game, output, highest_level(game, output))
    else:
        for lot in range(NUM_LOTS):
            if _output_of(game, network, lot) == output:
                lots = 1 << lot
    return lots & open_


@kernel
def _pick(game: Game, seat: int, network: int, params: Row, memory: Row) -> int:
    """The lots that a network acts on in this window, a bit each; perhaps none."""
    values = np.empty(_SIZE[network])
    _value(game, seat, network, params, memory, values)
    open_ = _open_outputs(game, network)
    total, count = 0.0, 0
    for output in range(len(values)):
        if has(open_, output):
            total += values[output]
            count += 1
    picks = 0
    for _ in range(int(_MOST[network])):
        best = NO_LOT
        for output in range(len(values)):
            if has(open_, output) and (best == NO_LOT or values[output] > values[best]):
                best = output
        if best == NO_LOT or (_MOST[network] > 1 and values[best] <= total / count):
            break
        open_ &= ~(1 << best)
        picks |= _lots_of(game, network, best)
    return picks


@kernel
def _next_pick(game: Game, by_parent: int, memory: Row) -> int:
    """The next action of what a network has picked, or NO_LOT."""
    network = int(memory[_NETWORK])
    first = int(_FIRST[network])
    lots = int(memory[_LEFT]) & legal(game, first, int(_COUNT[network]))
    memory[_LEFT] = lots & (lots - 1)
    if lots == 0:
        return NO_LOT
    _note(network, _output_of(game, network, lowest(lots)), _open_outputs(game, network), by_parent, memory)
    return first + lowest(lots)


@kernel
def _phase_of(action: int) -> int:
    """Where an action of the parent stands in the order of `_PHASES`; before them -1, after them their number."""
    head = int(HEAD_OF[action])
    if head == H_SELL:
        return 0
    if head == H_MORTGAGE:
        return 1
    if head == H_UNMORTGAGE:
        return 2
    if head == H_BUILD:
        return 3
    return 4 if head == H_TURN else -1


@kernel
def _due(game: Game, by_parent: int, params: Row, memory: Row) -> int:
    """The network that acts before the parent's action or in its place, or NO_LOT."""
    now = _phase_of(by_parent)
    for phase in range(min(now + 1, len(_PHASES))):
        network = int(_PHASES[phase])
        if (
            _plays(params, network)
            and not has(int(memory[_DONE]), network)
            and (phase == now or params[_GATES + network] == 0)
            and legal(game, int(_FIRST[network]), int(_COUNT[network])) != 0
        ):
            return network
    return NO_LOT


@kernel
def _window(game: Game, mask: Mask, seat: int, params: Row, memory: Row) -> int:
    """Let the parent go through his phases; where he comes to one that a network plays, it acts in his place."""
    stamp = int(game.turns) * 1024 + (int(game.throws[game.turn]) & 255) * 4 + int(game.agenda[game.depth - 1, 2])
    if memory[_STAMP] != stamp:
        memory[_STAMP] = stamp
        memory[_DONE] = 0
        memory[_PARENT_DONE] = 0
        memory[_LEFT] = 0
    action = _next_pick(game, NO_LOT, memory)
    while action == NO_LOT:
        rescuing = memory[SLOT.mortgage_left] + memory[SLOT.sale_left] != 0  # the rest of a debt: the parent's
        action = A_TURN if memory[_PARENT_DONE] else _ask_parent(game, mask, params[:NUM_PARAMETERS], memory)
        if rescuing or game.jail[seat] == 1:  # the turn of who has just been sent to jail is over
            return action
        network = _due(game, action, params, memory)
        phase = _phase_of(action)
        if network == NO_LOT:
            if not (0 <= phase < len(_PHASES) and _plays(params, int(_PHASES[phase]))):
                return action
            memory[SLOT.todo] = 0  # a network has had this phase
            action = NO_LOT
            continue
        if phase == len(_PHASES):
            memory[_PARENT_DONE] = 1
        elif _PHASES[phase] == network:
            memory[SLOT.todo] = 0
        else:
            memory[SLOT.todo] = int(memory[SLOT.todo]) | 1 << (action - int(_FIRST[_PHASES[phase]]))  # comes again
        memory[_DONE] = int(memory[_DONE]) | 1 << network
        memory[_NETWORK] = network
        memory[_LEFT] = _pick(game, seat, network, params, memory)
        if network == UPGRADE:
            memory[_PARENT_DONE] = 1  # the last phase
        action = _next_pick(game, action, memory)
    return action


# --- all decisions --------------------------------------------------------------------------------------------------------


@kernel
def _jail(game: Game, seat: int, by_parent: int, params: Row, memory: Row) -> int:
    """A card first, then the fine."""
    if not legal(game, A_TURN, 1):
        return by_parent
    uses = by_parent == A_JAIL + 1
    if _plays(params, CARD) and legal(game, A_JAIL + 1, 1):
        uses = _yes(game, seat, CARD, by_parent, params, memory)
    if uses:
        return A_JAIL + 1
    if not legal(game, A_JAIL, 1):
        return A_TURN
    pays = by_parent == A_JAIL
    if by_parent == A_JAIL + 1:  # he was not asked about the fine: his rule for it
        pays = danger(game, seat, params) < params[AT.jail_stay_threshold] and game.cash[seat] >= 1.5 * params[AT.min_cash_reserve]
    if _plays(params, FINE):
        pays = _yes(game, seat, FINE, A_JAIL if pays else A_TURN, params, memory)
    return A_JAIL if pays else A_TURN


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Choose: by the network that is asked, else by the parent."""
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW and game.num_players == ocnaru.NUM_PLAYERS:
        return _window(game, mask, seat, params, memory)
    action = _ask_parent(game, mask, params[:NUM_PARAMETERS], memory)
    if game.num_players != ocnaru.NUM_PLAYERS:
        return action
    if decision == agenda.BUY and _plays(params, BUY) and legal(game, A_BUY + 1, 1):
        return A_BUY + 1 if _yes(game, seat, BUY, action, params, memory) else A_BUY
    if decision == agenda.JAIL:
        return _jail(game, seat, action, params, memory)
    return action


# --- the policy -----------------------------------------------------------------------------------------------------------


class OcnaruNetworks(CompiledPolicy):
    """The networks with their parent, as a compiled policy.

    Attributes:
        heads: The networks that play, in the order of `NETWORKS`.
        gated: Those of them that act only where the parent would act with that head.
        parent: Name of the policy that plays the rest.
    """

    def __init__(
        self,
        heads: Sequence[str] = NAMES,
        *,
        parent: str = "strategic",
        gated: Sequence[str] = GATED,
        rules: Mapping[str, Any] | None = None,
        features: str | None = None,
        name: str = "ocnaru/networks",
    ) -> None:
        """Networks of zeros; `set_arrays` fills them.

        Args:
            heads: The networks that play; the parent plays what the others would.
            parent: `strategic` or one of its presets.
            gated: Networks that act only where the parent would; of `buy`, `fine` and `card`, which are always asked, it says nothing.
            rules: The options in which the rules of training differ from the official ones; kept for the reader.
            features: The digest of the encoding's features that a saved file carries; it is compared with this version's.
            name: What tables call it.

        Raises:
            ConfigurationError: An unknown network, or a parent of another family.
            FormatError: The features are not those of this version.
        """
        for head in (*heads, *gated):
            if head not in NETWORKS:
                raise ConfigurationError(f"Unknown network {head!r}. {nearest(head, NAMES)}")
        if parent not in POLICIES:
            raise ConfigurationError(
                f"The parent of these networks is of the family strategic, not {parent!r}. {nearest(parent, POLICIES)}"
            )
        if features not in (None, _digest()):
            raise FormatError(f"it was trained on other features than this version's encoding {ENCODING!r}")
        self.heads = tuple(head for head in NAMES if head in heads)
        self.gated = tuple(head for head in NAMES if head in gated)
        self.parent = parent
        self.rules = dict(rules or {})
        self._numbers = {key: np.zeros(shape, np.float32) for head in self.heads for key, shape in shapes(head).items()}
        super().__init__(name, play, self._row(), kind=KIND, reads_mask=False)

    def _row(self) -> NDArray[np.float64]:
        row = np.zeros(int(_STARTS[-1]))
        row[:NUM_PARAMETERS] = POLICIES[self.parent]().params
        for number, head in enumerate(NAMES):
            row[_PLAYS + number] = head in self.heads
            row[_GATES + number] = head in self.gated
            if head in self.heads:
                row[_STARTS[number] : _STARTS[number + 1]] = flat(head, self._numbers)
        return row

    def options(self) -> dict[str, Any]:
        """What the networks are and what they were trained for."""
        return {
            "heads": list(self.heads),
            "parent": self.parent,
            "gated": list(self.gated),
            "rules": self.rules,
            "features": _digest(),
        }

    def encoding(self) -> str:
        """The encoding of the observations that the networks see."""
        return ENCODING

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and biases, `network.layer.weight` (out, in) and `network.layer.bias` (out,)."""
        return self._numbers

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over weights and biases.

        Raises:
            FormatError: Other names, shapes or types, or a number that is not finite.
        """
        differences = array_differences(self.arrays(), arrays)
        if differences:
            raise FormatError(f"Policy {self.name!r}: {differences}.")
        for key, array in arrays.items():
            if not np.isfinite(array).all():
                raise FormatError(f"Policy {self.name!r}: array {key!r} holds a number that is not finite.")
        self._numbers = {key: np.array(arrays[key], np.float32) for key in self._numbers}
        self.params = self._row()

    def part(self, heads: Sequence[str], name: str) -> OcnaruNetworks:
        """The same player with some of its networks only; the parent plays for the others.

        Raises:
            ConfigurationError: One of them is not there.
        """
        for head in heads:
            if head not in self.heads:
                raise ConfigurationError(f"Policy {self.name!r} has no network {head!r}. {nearest(head, self.heads)}")
        policy = OcnaruNetworks(heads, parent=self.parent, gated=self.gated, rules=self.rules, name=name)
        policy.set_arrays({key: self._numbers[key] for key in policy.arrays()})
        return policy


def flat(name: str, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """The numbers of a network in the order of the kernel's row."""
    parts = []
    for layer in range(len(HIDDEN) + 1):
        parts += [arrays[f"{name}.{layer}.bias"], np.asarray(arrays[f"{name}.{layer}.weight"]).T.ravel()]
    return np.concatenate(parts).astype(np.float64)


def _digest() -> str:
    return features_digest(encodings.make(ENCODING, ocnaru.NUM_PLAYERS))
