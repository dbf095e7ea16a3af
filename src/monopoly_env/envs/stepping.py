"""The compiled loop of `VectorMonopoly`: advances games, compiled opponents included."""

from __future__ import annotations

from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monopoly_env import encoding as encodings
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.engine import agenda
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.engine.sets import has
from monopoly_env.engine.setup import start
from monopoly_env.engine.step import apply, count_legal, is_legal, nth_legal, write_mask
from monopoly_env.game import MAX_PLAYERS, NOBODY, Game, Games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.philox import philox
from monopoly_env.kernels.signatures import Array1, Array2, Array3, Records
from monopoly_env.policy.loop import (
    BROKEN,
    ILLEGAL,
    NO_LIMIT,
    OUTSIDE,
    PROGRESS,
    WAITING,
    Players,
    next_action,
)
from monopoly_env.policy.loop import begin as begin_progress
from monopoly_env.rewards import Terms, staying, write_reward

LEARNER: Final = OUTSIDE  # instead of the number of an opponent: the learner sits in this seat
BEGIN: Final = -1  # instead of an action: begin the next game
GO_ON: Final = -2  # instead of an action: a batched opponent has answered
FORFEIT: Final = -3  # instead of an action: the player to move ends the game by an illegal one
READY: Final = -1  # instead of the number of an opponent: the game waits for none
MANY_GAMES: Final = 1000  # games in a row that may end before the learner has a decision
# what `advance` reports, as bits: a game failed, one waits for a batched opponent, one has ended
FAILED, WAITS, FINISHED = 1, 2, 4
# why a game stopped, beside the reasons of the loop: MANY_GAMES have ended
NEVER_ASKED: Final = BROKEN - 1

_WORD: Final = 0xFFFFFFFF


class Settings(NamedTuple):
    """The settings that all games share, as the kernels read them."""

    num_players: int
    turn_limit: int  # turns of all players together
    autoreset: bool
    seat: int  # the learner's seat; LEARNER: a random one in every game
    encoding: int  # `Encoding.handle`
    terms: Terms  # `Reward.terms`
    key_low: int
    key_high: int
    max_steps: int  # steps after which a game is truncated


# The state of a game beside its record. Kernels pass one pointer to it instead of many arrays.
STATE: Final = np.dtype(
    (
        np.record,
        [
            ("generation", np.int64),  # games begun in this row
            # two words: of a row with a seed of its own, the seed of its first game
            ("seed", np.int64, (2,)),
            ("steps", np.int64),  # decisions of whoever steps the vector in this game
            ("progress", PROGRESS),  # of the game loop
            ("reward_memory", np.float64, (MAX_PLAYERS,)),  # of the reward
            ("unpaid", np.int32),  # the seats still in the game, one bit each
            # the number of the opponent in each seat, or LEARNER; unused in self-play
            ("seats", np.int16, (MAX_PLAYERS,)),
            ("learner", np.int16),  # the learner's seat, or NOBODY in self-play
            ("asked", np.int16),  # 1: the learner has had a decision in this game
            # the number of the batched opponent that the game waits for, or READY
            ("waiting", np.int16),
            # 1: the games of this row follow from its own seed, not from that of the vector
            ("own_seed", np.int16),
            ("spare", np.int16, (2,)),  # pads the record to a multiple of 8 bytes
        ],
    )
)


class Tables(NamedTuple):
    """The games, as the kernels read them."""

    games: Games
    ended: Games  # (B,) the last game that ended
    template: Games  # (1,) an empty game with its rules
    states: Annotated[NDArray[Any], Records(STATE)]  # (B,) of STATE
    # (P - 1,) the numbers of the opponents, clockwise from the learner; empty in self-play
    order: Array1[np.int16]
    memory: Array3[np.float64]  # (B, P, 64) of compiled opponents; (0, P, 64) in self-play


class Views(NamedTuple):
    """The arrays of a batch that the kernels write."""

    observation: Array2[np.float32]
    action_mask: Array2[np.bool_]
    player: Array1[np.int16]
    decision: Array1[np.int16]
    reward: Array2[np.float32]
    terminated: Array1[np.bool_]
    truncated: Array1[np.bool_]
    out: Array2[np.bool_]


@entry
def first_illegal(games: Games, actions: Array1[np.int64], ended: Array1[np.bool_]) -> int:
    """The first game whose action is not legal, or -1. Games that have ended need none."""
    for i in range(len(games)):
        if not ended[i] and (
            actions[i] < 0 or actions[i] >= NUM_ACTIONS or not is_legal(games[i], actions[i])
        ):
            return i
    return -1


@entry
def replace_illegal(
    games: Games, actions: Array1[np.int64], ended: Array1[np.bool_], at_random: bool
) -> None:
    """Replace illegal actions below NUM_ACTIONS by FORFEIT, or by random legal ones."""
    for i in range(len(games)):
        game = games[i]
        if not ended[i] and not is_legal(game, actions[i]):
            actions[i] = (
                nth_legal(game, policy_draw(game, int(game.player), count_legal(game)))
                if at_random
                else FORFEIT
            )


@entry
def advance(  # noqa: PLR0917 - compiled
    tables: Tables, views: Views, settings: Settings, players: Players, mask: Array1[np.bool_],
    todo: Array1[np.int64],
    actions: Array1[np.int64],
) -> int:  # fmt: skip
    """Carry out actions and advance each game until the learner or a batched opponent is to move.

    Args:
        tables: The games.
        views: The arrays of the batch, which are written.
        settings: The settings of all games.
        players: The compiled opponents. Opponents with higher numbers are batched.
        mask: (NUM_ACTIONS,), a buffer.
        todo: (T,), the numbers of the games.
        actions: (T,), a legal action for each, or BEGIN, GO_ON or FORFEIT.

    Returns:
        FAILED, WAITS and FINISHED, as bits.
    """
    tables, views, players, mask = (
        borrowed(tables),
        borrowed(views),
        borrowed(players),
        borrowed(mask),
    )
    report = 0
    for j in range(len(todo)):
        i = todo[j]
        game, state = tables.games[i], tables.states[i]
        begin, forfeit = actions[j] == BEGIN, actions[j] == FORFEIT
        if actions[j] >= 0:
            apply(game, actions[j])
        for attempt in range(MANY_GAMES + 1):
            if begin:
                tables.games[i] = tables.template[0]
                tables.memory[i : i + 1] = 0.0
                _begin(game, state, settings, tables.order, i)
                forfeit = False
            if state.learner != NOBODY and not forfeit:
                _let_opponents_play(game, state, settings, players, tables.memory[i], mask)
            if _is_stopped(game, state, attempt):
                report |= FAILED if state.progress.stop <= ILLEGAL else WAITS
                break
            state.steps += state.asked
            over = forfeit or _is_over(game, state)
            ended = over or game.turns > settings.turn_limit or state.steps >= settings.max_steps
            if state.asked:
                _pay(game, state, settings, forfeit, views.reward[i], views.out[i])
                if ended:
                    views.terminated[i] = over
                    views.truncated[i] = not over
                    tables.ended[i] = game
                    report |= FINISHED
            begin = ended and (settings.autoreset or not state.asked)
            if not begin:
                state.asked = 1
                player = int(game.player) if state.learner == NOBODY else int(state.learner)
                views.player[i] = player
                views.decision[i] = game.decision
                write_mask(game, views.action_mask[i])
                encodings.write(settings.encoding, game, player, views.observation[i])
                if ended:
                    views.decision[i] = agenda.OVER
                    views.action_mask[i] = False
                break
    return report


@kernel
def _begin(game: Game, state: Any, settings: Settings, order: NDArray[np.int16], i: int) -> None:
    """Begin the next game in row i; seed and random seat follow from the seed of row or vector."""
    i, generation = int(i), int(state.generation)
    state.generation = generation + 1
    state.unpaid = (1 << settings.num_players) - 1
    state.steps = 0
    state.asked = 0
    begin_progress(state.progress)
    state.learner = NOBODY
    for seat in range(MAX_PLAYERS):
        state.reward_memory[seat] = 0.0
    if len(order) > 0:
        seat = settings.seat
        if seat == LEARNER:
            seat = (_random_word(state, settings, i, generation, 2) * settings.num_players) >> 32
        state.learner = seat
        state.seats[seat] = LEARNER
        for offset in range(len(order)):
            state.seats[(seat + 1 + offset) % settings.num_players] = order[offset]
    low, high = (
        _random_word(state, settings, i, generation, 0),
        _random_word(state, settings, i, generation, 1),
    )
    if state.own_seed == 1 and generation == 0:
        low, high = int(state.seed[0]), int(state.seed[1])
    start(game, settings.num_players, low, high)


@kernel
def _random_word(state: Any, settings: Settings, i: int, generation: int, number: int) -> int:
    row, low, high = i, settings.key_low, settings.key_high
    if state.own_seed == 1:  # wherever the row is
        row, low, high = 0, int(state.seed[0]), int(state.seed[1])
    return philox(row, generation & _WORD, number, generation >> 32, low, high)


def following_seed(seed: int, number: int) -> int:
    """The seed of game `number` of a row whose first game, number 0, has the seed `seed`."""
    if number == 0:
        return seed
    low, high = (
        int(philox(0, number & _WORD, word, number >> 32, seed & _WORD, seed >> 32))
        for word in (0, 1)
    )
    return low | high << 32


@kernel
def _let_opponents_play(
    game: Game, state: Any, settings: Settings, players: Players, memory: Any, mask: Any
) -> None:
    """Let compiled opponents play until another is to move, the game ends or hits its limit."""
    players, memory, mask = borrowed(players), borrowed(memory), borrowed(mask)
    state.waiting = READY
    while not _is_over(game, state) and game.turns <= settings.turn_limit:
        action = next_action(game, players, state.seats, memory, mask, state.progress, NO_LIMIT)
        if action < 0:
            if action == WAITING and state.seats[game.player] != LEARNER:
                state.waiting = state.seats[game.player]
            return
        apply(game, action)


@kernel
def _is_stopped(game: Game, state: Any, attempt: int) -> bool:
    """Whether a game waits for a batched opponent or has failed."""
    if game.fault != 0:
        state.progress.stop = BROKEN
    elif attempt == MANY_GAMES:
        state.progress.stop = NEVER_ASKED
    return bool(state.waiting != READY or state.progress.stop <= ILLEGAL)


@kernel
def _is_over(game: Game, state: Any) -> bool:
    """Whether the game is over for the learner: it has ended, or the learner is bankrupt."""
    return bool(
        game.decision == agenda.OVER or (state.learner != NOBODY and game.place[state.learner] != 0)
    )


@kernel
def _pay(game: Game, state: Any, settings: Settings, forfeit: bool, reward: Any, out: Any) -> None:
    """Write rewards and the seats that left in a step; a forfeit costs its player 1, all leave."""
    before = int(state.unpaid)
    now = 0 if forfeit else staying(game)
    if forfeit:
        reward[int(game.player)] = -1.0  # the others were set to 0 before the step
    else:
        write_reward(settings.terms, game, before, now, state.reward_memory[:], reward)
    if now != before:
        for seat in range(settings.num_players):
            out[seat] = has(before & ~now, seat)
    state.unpaid = now


@entry
def write_observations(
    encoding: int, games: Games, seats: Array2[np.int64], out: Array3[np.float32]
) -> None:
    """Write the observations of several seats of each game: `seats` is (B, S), `out` (B, S, D)."""
    out = borrowed(out)
    for i in range(len(games)):
        for k in range(seats.shape[1]):
            encodings.write(encoding, games[i], seats[i, k], out[i, k])
