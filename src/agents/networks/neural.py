"""A player of networks, one for each head: it plays the legal action of the highest value over all heads that are open.

The numbers come from training (`python -m training.dqn`); playing them needs no torch. A saved one says what it was trained
for: encoding, number of players, rules, heads. `agents.load` refuses a file whose encoding is another one than this version's.
"""

from __future__ import annotations

import hashlib
import itertools
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env import encoding as encodings
from monopoly_env.actions import A_REPLY, DECISION_NAMES, HEAD_NAMES, HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.engine.trade import COUNTER
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.kernels import entry
from monopoly_env.policy import names as catalogue
from monopoly_env.policy.protocol import BatchedPolicy, Decisions, Policy

OFFER_HEADS: Final = ("trade", "trade_ask", "trade_give", "trade_cash")  # making offers
RAISING_HEADS: Final = ("sell", "mortgage")
_DEBT: Final = DECISION_NAMES.index("debt")


@dataclass(frozen=True)
class Repertoire:
    """The actions among which the networks choose.

    Attributes:
        heads: The heads that have a network.
        raise_freely: Whether to sell and mortgage also where no debt is due.
    """

    heads: tuple[str, ...]
    raise_freely: bool = False

    def __post_init__(self) -> None:
        """Check the heads.

        Raises:
            ConfigurationError: None, an unknown one, or one twice; or offers of which only a part can be made.
        """
        for head in self.heads:
            if head not in HEADS:
                raise ConfigurationError(f"Unknown head {head!r}. {nearest(head, HEAD_NAMES)}")
        if not self.heads or len(set(self.heads)) != len(self.heads):
            raise ConfigurationError(f"Name each head that has a network once, not {', '.join(self.heads) or 'none'}.")
        if 0 < len(set(self.heads) & set(OFFER_HEADS)) < len(OFFER_HEADS):
            raise ConfigurationError(f"An offer is made by {', '.join(OFFER_HEADS)} together: learn all of them or none.")

    @cached_property
    def actions(self) -> NDArray[np.bool_]:
        """(205,) bool, the actions of these heads; without the making of offers, no counter-offer either."""
        mine = np.isin(HEAD_OF, [HEAD_NAMES.index(head) for head in self.heads])
        if "trade" not in self.heads:
            mine[A_REPLY + COUNTER] = False
        return mine

    def open(self, legal: NDArray[np.bool_], decision: NDArray[np.int16]) -> NDArray[np.bool_]:
        """The legal actions that are in the repertoire.

        Args:
            legal: (B, 205) bool.
            decision: (B,) what is asked, an index into `DECISION_NAMES`.

        Returns:
            (B, 205) bool; a row may be empty.
        """
        mine = legal & self.actions
        if not self.raise_freely:
            calm = decision != _DEBT
            for head in RAISING_HEADS:
                mine[calm, HEADS[head].slice] = False
        return mine

    def needs_parent(self) -> list[str]:
        """Heads that are missing for playing whole games alone; making offers is never needed."""
        return [head for head in HEAD_NAMES if head not in self.heads and head not in OFFER_HEADS]


def fall_back(legal: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(B,) the last legal action of each row: where nothing of the repertoire is open, it cancels what was begun."""
    return NUM_ACTIONS - 1 - legal[:, ::-1].argmax(1).astype(np.int64)


def share_out(
    repertoire: Repertoire, legal: NDArray[np.bool_], decision: NDArray[np.int16], by_parent: NDArray[np.int64] | None
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Say which decisions are the networks' and how the others are answered.

    With a parent, a decision is the networks' if the parent's own answer lies in one of their heads: they then choose among the
    open actions of their heads, and so act where the parent would have acted with that head. A network of `build` that is to
    decide also *whether* to build needs the head `turn` beside it.

    Args:
        repertoire: What the networks choose among.
        legal: (B, 205) bool.
        decision: (B,) what is asked.
        by_parent: (B,) the parent's answers; None: nobody stands behind the networks.

    Returns:
        (B, 205) bool, what the networks choose among, rows with fewer than two actions emptied; and (B,) int64, the answer
        where they have nothing to choose.
    """
    choices = repertoire.open(legal, decision)
    if by_parent is not None:
        choices[~repertoire.actions[by_parent]] = False
    count = choices.sum(1)
    answers = fall_back(legal) if by_parent is None else by_parent
    answers = np.where(count == 1, choices.argmax(1), answers).astype(np.int64)
    choices[count < 2] = False
    return choices, answers


class NetworkPolicy(BatchedPolicy):
    """Base of players whose networks choose among the actions of a repertoire, with or without a parent for the rest.

    A subclass says which arrays its networks have, and what they choose.

    Attributes:
        name: What tables and messages call it.
        repertoire: What the networks choose among.
        parent: Who plays what they do not; or None.
    """

    def __init__(
        self,
        heads: Sequence[str],
        hidden: Sequence[int],
        *,
        encoding: str = "standard",
        num_players: int = 2,
        raise_freely: bool = False,
        parent: str | None = None,
        rules: Mapping[str, Any] | None = None,
        features: str | None = None,
        name: str | None = None,
    ) -> None:
        """Networks of zeros; `set_arrays` fills them.

        Args:
            heads: The heads whose actions the networks choose among.
            hidden: Units of the hidden layers.
            encoding: What the networks see.
            num_players: At which tables they play.
            raise_freely: See `Repertoire`.
            parent: Name of the policy that plays the rest.
            rules: The options in which the rules of training differ from the official ones; kept for the reader.
            features: The digest of the encoding's features that a saved file carries; it is compared with this version's.
            name: What tables call it; by default its kind.

        Raises:
            ConfigurationError: An unknown head, encoding or parent; heads that can't play alone and no parent.
            FormatError: The features are not those of this version.
        """
        self.name = name or self.kind
        self.repertoire = Repertoire(tuple(heads), raise_freely)
        missing = self.repertoire.needs_parent()
        if parent is None and missing:
            raise ConfigurationError(f"{self._WITHOUT} {', '.join(missing)} a parent has to play these heads.")
        self._encoding = encodings.make(encoding, num_players)
        if features not in (None, features_digest(self._encoding)):
            raise FormatError(f"it was trained on other features than this version's encoding {encoding!r} for {num_players} players")
        self._num_players = num_players
        self._rules = dict(rules or {})
        self._hidden = tuple(hidden)
        self._parent_name = parent
        self.parent = _policy(parent)
        self._arrays = {name: np.zeros(shape, np.float32) for name, shape in self._shapes().items()}
        self._prepare()

    _WITHOUT = "Without networks for"  # how the error begins where heads are missing

    @abstractmethod
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The arrays of the networks: names and shapes."""

    @abstractmethod
    def _prepare(self) -> None:
        """Make ready what is computed from the arrays."""

    @abstractmethod
    def _choose(self, observation: NDArray[np.float32], choices: NDArray[np.bool_], key: NDArray[np.uint64]) -> NDArray[np.int64]:
        """(B,) actions for (B, D) observations and (B, 205) open actions; `key` (B,) is the chance of each decision."""

    def encoding(self) -> str:
        """The encoding of the observations that the networks see."""
        return self._encoding.name

    def options(self) -> dict[str, Any]:
        """What the networks are and what they were trained for."""
        return {
            "heads": list(self.repertoire.heads),
            "hidden": list(self._hidden),
            "encoding": self._encoding.name,
            "num_players": self._num_players,
            "raise_freely": self.repertoire.raise_freely,
            "parent": self._parent_name,
            "rules": self._rules,
            "features": features_digest(self._encoding),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights (out, in) and biases (out,), by the names of `_shapes`."""
        return self._arrays

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over weights and biases.

        Raises:
            FormatError: Other names, shapes or types, or a number that is not finite.
        """
        super().set_arrays(arrays)
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                raise FormatError(f"Policy {self.name!r}: array {name!r} holds a number that is not finite.")
        self._arrays = {name: np.array(arrays[name], np.float32) for name in self._arrays}
        self._prepare()

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """What the networks choose, or the parent.

        Raises:
            ConfigurationError: The table has another number of players.
        """
        seated = decisions.games["num_players"]
        if (seated != self._num_players).any():
            given = int(seated[seated != self._num_players][0])
            raise ConfigurationError(f"Policy {self.name!r} was trained for tables of {self._num_players}, not of {given}.")
        by_parent = None if self.parent is None else self.parent.act(decisions)
        choices, actions = share_out(self.repertoire, decisions.mask, decisions.decision, by_parent)
        mine = np.flatnonzero(choices.any(1))
        if len(mine):
            seen = decisions.observation(self._encoding.name) if len(mine) == len(actions) else self._observe(decisions, mine)
            actions[mine] = self._choose(seen, choices[mine], decisions.key[mine])
        return actions

    def _observe(self, decisions: Decisions, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return encodings.observe_all(decisions.games[rows], self._encoding.name)


Layers: TypeAlias = list[tuple[NDArray[np.float32], NDArray[np.float32]]]  # weights (in, out) and biases, from below


def transposed(arrays: Mapping[str, NDArray[np.float32]], prefix: str, count: int) -> Layers:
    """The layers `<prefix><number>.weight` and `.bias`, as `forward` reads them."""
    return [(np.ascontiguousarray(arrays[f"{prefix}{n}.weight"].T), arrays[f"{prefix}{n}.bias"]) for n in range(count)]


def forward(layers: Layers, signal: NDArray[np.float32]) -> NDArray[np.float32]:
    """What comes out of layers with ReLU between them: (B, out) for (B, in)."""
    for number, (weight, bias) in enumerate(layers):
        out = np.empty((len(signal), len(bias)), np.float32)
        _linear(np.ascontiguousarray(signal), weight, bias, number > 0, out)
        signal = out
    return signal


class NeuralPolicy(NetworkPolicy):
    """Networks of linear layers with ReLU between them, one a head, and the best of the open actions."""

    @property
    def kind(self) -> str:
        """`neural`."""
        return "neural"

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """`head.layer.weight` and `head.layer.bias`."""
        heads = self.repertoire.heads
        return {name: shape for head in heads for name, shape in layer_shapes(head, self._encoding.size, self._hidden).items()}

    def _prepare(self) -> None:
        self._layers = {head: transposed(self._arrays, f"{head}.", len(self._hidden) + 1) for head in self.repertoire.heads}

    def _choose(self, observation: NDArray[np.float32], choices: NDArray[np.bool_], key: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The open action of the highest value."""
        return np.asarray(self.values(observation, choices).argmax(1))

    def values(self, observation: NDArray[np.float32], choices: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Action values.

        Args:
            observation: (B, D) float32.
            choices: (B, 205) bool, the actions to value.

        Returns:
            (B, 205) float32, minus infinity for the others.

        Raises:
            ConfigurationError: Observations of another length.
        """
        if observation.shape != (len(choices), self._encoding.size):
            raise ConfigurationError(f"Observations must be ({len(choices)}, {self._encoding.size}), not {observation.shape}.")
        values = np.full(choices.shape, -np.inf, np.float32)
        for head in self.repertoire.heads:
            part = HEADS[head].slice
            rows = np.flatnonzero(choices[:, part].any(1))
            if len(rows):
                values[rows, part] = forward(self._layers[head], observation[rows])
        values[~choices] = -np.inf
        return values


@entry()
def _linear(
    signal: NDArray[np.float32], weight: NDArray[np.float32], bias: NDArray[np.float32], rectified: bool, out: NDArray[np.float32]
) -> None:  # fmt: skip
    """A linear layer, of what is positive only if `rectified`: `weight` is (in, out).

    Most of what comes in is 0 and skipped. Sums run in one order, so that a decision does not depend on the batch it is in.
    """
    for row in range(len(signal)):
        out[row] = bias
        for i in range(len(weight)):
            value = signal[row, i]
            if value > 0.0 or (value < 0.0 and not rectified):
                for k in range(len(bias)):
                    out[row, k] += value * weight[i, k]


def layer_shapes(head: str, features: int, hidden: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The arrays of a head's network: names and shapes."""
    sizes = (features, *hidden, HEADS[head].size)
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, (before, after) in enumerate(itertools.pairwise(sizes)):
        shapes |= {f"{head}.{layer}.weight": (after, before), f"{head}.{layer}.bias": (after,)}
    return shapes


def features_digest(encoding: encodings.Encoding) -> str:
    """A short hash of the names of an encoding's features, in their order."""
    return hashlib.sha256("\n".join(encoding.names).encode()).hexdigest()[:16]


def _policy(name: str | None) -> Policy | None:
    if name is None:
        return None
    policy: Policy = catalogue.make(name)
    return policy
