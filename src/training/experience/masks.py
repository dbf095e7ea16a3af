"""Masks of legal actions, packed: eight to a byte."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import NUM_ACTIONS

PACKED: Final = (NUM_ACTIONS + 7) // 8  # bytes of a packed mask


def pack(mask: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """(N, NUM_ACTIONS) bool as (N, PACKED) bytes."""
    return np.packbits(mask, axis=-1)


def unpack(packed: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """(N, PACKED) bytes as (N, NUM_ACTIONS) bool."""
    return np.unpackbits(packed, axis=-1, count=NUM_ACTIONS).view(np.bool_)
