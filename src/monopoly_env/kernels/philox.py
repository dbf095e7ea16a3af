"""Random numbers as a function of a counter and a key: nothing is stored between draws.

The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
1, 2, 3", SC 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, shortened, whole_number
from monopoly_env.kernels import kernel

MAX_SEED: Final = (1 << 64) - 1
_WORD = 0xFFFFFFFF


@kernel
def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> int:
    """The first of four 32-bit output words for a counter (c0 to c3) and a key (k0, k1)."""
    for _ in range(10):
        # Each product is less by c << 32: compiled code has 63 bits, and an overflow is undefined.
        p0 = (0xD2511F53 - (1 << 32)) * c0
        p1 = (0xCD9E8D57 - (1 << 32)) * c2
        c0, c1, c2, c3 = (
            (p1 >> 32) + c2 ^ c1 ^ k0,
            p1 & _WORD,
            (p0 >> 32) + c0 ^ c3 ^ k1,
            p0 & _WORD,
        )
        k0 = (k0 + 0x9E3779B9) & _WORD
        k1 = (k1 + 0xBB67AE85) & _WORD
    return c0


def count_seeds(seeds: Sequence[int] | NDArray[Any]) -> int:
    """The number of seeds; ConfigurationError if they are no sequence."""
    try:
        return len(seeds)
    except TypeError:
        raise ConfigurationError(
            f"Seeds must be a sequence with one whole number per game, not {shortened(seeds)}."
        ) from None


def split_seeds(seeds: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
    """Split seeds into the two words of a key, low word first: (B, 2) int64.

    Raises:
        ConfigurationError: It is no sequence, or a seed is not a whole number from 0 to `MAX_SEED`.
    """
    count_seeds(seeds)
    whole = isinstance(seeds, np.ndarray) and seeds.ndim == 1 and seeds.dtype.kind in "iu"
    if whole and (not len(seeds) or seeds.min() >= 0):  # type: ignore[union-attr]  # an array
        wide = np.asarray(seeds).astype(np.uint64)
    else:
        wide = np.array([whole_number("seed", seed, 0, MAX_SEED) for seed in seeds], np.uint64)
    return np.stack([wide & np.uint64(_WORD), wide >> np.uint64(32)], axis=1).astype(np.int64)
