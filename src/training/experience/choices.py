"""Games of compiled policies, with what each choice was: the experience of a learned agent.

The agent is one of `agents.learned`.

Any policy is recorded in the agent's own terms, so that the same data serve for watching experts
and for learning from own games: the picks that compose an offer become parts and a price. What
can't be told in these terms, such as a part of lots of three groups, is left out.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.learned import compact
from agents.learned.action_space import NO_CHOICE, NUM_CHOICES, PACKAGE, PRICE, is_asked
from agents.learned.agent import PLAYERS, choose, first_action, look, play
from agents.learned.answers import note_offer
from agents.learned.architectures import NETWORK_OF
from agents.learned.menus import NO_PACKAGE, OfferMenus, clear, find_place, new_menus
from agents.learned.prices import nearest
from monopoly_env.actions import A_BID, A_REPLY, NUM_ACTIONS, RAISES
from monopoly_env.engine import agenda, trade
from monopoly_env.engine.step import apply
from monopoly_env.game import Game, Games, empty_games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.policy.loop import OUTSIDE, PROGRESS, Players, check, next_action
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy
from monopoly_env.rules import Rules
from training.experience.recording import begin_games, write_halves

# games that a thread plays at a time; who cuts a block of games cuts it here, or the choices differ
SLICE: Final = 8
PACKED: Final = -(-NUM_CHOICES // 8)  # bytes of a packed mask
TURN_LIMIT: Final = 1000  # turns of each player after which the score decides

# choices recorded before they are copied; those of an offer that is being made then are left out
_ROWS: Final = 2048
_LAST_BID: Final = A_BID + len(RAISES)
_COUNTER: Final = A_REPLY + trade.COUNTER


class Choices(NamedTuple):
    """N choices of whole games, in the order of games and then of time.

    Attributes:
        observation: (N, D) float16, what the player saw, in the encoding `compact`.
        open: (N, 32) uint8, the packed mask of the open choices; two or more.
        choice: (N,) int16, what the player chose.
        network: (N,) int8, the network that answers: an index into `architectures.NAMES`.
        player: (N,) int8, the player's seat.
        game: (N,) int32, the game, counted from 0.
        outcome: (N,) float32, the player's share of the win in the end.
    """

    observation: NDArray[Any]
    open: NDArray[Any]
    choice: NDArray[Any]
    network: NDArray[Any]
    player: NDArray[Any]
    game: NDArray[Any]
    outcome: NDArray[Any]

    @classmethod
    def empty(cls, count: int, features: int, packed: int = PACKED) -> Choices:
        """Room for so many, not yet filled."""
        return cls(
            np.empty((count, features), np.float16), np.empty((count, packed), np.uint8),
            np.empty(count, np.int16),
            np.empty(count, np.int8), np.empty(count, np.int8), np.empty(count, np.int32),
            np.empty(count, np.float32),
        )  # fmt: skip

    @classmethod
    def joined(cls, parts: Sequence[Choices]) -> Choices:
        """Several sets, one after the other."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def take(self, rows: Any) -> Choices:
        """Some of the rows."""
        return Choices(*(column[rows] for column in self))

    @property
    def size(self) -> int:
        """N; `len` counts the columns."""
        return len(self.choice)


def play_games(
    policies: Sequence[CompiledPolicy],
    seats: NDArray[np.int64],
    recorded: NDArray[np.bool_],
    *,
    rules: Rules,
    seed: int = 0,
    first: int = 0,
    threads: int | None = None,
    turn_limit: int = TURN_LIMIT,
) -> Choices:
    """Play games and record the choices of some of the policies.

    Args:
        policies: K policies.
        seats: (G, P), the number of the policy in each seat of each game.
        recorded: (K,), whose choices are wanted.
        rules: The rules.
        seed: The high half of the games' seeds.
        first: The low half of the first game's seed; the others follow.
        threads: Number of threads; by default one per core. The choices do not depend on it.
        turn_limit: Turns of each player after which the score decides a game.

    Returns:
        The choices of all games.

    Raises:
        IllegalActionError: A policy chose an illegal action, or never ended its turn.
    """
    players, features = Players.of(policies), compact.length(seats.shape[1])
    played_here = np.array(
        [policy.kernel is play and policy.params[PLAYERS] == seats.shape[1] for policy in policies],
        np.bool_,
    )
    empty = empty_games(1)
    empty["rules"] = rules.to_record()

    def play_slice(start: int) -> list[Choices]:
        seated = seats[start : start + SLICE]
        count = len(seated)
        games, progress = empty_games(count), np.zeros(count, PROGRESS)
        begin_games(games, empty, seats.shape[1], seed, first + start)
        memory, answers = np.zeros((2, count, seats.shape[1], MEMORY))
        pending = np.full((count, seats.shape[1], 2), NO_CHOICE)
        buffers = (
            np.zeros(NUM_ACTIONS, np.bool_), np.zeros(NUM_CHOICES, np.bool_),
            np.zeros(features, np.float32),
            np.zeros(NUM_CHOICES, np.float32),
        )  # fmt: skip
        parts: list[Choices] = []
        full = True
        while full:
            rows = Choices.empty(_ROWS, features)
            written = _record(
                games, memory, answers, seated, progress, pending, players,
                turn_limit * seats.shape[1], recorded, played_here, *buffers,
                rows._replace(observation=rows.observation.view(np.uint16)),
            )  # fmt: skip
            full = written == _ROWS
            known = np.flatnonzero(rows.choice[:written] != NO_CHOICE)
            parts.append(rows.take(known))
        check(games, progress, lambda game, seat: policies[seated[game, seat]])
        won = games["place"][:, : seats.shape[1]] == 1
        shares = (won / won.sum(axis=1, keepdims=True)).astype(np.float32)
        return [
            part._replace(outcome=shares[part.game, part.player], game=part.game + np.int32(start))
            for part in parts
        ]

    with ThreadPoolExecutor(threads or os.cpu_count() or 1, "games") as pool:
        return Choices.joined(
            [part for parts in pool.map(play_slice, range(0, len(seats), SLICE)) for part in parts]
        )


@entry()
def _record(
    games: Games, memory: NDArray[np.float64], answers: NDArray[np.float64],
    seats: NDArray[np.int64], progress: NDArray[Any],
    pending: NDArray[np.int64], players: Players, turn_limit: int, recorded: NDArray[np.bool_],
    played_here: NDArray[np.bool_],
    mask: NDArray[np.bool_], open_: NDArray[np.bool_], seen: NDArray[np.float32],
    outputs: NDArray[np.float32], rows: Choices,
) -> int:  # fmt: skip
    """Play games, one after the other, until all have ended or the rows are full.

    Returns the number of rows written.

    `played_here` (K,) tells which policies are networks: their choices that are recorded are also
    made here, by what was worked out and seen for the record. For the loop they are then policies
    outside it. What others would remember if they were networks is in `answers`. `pending` (B, P,
    2) has the rows of the package and the price that each player offers, which are not known yet;
    NO_CHOICE: none.
    """
    memory, seats, players, mask, rows = (
        borrowed(memory),
        borrowed(seats),
        borrowed(players),
        borrowed(mask),
        borrowed(rows),
    )
    answers = borrowed(answers)
    pending[:] = NO_CHOICE
    menus, count = new_menus(), 0
    for i in range(len(games)):
        game, asked = games[i], seats[i].copy()
        clear(menus)
        while count < len(rows.choice):
            seat, found = int(game.player), NO_CHOICE
            number = seats[i, seat]
            if game.decision != agenda.OVER and recorded[number] and is_asked(game):
                found = look(
                    game,
                    menus,
                    (memory if played_here[number] else answers)[i, seat],
                    open_,
                    seen,
                )
            asked[seat] = number
            if found >= 0 and played_here[number]:
                choice = choose(
                    game,
                    players.params[number][: players.lengths[number]],
                    found,
                    open_,
                    seen,
                    outputs,
                )
                progress[i].answer, progress[i].answered = (
                    first_action(game, choice, menus, memory[i, seat]),
                    1,
                )
                asked[seat] = OUTSIDE
            action = next_action(game, players, asked, memory[i], mask, progress[i], turn_limit)
            if action < 0:
                break
            if game.decision == agenda.REPLY or (
                game.decision == agenda.ASK and game.offer_ask == 0
            ):
                # an offer begins or is answered; the player's last one was perhaps given up
                pending[i, seat] = NO_CHOICE
            if found > 1:
                _note(game, i, seat, action, open_, seen, pending[i, seat], rows, count)
                count += 1
            apply(game, action)
            if game.decision == agenda.REPLY:
                maker = int(game.offer_from)
                _resolve(game, menus, pending[i, maker], answers[i, maker], rows)
    return count


@kernel
def _note(
    game: Game,
    number: int,
    seat: int,
    action: int,
    open_: Any,
    seen: Any,
    pending: Any,
    rows: Choices,
    at: int,
) -> None:
    """Write a choice down; which package or price it is shows later."""
    write_halves(seen, seen.view(np.int32), rows.observation[at])
    for byte in range(PACKED):
        bits = 0
        for bit in range(min(8, NUM_CHOICES - 8 * byte)):
            bits |= int(open_[8 * byte + bit]) << (7 - bit)
        rows.open[at, byte] = bits
    rows.network[at], rows.player[at], rows.game[at] = NETWORK_OF[game.decision], seat, number
    rows.choice[at] = NO_CHOICE
    if agenda.ASK <= game.decision <= agenda.CASH:
        pending[int(game.decision == agenda.CASH)] = at
    elif action == _COUNTER:
        rows.choice[at] = A_REPLY
    elif open_[action]:
        rows.choice[at] = action
    else:
        for raised in range(
            action + 1, _LAST_BID + 1 if action > A_BID else 0
        ):  # a small raise: the smallest that is open
            if open_[raised]:
                rows.choice[at] = raised
                break


@kernel
def _resolve(game: Game, menus: OfferMenus, pending: Any, answers: Any, rows: Choices) -> None:
    """An offer was made: note its parts and its price."""
    if pending[0] != NO_CHOICE:
        package = find_place(
            menus.packages[int(game.offer_to)], int(game.offer_ask), int(game.offer_give)
        )
        _settle(rows, int(pending[0]), NO_CHOICE if package == NO_PACKAGE else PACKAGE + package)
    if pending[1] != NO_CHOICE:
        _settle(rows, int(pending[1]), PRICE + nearest(menus.prices, int(game.offer_cash)))
        note_offer(game, int(game.offer_cash), menus.limits, answers)
    pending[:] = NO_CHOICE


@kernel
def _settle(rows: Choices, at: int, choice: int) -> None:
    """Note a choice, if there is one and it was open."""
    if min(at, choice) >= 0 and rows.open[at, choice >> 3] >> (7 - (choice & 7)) & 1:
        rows.choice[at] = choice


@entry()
def lambda_returns(
    values: NDArray[np.float32], outcome: NDArray[np.float32], game: NDArray[np.int32],
    player: NDArray[np.int8], keep: float,
    out: NDArray[np.float32],
) -> None:  # fmt: skip
    """The return of each choice.

    It is the outcome, or the value of the player's later states, weighted as in TD(lambda).

    R_t = (1 - keep) V(s_t+1) + keep R_t+1, and the outcome after the player's last choice (Sutton
    and Barto, 2018, 12.1; no discount).

    Args:
        values: (N,) V of the state of each choice.
        outcome: (N,) of the player's game.
        game: (N,) in rising order.
        player: (N,) the seat.
        keep: Lambda: 1 takes the outcome alone.
        out: (N,) filled.
    """
    later, value = np.full(8, np.nan, np.float64), np.zeros(8, np.float64)
    for row in range(len(values) - 1, -1, -1):
        if row + 1 < len(values) and game[row + 1] != game[row]:
            later[:] = np.nan
        seat = int(player[row])
        if np.isnan(later[seat]):
            later[seat] = outcome[row]
        else:
            later[seat] = (1.0 - keep) * value[seat] + keep * later[seat]
        value[seat] = values[row]
        out[row] = later[seat]
