"""The winner of a small board of two players: `python -m studies.pente_solver --help`.

    # five in a row alone: a draw, of three players too if two collude against the first
    python -m studies.pente_solver --size 5 --captures none
    python -m studies.pente_solver --size 5 --positions 100_000_000 --table-bits 24

    # Solution(value='draw', ...), or 'unknown' if `positions` do not suffice
    solve(pe.new_game(rules=pe.Rules(size=5)))

A search asks whether one seat can force a win: first one seat, then the other; if neither can, the
game is a draw. Depth-first proof-number search (Nagai 2002) expands the positions with the fewest
left to prove. Symmetric positions share an entry of the table. Two rules prune the search: a player
who faces an immediate threat must take a point of that threat or capture, since anything else
loses; and without captures, a defender does not lose if the open lines can be paired
(`can_be_paired`). Boards are bits, as in `pente_env.lines`: point (r, c) is bit 8 r + c, and column
7 is always empty.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from rich.console import Console
from rich.progress import Progress

from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.engine import sets
from monopoly_env.errors import ConfigurationError, whole_number
from monopoly_env.kernels import borrowed, entry, kernel
from pente_env.core import legal_actions, new_game, sound, step
from pente_env.game import RUNNING, SMALL, Game
from pente_env.rules import MIN_SIZE, Rules, number

NEEDED: Final = 5  # pairs
_FAR: Final = 1 << 28  # the proof number of a refuted position
_POINTS: Final = SMALL * SMALL
_DEEPEST: Final = _POINTS + 4 * NEEDED + 2
_TAKEN: Final = 56  # a key holds the pairs above the points
_WORD: Final = 0x7FFFFFFFFFFFFFFF
# Positions per call of compiled code, a few seconds: between calls it reports progress or stops at
# Ctrl-C
_PIECE: Final = 1 << 20
_PROBES: Final = 4  # possible entries of a position in the table
# Value of an additional line served by a pair, in lines that lose a point by it
_SHARED: Final = 10

# A position: both boards and captured pairs, those of the player to move first. A node of the path
# holds the positions of all its children.
_MINE, _THEIRS, _MINE_TAKEN, _THEIRS_TAKEN = range(4)


@dataclass(frozen=True)
class Solution:
    """The result of a search.

    Attributes:
        value: `first` or `second`, the seat that wins; `draw`; or `unknown`.
        first: Whether the first seat can force a win; None if unknown.
        second: Whether the second seat can; None if unknown.
        positions: The number of searched positions.
    """

    value: str
    first: bool | None
    second: bool | None
    positions: int


def solve(
    game: Game,
    positions: int = 10_000_000,
    table_bits: int = 20,
    progress: Callable[[int], None] = lambda searched: None,
) -> Solution:
    """Find the winner.

    Args:
        game: Two players on a board of up to 7 x 7, with the openings `centre` or `free`, pairs or
            no captures, and overlines that win.
        positions: The maximum of positions of each of the two searches.
        table_bits: The table has 2 to this many entries of 28 bytes.
        progress: Called from time to time with the positions searched since the last call.

    Raises:
        ConfigurationError: An unsupported game, or numbers out of range.
    """
    _check(game, positions, table_bits)
    game = game.copy()
    # The stone in the centre, for one
    while game.ending == RUNNING and len(legal_actions(game)) == 1:
        step(game, int(legal_actions(game)[0]))
    if game.ending != RUNNING:
        value = "draw" if game.winner < 0 else ("first", "second")[int(game.winner)]
        return Solution(value, value == "first", value == "second", 0)
    first, spent = _can_win(game, 0, positions, table_bits, progress)
    second, more = (False, 0) if first else _can_win(game, 1, positions, table_bits, progress)
    value = (
        "first"
        if first
        else "second"
        if second
        else "draw"
        if first is second is False
        else "unknown"
    )
    return Solution(value, first, second, spent + more)


def colluders_hold(side: int) -> bool:
    """Whether two who collude keep the first of three from five in a row, without captures.

    They answer its stone in the centre by two stones after which every open line has a pair of its
    own (`can_be_paired`); any further stone of theirs closes lines and never hurts. False: no such
    answer is found.
    """
    lines, board = lines_of_five(side), _board(side)
    empty = board & ~(1 << 9 * (side // 2))
    points = [1 << bit for bit in range(8 * side) if empty >> bit & 1]
    return any(
        can_be_paired(one | other, empty & ~(one | other), lines)
        for one, other in itertools.combinations(points, 2)
    )


def _check(game: Game, positions: int, table_bits: int) -> None:
    rules = sound(game)[0].rules
    known = rules.overlines == number("overlines", "win") and rules.captures != number(
        "captures", "keryo"
    )
    known = known and rules.opening in (number("opening", "centre"), number("opening", "free"))
    if game.num_players != 2 or rules.side > SMALL or not known:
        raise ConfigurationError(
            f"Games of two on boards of up to {SMALL} x {SMALL} can be solved, with overlines that"
            " win, without keryo captures, with the opening centre or free; not a game of"
            f" {game.num_players} on {rules.side} x {rules.side} with these rules."
        )
    whole_number("positions", positions, 1)
    whole_number("table_bits", table_bits, 4, 30)


def _can_win(
    game: Game, seat: int, positions: int, table_bits: int, progress: Callable[[int], None]
) -> tuple[bool | None, int]:
    """Whether a seat can force a win, or None if unknown; and the number of searched positions."""
    mover, other = int(game.player), 1 - int(game.player)
    keys, numbers = (
        np.full((1 << table_bits, 2), -1, np.int64),
        np.zeros((1 << table_bits, 3), np.int32),
    )
    root = np.array(
        [
            game.whole[mover],
            game.whole[other],
            game.captured[mover] // 2,
            game.captured[other] // 2,
        ],
        np.int64,
    )
    takes = game.rules.captures != number("captures", "none")
    out, spent = np.ones(3, np.int64), 0
    # The table passes results from call to call
    while spent < positions and out[0] and out[1]:
        _search(
            root,
            mover == seat,
            int(game.rules.side),
            takes,
            min(_PIECE, positions - spent),
            keys,
            numbers,
            out,
        )
        spent += int(out[2])
        progress(int(out[2]))
    proof, disproof = (out[0], out[1]) if mover == seat else (out[1], out[0])
    return (True if proof == 0 else False if disproof == 0 else None), spent


# --- rules on bits


@kernel
def shifted(bits: int, steps: int) -> int:
    """The points shifted by a number of bits."""
    return (bits << steps) & _WORD if steps >= 0 else bits >> -steps


@kernel
def fives(mine: int, empty: int) -> int:
    """The empty points at which a stone makes five in a row or more."""
    found = 0
    for axis in (1, 8, 9, 7):
        before, after = shifted(mine, axis), shifted(mine, -axis)
        before2, after2 = before & shifted(mine, 2 * axis), after & shifted(mine, -2 * axis)
        before3, after3 = before2 & shifted(mine, 3 * axis), after2 & shifted(mine, -3 * axis)
        found |= (before & after3) | (before2 & after2) | (before3 & after)
        found |= (before3 & shifted(mine, 4 * axis)) | (after3 & shifted(mine, -4 * axis))
    return found & empty


@kernel
def captures(mine: int, theirs: int, empty: int) -> int:
    """The empty points at which a stone takes a pair."""
    found = 0
    for axis in (1, 8, 9, 7):
        for steps in (axis, -axis):
            found |= shifted(theirs, steps) & shifted(theirs, 2 * steps) & shifted(mine, 3 * steps)
    return found & empty


@kernel
def open_lines(free: int) -> int:
    """The number of lines of five within these points."""
    count = 0
    for axis in (1, 8, 9, 7):
        two = free & (free >> axis)
        count += sets.size(two & (two >> 2 * axis) & (free >> 4 * axis))
    return count


@kernel
def taken(mine: int, theirs: int, stone: int) -> int:
    """The stones that a new stone captures."""
    found = 0
    for axis in (1, 8, 9, 7):
        for steps in (axis, -axis):
            near = shifted(stone, steps) & theirs
            far = shifted(near, steps) & theirs
            if shifted(far, steps) & mine:
                found |= near | far
    return found


@kernel
def wins(mine: int, theirs: int, mine_taken: int, empty: int, takes: bool) -> int:
    """The empty points at which a stone wins at once."""
    found = fives(mine, empty)
    if takes:
        rest = captures(mine, theirs, empty)
        if mine_taken == NEEDED - 1:
            return found | rest
        while rest:
            stone = rest & -rest
            rest ^= stone
            if 2 * mine_taken + sets.size(taken(mine, theirs, stone)) >= 2 * NEEDED:
                found |= stone
    return found


@kernel
def worth_trying(mine: int, theirs: int, theirs_taken: int, empty: int, takes: bool) -> int:
    """The moves to consider: all empty points; under a threat, its points and captures."""
    threats = wins(theirs, mine, theirs_taken, empty, takes)
    if threats == 0:
        return empty
    return threats | captures(mine, theirs, empty) if takes else threats


# --- pairs of points


@kernel
def lines_of_five(side: int) -> Any:
    """Every line of five points of a board, as bits."""
    lines, count = np.zeros(4 * _POINTS, np.int64), 0
    for axis in (1, 8, 9, 7):
        line = 1 | 1 << axis | 1 << 2 * axis | 1 << 3 * axis | 1 << 4 * axis
        for first in range(8 * side - 4 * axis):
            if (line << first) & ~_board(side) == 0:
                lines[count] = line << first
                count += 1
    return lines[:count]


@kernel
def can_be_paired(defended: int, empty: int, lines: Any) -> bool:
    """Whether disjoint pairs of empty points were found, one in every line open to the attacker.

    A defender who answers a stone in a pair by its other point never loses a line (Hales and
    Jewett, "Regularity and positional games", 1963). The search is greedy, the line with the fewest
    empty points first, so it may miss a pairing.
    """
    left, count = np.zeros(len(lines), np.int64), 0
    for line in lines:
        if int(line) & defended == 0:
            left[count] = line
            count += 1
    while count:
        tightest = 0
        for i in range(1, count):
            if sets.size(int(left[i]) & empty) < sets.size(int(left[tightest]) & empty):
                tightest = i
        pair = _best_pair(int(left[tightest]) & empty, left, count)
        if pair == 0:
            return False
        empty, kept = empty & ~pair, 0
        for i in range(count):
            if int(left[i]) & pair != pair:
                left[kept] = left[i]
                kept += 1
        count = kept
    return True


@kernel
def _best_pair(points: int, lines: Any, count: int) -> int:
    """Two of these points that serve many lines and take few points from others; 0 without two."""
    best, most = 0, -_FAR
    while points:
        one = points & -points
        points ^= one
        others = points
        while others:
            pair = one | (others & -others)
            others &= others - 1
            worth = 0
            for i in range(count):
                inside = int(lines[i]) & pair
                worth += _SHARED if inside == pair else -1 if inside else 0
            if worth > most:
                best, most = pair, worth
    return best


# --- symmetries


@kernel
def upside_down(bits: int, side: int) -> int:
    """A board with its rows in reverse order."""
    turned = 0
    for r in range(side):
        turned |= ((bits >> 8 * r) & 0xFF) << 8 * (side - 1 - r)
    return turned


@kernel
def mirrored(bits: int, side: int) -> int:
    """A board with its columns in reverse order."""
    bits = ((bits >> 1) & 0x5555555555555555) | ((bits & 0x5555555555555555) << 1)
    bits = ((bits >> 2) & 0x3333333333333333) | ((bits & 0x3333333333333333) << 2)
    bits = ((bits >> 4) & 0x0F0F0F0F0F0F0F0F) | ((bits & 0x0F0F0F0F0F0F0F0F) << 4)
    return bits >> (8 - side)


@kernel
def transposed(bits: int) -> int:
    """A board with rows and columns exchanged."""
    for mask, steps in (
        (0x0F0F0F0F00000000, 28),
        (0x3333000033330000, 14),
        (0x5500550055005500, 7),
    ):
        changed = mask & (bits ^ (bits << steps))
        bits ^= changed ^ (changed >> steps)
    return bits


@kernel
def write_key(position: Any, side: int, key: Any) -> None:
    """Write the canonical key of a position, two numbers that symmetric positions share."""
    mine, theirs, first = int(position[_MINE]), int(position[_THEIRS]), True
    for turn in range(8):
        if turn == 4:
            mine, theirs = transposed(mine), transposed(theirs)
        elif turn % 2 == 0 and turn:
            mine, theirs = upside_down(mine, side), upside_down(theirs, side)
        elif turn:
            mine, theirs = mirrored(mine, side), mirrored(theirs, side)
        if first or mine < key[0] or (mine == key[0] and theirs < key[1]):
            key[0], key[1], first = mine, theirs, False
    key[0] |= int(position[_MINE_TAKEN]) << _TAKEN
    key[1] |= int(position[_THEIRS_TAKEN]) << _TAKEN


# --- the table


@kernel
def _place(keys: Any, key: Any) -> int:
    """The first possible entry of a position."""
    mixed = (int(key[0]) * 0x1E3779B97F4A7C15) ^ (int(key[1]) * 0x3F58476D1CE4E5B9)
    mixed ^= (mixed >> 29) & 0x7FFFFFFFF
    return (mixed * 0x14D049BB133111EB >> 17) & (len(keys) - 1)


@kernel
def _look_up(keys: Any, numbers: Any, key: Any, out: Any) -> bool:
    """Write the two numbers of a position; returns whether it is in the table."""
    place = _place(keys, key)
    for probe in range(_PROBES):
        at = (place + probe) & (len(keys) - 1)
        if keys[at, 0] == key[0] and keys[at, 1] == key[1]:
            out[0], out[1] = numbers[at, 0], numbers[at, 1]
            return True
    return False


@kernel
def _store(keys: Any, numbers: Any, key: Any, wish: int, fear: int, spent: int) -> None:
    """Store the two numbers of a position, replacing the entry that took the least work."""
    place, chosen, least = _place(keys, key), -1, _WORD
    for probe in range(_PROBES):
        at = (place + probe) & (len(keys) - 1)
        if keys[at, 0] == key[0] and keys[at, 1] == key[1]:
            chosen = at
            break
        if keys[at, 0] < 0 and least >= 0:
            chosen, least = at, -1
        elif numbers[at, 2] < least:
            chosen, least = at, int(numbers[at, 2])
    keys[chosen, 0], keys[chosen, 1] = key[0], key[1]
    numbers[chosen, 0], numbers[chosen, 1], numbers[chosen, 2] = wish, fear, min(spent, _FAR)


# --- the search

# Each position has two numbers: `wish`, the positions left to prove that the mover reaches its goal
# (a win for the attacker; no win of the attacker for the defender), and `fear`, the same for its
# opponent. 0 is proved, `_FAR` is refuted.


@kernel
def _judge(
    position: Any, attacks: bool, side: int, takes: bool, lines: Any, known: bool, out: Any
) -> None:
    """Write the numbers of a position: proved if evident, else the known ones, else a heuristic."""
    mine, theirs = int(position[_MINE]), int(position[_THEIRS])
    empty = _board(side) & ~(mine | theirs)
    defended = theirs if attacks else mine
    if wins(mine, theirs, int(position[_MINE_TAKEN]), empty, takes):
        out[0], out[1] = 0, _FAR
    elif empty == 0 or (not takes and can_be_paired(defended, empty, lines)):
        # The attacker does not win
        out[0], out[1] = (_FAR, 0) if attacks else (0, _FAR)
    elif not known:
        work = _work(mine if attacks else theirs, defended, empty, side, takes)
        out[0], out[1] = (1, 1 + work) if attacks else (1 + work, 1)


@kernel
def _work(attacking: int, defended: int, empty: int, side: int, takes: bool) -> int:
    """A heuristic for the work to prove that the attacker does not win.

    It grows steeply with the empty points, so the search goes deep first: of several forms tried on
    random positions of 5 x 5 with 12 stones it needed the fewest positions, an eighth of those
    with open lines only.
    """
    free, brackets = (
        sets.size(empty),
        sets.size(captures(attacking, defended, empty)) if takes else 0,
    )
    return free**4 * (2 + open_lines(_board(side) & ~defended) + 2 * brackets) // 64


@kernel
def _board(side: int) -> int:
    bits = 0
    for r in range(side):
        bits |= ((1 << side) - 1) << 8 * r
    return bits


@kernel
def _expand(
    node: Any,
    attacks: bool,
    side: int,
    takes: bool,
    lines: Any,
    keys: Any,
    numbers: Any,
    positions: Any,
    names: Any,
    found: Any,
    known: Any,
) -> int:
    """Write the position, key and numbers after each move to consider; returns the count."""
    mine, theirs = int(node[_MINE]), int(node[_THEIRS])
    rest, count = (
        worth_trying(
            mine, theirs, int(node[_THEIRS_TAKEN]), _board(side) & ~(mine | theirs), takes
        ),
        0,
    )
    while rest:
        stone = rest & -rest
        rest ^= stone
        lost = taken(mine, theirs, stone) if takes else 0
        positions[count, _MINE], positions[count, _THEIRS] = theirs & ~lost, mine | stone
        positions[count, _MINE_TAKEN], positions[count, _THEIRS_TAKEN] = (
            node[_THEIRS_TAKEN],
            node[_MINE_TAKEN] + sets.size(lost) // 2,
        )
        write_key(positions[count], side, names[count])
        count += 1
    # Without a branch, so that all memory accesses overlap
    for child in range(count):
        known[child] = keys[_place(keys, names[child]), 0] == names[child, 0]
    for child in range(count):
        known[child] = _look_up(keys, numbers, names[child], found[child])
    for child in range(count):
        _judge(positions[child], not attacks, side, takes, lines, known[child], found[child])
    return count


@kernel
def _sum_up(found: Any, count: int, out: Any) -> None:
    """Write a node's wish and fear from its children, the child to expand, and the second fear."""
    least, second, best, fear = _FAR, _FAR, 0, 0
    for child in range(count):
        theirs = int(found[child, 1])
        fear = min(_FAR - 1, fear + int(found[child, 0]))  # below the value of a refutation
        if theirs < least:
            least, second, best = theirs, least, child
        elif theirs < second:
            second = theirs
    out[0], out[1], out[2], out[3] = least, fear if least else _FAR, best, second


@entry
def _search(
    root: Any, attacks: bool, side: int, takes: bool, limit: int, keys: Any, numbers: Any, out: Any
) -> None:
    """Depth-first proof-number search; writes wish and fear of the root, and its positions."""
    keys, numbers = borrowed(keys), borrowed(numbers)
    positions, names = (
        np.zeros((_DEEPEST, _POINTS, 4), np.int64),
        np.zeros((_DEEPEST, _POINTS, 2), np.int64),
    )
    found, counts = np.zeros((_DEEPEST, _POINTS, 2), np.int64), np.zeros(_DEEPEST, np.int64)
    thresholds, began, at = (
        np.zeros((_DEEPEST, 2), np.int64),
        np.zeros(_DEEPEST, np.int64),
        np.zeros(_DEEPEST, np.int64),
    )
    own, summary, lines, known = (
        np.zeros(2, np.int64),
        np.zeros(4, np.int64),
        lines_of_five(side),
        np.zeros(_POINTS, np.bool_),
    )
    write_key(root, side, own)
    _judge(root, attacks, side, takes, lines, _look_up(keys, numbers, own, out), out)
    depth, searched = 0, 1
    if out[0] and out[1]:
        counts[0] = _expand(
            root,
            attacks,
            side,
            takes,
            lines,
            keys,
            numbers,
            positions[0],
            names[0],
            found[0],
            known,
        )
        thresholds[0] = _FAR
    while out[0] and out[1]:
        _sum_up(found[depth], counts[depth], summary)
        wish, fear, best, second = summary[0], summary[1], summary[2], summary[3]
        if (
            wish >= thresholds[depth, 0]
            or fear >= thresholds[depth, 1]
            or wish == 0
            or searched >= limit
        ):
            if depth == 0:
                out[0], out[1] = wish, fear
                break
            depth -= 1
            child = at[depth]
            found[depth, child, 0], found[depth, child, 1] = wish, fear
            _store(keys, numbers, names[depth, child], wish, fear, searched - began[depth + 1])
            continue
        at[depth], began[depth + 1] = best, searched
        thresholds[depth + 1, 0] = min(_FAR, thresholds[depth, 1] + found[depth, best, 0] - fear)
        thresholds[depth + 1, 1] = min(thresholds[depth, 0], second + second // 4 + 1)
        depth += 1
        searched += 1
        mover = attacks if depth % 2 == 0 else not attacks
        counts[depth] = _expand(
            positions[depth - 1, best],
            mover,
            side,
            takes,
            lines,
            keys,
            numbers,
            positions[depth],
            names[depth],
            found[depth],
            known,
        )
    out[2] = searched


# --- the command


@dataclass(frozen=True)
class Options:
    """Search for a forced win of the first player, then of the second, after a centre stone."""

    size: int = 5
    """Points along a side, 5 to 7."""
    captures: Literal["pairs", "none"] = "pairs"
    """pairs: Pente; none: five in a row only."""
    positions: int = 10_000_000
    """Maximum of positions of each of the two searches."""
    table_bits: int = 22
    """The table has 2 to this many entries of 28 bytes."""
    json: bool = False
    """Print one JSON object."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 if it searched, whatever it found."""
    return command.main("studies.pente_solver", Command(Options, search, show), arguments)


def search(options: Options, console: Console) -> dict[str, Any]:
    """Search the board.

    Raises:
        ConfigurationError: The board is too small or too large.
    """
    if not MIN_SIZE <= options.size <= SMALL:
        raise ConfigurationError(
            f"--size {options.size}: boards from {MIN_SIZE} x {MIN_SIZE} to {SMALL} x {SMALL}"
            " can be solved."
        )
    game = new_game(rules=Rules(size=options.size, captures=options.captures))
    began = time.perf_counter()
    with Progress(console=console, transient=True) as bar:
        positions = bar.add_task("Positions of both searches, at most", total=2 * options.positions)
        found = solve(
            game,
            options.positions,
            options.table_bits,
            lambda searched: bar.advance(positions, searched),
        )
    return {
        "size": options.size,
        "captures": options.captures,
        **dataclasses.asdict(found),
        "colluders_hold": None
        if options.captures == "pairs"
        else colluders_hold(options.size) or None,
        "seconds": round(time.perf_counter() - began, 1),
    }


def show(found: dict[str, Any]) -> None:
    """Print who wins."""
    size, said = found["size"], {True: "yes", False: "no", None: "not settled"}
    print(f"{size} x {size}, captures {found['captures']}: {found['value']}")
    print(f"first player can force a win: {said[found['first']]}; second: {said[found['second']]}")
    print(f"two of three who collude hold the first: {said[found['colluders_hold']]}")
    print(f"{found['positions']:,} positions, {found['seconds']:,} s")


if __name__ == "__main__":
    sys.exit(main())
