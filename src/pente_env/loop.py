"""The game loop: whole games between compiled players, on all cores.

    >>> from pente_env.loop import Table, play_games
    >>> from pente_env.rules import Rules
    >>> from pente_env.scripted import make
    >>> table = Table.of([make("better"), make("capturer")])
    >>> results = play_games(table, [[0, 1], [1, 0]], [0, 0], Rules())

`seats` says which player sits where in each game. A player may be a row of numbers among thousands
that share a kernel (`Table.of_rows`), so one call plays a whole generation. The results do not
depend on the number of threads.

A game in which nobody drew a random number is the same for every seed: it is played once for the
seats of a match.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env.errors import ConfigurationError, IllegalActionError, check_threads
from monopoly_env.kernels import borrowed, entry, inlined, kernel
from monopoly_env.kernels.philox import split_seeds
from monopoly_env.kernels.signatures import Array1, Array2, Records
from pente_env import core
from pente_env.core import check_players, name_of
from pente_env.game import MAX_PLAYERS, RUNNING, Game, Games, empty_games
from pente_env.moves import anywhere, is_legal, put, start
from pente_env.player import MEMORY, Player, call
from pente_env.rules import Rules

ILLEGAL: Final = -1  # instead of the ending of a game: a player chose a point that is not legal
FORFEIT: Final = -2  # instead of a point: the seat to move gives up the game
_SLICE: Final = 64  # games per thread at the least; with fewer, the thread costs more than it saves

# How a game ended.
RESULT: Final = np.dtype(
    (
        np.record,
        [
            ("winner", np.int16),  # a seat; -1: nobody
            ("ending", np.int16),  # an index into ENDINGS
            ("moves", np.int32),  # stones put by all seats together
            ("captured", np.int32, (MAX_PLAYERS,)),  # stones that each seat has taken
            ("point", np.int32),  # the last one
            ("draws", np.int32),  # random numbers that the players have drawn
        ],
    )
)


class Table(NamedTuple):
    """Players in the form that the loop reads. Keep a reference to them while you use it.

    Attributes:
        kernels: (K,) handles of kernels, for `call`.
        params: (K, L) float64, rows of numbers, padded with zeros; L is at least 1.
        lengths: (K,) int64, the lengths of the rows.
        observes: (K,) bool, whether the kernels are called before every stone.
    """

    kernels: Array1[np.int64]
    params: Array2[np.float64]
    lengths: Array1[np.int64]
    observes: Array1[np.bool_]

    @classmethod
    def of(cls, players: Sequence[Player]) -> Table:
        """Each player by its place in the sequence."""
        return cls.of_rows(np.zeros((0, 1)), None, players)

    @classmethod
    def of_rows(
        cls, rows: NDArray[np.float64], like: Player | None, others: Sequence[Player] = ()
    ) -> Table:
        """Players with the same kernel and different numbers, without an object for each.

        Other players may follow.

        Args:
            rows: (N, L) float64, the numbers of each.
            like: The player whose kernel they share.
            others: More players: the first of them is number N.
        """
        count, length = rows.shape
        lengths = np.array([length] * count + [len(player.params) for player in others], np.int64)
        params = np.zeros((len(lengths), lengths.max(initial=1)))
        params[:count, :length] = rows
        for row, player in zip(params[count:], others, strict=True):
            row[: len(player.params)] = player.params
        all_players = [like] * count + list(others)
        handles = np.array([player.kernel.handle for player in all_players if player], np.int64)
        observes = np.array([player.observes for player in all_players if player], np.bool_)
        return cls(handles, params, lengths, observes)


@inlined
def ask(game: Game, table: Table, seats: Any, memory: Any) -> int:
    """The point that the player to move chooses, unchecked.

    The others that observe do so, too.

    Args:
        game: A game that is not over.
        table: The players.
        seats: (P,) the number of the player in each seat; -1: somebody outside the loop, for whom
            the answer is -1.
        memory: (P, 64), the memory of each seat.
    """
    point, to_move = -1, int(game.player)
    for seat in range(len(seats)):
        number = seats[seat]
        if number >= 0 and (seat == to_move or table.observes[number]):
            row = table.params[number][: table.lengths[number]]
            chosen = call(table.kernels[number], game, seat, row, memory[seat])
            if seat == to_move:
                point = chosen
    return point


@entry
def _play(
    template: Games,
    seeds: Array2[np.int64],
    seats: Array2[np.int64],
    table: Table,
    memory: Array2[np.float64],
    games: Games,
    out: Annotated[NDArray[Any], Records(RESULT)],
) -> None:
    """Play games one after another; `memory` and `games` are scratch."""
    template, seeds, seats = borrowed(template), borrowed(seeds), borrowed(seats)
    table, memory, games, out = borrowed(table), borrowed(memory), borrowed(games), borrowed(out)
    players = seats.shape[1]
    for g in range(len(seeds)):
        before = g - players  # in matches, the game from the same seat
        if before >= 0 and out[before].draws == 0 and _same(seats[before], seats[g]):
            out[g] = out[before]
            continue
        games[0] = template[0]
        game = games[0]
        start(game, players, seeds[g, 0], seeds[g, 1])
        memory[:] = 0.0
        result = out[g]
        while game.ending == RUNNING:
            point = ask(game, table, seats[g], memory)
            if not is_legal(game, point):
                game.ending, game.last = ILLEGAL, 0
                result.point = point
                break
            put(game, point)
            result.point = point
        result.winner, result.ending, result.moves = game.winner, game.ending, game.moves
        for seat in range(players):
            result.captured[seat] = game.captured[seat]
            result.draws += game.draws[seat]


@entry
def replace_illegal(games: Games, points: Array1[np.int64], at_random: bool) -> None:
    """Replace each illegal point by a legal one, or by FORFEIT.

    The legal one is drawn from the stream of the seat to move.
    """
    for i in range(len(games)):
        game = games[i]
        if not is_legal(game, points[i]):
            points[i] = anywhere(game, int(game.player)) if at_random else FORFEIT


def chosen_point(games: Games, action: object, illegal: str) -> int:
    """The point that an action stands for in an environment with one game: a legal one, or FORFEIT.

    Args:
        games: (1,) records.
        action: What was given.
        illegal: What happens to an illegal point: `raise`, `penalize` or `random`.

    Raises:
        IllegalActionError: The point is not legal, with `raise`, or not on the board.
        ConfigurationError: The action is not an integer, or an array of one.
    """
    point = core.check_action(action)
    on_board, points = 0 <= point < int(games[0].rules.side) ** 2, np.array([point])
    replace_illegal(games, points, on_board and illegal == "random")
    if points[0] == FORFEIT and not (on_board and illegal == "penalize"):
        raise core.illegal(games[0], point)
    return int(points[0])


@kernel
def _same(ones: Any, others: Any) -> bool:
    """Whether the same players sit in the same seats."""
    same = True
    for seat in range(len(ones)):
        same &= ones[seat] == others[seat]
    return same


def play_games(
    table: Table,
    seats: ArrayLike,
    seeds: ArrayLike,
    rules: Rules | str = "schrum",
    threads: int | None = None,
) -> NDArray[np.void]:
    """Play whole games.

    Args:
        table: The players.
        seats: (G, P) integers, the number of the player in each seat.
        seeds: (G,) one for each game, 0 to 2**64 - 1.
        rules: Rules, or the name of a preset.
        threads: Number of threads; by default one per core.

    Returns:
        (G,) RESULT.

    Raises:
        ConfigurationError: Wrong shapes, or a seat for a player that is not there.
        IllegalActionError: A player chose a point that is not legal.
    """
    who, words = np.ascontiguousarray(seats, np.int64), split_seeds(np.asarray(seeds))
    if who.ndim != 2 or len(who) != len(words):
        raise ConfigurationError(
            f"seats must be (G, P) for the {len(words)} seeds, not of shape {who.shape}."
        )
    check_players(who.shape[1])
    if who.size and not 0 <= who.min() <= who.max() < len(table.lengths):
        raise ConfigurationError(
            f"seats hold numbers from {who.min()} to {who.max()}; there are the players 0 to"
            f" {len(table.lengths) - 1}."
        )
    template = empty_games(1)
    template["rules"] = Rules.coerce(rules).to_record()
    out = np.zeros(len(who), RESULT)
    _in_slices(template, words, who, table, out, check_threads(threads))
    _check(out, template)
    return out


def _in_slices(template: Any, words: Any, who: Any, table: Table, out: Any, threads: int) -> None:
    def run(part: slice) -> None:
        memory = np.zeros((who.shape[1], MEMORY))
        _play(template, words[part], who[part], table, memory, empty_games(1), out[part])

    # Slices are small, so that threads end together though games differ in length.
    size = max(_SLICE, -(-len(out) // (8 * threads)))
    parts = [slice(at, at + size) for at in range(0, len(out), size)]
    if threads == 1 or len(parts) == 1:
        run(slice(0, len(out)))
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, parts))


def _check(out: Any, template: Any) -> None:
    failed = np.flatnonzero(out["ending"] == ILLEGAL)
    if len(failed):
        game, size = int(failed[0]), int(template[0].rules.side)
        raise IllegalActionError(
            f"Game {game} of {len(out)}: the player to make move {out['moves'][game] + 1} chose"
            f" {name_of(int(out['point'][game]), size)}, which is not a legal point there; -1 is a"
            " network's answer on a board of another size than its own, or to a row without"
            " weights."
        )
