"""Choices in whole games of compiled policies: the experience of agents of `agents.learned`.

Any policy is recorded in the agent's own terms, so that the same data serve for imitation and for
self-play: the picks that compose an offer become parts and a price. What can't be told in these
terms, such as a part of lots of three groups, is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.learned import compact
from agents.learned.action_space import NO_CHOICE, NUM_CHOICES, PACKAGE, PRICE, is_asked
from agents.learned.agent import PLAYERS, choose, first_action, is_own, look, own_memory, play
from agents.learned.answers import note_offer
from agents.learned.architectures import NETWORK_OF
from agents.learned.menus import NO_PACKAGE, OfferMenus, clear, find_place, new_menus
from agents.learned.prices import nearest
from monopoly_env.actions import A_BID, A_REPLY, RAISES
from monopoly_env.engine import agenda, trade
from monopoly_env.engine.step import apply
from monopoly_env.game import Game
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.signatures import Array1, Array3
from monopoly_env.kernels.threads import in_order
from monopoly_env.policy.loop import OUTSIDE, Players, Running, next_of
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Row
from monopoly_env.rules import Rules
from training.experience.recording import write_halves
from training.experience.rows import Rows

# games that a thread plays at a time; a batch that is cut elsewhere has other choices
SLICE: Final = 8
PACKED: Final = -(-NUM_CHOICES // 8)  # bytes of a packed mask
TURN_LIMIT: Final = 1000  # turns of each player after which the score decides

# choices recorded before they are copied; those of an offer that is being made then are left out
ROOM: Final = 2048
_LAST_BID: Final = A_BID + len(RAISES)
_COUNTER: Final = A_REPLY + trade.COUNTER


class _Columns(NamedTuple):
    observation: NDArray[Any]
    open: NDArray[Any]
    choice: NDArray[Any]
    network: NDArray[Any]
    player: NDArray[Any]
    game: NDArray[Any]
    outcome: NDArray[Any]


class Choices(Rows, _Columns):
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

    TYPES = (
        (np.float16, "features"), (np.uint8, "packed"), (np.int16,), (np.int8,), (np.int8,),
        (np.int32,), (np.float32,),
    )  # fmt: skip


def play_games(
    policies: Sequence[CompiledPolicy], seats: NDArray[np.int64], recorded: NDArray[np.bool_], *,
    rules: Rules, seed: int = 0,
    first: int = 0, threads: int | None = None, turn_limit: int = TURN_LIMIT,
) -> Choices:  # fmt: skip
    """Play games and record the choices of some of the policies.

    Examples:
        >>> import agents, numpy as np, monopoly_env as me
        >>> from training.experience.choices import play_games
        >>> policies = [agents.make("expert"), agents.make("random")]
        >>> seats, recorded = np.array([[0, 1], [1, 0]]), np.array([True, False])
        >>> choices = play_games(policies, seats, recorded, rules=me.Rules())
        >>> choices.observation.shape[1], float(choices.player[choices.game == 1].mean())
        (656, 1.0)

    Args:
        policies: K policies.
        seats: (G, P), the number of the policy in each seat of each game.
        recorded: (K,), whose choices are wanted.
        rules: The rules.
        seed: The high half of the games' seeds.
        first: The low half of the first game's seed; the others follow.
        threads: By default one per core. The choices do not depend on it.
        turn_limit: Turns of each player after which the score decides a game.

    Raises:
        IllegalActionError: A policy chose an illegal action, or never ended its turn.
    """
    num_players = seats.shape[1]
    features = compact.length(num_players)
    acts_here = np.array(
        [policy.kernel is play and policy.params[PLAYERS] == num_players for policy in policies],
        np.bool_,
    )

    def record(running: Running) -> list[Choices]:
        shape = running.seats.shape
        recorder = Recorder(
            recorded, acts_here, np.zeros((*shape, MEMORY)), np.full((*shape, 2), NO_CHOICE),
            np.zeros(NUM_CHOICES, np.bool_), np.zeros(features, np.float32),
            np.zeros(NUM_CHOICES, np.float32),
        )  # fmt: skip
        parts = Choices.written(
            lambda rows: _record(running, recorder, rows), ROOM, features=features, packed=PACKED
        )
        return [part.take(np.flatnonzero(part.choice != NO_CHOICE)) for part in parts]

    return recorded_choices(
        record, policies, seats,
        rules=rules, seed=seed, first=first, threads=threads, turn_limit=turn_limit,
    )  # fmt: skip


def recorded_choices(
    record: Callable[[Running], list[Choices]], policies: Sequence[CompiledPolicy],
    seats: NDArray[np.int64], *, rules: Rules, seed: int, first: int, threads: int | None,
    turn_limit: int,
) -> Choices:  # fmt: skip
    """Play games on threads, SLICE at a time, and join what is recorded of them.

    `record` plays games and returns choices without the outcome; the rest as for `play_games`.
    """
    players = Players.of(policies)

    def played(start: int) -> list[Choices]:
        seated = seats[start : start + SLICE]
        running = Running.begin(
            players, seated, first + start + np.arange(len(seated)),
            seed=seed, rules=rules, turn_limit=turn_limit,
        )  # fmt: skip
        parts = record(running)
        running.check(policies)
        shares = running.shares().astype(np.float32)
        return [
            part._replace(outcome=shares[part.game, part.player], game=part.game + np.int32(start))
            for part in parts
        ]

    slices = in_order(played, range(0, len(seats), SLICE), threads, "games")
    return Choices.joined([part for parts in slices for part in parts])


class Recorder(NamedTuple):
    """Recorded choices of running games, and buffers.

    Attributes:
        wanted: (K,) bool, the policies whose choices are recorded.
        acts_here: (K,) bool, the policies that are networks: what was worked out and seen for the
            record also makes their choices, so that for the loop they are outside it.
        answers: (B, P, 64) float64, the memory that other policies would have as networks.
        pending: (B, P, 2) int64, the rows of the package and the price that each player offers,
            which are not known yet; NO_CHOICE: none.
        open: (NUM_CHOICES,) bool, a buffer.
        seen: (D,) float32, a buffer.
        outputs: (NUM_CHOICES,) float32, a buffer.
    """

    wanted: Array1[np.bool_]
    acts_here: Array1[np.bool_]
    answers: Array3[np.float64]
    pending: Array3[np.int64]
    open: Array1[np.bool_]
    seen: Array1[np.float32]
    outputs: Array1[np.float32]


@entry
def _record(running: Running, recorder: Recorder, rows: Choices) -> int:
    """Play games until all have ended or the rows are full; returns the number of rows written."""
    running, recorder, rows = borrowed(running), borrowed(recorder), borrowed(rows)
    answers, pending, seen = recorder.answers, recorder.pending, recorder.seen
    pending[:] = NO_CHOICE
    menus, count = new_menus(), 0
    for i in range(len(running.games)):
        game = running.games[i]
        clear(menus)
        while count < len(rows.choice):
            seat, found = int(game.player), NO_CHOICE
            number = running.seats[i, seat]
            if game.decision != agenda.OVER and recorder.wanted[number] and is_asked(game):
                if not recorder.acts_here[number]:
                    found = look(game, menus, answers[i, seat], recorder.open, seen)
                elif is_own(game, _row_of(running, i)):
                    memory = own_memory(_row_of(running, i), running.memory[i, seat])
                    found = look(game, menus, memory, recorder.open, seen)
            if found >= 0 and recorder.acts_here[number]:
                running.progress[i].answer = _choose(game, running, recorder, found, menus, i)
                running.progress[i].answered = 1
                running.seats[i, seat] = OUTSIDE
            action = next_of(running, i)
            running.seats[i, seat] = number
            if action < 0:
                break
            if game.decision == agenda.REPLY or (
                game.decision == agenda.ASK and game.offer_ask == 0
            ):
                # an offer begins or is answered; the player's last one was perhaps given up
                pending[i, seat] = NO_CHOICE
            if found > 1:
                _note(game, i, seat, action, recorder.open, seen, pending[i, seat], rows, count)
                count += 1
            apply(game, action)
            if game.decision == agenda.REPLY:
                maker = int(game.offer_from)
                _resolve(game, menus, pending[i, maker], answers[i, maker], rows)
    return count


@kernel
def _choose(game: Game, running: Any, recorder: Any, found: int, menus: OfferMenus, i: int) -> int:
    """The action of a network whose observation and open choices were looked at."""
    params, memory = _row_of(running, i), running.memory[i, int(game.player)]
    choice = choose(game, params, found, recorder.open, recorder.seen, recorder.outputs)
    return first_action(game, choice, menus, memory)


@kernel
def _row_of(running: Any, i: int) -> Row:
    """The row of the player to decide."""
    players, number = running.players, running.seats[i, int(running.games[i].player)]
    row: Row = players.params[number][: players.lengths[number]]
    return row


@kernel
def _note(
    game: Game, number: int, seat: int, action: int, open_: Any, seen: Any, pending: Any,
    rows: Choices, at: int,
) -> None:  # fmt: skip
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
        # a small raise: the smallest that is open
        for raised in range(action + 1, _LAST_BID + 1 if action > A_BID else 0):
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
