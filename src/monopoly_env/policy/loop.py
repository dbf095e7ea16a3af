"""The loop that plays games between policies. Everything that plays whole games in compiled code is built on `next_action`.

The loop is pulled, not pushed: `next_action` finds out what is done next in a game and checks it, and whoever runs the loop carries it out.

    while True:
        action = next_action(game, players, seats, memory, mask, progress, turn_limit)
        if action < 0:
            break
        ...                     # record, count, copy: whatever this loop is for
        apply(game, action)

So all loops share the rules by which a game stops, and a loop pays only for what it does itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.core import illegal
from monopoly_env.engine.agenda import FAULTS, OVER
from monopoly_env.engine.players import finish
from monopoly_env.engine.step import is_legal, write_mask
from monopoly_env.errors import EngineError, IllegalActionError, MonopolyError
from monopoly_env.game import BY_CAP, Game, Games
from monopoly_env.kernels import inlined, kernel
from monopoly_env.policy.protocol import CompiledPolicy, Policy, call

PATIENCE: Final = 10_000  # decisions within one turn after which a policy is held to be stuck
OUTSIDE: Final = -1  # in a seat, in place of a row of `Players`: its policy is not compiled, and is asked outside the loop
NO_LIMIT: Final = np.iinfo(np.int32).max  # as a turn limit

# Why a game stopped: what `next_action` returns in place of an action. From ILLEGAL down, something is wrong.
ENDED, WAITING, ILLEGAL, STUCK, BROKEN = -1, -2, -3, -4, -5

# What the loop remembers of a game under way; zeros when the game begins.
PROGRESS: Final = np.dtype(
    (
        np.record,
        [
            ("answer", np.int64),  # the action that a policy outside the loop has chosen; or, if ILLEGAL, the action that was refused
            ("answered", np.int32),  # 1: `answer` is still to be carried out
            ("turn", np.int32),  # the turn of the last decision; 0: there was none yet
            ("decisions", np.int32),  # made in this turn
            ("stop", np.int32),  # why the game stopped last, or 0
        ],
    )
)


class Players(NamedTuple):
    """Compiled policies as the loop reads them. It does not keep them alive: whoever makes it must keep the policies.

    Attributes:
        kernels: (K,) what `call` takes.
        params: (K, L) float64, rows of parameters, padded; L is at least 1.
        lengths: (K,) int64, the lengths of the rows.
        reads_mask: (K,) bool, whether the kernels read the mask.
    """

    kernels: Any
    params: NDArray[np.float64]
    lengths: NDArray[np.int64]
    reads_mask: NDArray[np.bool_]

    @classmethod
    def of(cls, policies: Sequence[CompiledPolicy]) -> Players:
        """The players that these policies are; policy k is row k. There may be none."""
        lengths = np.array([len(policy.params) for policy in policies], np.int64)
        params = np.zeros((len(policies), lengths.max(initial=1)))
        for row, policy in zip(params, policies, strict=True):
            row[: len(policy.params)] = policy.params
        return cls(_handles(policies), params, lengths, np.array([policy.reads_mask for policy in policies], np.bool_))

    @classmethod
    def of_rows(cls, policy: CompiledPolicy, params: NDArray[np.float64]) -> Players:
        """Players that share a kernel and differ in their parameters alone, without a policy for each.

        Args:
            policy: Whose kernel they share.
            params: (K, L), the rows.
        """
        count, length = params.shape
        reads_mask = np.full(count, policy.reads_mask)
        return cls(_handles([policy] * count), np.ascontiguousarray(params, np.float64), np.full(count, length), reads_mask)


def _handles(policies: Sequence[CompiledPolicy]) -> Any:
    handles = [policy.kernel.handle for policy in policies]
    return handles if numba.config.DISABLE_JIT else np.array(handles, np.int64)


@inlined
def next_action(  # noqa: PLR0917 - compiled
    game: Game, players: Players, seats: Any, memory: Any, mask: Any, progress: Any, turn_limit: int
) -> int:
    """The next action of a game. It is legal, and the caller carries it out.

    Args:
        game: The game.
        players: The compiled policies.
        seats: (P,) integers, the number of the player in each seat; any other number, such as OUTSIDE, stands for a policy that is
            asked outside the loop.
        memory: (P, 64), of each seat.
        mask: (205,) bool, room for a mask.
        progress: The PROGRESS of the game.
        turn_limit: Single turns that may be played; then the score decides. NO_LIMIT: any number.

    Returns:
        The action; or, below 0, why there is none: ENDED, WAITING for the answer of a policy outside the loop, ILLEGAL, STUCK or BROKEN.
    """
    if _has_stopped(game, progress, turn_limit):
        return int(progress.stop)
    seat = int(game.player)
    number = int(seats[seat])
    if 0 <= number < len(players.lengths):
        action = ask(game, players, number, memory[seat], mask)
    elif progress.answered == 1:
        progress.answered = 0
        action = int(progress.answer)
    else:
        progress.stop = WAITING
        return WAITING
    progress.decisions += 1
    if not 0 <= action < NUM_ACTIONS or not is_legal(game, action):
        progress.answer, progress.stop = action, ILLEGAL
        return ILLEGAL
    if progress.decisions == PATIENCE:
        progress.stop = STUCK
        return STUCK
    return action


@inlined
def ask(game: Game, players: Players, number: int, memory: Any, mask: Any) -> int:
    """Ask a player for its action; nothing is checked.

    Args:
        game: The game.
        players: The compiled policies.
        number: The row of the one that is asked.
        memory: (64,), of its seat.
        mask: (205,) bool, room for a mask: it is written only if the player reads it.
    """
    if players.reads_mask[number]:
        write_mask(game, mask)
    return call(players.kernels[number], game, mask, players.params[number][: players.lengths[number]], memory)


@kernel
def _has_stopped(game: Game, progress: Any, turn_limit: int) -> bool:
    """Whether the game has ended or something is wrong in it. A game that reaches the turn limit ends here."""
    if game.fault != 0:
        progress.stop = BROKEN
    if progress.stop <= ILLEGAL:
        return True
    if game.decision != OVER and game.turns != progress.turn:
        progress.turn, progress.decisions = game.turns, 0
        if game.turns > turn_limit:
            game.turns = turn_limit  # the turn that has begun is not played
            finish(game, BY_CAP)
    if game.decision == OVER:
        progress.stop = ENDED
        return True
    return False


@kernel
def begin(progress: Any) -> None:
    """Forget what was remembered of another game."""
    progress.answered, progress.turn, progress.decisions, progress.stop = 0, 0, 0, 0


def check(games: Games, progress: NDArray[Any], policy_of: Callable[[int, int], Policy]) -> None:
    """Raise what is wrong in the first game that something is wrong in.

    Args:
        games: (B,) records.
        progress: (B,) PROGRESS.
        policy_of: Called with an index and a seat: the policy that sits there.

    Raises:
        IllegalActionError: A policy chose an action that is not legal, or never came to an end of its turn.
        EngineError: The engine broke an invariant of its own.
    """
    wrong = np.flatnonzero(progress["stop"] <= ILLEGAL)
    if len(wrong):
        first = int(wrong[0])
        game = games[first]
        raise _error(game, progress[first], policy_of(first, int(game.player)))


def _error(game: Game, progress: Any, policy: Policy) -> MonopolyError:
    """The error that tells why a game stopped."""
    where = f"the game of seed {int(game.seed[0]) | int(game.seed[1]) << 32}"
    if progress.stop == BROKEN:
        return EngineError(f"The engine broke an invariant in {where}: {FAULTS[game.fault]}. Please report it.")
    who = f"Policy {policy.name!r} in {where}"
    if progress.stop == STUCK:
        return IllegalActionError(f"{who}: it made {PATIENCE} decisions in one turn and never came to an end of it.")
    return refusal(who, game, int(progress.answer))


def refusal(where: str, game: Game, action: Any) -> IllegalActionError:
    """The error for an action that is not legal.

    Args:
        where: Whose action it is, or in which game: the message begins with it.
        game: The game before the action.
        action: Any number.
    """
    if not 0 <= action < NUM_ACTIONS:
        return IllegalActionError(f"{where}: action {action} must be an integer from 0 to {NUM_ACTIONS - 1}.")
    return IllegalActionError(f"{where}: {illegal(game, int(action))}")
