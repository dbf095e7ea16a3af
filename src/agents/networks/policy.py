"""The base class of policies with saved networks, and the checks of their arrays and features."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from monopoly_env.encoding import Encoding
from monopoly_env.errors import FormatError
from monopoly_env.policy.protocol import CompiledPolicy, array_differences


def features_digest(encoding: Encoding) -> str:
    """A short hash of the names of an encoding's features."""
    return hashlib.sha256("\n".join(encoding.names).encode()).hexdigest()[:16]


def check_arrays(
    owner: str, expected: Mapping[str, NDArray[Any]], given: Mapping[str, NDArray[Any]]
) -> None:
    """Check arrays from a file; `owner` begins the message.

    Raises:
        FormatError: Other names, shapes or types than expected, or a number that is not finite.
    """
    if differences := array_differences(expected, given):
        raise FormatError(f"{owner}: {differences}.")
    for name, array in given.items():
        if not np.isfinite(array).all():
            raise FormatError(f"{owner}: array {name!r} holds a number that is not finite.")


class NetworkPolicy(CompiledPolicy, ABC):
    """Base class of compiled policies whose row holds the weights of networks.

    Subclasses set what `_row` needs before they call `__init__`.
    """

    def __init__(
        self,
        name: str,
        kernel: Any,
        arrays: Mapping[str, NDArray[Any]],
        *,
        kind: str,
        observe: Any = None,
    ) -> None:
        """Start with these weights.

        Args:
            name: Its name in results and messages.
            kernel: The policy's kernel.
            arrays: Weights (out, in) and biases (out,), by network and layer.
            kind: Its kind in saved files.
            observe: See `CompiledPolicy`.
        """
        self._arrays = dict(arrays)
        super().__init__(name, kernel, self._row(), kind=kind, reads_mask=False, observe=observe)

    @abstractmethod
    def _row(self) -> NDArray[np.float64]:
        """The row of the kernel, from the arrays."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights (out, in) and biases (out,), by network and layer."""
        return dict(self._arrays)

    def copy(self, name: str | None = None, **changed: Any) -> Self:
        """A copy with some options changed."""
        policy = type(self)(**self.options() | changed, name=name or self.name)
        policy.set_arrays({array: self._arrays[array] for array in policy.arrays()})
        return policy

    def drawing(self, temperature: float, name: str | None = None) -> Self:
        """A copy that draws its actions at a temperature; 0: it plays the best."""
        return self.copy(name, temperature=temperature)

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Set weights and biases.

        Raises:
            FormatError: Other names, shapes or types, or a number that is not finite.
        """
        check_arrays(f"Policy {self.name!r}", self._arrays, arrays)
        self._arrays = {name: np.array(arrays[name], np.float32) for name in self._arrays}
        self.params = self._row()
