"""The random number generator: numbers as a function of a counter and a key, so that nothing has to be stored between draws.

It is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
"""

from __future__ import annotations

from monopoly_env.kernels import kernel

_WORD = 0xFFFFFFFF


@kernel
def philox(c0: int, c1: int, c2: int, c3: int, k0: int, k1: int) -> int:
    """The first of the four 32-bit output words for a counter (c0 to c3) and a key (k0, k1) of 32-bit words."""
    for _ in range(10):
        p0 = 0xD2511F53 * c0
        p1 = 0xCD9E8D57 * c2
        # Python's integers are exact, compiled ones wrap at 64 bits. The masks make both agree.
        c0, c1, c2, c3 = ((p1 >> 32) & _WORD) ^ c1 ^ k0, p1 & _WORD, ((p0 >> 32) & _WORD) ^ c3 ^ k1, p0 & _WORD
        k0 = (k0 + 0x9E3779B9) & _WORD
        k1 = (k1 + 0xBB67AE85) & _WORD
    return c0
