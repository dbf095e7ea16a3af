"""Names for the numbers that a policy remembers.

A policy has 64 float64 numbers of memory for each game and seat, all 0 at the start of a game. Each
family names those that it uses in one place:

    SLOT: Final = memory_slots("searched", next_offer=8)

Then `memory[SLOT.searched]` is one number, and `memory[SLOT.next_offer + partner]` is one of eight.
To compiled code the slots are constants. The last three numbers of memory hold the offer that is
being composed, see `offers`. The one before them tells whether a player that searches composes it,
in place of its base policy.
"""

from __future__ import annotations

from collections import namedtuple
from itertools import accumulate
from typing import Any, Final, cast

from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.protocol import MEMORY

OFFER: Final = MEMORY - 3  # the first of the numbers that hold the offer being composed
COMPOSING: Final = OFFER - 1  # 1 while a player that searches composes an offer


def memory_slots(*names: str, start: int = 0, limit: int = COMPOSING, **runs: int) -> Any:
    """The first positions of slots laid out one after another, and `end` after the last of them.

    Args:
        *names: Slots of one number each; they come first.
        start: Position of the first slot. A policy that builds on another one passes that one's
            `end`.
        limit: Position that the last slot must not reach.
        **runs: Slots of several numbers, with their lengths.

    Raises:
        ConfigurationError: The slots do not fit into memory.
        ValueError: A name is used twice or is not an identifier.
    """
    *firsts, end = accumulate([1] * len(names) + list(runs.values()), initial=start)
    if start < 0 or end > limit or min(runs.values(), default=1) < 1:
        slots = ", ".join([*names, *(f"{name}={length}" for name, length in runs.items())])
        raise ConfigurationError(
            f"Memory slots from {start} to {end - 1} ({slots}) do not fit: 0 to {limit - 1} are"
            " free."
        )
    return cast(Any, namedtuple)("MemorySlots", [*names, *runs, "end"])(*firsts, end)
