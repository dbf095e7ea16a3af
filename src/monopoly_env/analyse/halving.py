"""Sequential halving: play positions out over the same luck and drop the worse half, repeatedly.

The schedule is that of Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed
bandits", ICML 2013. All positions share the dice and cards of playout k, so their difference is far
more certain than either share.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env.analyse.playouts import MOST_PLAYOUTS, rollout
from monopoly_env.core import check_sound
from monopoly_env.errors import ConfigurationError, shortened, whole_number
from monopoly_env.game import Games
from monopoly_env.intervals import lead_interval

Shares: TypeAlias = NDArray[np.float32]  # (N, P), of all seats in each playout

_FEWEST: Final = 2  # playouts in a round
# and those after which the precision and the clock are looked at for the first time
_BLOCK: Final = 8


def halve(  # noqa: PLR0913 - the options of a search
    games: Games,
    actions: Sequence[int],
    player: int,
    policies: Any,
    n: int,
    *,
    seed: int = 0,
    until: float | None = None,
    seconds: float | None = None,
    kept: int | None = None,
    **options: Any,
) -> dict[int, Shares]:
    """Find the best of several positions for a player.

    Args:
        games: (B,) records.
        actions: (B,) the first action of the playouts of each.
        player: The seat for which the best is sought.
        policies: As in `rollout`.
        n: Playouts of the best positions.
        seed: 0 to 2**64 - 1.
        until: Precision, 0 to 1 to either side, of the lead over the second at which to stop.
        seconds: Stop after the block of playouts in which this time is over.
        kept: The number of a position that is never dropped, or None.
        **options: Those of `rollout`: turns, value, shuffle, threads.

    Returns:
        By the number of the position, the best first: those that stayed longest, then by the
        player's share.

    Raises:
        ConfigurationError: A number is out of range, and the errors of `rollout`.
    """
    check_limits(n, until, seconds)
    games = check_sound(games)
    began, firsts = monotonic(), np.array(actions, np.int64)
    shares: list[Shares] = [np.zeros((0, int(games[0]["num_players"])), np.float32)] * len(games)
    left, dropped = list(range(len(games))), list[int]()
    for count in _schedule(len(left), int(n)):
        done, stopped = len(shares[left[0]]), False
        for target in _blocks(done, count) if until is not None or seconds is not None else [count]:
            done = len(shares[left[0]])
            given = options | {"actions": firsts[left], "seed": seed, "first": done}
            played = rollout(games[left], policies, target - done, **given)
            for number, more in zip(left, played.shares, strict=True):
                shares[number] = np.concatenate([shares[number], more])
            means = {number: shares[number][:, player].mean(dtype=np.float64) for number in left}
            ranked = sorted(left, key=means.__getitem__, reverse=True)  # stable
            stopped = _is_known([shares[number][:, player] for number in ranked[:2]], until)
            stopped |= seconds is not None and monotonic() - began > seconds
            if stopped:
                break
        left = ranked
        if stopped:
            break
        if count < n:
            stay = {*left[: math.ceil(len(left) / 2)], kept}
            dropped[:0] = [number for number in left if number not in stay]
            left = [number for number in left if number in stay]
    return {number: shares[number] for number in left + dropped}


def check_limits(n: object, until: object = None, seconds: object = None) -> None:
    """Raise ConfigurationError unless the limits of `halve` make sense."""
    whole_number("n", n, 1, MOST_PLAYOUTS)
    for name, given, most in (("until", until, 1.0), ("seconds", seconds, math.inf)):
        numbers = int, float, np.integer, np.floating
        is_number = isinstance(given, numbers) and not isinstance(given, bool)
        if given is not None and not (is_number and 0 <= given <= most):  # type: ignore[operator]
            wanted = f"a number {'from 0 to 1' if most == 1 else 'from 0'}, or None for no limit"
            raise ConfigurationError(f"{name}={shortened(given)} must be {wanted}.")


def _schedule(positions: int, n: int) -> list[int]:
    """How many playouts the positions that are left have had after each round."""
    rounds = max(1, math.ceil(math.log2(positions)))
    counts = [max(min(n, _FEWEST), n >> (rounds - 1 - number)) for number in range(rounds)]
    return sorted(set(counts))


def _blocks(done: int, count: int) -> Iterator[int]:
    """The playouts after each block of a round; blocks grow: a late stop costs a quarter more."""
    while done < count:
        done = min(count, done + max(_BLOCK, done // 4))
        yield done


def _is_known(best_two: Sequence[NDArray[np.float32]], until: float | None) -> bool:
    """Whether the lead of the best position over the second is known well enough."""
    if until is None or len(best_two) < 2:
        return False
    _, low, high = lead_interval(best_two[0].astype(np.float64) - best_two[1])
    return (high - low) / 2 <= until
