"""The five scripted players of Schrum's paper.

Each goes down a list of rungs, and the first that offers a point decides.

Random puts a stone anywhere. Blocker fills the ends of runs of four, then of three. Capturer takes
pairs, then prepares brackets. Simple builds a row through its first stone, then a column. Better
does so on all four lines, and only where there is room for five. Builders neither block nor take on
purpose, the others do not try to win by five, and nobody distinguishes between two opponents; with
`blocks`, which is ours, a builder blocks first, perhaps one of them only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from monopoly_env.errors import ConfigurationError, nearest, shortened
from monopoly_env.kernels import kernel
from pente_env.game import Game
from pente_env.lines import (
    CAPTURES,
    DIRECTIONS,
    FOURS,
    LEGAL,
    PREPARATIONS,
    PROSPECTS,
    THREES,
    count,
    first,
    first_end,
    holds,
    is_empty,
    nth,
)
from pente_env.moves import anywhere, draw, is_legal, reach, takes
from pente_env.options import check_choices, check_names, choice, choices_of, numbers
from pente_env.player import Player, PlayerKernel, Row, player_kernel


@dataclass(frozen=True)
class NoOptions:
    """The options of `random`, of which there are none; base class of the others' options."""

    def __post_init__(self) -> None:
        check_choices(self, ConfigurationError)


@dataclass(frozen=True)
class Blocker(NoOptions):
    """The options of `blocker`."""

    ties: str = choice(
        "which of several equally good points (P14): the first, row by row, or any",
        "first", "random",
    )  # fmt: skip


@dataclass(frozen=True)
class Capturer(Blocker):
    """The options of `capturer`."""

    captures: str = choice(
        "which captures are equally good (P18): all, or those that take most", "any", "most"
    )
    prepares: str = choice(
        "around what it prepares a bracket (P19): a single stone; or also a pair that stands open",
        "single", "pairs",
    )  # fmt: skip


@dataclass(frozen=True)
class Builder(NoOptions):
    """The options of `simple` and `better`."""

    ends: str = choice(
        "which end, if both are free (P20): any, anew each time; or forward until that is closed",
        "random", "forward",
    )  # fmt: skip
    opening_stone: str = choice(
        "the first stone of a seat that does not begin (P21): anywhere, the free point nearest to "
        "the centre, or the first free one",
        "random", "nearest", "first",
    )  # fmt: skip
    blocks: str = choice(
        "whose runs of four, then of three, it ends before it builds: nobody's, those of all, of "
        "the seat that moves next after it, or of the one after that. So two at a table of three "
        "may spare each other",
        "none", "all", "next", "after",
    )  # fmt: skip


_RANDOM_TIES: Final = choices_of(Blocker, "ties").index("random")
_MOST: Final = choices_of(Capturer, "captures").index("most")
_PAIRS: Final = choices_of(Capturer, "prepares").index("pairs")
_FORWARD: Final = choices_of(Builder, "ends").index("forward")
_NEAREST: Final = choices_of(Builder, "opening_stone").index("nearest")
_FIRST: Final = choices_of(Builder, "opening_stone").index("first")
_NONE, _ALL, _NEXT, _AFTER = range(len(choices_of(Builder, "blocks")))

# In the memory of a builder: the number of its first stone's point + 1, and the axis that it is at
SEED, AXIS = 0, 1


@kernel
def _one_of(game: Game, seat: int, what: int, ties: float) -> int:
    """One of the points at which a seat would do what is asked; -1 if there is none."""
    if ties != _RANDOM_TIES:
        return first(game, seat, what)
    points = count(game, seat, what)
    return nth(game, seat, what, draw(game, seat, points)) if points else -1


@player_kernel
def play_random(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Put a stone on any legal point."""
    return anywhere(game, seat)


@player_kernel
def play_blocker(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Fill the end of a run of four, then of three."""
    point = _one_of(game, seat, FOURS, params[0])
    if point < 0:
        point = _one_of(game, seat, THREES, params[0])
    return point if point >= 0 else anywhere(game, seat)


@player_kernel
def play_capturer(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Take stones, else prepare to."""
    if params[1] == _MOST:
        point = _best_capture(game, seat, params[0])
    else:
        point = _one_of(game, seat, CAPTURES, params[0])
    if point < 0:
        point = _one_of(game, seat, PROSPECTS if params[2] == _PAIRS else PREPARATIONS, params[0])
    return point if point >= 0 else anywhere(game, seat)


@kernel
def _best_capture(game: Game, seat: int, ties: float) -> int:
    """One of the points that take most stones; -1 if none takes any."""
    most, equal = 0, 0
    points = count(game, seat, CAPTURES)
    for i in range(points):
        taken = takes(game, seat, nth(game, seat, CAPTURES, i))
        equal = equal + 1 if taken == most else equal if taken < most else 1
        most = max(most, taken)
    skip = draw(game, seat, equal) if ties == _RANDOM_TIES and points else 0
    for i in range(points):
        point = nth(game, seat, CAPTURES, i)
        if takes(game, seat, point) == most:
            if skip == 0:
                return point
            skip -= 1
    return -1


@player_kernel
def play_simple(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Build a row through the seed, then a column."""
    return _build(game, seat, params, memory, 2, False)


@player_kernel
def play_better(game: Any, seat: int, params: Row, memory: Row) -> int:
    """Build a line through the seed where there is room for five."""
    return _build(game, seat, params, memory, 4, True)


@kernel
def _build(game: Game, seat: int, params: Row, memory: Row, axes: int, needs_room: bool) -> int:
    """Block, if asked to; else extend the run through the seed on the first axis that is open.

    If there is none, begin again.
    """
    if params[2] != _NONE:
        point = _block(game, seat, params[2])
        if point >= 0:
            return point
    seed, side = int(memory[SEED]) - 1, int(game.rules.side)
    if seed >= 0 and holds(game, seat, seed // side, seed % side):
        axis = open_axis(game, seat, seed, int(memory[AXIS]), axes, needs_room)
        if axis < axes:
            memory[AXIS] = axis
            return _end_to_play(game, seat, seed, axis, params[0])
    seed = _opening_stone(game, seat, params[1]) if seed < 0 else anywhere(game, seat)
    memory[SEED], memory[AXIS] = seed + 1, 0
    return seed


@kernel
def _block(game: Game, seat: int, whose: float) -> int:
    """The first end of a run of four, else of three, that is to be blocked; -1: there is none."""
    players = int(game.num_players)
    for length in (4, 3):
        for ahead in range(1, players):
            after = whose == _AFTER and ahead == 2 % players
            if whose == _ALL or (whose == _NEXT and ahead == 1) or after:
                point = first_end(game, (seat + ahead) % players, length)
                if point >= 0:
                    return point
    return -1


@kernel
def open_axis(game: Game, seat: int, seed: int, axis: int, axes: int, needs_room: bool) -> int:
    """The first axis from this one on on which the run can be extended; `axes`: there is none."""
    while axis < axes:
        wide = not needs_room or room(game, seat, seed, axis) >= 5
        if wide and (end(game, seat, seed, axis) >= 0 or end(game, seat, seed, axis + 4) >= 0):
            break
        axis += 1
    return axis


@kernel
def end(game: Game, seat: int, seed: int, direction: int) -> int:
    """The free point at the end of the run through the seed in a direction; -1 if it is closed."""
    side, dr, dc = int(game.rules.side), DIRECTIONS[direction, 0], DIRECTIONS[direction, 1]
    steps = 1 + reach(game, seat, seed // side, seed % side, dr, dc)
    r, c = seed // side + steps * dr, seed % side + steps * dc
    return side * r + c if is_empty(game, r, c) and is_legal(game, side * r + c) else -1


@kernel
def room(game: Game, seat: int, seed: int, axis: int) -> int:
    """How many points of a seat or of nobody lie side by side on an axis through the seed."""
    side, points = int(game.rules.side), 1
    for direction in (axis, axis + 4):
        dr, dc = DIRECTIONS[direction, 0], DIRECTIONS[direction, 1]
        r, c = seed // side + dr, seed % side + dc
        while is_empty(game, r, c) or holds(game, seat, r, c):
            points += 1
            r, c = r + dr, c + dc
    return points


@kernel
def _end_to_play(game: Game, seat: int, seed: int, axis: int, ends: float) -> int:
    forward, backward = end(game, seat, seed, axis), end(game, seat, seed, axis + 4)
    if forward < 0 or backward < 0:
        return max(forward, backward)
    if ends == _FORWARD:
        return forward
    return forward if draw(game, seat, 2) == 0 else backward


@kernel
def _opening_stone(game: Game, seat: int, option: float) -> int:
    """Where the first attempt begins."""
    if option == _FIRST:
        return first(game, seat, LEGAL)
    return _nearest(game) if option == _NEAREST else anywhere(game, seat)


@kernel
def _nearest(game: Game) -> int:
    """The legal point nearest to the centre: by its larger distance either way, then the other."""
    side, best, least = int(game.rules.side), -1, 1 << 30
    for point in range(side * side):
        down, right = abs(point // side - side // 2), abs(point % side - side // 2)
        distance = max(down, right) * side + min(down, right)
        if distance < least and is_legal(game, point):
            best, least = point, distance
    return best


SCRIPTED: Final[Mapping[str, tuple[PlayerKernel, type[NoOptions]]]] = {
    "random": (play_random, NoOptions),
    "blocker": (play_blocker, Blocker),
    "capturer": (play_capturer, Capturer),
    "simple": (play_simple, Builder),
    "better": (play_better, Builder),
}


def names() -> tuple[str, ...]:
    """The names that `make` knows.

    Examples:
        >>> from pente_env.scripted import names
        >>> names()
        ('random', 'blocker', 'capturer', 'simple', 'better')
    """
    return tuple(SCRIPTED)


def make(name: str, **options: str) -> Player:
    """Make a scripted player.

    Examples:
        >>> from pente_env.scripted import make
        >>> make("blocker", ties="random").name
        'blocker'

    Args:
        name: One of `names()`.
        **options: Options of that player, by name: those of `Blocker`, `Capturer` and `Builder`.

    Raises:
        ConfigurationError: The name, an option or its value is unknown; the message gives the
            nearest valid one.
    """
    if not isinstance(name, str) or name not in SCRIPTED:
        raise ConfigurationError(
            f"Unknown player {shortened(name)}. {nearest(shortened(name), SCRIPTED)}"
        )
    kernel, kind = SCRIPTED[name]
    check_names(kind, options, ConfigurationError)
    return Player(name, kernel, numbers(kind(**options)))


def options_of(name: str) -> dict[str, str]:
    """The options of a scripted player and what they mean.

    Examples:
        >>> from pente_env.scripted import options_of
        >>> list(options_of("better"))
        ['ends', 'opening_stone', 'blocks']

    Raises:
        KeyError: There is no such player.
    """
    return {option.name: option.metadata["doc"] for option in dataclasses.fields(SCRIPTED[name][1])}
