"""The compiled loop of a stream: what the players observe, do and gain in whole games."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.arena.counting import net_worth
from monopoly_env import encoding as encodings
from monopoly_env.actions import A_TURN
from monopoly_env.engine import agenda
from monopoly_env.engine.players import solvent_seats
from monopoly_env.engine.sets import size
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.game import MAX_PLAYERS, Game, Games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.signatures import Array1, Array2
from monopoly_env.policy.loop import Running, next_of
from monopoly_env.rewards import Terms, write_reward
from training.experience.masks import PACKED
from training.experience.rows import Rows

_OWING: Final = np.isin(
    np.arange(agenda.LAST_TASK + 1),
    [agenda.DEBT, agenda.CHARGE, agenda.PAY_EACH, agenda.COLLECT_EACH],
)
_REVERSED: Final = np.packbits(
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)[:, ::-1], axis=1
).ravel()


class _Columns(NamedTuple):
    observation: NDArray[Any]
    choices: NDArray[Any]
    action: NDArray[Any]
    decision: NDArray[Any]
    player: NDArray[Any]
    game: NDArray[Any]
    outcome: NDArray[Any]
    worth: NDArray[Any]
    final_worth: NDArray[Any]


class Experiences(Rows, _Columns):
    """N decisions of whole games, in the order of games and then of time.

    Attributes:
        observation: (N, D) float16, what the deciding player saw. Flags are exact in it, amounts to
            a part in 2,000.
        choices: (N, 26) uint8, what was legal: a packed (N, NUM_ACTIONS) mask
            (`training.experience.masks.unpack`).
        action: (N,) int16, what the player did.
        decision: (N,) int8, what was asked: an index into `monopoly_env.actions.DECISION_NAMES`.
        player: (N,) int8, the player's seat.
        game: (N,) int32, the number of the game in the stream; its seed and its seats follow from
            it.
        outcome: (N,) float32, how the game ended for the player, by the reward of the stream.
            `win`: 1 for the winner, -1/(P-1) for each other.
        worth: (N, 2) float32, dollars at the time of the decision: the player's net worth (cash,
            printed prices of its lots, purchase prices of its own buildings), and the cash alone.
        final_worth: (N,) float32, dollars: the player's net worth when the game ended. For a
            bankrupt player, its cash less the debt that ruined it: below zero, and never so for a
            solvent one unless the rules let cash fall below zero.
    """

    TYPES = (
        (np.float16, "features"), (np.uint8, PACKED), (np.int16,), (np.int8,), (np.int8,),
        (np.int32,), (np.float32,), (np.float32, 2), (np.float32,),
    )  # fmt: skip


class Wanted(NamedTuple):
    """Which decisions are recorded, and how.

    Attributes:
        actions: (7,) int64, the actions that make a decision worth recording, as bits, 32 per word.
        encoding: `Encoding.handle`.
        seen: (D,) float32, a buffer for an observation.
    """

    actions: Array1[np.int64]
    encoding: int
    seen: Array1[np.float32]


@entry
def record_games(
    running: Running, shortfall: Array2[np.int64], wanted: Wanted, rows: Experiences
) -> int:
    """Play games, one after the other, until all have ended or the rows are full.

    Args:
        running: The games.
        shortfall: (B, P), receives for each bankrupt player its cash less the debt that ruined it
            (dollars, negative).
        wanted: Which decisions are recorded.
        rows: Receives the decisions. Observations are the bits of float16; `game` is counted from
            0; columns that are known only at the end of a game are left out.

    Returns:
        The number of rows written. If all are full, call it again: the games are not over.
    """
    running, shortfall = borrowed(running), borrowed(shortfall)
    wanted, rows = borrowed(wanted), borrowed(rows)
    count = 0
    for i in range(len(running.games)):
        game = running.games[i]
        while count < len(rows.action):
            action = next_of(running, i)
            if action < 0:
                break
            if _is_wanted(game, wanted.actions):
                _note(game, i, action, wanted, rows, count)
                count += 1
            step_noting_shortfall(game, action, shortfall[i])
    return count


@kernel
def _is_wanted(game: Game, wanted: Any) -> bool:
    for word in range(len(wanted)):  # noqa: SIM110 - compiled
        if int(game.legal[word]) & int(wanted[word]):
            return True
    return False


@kernel
def _note(game: Game, number: int, action: int, wanted: Any, rows: Any, at: int) -> None:
    """Write a decision down."""
    seat, seen = int(game.player), wanted.seen
    encodings.write(wanted.encoding, game, seat, seen)
    write_halves(seen, seen.view(np.int32), rows.observation[at])
    for byte in range(PACKED):
        rows.choices[at, byte] = _REVERSED[(int(game.legal[byte >> 2]) >> (8 * (byte & 3))) & 0xFF]
    rows.action[at] = action
    rows.decision[at] = game.decision
    rows.player[at] = seat
    rows.game[at] = number
    rows.worth[at, 0] = net_worth(game, seat)
    rows.worth[at, 1] = game.cash[seat]


@kernel
def write_halves(values: Any, words: Any, out: Any) -> None:
    """Round to the nearest float16, ties to even.

    Eight times as fast as NumPy, which does it a number at a time.

    Args:
        values: (D,) float32, of magnitude below 65,520.
        words: (D,) int32, their bits.
        out: (D,) uint16, the bits of the float16.
    """
    for i in range(len(values)):
        # all in 32 bits: twice as many fit a register
        word = np.int32(words[i] & np.int32(0x7FFFFFFF))
        odd = np.int32((word >> np.int32(13)) & np.int32(1))
        # another exponent, ten bits
        normal = np.int32(np.int32(word - np.int32(0x38000000 - 0xFFF) + odd) >> np.int32(13))
        small = min(abs(values[i]), np.float32(2.0**-14))  # a larger one has no subnormal
        subnormal = np.int32(np.rint(small * np.float32(1 << 24)))  # in steps of 2**-24
        half = subnormal if word < np.int32(0x38800000) else normal
        out[i] = half | ((words[i] >> np.int32(16)) & np.int32(0x8000))


@kernel
def step_noting_shortfall(game: Game, action: int, shortfall: Any) -> None:
    """Carry out a legal action as the engine's `apply` does.

    It is noted what players that go bankrupt could not pay.
    """
    seat = int(game.player)
    due = int(game.agenda[int(game.depth) - 1, 2])
    short = int(game.cash[seat]) - due
    gives_up = game.decision == agenda.DEBT and action == A_TURN
    answer(game, action)
    if gives_up:
        shortfall[seat] = short
    goes_on = True
    while goes_on and game.depth > 0:
        top = int(game.depth) - 1
        if _OWING[game.agenda[top, 0]]:
            goes_on = _settle_debt(game, top, shortfall)
        else:
            goes_on = settle_one(game)


@kernel
def _settle_debt(game: Game, top: int, shortfall: Any) -> bool:
    """Settle the top task, which may ruin its player."""
    task, seat, due = int(game.agenda[top, 0]), int(game.agenda[top, 1]), int(game.agenda[top, 2])
    if game.place[seat] != 0:
        return settle_one(game)
    cash = int(game.cash[seat])
    if task == agenda.PAY_EACH:
        due *= size(solvent_seats(game)) - 1
    elif task == agenda.COLLECT_EACH:
        cash = 0  # a quirk of the rules ruins the player that should have got the sum
    goes_on = settle_one(game)
    if game.place[seat] != 0 and game.lots[seat] == 0:
        shortfall[seat] = cash - due
    return goes_on


@entry
def write_ends(
    terms: Terms,
    games: Games,
    shortfall: Array2[np.int64],
    outcomes: Array2[np.float32],
    worths: Array2[np.float32],
) -> None:
    """Write the rewards of games that have ended, and the final worth of each seat in dollars.

    Both are (B, P).
    """
    memory, everybody = np.zeros(MAX_PLAYERS), (1 << worths.shape[1]) - 1
    for i in range(len(games)):
        memory[:] = 0.0
        write_reward(terms, games[i], everybody, 0, memory, outcomes[i])
        for seat in range(worths.shape[1]):
            short = int(shortfall[i, seat])
            worths[i, seat] = short if short < 0 else net_worth(games[i], seat)
