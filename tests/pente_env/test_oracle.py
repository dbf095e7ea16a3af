"""The engine against a slow program of the same rules, at random positions.

They have two and three players.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import pente_env as pe
from pente_env import scripted
from tests.pente_env.oracle import Board

# Size, players, captures, overlines, and how many positions for each example of the profile.
TABLES = [
    (7, 2, "pairs", "win", 6),
    (7, 3, "pairs", "win", 6),
    (5, 2, "keryo", "nothing", 10),
    (6, 3, "pairs", "nothing", 2),
    (9, 2, "pairs", "win", 2),
    (11, 3, "keryo", "nothing", 1),
    (19, 2, "pairs", "win", 1),
    (7, 2, "none", "nothing", 1),
]


def questions(board: Board, seat: int) -> dict[str, Callable[[], list[tuple[int, int]]]]:
    """What can be asked of a position, and the answers of the slow program."""
    return {
        "legal": board.empty,
        "fives": lambda: [p for p in board.empty() if board.makes_five(seat, p)],
        "captures": lambda: [p for p in board.empty() if board.taken_by(seat, p)],
        "fours": lambda: board.run_ends(4, seat),
        "threes": lambda: board.run_ends(3, seat),
        "preparations": lambda: board.preparations(seat, False),
        "prospects": lambda: board.preparations(seat, True),
    }


def compare(game: Any, board: Board, generator: np.random.Generator) -> None:
    """What can be asked for one seat, and what a builder would do there."""
    size, seat = board.size, int(generator.integers(board.players))
    asked = questions(board, seat)
    for what in asked:
        points = asked[what]()
        assert pe.points(game, seat, what).tolist() == [size * r + c for r, c in points], (
            what,
            seat,
        )
        if what == "captures":
            assert [pe.takes(game, seat, size * r + c) for r, c in points] == [
                len(board.taken_by(seat, p)) for p in points
            ]
    own = [p for p, owner in board.stones.items() if owner == seat]
    if own:
        seed, needs_room = own[int(generator.integers(len(own)))], bool(generator.integers(2))
        axis, axes, point = (
            int(generator.integers(2)),
            4 if needs_room else 2,
            size * seed[0] + seed[1],
        )
        at, ends = board.builder(seat, seed, axis, axes, needs_room)
        assert scripted.open_axis(game, seat, point, axis, axes, needs_room) == at
        if ends:
            found = [scripted.end(game, seat, point, at), scripted.end(game, seat, point, at + 4)]
            assert [end for end in found if end >= 0] == [size * r + c for r, c in ends]


@pytest.mark.parametrize(("size", "players", "captures", "overlines", "share"), TABLES)
def test_positions(size: int, players: int, captures: str, overlines: str, share: int) -> None:
    positions = share * settings().max_examples
    generator = np.random.default_rng(size * players)
    rules = pe.Rules(size=size, captures=captures, overlines=overlines, opening="free")
    seen = 0
    while seen < positions:
        game = pe.new_game(players, rules)
        board = Board(size, players, captured=[0] * players, captures=captures, overlines=overlines)
        ended: tuple[int | None, str] = (None, "none")
        while ended[1] == "none" and seen < positions:
            p = near(board, generator)
            pe.step(game, size * p[0] + p[1])
            ended = board.put(p)
            assert (pe.winner(game), pe.ending(game)) == ended
            stones = pe.stones(game)
            assert sorted(board.stones) == list(
                zip(*(axis.tolist() for axis in np.nonzero(stones)), strict=True)
            )
            assert [owner + 1 for _, owner in sorted(board.stones.items())] == stones[
                stones > 0
            ].tolist()
            assert game.captured[:players].tolist() == board.captured
            if ended[1] == "none":
                compare(game, board, generator)
                seen += 1


def near(board: Board, generator: np.random.Generator) -> tuple[int, int]:
    """A random empty point, most often beside a stone, where things happen."""
    empty = board.empty()
    if board.stones and generator.random() < 0.9:
        stones = list(board.stones)
        for _ in range(5):
            r, c = stones[int(generator.integers(len(stones)))]
            p = r + int(generator.integers(-1, 2)), c + int(generator.integers(-1, 2))
            if board.is_empty(p):
                return p
    return empty[int(generator.integers(len(empty)))]
