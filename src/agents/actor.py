"""A player of one network, an actor: it plays the open action that the network scores highest, or draws one by its probabilities.

The numbers come from training (`python -m training.ppo`); playing them needs no torch. A saved one says what it was trained
for: encoding, number of players, rules, heads. `agents.load` refuses a file whose encoding is another one than this version's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.neural import Repertoire, _linear, _policy, features_digest, share_out
from agents.policy import BatchedPolicy, Decisions
from monopoly_env import encoding as encodings
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.kernels import entry

_DROPPED: Final = np.uint64(11)  # bits of a key beyond the 53 that a float64 holds


class ActorPolicy(BatchedPolicy):
    """A network of linear layers with ReLU between them that scores all 205 actions: their log-probabilities, but for a constant.

    Attributes:
        name: What tables and messages call it.
        repertoire: What the network chooses among.
        parent: Who plays what it does not; or None.
        sample: Whether actions are drawn by their probabilities, by the decision's key; else the likeliest is played.
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
        sample: bool = False,
        rules: Mapping[str, Any] | None = None,
        features: str | None = None,
        name: str = "actor",
    ) -> None:
        """A network of zeros; `set_arrays` fills it.

        Args:
            heads: The heads whose actions the network chooses among.
            hidden: Units of the hidden layers.
            encoding: What the network sees.
            num_players: At which tables it plays.
            raise_freely: See `Repertoire`.
            parent: Name of the policy that plays the rest.
            sample: Draw actions by their probabilities.
            rules: The options in which the rules of training differ from the official ones; kept for the reader.
            features: The digest of the encoding's features that a saved file carries; it is compared with this version's.
            name: What tables call it.

        Raises:
            ConfigurationError: An unknown head, encoding or parent; heads that can't play alone and no parent.
            FormatError: The features are not those of this version.
        """
        self.name = name
        self.repertoire = Repertoire(tuple(heads), raise_freely)
        missing = self.repertoire.needs_parent()
        if parent is None and missing:
            raise ConfigurationError(f"Without learning {', '.join(missing)} a parent has to play these heads.")
        self._encoding = encodings.make(encoding, num_players)
        if features not in (None, features_digest(self._encoding)):
            raise FormatError(f"it was trained on other features than this version's encoding {encoding!r} for {num_players} players")
        self.sample = bool(sample)
        self._num_players = num_players
        self._rules = dict(rules or {})
        self._hidden = tuple(hidden)
        self._parent_name = parent
        self.parent = _policy(parent)
        self._arrays = {name: np.zeros(shape, np.float32) for name, shape in layer_shapes(self._encoding.size, hidden).items()}
        self._layers = self._transposed()

    @property
    def kind(self) -> str:
        """`actor`."""
        return "actor"

    def encoding(self) -> str:
        """The encoding of the observations that the network sees."""
        return self._encoding.name

    def options(self) -> dict[str, Any]:
        """What the network is and what it was trained for."""
        return {
            "heads": list(self.repertoire.heads),
            "hidden": list(self._hidden),
            "encoding": self._encoding.name,
            "num_players": self._num_players,
            "raise_freely": self.repertoire.raise_freely,
            "parent": self._parent_name,
            "sample": self.sample,
            "rules": self._rules,
            "features": features_digest(self._encoding),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights and biases, `layer.weight` (out, in) and `layer.bias` (out,)."""
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
        self._layers = self._transposed()

    def _transposed(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Weights (in, out), as `_linear` reads them, and biases."""
        numbers = range(len(self._hidden) + 1)
        return [(np.ascontiguousarray(self._arrays[f"{n}.weight"].T), self._arrays[f"{n}.bias"]) for n in numbers]

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """The likeliest open action, or one that is drawn.

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
            seen = encodings.observe_all(decisions.games[mine], self._encoding.name)
            actions[mine] = self.choose(seen, choices[mine], decisions.key[mine])
        return actions

    def choose(self, observation: NDArray[np.float32], choices: NDArray[np.bool_], key: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Choose among open actions.

        Args:
            observation: (B, D) float32.
            choices: (B, 205) bool, one action or more in each row.
            key: (B,) uint64, the chance of each decision.

        Returns:
            (B,) int64.
        """
        open_ = np.where(choices, self.scores(observation), np.float32(-np.inf))
        if not self.sample:
            return np.asarray(open_.argmax(1))
        actions = np.zeros(len(open_), np.int64)
        _draw(open_, (key >> _DROPPED).astype(np.float64) * 2.0**-53, actions)
        return actions

    def scores(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The scores (B, 205) of all actions for observations (B, D) float32.

        Raises:
            ConfigurationError: Observations of another length.
        """
        if observation.ndim != 2 or observation.shape[1] != self._encoding.size:
            raise ConfigurationError(f"Observations must be (B, {self._encoding.size}), not {observation.shape}.")
        signal = observation
        for number, (weight, bias) in enumerate(self._layers):
            out = np.empty((len(signal), len(bias)), np.float32)
            _linear(np.ascontiguousarray(signal), weight, bias, number > 0, out)
            signal = out
        return signal


@entry()
def _draw(scores: NDArray[np.float32], share: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """The action at which a share in [0, 1) of the sum of all probabilities is reached; scores may be minus infinity.

    Sums run in one order, so that a decision does not depend on the batch it is in.
    """
    for row in range(len(scores)):
        best = float(scores[row].max())
        total = 0.0
        for score in scores[row]:
            total += math.exp(float(score) - best)
        reached = 0.0
        for action in range(scores.shape[1]):
            reached += math.exp(float(scores[row, action]) - best)
            if reached > share[row] * total:
                actions[row] = action
                break


def layer_shapes(features: int, hidden: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """The arrays of the network: names and shapes."""
    shapes: dict[str, tuple[int, ...]] = {}
    for layer, (before, after) in enumerate(itertools.pairwise((features, *hidden, NUM_ACTIONS))):
        shapes |= {f"{layer}.weight": (after, before), f"{layer}.bias": (after,)}
    return shapes
