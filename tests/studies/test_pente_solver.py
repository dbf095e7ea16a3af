"""The solver against plain minimax on the engine, and on known values.

Its bits are held against the engine's points.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from studies.pente_solver import Solution, solve

import pente_env as pe
from monopoly_env.engine import sets
from monopoly_env.errors import ConfigurationError
from studies import pente_solver as solver

FEW = 3  # empty points that plain minimax can still search


def minimax(game: Any, known: dict[tuple[int, ...], int]) -> int:
    """1 if the first seat wins, -1 if the second, 0 for a draw: every move of every position."""
    if pe.is_over(game):
        return {None: 0, 0: 1, 1: -1}[pe.winner(game)]
    position = (int(game.whole[0]), int(game.whole[1]), *game.captured.tolist())
    if position not in known:
        values = []
        for point in pe.legal_actions(game):
            after = pe.clone(game)
            pe.step(after, int(point))
            values.append(minimax(after, known))
        known[position] = max(values) if game.player == 0 else min(values)
    return known[position]


def late(seed: int, rules: pe.Rules, empty: int = FEW) -> Any:
    """A game between random players, where few points are empty and it is not over.

    None if it ends before.
    """
    generator, game = np.random.default_rng(seed), pe.new_game(rules=rules, seed=seed)
    while not pe.is_over(game):
        if len(pe.legal_actions(game)) <= empty and game.moves > 2:
            return game
        pe.step(game, int(generator.choice(pe.legal_actions(game))))
    return None


@pytest.mark.slow
@pytest.mark.parametrize("captures", ["pairs", "none"])
def test_late_positions_are_worth_what_minimax_says(captures: str) -> None:
    rules, values = pe.Rules(size=5, captures=captures), []
    for seed in range(400):
        game = late(seed, rules)
        if game is not None and game.captured.sum() < 9:  # freed points make the tree deep
            values.append(minimax(game, {}))
            found = solve(game, 20_000, table_bits=12)
            assert found.value == ("draw", "first", "second")[values[-1]], seed
            if len(values) == 10:
                break
    assert len(values) == 10
    assert len(set(values)) >= 2


def test_bits_are_the_engines_points() -> None:
    generator = np.random.default_rng(0)
    for seed in range(60):
        game = pe.new_game(rules=pe.Rules(size=int(generator.integers(5, 8))), seed=seed)
        for _ in range(int(generator.integers(4, 26))):
            if not pe.is_over(game):
                pe.step(game, int(generator.choice(pe.legal_actions(game))))
        if pe.is_over(game):
            continue
        side, mine, theirs, empty = (
            int(game.rules.side),
            int(game.whole[0]),
            int(game.whole[1]),
            int(game.whole_empty),
        )
        for what, bits in (
            ("fives", solver.fives(mine, empty)),
            ("captures", solver.captures(mine, theirs, empty)),
        ):
            assert pe.points(game, 0, what).tolist() == [
                side * (bit // 8) + bit % 8 for bit in range(56) if bits >> bit & 1
            ]
        for point in pe.points(game, 0, "captures"):
            assert sets.size(
                solver.taken(mine, theirs, 1 << (8 * (point // side) + point % side))
            ) == pe.core.takes(game, 0, int(point))


def test_turned_and_mirrored_positions_have_one_key() -> None:
    generator, names = np.random.default_rng(3), set()
    for _ in range(20):
        board = generator.integers(0, 3, (7, 7))
        keys = set()
        for turned in (
            np.rot90(flipped, turns) for flipped in (board, board.T) for turns in range(4)
        ):
            mine, theirs = (
                sum(1 << (8 * r + c) for r, c in np.argwhere(turned == stone).tolist())
                for stone in (1, 2)
            )
            key = np.zeros(2, np.int64)
            solver.write_key(np.array([mine, theirs, 2, 3]), 7, key)
            keys.add(tuple(key.tolist()))
        assert len(keys) == 1
        names |= keys
    assert len(names) == 20


@pytest.mark.parametrize("size", [5, 6, 7])
def test_gomoku_of_a_small_board_is_a_draw(size: int) -> None:
    found = solve(pe.new_game(rules=pe.Rules(size=size, captures="none")), 20_000, table_bits=14)
    assert (found.value, found.first, found.second) == ("draw", False, False)


def test_what_is_not_settled_is_unknown() -> None:
    assert solve(pe.new_game(), 5, table_bits=4) == Solution("unknown", None, None, 10)


def test_pieces_of_a_search_find_what_a_whole_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_PIECE", 20)
    rules, pieces = pe.Rules(size=5), 0
    for seed in range(20):
        game, told = late(seed, rules), []
        if game is not None and game.captured.sum() < 9:
            found = solve(game, 20_000, table_bits=12, progress=told.append)
            assert found.value == ("draw", "first", "second")[minimax(game, {})], seed
            assert sum(told) == found.positions
            assert max(told) <= 20
            pieces = max(pieces, len(told))
    assert pieces > 5
    told = []
    assert (
        solve(pe.new_game(rules=rules), 50, table_bits=12, progress=told.append).positions
        == sum(told)
        == 100
    )
    assert told == [20, 20, 10] * 2


def test_nobody_wins_where_the_other_has_found_pairs() -> None:
    rules, lines, pairs, none = pe.Rules(size=5, captures="none"), solver.lines_of_five(5), 0, 0
    assert [len(solver.lines_of_five(size)) for size in (5, 6, 7)] == [12, 32, 60]
    for seed in range(150):
        game = late(seed, rules, empty=5)
        if game is not None and not any(pe.points(game, seat, "fives").size for seat in (0, 1)):
            for defender in (0, 1):
                found = solver.can_be_paired(
                    int(game.whole[defender]), int(game.whole_empty), lines
                )
                loses = minimax(game, {}) == (-1, 1)[defender]
                assert not (found and loses), seed
                pairs, none = pairs + found, none + loses
    assert pairs > 20
    assert none > 0


def test_pairs_need_two_points_in_every_open_line() -> None:
    lines = solver.lines_of_five(5)
    whole = 0b11111 * 0x0101010101
    assert solver.can_be_paired(0, whole, lines)
    # one empty point in a row that the defender is not in
    assert not solver.can_be_paired(0, whole & ~0b11110, lines)
    assert solver.can_be_paired(0b00010, whole & ~0b11110, lines)  # in which it is


def test_two_who_collude_hold_the_first_of_three() -> None:
    for size in (5, 6, 7):
        assert solver.colluders_hold(size)


def test_a_game_that_is_over_is_what_it_is() -> None:
    game = pe.position(["1111.", "2222.", ".....", ".....", "....."])
    assert solve(game, 100, table_bits=4).value == "first"
    pe.step(game, 4)
    assert solve(game, 100, table_bits=4) == Solution("first", True, False, 0)


def test_the_command_says_what_is_proved(capsys: pytest.CaptureFixture[str]) -> None:
    assert solver.main(["--size", "5", "--positions", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) | {"seconds": 0} == {
        "size": 5, "captures": "pairs", "value": "unknown", "first": None, "second": None,
        "positions": 20, "colluders_hold": None, "seconds": 0,
    }  # fmt: skip
    for size in ("4", "8"):
        assert solver.main(["--size", size]) == 2
        assert "from 5 x 5 to 7 x 7" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("game", "options", "message"),
    [
        (pe.new_game(3), {}, "a game of 3"),
        (pe.new_game(rules="keryo"), {}, "19 x 19"),
        (pe.new_game(rules=pe.Rules(overlines="nothing")), {}, "overlines that win"),
        (pe.new_game(), {"positions": 0}, "positions=0"),
        (pe.new_game(), {"table_bits": 3}, "table_bits=3"),
    ],
)
def test_what_cannot_be_solved_is_refused(game: Any, options: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        solve(game, **options)
