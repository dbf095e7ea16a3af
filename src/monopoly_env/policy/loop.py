"""The game loop, on which everything is built that plays whole games in compiled code.

    running = borrowed(running)
    for i in range(len(running.games)):
        while True:
            action = next_of(running, i)
            if action < 0:
                break
            ...                 # what this loop is for: record, count, copy
            apply(running.games[i], action)

`next_of` asks the player to move and checks its action; the caller carries the action out. So the
rules by which a game stops are the same everywhere, and a loop pays only for the work that it adds.

In Python, `Running.begin` begins the games, and `Running.check` raises what went wrong.
`monopoly_env.kernels.threads.in_order` plays parts of a batch on threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES, NUM_ACTIONS
from monopoly_env.engine.agenda import FAULTS, OVER
from monopoly_env.engine.players import finish
from monopoly_env.engine.step import apply, is_legal, write_mask
from monopoly_env.errors import (
    ConfigurationError,
    EngineError,
    IllegalActionError,
    MonopolyError,
    PolicyError,
    array_of,
)
from monopoly_env.game import BY_CAP, GAME, MAX_PLAYERS, Game, Games, empty_games
from monopoly_env.kernels import borrowed, entry, inlined, kernel
from monopoly_env.kernels.signatures import Array1, Array2, Array3, Records
from monopoly_env.policy.protocol import (
    MEMORY,
    CompiledPolicy,
    Decisions,
    Policy,
    call,
    call_observe,
)
from monopoly_env.rules import Rules

# decisions in one turn after which the game is stopped: the policy never ends its turn
PATIENCE: Final = 10_000
# instead of the number of a player: the policy in this seat is asked outside the loop
OUTSIDE: Final = -1
# bytes
_DRAWS: Final = slice(
    GAME.fields["policy_draws"][1],  # type: ignore[index]
    GAME.fields["policy_draws"][1] + 4 * MAX_PLAYERS,  # type: ignore[index]
)
NO_LIMIT: Final = np.iinfo(np.int32).max  # a turn limit that no game reaches

# Why a game stopped: what `next_action` returns instead of an action. From ILLEGAL downwards it is
# an error.
ENDED, WAITING, ILLEGAL, STUCK, BROKEN = -1, -2, -3, -4, -5

# The state of the loop for one game. All zeros when the game begins.
PROGRESS: Final = np.dtype(
    (
        np.record,
        [
            # the action that a policy outside the loop chose; after ILLEGAL, the illegal action
            ("answer", np.int64),
            ("answered", np.int32),  # 1: `answer` is still to be carried out
            ("turn", np.int32),  # the turn of the last decision; 0: no decision yet
            ("decisions", np.int32),  # made in this turn
            ("stop", np.int32),  # why the game last stopped; 0: it has not
            ("observed", np.int64),  # the turn that policies that observe have seen; 0: none yet
        ],
    )
)

Progresses: TypeAlias = Annotated[NDArray[Any], Records(PROGRESS)]


class Players(NamedTuple):
    """Compiled policies as the loop reads them.

    Keep a reference to the policies for as long as you use it.

    Attributes:
        kernels: (2 K,) handles: of the kernels, for `call`, then of those that observe, for
            `call_observe`; 0, or None in plain Python, where a policy does not observe. They share
            an array because each array of this tuple costs time in every decision.
        params: (K, L) float64, rows of parameters, padded with zeros; L is at least 1.
        lengths: (K,) int64, the lengths of the rows.
        reads_mask: (K,) bool, whether the kernels read the mask.
        any_observes: Whether a policy observes.
    """

    kernels: Array1[np.int64]
    params: Array2[np.float64]
    lengths: Array1[np.int64]
    reads_mask: Array1[np.bool_]
    any_observes: bool

    @classmethod
    def of(cls, policies: Sequence[CompiledPolicy]) -> Players:
        """Each policy as a player, in the same order. There may be none."""
        lengths = np.array([len(policy.params) for policy in policies], np.int64)
        params = np.zeros((len(policies), lengths.max(initial=1)))
        for row, policy in zip(params, policies, strict=True):
            row[: len(policy.params)] = policy.params
        reads_mask = np.array([policy.reads_mask for policy in policies], np.bool_)
        return cls(
            _handles(policies),
            params,
            lengths,
            reads_mask,
            any(policy.observer for policy in policies),
        )

    @classmethod
    def of_rows(cls, policy: CompiledPolicy, params: NDArray[np.float64]) -> Players:
        """Players with the same kernel and different parameters, without a policy object for each.

        Args:
            policy: The policy whose kernel they share.
            params: (K, L), a row for each player.
        """
        count, length = params.shape
        reads_mask = np.full(count, policy.reads_mask)
        alike, rows = [policy] * count, np.ascontiguousarray(params, np.float64)
        return cls(
            _handles(alike), rows, np.full(count, length), reads_mask, policy.observer is not None
        )


def _handles(policies: Sequence[CompiledPolicy]) -> Array1[np.int64]:
    observers = [policy.observer.handle if policy.observer else 0 for policy in policies]
    return np.array([*(policy.kernel.handle for policy in policies), *observers], np.int64)


class Running(NamedTuple):
    """B games of one table size that are being played, as a loop reads them.

    Attributes:
        games: (B,) records.
        memory: (B, P, 64) float64, the memory of each seat.
        seats: (B, P) int64, the number of the player in each seat, or OUTSIDE.
        progress: (B,) PROGRESS.
        players: The compiled policies.
        mask: (NUM_ACTIONS,) bool, a buffer.
        turn_limit: Turns of all players together after which the score decides a game.
    """

    games: Games
    memory: Array3[np.float64]
    seats: Array2[np.int64]
    progress: Progresses
    players: Players
    mask: Array1[np.bool_]
    turn_limit: int

    @classmethod
    def room(cls, shape: tuple[int, int], players: Players, turn_limit: int) -> Running:
        """Room for games that begin later.

        Args:
            shape: (B, P).
            players: The compiled policies.
            turn_limit: Turns of each player after which the score decides a game.
        """
        return cls(
            empty_games(shape[0]), np.zeros((*shape, MEMORY)), np.zeros(shape, np.int64),
            np.zeros(shape[0], PROGRESS), players, np.zeros(NUM_ACTIONS, np.bool_),
            turn_limit * shape[1],
        )  # fmt: skip

    @classmethod
    def begin(
        cls, players: Players, seats: NDArray[np.integer[Any]], numbers: NDArray[np.integer[Any]],
        *, seed: int, rules: Rules, turn_limit: int,
    ) -> Running:  # fmt: skip
        """Begin games.

        Args:
            players: The compiled policies.
            seats: (B, P), the number of the player in each seat, or OUTSIDE.
            numbers: (B,) the low halves of the seeds.
            seed: The high half.
            rules: The rules of all games.
            turn_limit: Turns of each player after which the score decides a game.
        """
        seeds, num_players = np.uint64(seed << 32) + numbers.astype(np.uint64), seats.shape[1]
        return cls.room((len(seats), num_players), players, turn_limit)._replace(
            games=core.new_games(seeds, num_players, rules), seats=seats.astype(np.int64)
        )

    def part(self, which: slice) -> Running:
        """Some of the games, which another thread may play at the same time."""
        return self._replace(
            games=self.games[which], memory=self.memory[which], seats=self.seats[which],
            progress=self.progress[which], mask=np.zeros(NUM_ACTIONS, np.bool_),
        )  # fmt: skip

    def check(self, policies: Sequence[Policy]) -> None:
        """Raise the error of the first game that failed, as the function `check` does."""
        check(self.games, self.progress, lambda game, seat: policies[self.seats[game, seat]])

    def shares(self) -> NDArray[np.float64]:
        """(B, P), each seat's share of the win in games that have ended."""
        won = self.games["place"][:, : self.seats.shape[1]] == 1
        return np.asarray(won / won.sum(axis=1, keepdims=True))


@entry
def play_on(running: Running, actions: Array1[np.uint8]) -> int:
    """Play the first game on until it stops; returns the number of actions carried out.

    Args:
        running: The game. `progress` says why it stopped: not at all if `actions` is full.
        actions: (L,), where they are noted.
    """
    running, count = borrowed(running), 0
    while count < len(actions):
        action = next_of(running, 0)
        if action < 0:
            break
        actions[count] = action
        apply(running.games[0], action)
        count += 1
    return count


@inlined
def next_of(running: Any, i: int) -> int:
    """The next action of a running game, as `next_action` returns it."""
    return next_action(
        running.games[i],
        running.players,
        running.seats[i],
        running.memory[i],
        running.mask,
        running.progress[i],
        running.turn_limit,
    )


@inlined
def next_action(  # noqa: PLR0917 - compiled
    game: Game, players: Players, seats: Any, memory: Any, mask: Any, progress: Any, turn_limit: int
) -> int:
    """The next action of a game: it is legal, and the caller carries it out.

    A game at the turn limit is ended.

    Args:
        game: The game.
        players: The compiled policies.
        seats: (P,) integers, the number of the player in each seat. Any other number means that the
            policy is asked outside the loop.
        memory: (P, 64), the memory of each seat.
        mask: (NUM_ACTIONS,) bool, a buffer.
        progress: The PROGRESS of the game.
        turn_limit: Turns of all players together after which the score decides the game.

    Returns:
        The action. If it is negative there is none, and it says why: ENDED, WAITING (for the answer
        of a policy outside the loop), ILLEGAL, STUCK or BROKEN.
    """
    if _has_stopped(game, progress, turn_limit):
        return int(progress.stop)
    if players.any_observes and progress.observed != game.turns:
        progress.observed = game.turns
        _let_observe(game, players, seats, memory)
    seat = int(game.player)
    number = int(seats[seat])
    if 0 <= number < len(players.lengths):
        action = ask(game, players, number, memory[seat], mask)
    elif progress.answered == 1:
        progress.answered, progress.stop = 0, 0  # it waits no longer
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
    """The action that a player chooses, unchecked.

    Args:
        game: The game.
        players: The compiled policies.
        number: The number of the player.
        memory: (64,), the memory of its seat.
        mask: (NUM_ACTIONS,) bool, a buffer. The mask is written only if the player reads it.
    """
    if players.reads_mask[number]:
        write_mask(game, mask)
    return call(
        players.kernels[number],
        game,
        mask,
        players.params[number][: players.lengths[number]],
        memory,
    )


@kernel
def _let_observe(game: Game, players: Players, seats: Any, memory: Any) -> None:
    """Let the policies that observe look at the turn that has begun."""
    for seat in range(game.num_players):
        number = int(seats[seat])
        if 0 <= number < len(players.lengths) and game.place[seat] == 0:
            handle = players.kernels[len(players.lengths) + number]
            if handle:
                call_observe(
                    handle,
                    game,
                    seat,
                    players.params[number][: players.lengths[number]],
                    memory[seat],
                )


@kernel
def _has_stopped(game: Game, progress: Any, turn_limit: int) -> bool:
    """Whether the game has ended or failed; ends a game that is at the turn limit."""
    if game.fault != 0:
        progress.stop = BROKEN
    if progress.stop <= ILLEGAL:
        return True
    if game.decision != OVER and game.turns != progress.turn:
        progress.turn, progress.decisions = game.turns, 0
        cap(game, turn_limit)
    if game.decision == OVER:
        progress.stop = ENDED
        return True
    return False


@kernel
def cap(game: Game, turn_limit: int) -> bool:
    """End a game that is past the turn limit, without the turn that has begun; whether it was."""
    if game.decision == OVER or game.turns <= turn_limit:
        return False
    game.turns = turn_limit
    finish(game, BY_CAP)
    return True


@entry
def _cap(games: Games, turn_limit: int) -> bool:
    return cap(games[0], turn_limit)


def cap_game(game: Game, turn_limit: int) -> bool:
    """As `cap`, for Python."""
    if game.turns <= turn_limit:
        return False
    batch = core.batch_of(game)
    core.check_ranges(batch)
    return _cap(batch, turn_limit)


@kernel
def begin(progress: Any) -> None:
    """Reset the progress for a new game."""
    progress.answered, progress.turn, progress.decisions, progress.stop, progress.observed = (
        0,
        0,
        0,
        0,
        0,
    )


def check(games: Games, progress: NDArray[Any], policy_of: Callable[[int, int], Policy]) -> None:
    """Raise the error of the first game that failed, if any did.

    Args:
        games: (B,) records.
        progress: (B,) PROGRESS.
        policy_of: Returns the policy that sits in game i at a seat, given i and the seat.

    Raises:
        ConfigurationError: A policy does not play at tables of this size.
        IllegalActionError: A policy chose an illegal action or never ended its turn.
        EngineError: The engine broke one of its own invariants.
    """
    failed = np.flatnonzero(progress["stop"] <= ILLEGAL)
    if not len(failed):
        return
    first = int(failed[0])
    game, stop = games[first], progress["stop"][first]
    where = f"the game of seed {int(game.seed[0]) | int(game.seed[1]) << 32}"
    if stop == BROKEN:
        raise EngineError(
            f"The engine broke an invariant in {where}: {FAULTS[game.fault]}. Please report it."
        )
    policy = policy_of(first, int(game.player))
    policy.check_table(int(game.num_players))
    who = f"Policy {policy.name!r} in {where}"
    if stop == STUCK:
        raise endless(who)
    raise refusal(who, game, int(progress["answer"][first]))


def answers(policy: Policy, decisions: Decisions) -> NDArray[np.int64]:
    """Ask a policy outside the compiled loop.

    Whatever it does wrong is stopped here, but for an endless loop in its code.

    Args:
        policy: The policy.
        decisions: Its decisions, on copies of the games.

    Returns:
        (B,) int64; whether the actions are legal is checked when they are carried out.

    Raises:
        PolicyError: The policy raised an error, exited, or changed a game. Errors of this library
            are passed on.
        ConfigurationError: It returned something other than (B,) integers, or does not play at
            tables of this size.
    """
    for seated in set(decisions.games["num_players"].tolist()) if policy.num_players else ():
        policy.check_table(seated)
    records = _bytes(decisions.games)
    before = records.copy()
    try:
        given = policy.act(decisions)
    except MonopolyError:
        raise
    except (Exception, SystemExit) as error:
        raise failure(policy, decisions.games, error) from error
    different = records != before
    different[:, _DRAWS] = False  # it may draw from the random stream of its seat
    if different.any():
        raise PolicyError(
            f"Policy {policy.name!r} changed a game: expected it only to read."
            f" {_asked(decisions.games)}"
        )
    actions = array_of(given)
    if actions.shape != (len(decisions),) or actions.dtype.kind not in "iu":
        raise ConfigurationError(
            f"Policy {policy.name!r} must return integers of shape ({len(decisions)},), not"
            f" {actions.dtype} of shape {actions.shape}."
        )
    return np.ascontiguousarray(actions, np.int64)


def failure(policy: Policy, games: Games, error: BaseException) -> PolicyError:
    """The error for a policy that raised another one, or exited.

    That happened when it was asked about these games.
    """
    what = "exited" if isinstance(error, SystemExit) else f"raised {type(error).__name__}: {error}"
    return PolicyError(f"Policy {policy.name!r} {what.rstrip('.')}. {_asked(games)}")


def _asked(games: Games) -> str:
    """The decisions that a policy was asked for, of which the first is named."""
    game = games[0]
    several = f"{len(games)} decisions, the first in " if len(games) > 1 else ""
    seed, decision = (
        int(game["seed"][0]) | int(game["seed"][1]) << 32,
        DECISION_NAMES[game["decision"]],
    )
    return (
        f"It was asked for {several}the game of seed {seed}, turn {game['turns']}, {decision!r} of"
        f" player {game['player']}."
    )


def _bytes(games: Games) -> NDArray[np.uint8]:
    """Records as rows of bytes, which share their memory."""
    return games.view(np.uint8).reshape(len(games), -1)


def endless(who: str) -> IllegalActionError:
    """The error for a policy that never ends its turn."""
    return IllegalActionError(
        f"{who}: it made {PATIENCE} decisions in one turn and never came to an end of it."
    )


def refusal(who: str, game: Game, action: Any) -> IllegalActionError:
    """The error for an illegal action.

    Args:
        who: The policy or the game that the message begins with; empty if there is only one.
        game: The game before the action.
        action: An integer, in the range of actions or not.
    """
    if not 0 <= action < NUM_ACTIONS:
        start = f"{who}: action" if who else "Action"
        return IllegalActionError(
            f"{start} {action} must be an integer from 0 to {NUM_ACTIONS - 1}."
        )
    return IllegalActionError(
        f"{who}: {core.illegal(game, int(action))}" if who else str(core.illegal(game, int(action)))
    )
