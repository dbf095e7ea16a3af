"""The learned policy: the parent's parameters and the networks as a row for the kernel of `play`."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.learned.networks import ADVICE, LEARNED_HEADS, MOST_PLAYERS, NAMES, NETWORKS, pack, zeros
from agents.networks.learned.play import SIZES, play
from agents.networks.saved import check_arrays, features_digest
from agents.players.expert.parameters import NAMES as PARAMETERS
from agents.players.expert.parameters import Expert
from monopoly_env.actions import HEAD_NAMES
from monopoly_env.encoding import make
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.policy.protocol import CompiledPolicy

NEVER: Final = 2.0  # a margin that no action reaches: chances to win differ by 1 at most


class LearnedPolicy(CompiledPolicy):
    """Networks, one for each kind of decision, over a parent of the family `expert` and a model of its trading partners.

    Attributes:
        heads: The heads in which the networks may choose.
        sizes: The numbers of players at which they may.
        bargains: Whether the model of partners sets the prices of trades.
    """

    def __init__(
        self,
        heads: Sequence[str] = LEARNED_HEADS,
        *,
        sizes: Sequence[int] = SIZES,
        bargains: bool = True,
        rules: Mapping[str, Any] | None = None,
        name: str = "dqn",
        features: str | None = None,
    ) -> None:
        """Create networks of zeros over the parent with its default parameters; `set_arrays` fills them.

        Args:
            heads: The heads in which the networks may choose; the parent plays all others. An empty list: none may.
            sizes: The numbers of players, 2 to 4, that the networks were trained with; at other tables the parent plays alone.
            bargains: Whether the model of partners sets the prices of trades; else the parent does.
            rules: The options in which the rules of training differ from the official ones; kept for the reader.
            name: What tables call it.
            features: The digest of features and parameters in a saved file; it is compared with this version's.

        Raises:
            ConfigurationError: A head that is unknown or has no network, or another number of players.
            FormatError: Features or parameters are not those of this version.
        """
        if features not in (None, _digest()):
            raise FormatError(f"its features (encoding {self.encoding()!r}) or its parent's parameters are not those of this version")
        for head in heads:
            if head not in LEARNED_HEADS:
                raise ConfigurationError(f"No network plays the head {head!r}. {nearest(head, LEARNED_HEADS)}")
        for size in sizes:
            if size not in SIZES:
                raise ConfigurationError(f"Networks play at tables of {SIZES[0]} to {SIZES[-1]}, not of {size!r}.")
        self.heads = tuple(dict.fromkeys(heads))
        self.sizes = tuple(sorted(set(sizes)))
        self.bargains = bool(bargains)
        self._rules = dict(rules or {})
        self._arrays: dict[str, NDArray[Any]] = {**zeros()}
        self._arrays["parent"] = np.stack([Expert().row()] * len(SIZES))
        self._arrays["model"] = Expert().row()
        self._arrays["margins"] = np.zeros(len(NAMES))
        super().__init__(name, play, self._row(), kind="learned", reads_mask=False)

    def _row(self) -> NDArray[np.float64]:
        heads, sizes = sum(1 << HEAD_NAMES.index(head) for head in self.heads), sum(1 << size for size in self.sizes)
        numbers = self._arrays["model"], [self.bargains, heads, sizes], self._arrays["margins"]
        return np.concatenate([self._arrays["parent"].ravel(), *numbers, pack(self._arrays)])

    def encoding(self) -> str:
        """The encoding of the observations that the networks see."""
        return "standard"

    def options(self) -> dict[str, Any]:
        """What it was trained for."""
        return {
            "heads": list(self.heads),
            "sizes": list(self.sizes),
            "bargains": self.bargains,
            "rules": self._rules,
            "features": _digest(),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The parent's parameters (3, P), for 2, 3 and more players; the model's (P,); margins (networks,); weights and biases."""
        return dict(self._arrays)

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over parameters, margins, weights and biases.

        Raises:
            FormatError: Other names, shapes or types, or a number that is not finite.
        """
        check_arrays(self.name, self._arrays, arrays)
        self._arrays = {name: np.array(array) for name, array in arrays.items()}
        self.params = self._row()

    def taught(self) -> tuple[str, ...]:
        """The heads of the networks that have a margin, whether or not they may choose."""
        margins = self._arrays["margins"]
        playing = [NETWORKS[name][1] for name, margin in zip(NAMES, margins, strict=True) if margin < NEVER]
        return tuple(head for head in LEARNED_HEADS if any(head in heads for heads in playing))

    def changed(self, **arrays: NDArray[Any]) -> LearnedPolicy:
        """A copy with other arrays."""
        return self.with_heads(self.heads, **arrays)

    def parent(self) -> LearnedPolicy:
        """A copy in which the parent alone chooses actions and prices."""
        return self._copy((), False, self._arrays)

    def with_heads(self, heads: Sequence[str], **arrays: NDArray[Any]) -> LearnedPolicy:
        """A copy whose networks choose in other heads."""
        return self._copy(heads, self.bargains, self._arrays | arrays)

    def _copy(self, heads: Sequence[str], bargains: bool, arrays: Mapping[str, NDArray[Any]]) -> LearnedPolicy:
        copy = LearnedPolicy(heads, sizes=self.sizes, bargains=bargains, rules=self._rules, name=self.name)
        copy.set_arrays(arrays)
        return copy


def _digest() -> str:
    """A short hash of what the numbers stand for: the encoding's features, what the parent adds to them, and its parameters."""
    words = [features_digest(make("standard", MOST_PLAYERS)), *ADVICE, *PARAMETERS]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:16]
