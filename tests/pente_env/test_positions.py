"""Worked positions, games of record and published counts (positions.json names the sources)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pente_env as pe
from monopoly_env.kernels import entry
from pente_env import core, lines, scripted
from pente_env.moves import is_legal, put
from pente_env.observation import observe

DATA = json.loads((Path(__file__).parent / "positions.json").read_text(encoding="utf-8"))


def numbers(points: list[list[int]] | None, size: int) -> list[int] | None:
    return None if points is None else [size * r + c for r, c, *_ in points]


def lists(board: Any) -> list[str]:
    return ["".join(".123"[stone] for stone in row) for row in board]


def set_up(case: dict[str, Any]) -> Any:
    size = case["size"]
    board = case["board"] or ["." * size] * size
    captured = [2 * pairs for pairs in case["pairs"]]
    return pe.position(
        board, case["to_move"] - 1, captured, case["players"], pe.Rules(size=size, opening="free")
    )


def first_rung(game: Any, seat: int, rungs: dict[str, str]) -> list[Any]:
    for name, what in rungs.items():
        if len(found := pe.points(game, seat, what)):
            return [name, found.tolist()]
    return ["random", None]


def builder(
    game: Any, seat: int, attempt: dict[str, Any], axes: int, needs_room: bool
) -> list[Any]:
    seed, axis = (
        numbers([attempt["seed"]], int(game.rules.side))[0],
        lines.AXES.index(attempt["axis"]),
    )  # type: ignore[index]
    at = scripted.open_axis(game, seat, seed, axis, axes, needs_room)
    if at == axes:
        return ["random", None]
    ends = [scripted.end(game, seat, seed, at), scripted.end(game, seat, seed, at + 4)]
    return [lines.AXES[at], [point for point in ends if point >= 0]]


def seen(game: Any, what: str, seat: int, expected: Any) -> tuple[Any, Any]:
    """What the program sees, and what was worked out."""
    size = int(game.rules.side)
    if what == "five_points":
        return pe.points(game, seat, "fives").tolist(), numbers(expected, size)
    if what == "capture_points":
        found = [
            [int(point), pe.takes(game, seat, int(point)) // 2]
            for point in pe.points(game, seat, "captures")
        ]
        return found, [[size * r + c, pairs] for r, c, pairs in expected]
    if what == "inputs":
        return np.flatnonzero(
            observe(core.batch_of(game), np.array([seat]), "schrum")[0]
        ).tolist(), expected
    if what in ("simple", "better"):
        found = builder(game, seat, expected, 2 if what == "simple" else 4, what == "better")
        return found, [expected["rung"], numbers(expected["points"], size)]
    rungs = {
        "blocker": {"four": "fours", "three": "threes"},
        "capturer": {"capture": "captures", "prepare": "preparations"},
    }[what]
    return first_rung(game, seat, rungs), [expected[0], numbers(expected[1], size)]


def compare(game: Any, views: dict[str, Any] | None) -> int:
    compared = 0
    for what, seats in (views or {}).items():
        for seat, expected in seats.items():
            found, wanted = seen(game, what, int(seat) - 1, expected)
            assert found == wanted, (what, seat)
            compared += 1
    return compared


@pytest.mark.parametrize(
    "case", DATA["positions"], ids=lambda case: f"{case['id']} {case['title']}"
)
def test_worked_position(case: dict[str, Any]) -> None:
    game, size, removed = set_up(case), case["size"], None
    compared = compare(game, case.get("before"))
    for r, c in case["moves"]:
        before = pe.stones(game)
        pe.step(game, size * r + c)
        removed = np.argwhere((before > 0) & (pe.stones(game) == 0)).tolist()
    compared += compare(game, case.get("after"))
    winner = pe.winner(game)
    found = {
        "removed": removed,
        "pairs": (game.captured[: case["players"]] // 2).tolist(),
        "winner": 0 if winner is None else winner + 1,
        "reason": pe.ending(game),
        "board": lists(pe.stones(game)),
    }
    expected = case.get("expect") or {}
    assert {name: found[name] for name in expected} == expected
    assert compared + len(expected) > 0


def test_there_are_36_positions() -> None:
    assert [case["id"] for case in DATA["positions"]] == [
        f"V{number:02}" for number in range(1, 37)
    ]


@pytest.mark.parametrize("case", DATA["openings"], ids=str)
def test_openings(case: dict[str, Any]) -> None:
    size = case["size"]
    game = pe.new_game(case["players"], pe.Rules(size=size, opening=case["opening"]))
    for r, c in case["moves"]:
        pe.step(game, size * r + c)
    r, c = case["move"]
    assert pe.action_mask(game)[size * r + c] == case["legal"]


@pytest.mark.parametrize("case", DATA["scripted_games"], ids=lambda case: "-".join(case["seats"]))
def test_games_without_chance(case: dict[str, Any]) -> None:
    players = [pe.make(name, ends="forward", opening_stone="nearest") for name in case["seats"]]
    game, memory, moves = pe.new_game(len(players)), np.zeros((3, 64)), []
    while not pe.is_over(game):
        seat = int(game.player)
        moves.append(players[seat].act(core.batch_of(game), seat, memory[seat]))
        pe.step(game, moves[-1])
    assert moves == numbers(case["moves"], 7)
    assert (game.captured[: len(players)] // 2).tolist() == case["pairs"]
    assert (pe.winner(game), pe.ending(game)) == (case["winner"] - 1, case["reason"])
    assert lists(pe.stones(game)) == case["board"]


@entry
def count_sequences(games: Any, first: int, depth: int, totals: Any) -> None:
    """Count the continuations of `games[first]` up to a depth.

    Sequences, captures, pairs and wins of their last moves.
    """
    level, at = first, np.zeros(len(games), np.int64)
    points = games[0].rules.side * games[0].rules.side
    while level >= first:
        point = at[level]
        if point == points:
            level -= 1
            continue
        at[level] += 1
        if not is_legal(games[level], point):
            continue
        games[level + 1] = games[level]
        taken = put(games[level + 1], point)
        if level + 1 == depth:
            totals[0] += 1
            totals[1] += taken > 0
            totals[2] += taken // 2
            totals[3] += games[level + 1].winner >= 0
        elif games[level + 1].ending == 0:
            level += 1
            at[level] = 0


def sequences(size: int, players: int, depth: int, second: int | None = None) -> list[int]:
    """All sequences from the stone in the centre; or those with this second stone."""
    games, totals = (
        core.new_games([0] * (depth + 1), players, pe.Rules(size=size)),
        np.zeros(4, np.int64),
    )
    if second is None:
        count_sequences(games, 0, depth, totals)
        return totals.tolist()  # type: ignore[no-any-return]
    pe.step(games[0], size * size // 2)
    pe.step(games[0], second)
    games[2] = games[0]
    count_sequences(games, 2, depth, totals)
    return totals.tolist()  # type: ignore[no-any-return]


def by_symmetry(size: int, players: int, depth: int) -> list[int]:
    """Turning and mirroring the board maps the second stones of an orbit onto each other.

    One of each is enough.
    """
    total, half = np.zeros(4, np.int64), size // 2
    for down in range(half + 1):
        for right in range(max(1, down), half + 1):
            orbit = 4 if down in (0, right) else 8
            total += orbit * np.array(
                sequences(size, players, depth, second=size * (half + down) + half + right)
            )
    return total.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "case", DATA["sequences"], ids=lambda case: f"{case['size']} {case['players']} {case['depth']}"
)
def test_sequences(case: dict[str, Any]) -> None:
    count = sequences if case["sequences"] < 6_000_000 else by_symmetry
    assert count(case["size"], case["players"], case["depth"]) == [
        case["sequences"],
        case["captures"],
        case["pairs"],
        case["wins"],
    ]
