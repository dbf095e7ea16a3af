"""What holds in every game, whatever is played.

The books balance, symmetries of the board and of the seats change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import pente_env as pe
from pente_env import core, lines
from pente_env.game import PAD, SMALL

TURNS = [lambda board: board, *(lambda board, k=k: np.rot90(board, k) for k in (1, 2, 3))]
SYMMETRIES = [*TURNS, *(lambda board, turn=turn: np.fliplr(turn(board)) for turn in TURNS)]

rules = st.builds(
    pe.Rules,
    size=st.integers(5, 11),
    overlines=st.sampled_from(["win", "nothing"]),
    opening=st.sampled_from(["centre", "free"]),
    captures=st.sampled_from(["pairs", "keryo", "none"]),
)
tables = st.tuples(rules, st.integers(2, 3), st.lists(st.integers(0, 1 << 16), max_size=60))


def play(rules: pe.Rules, players: int, choices: list[int], game: Any = None) -> Any:
    """Put stones by numbers until the game is over.

    Half of them where something is taken or made, if there is such a point.
    """
    game = pe.new_game(players, rules) if game is None else game
    for point in points_chosen(game, choices):
        pe.step(game, point)
    return game


def points_chosen(game: Any, choices: list[int]) -> Iterator[int]:
    """The point of each number until the game is over.

    Who asks puts the stone before the next one.
    """
    for number in choices:
        if pe.is_over(game):
            return
        yield chosen(game, number)


def chosen(game: Any, number: int) -> int:
    seat = int(game.player)
    for what in ("captures", "preparations", "fives"):
        points = pe.points(game, seat, what)
        if len(points) and number % 2:
            return int(points[number // 2 % len(points)])
    legal = pe.legal_actions(game)
    return int(legal[number % len(legal)])


@given(tables)
@settings(max_examples=100)
def test_the_books_balance(table: Any) -> None:
    rules, players, choices = table
    game = play(rules, players, choices)
    stones = pe.stones(game)
    on_board = np.count_nonzero(stones)
    assert on_board + game.captured.sum() == game.moves
    assert game.free == rules.size**2 - on_board
    assert set(np.unique(stones)) <= set(range(players + 1))
    assert not game.captured[players:].any()
    assert (pe.ending(game) == "none") == (not pe.is_over(game))
    assert (pe.winner(game) is None) == (pe.ending(game) in ("none", "full"))
    if rules.captures == "none":
        assert not game.captured.any()
    if not pe.is_over(game):
        assert game.player == game.moves % players
        assert set(pe.legal_actions(game)) == set(np.flatnonzero(stones == 0)) or game.moves == 0


@given(tables)
@settings(max_examples=60)
def test_both_forms_of_a_small_board_agree(table: Any) -> None:
    rules, players, choices = table
    game = play(rules, players, choices)
    for seat in range(players):
        bits = [8 * r + c for r, c in np.argwhere(pe.stones(game) == seat + 1)]
        assert game.whole[seat] == (sum(1 << bit for bit in bits) if rules.size <= SMALL else 0)
    for r in range(rules.size):
        empty = [PAD + int(c) for c in np.flatnonzero(pe.stones(game)[r] == 0)]
        assert game.empty[PAD + r] == sum(1 << bit for bit in empty)


@given(tables, st.sampled_from(range(8)))
@settings(max_examples=60)
def test_a_turned_or_mirrored_game_is_the_same(table: Any, number: int) -> None:
    rules, players, choices = table
    rules = pe.Rules(
        size=rules.size, overlines=rules.overlines, captures=rules.captures, opening="free"
    )
    turn, points = SYMMETRIES[number], np.arange(rules.size**2).reshape(rules.size, rules.size)
    moved_to = np.argsort(turn(points).ravel())  # where each point comes to lie
    game, turned = pe.new_game(players, rules), pe.new_game(players, rules)
    for choice in choices:
        if pe.is_over(game):
            break
        point = chosen(game, choice)
        for what in lines.KINDS:
            found = pe.points(game, int(game.player), what)
            assert sorted(moved_to[found]) == pe.points(turned, int(game.player), what).tolist()
        pe.step(game, point)
        pe.step(turned, int(moved_to[point]))
    assert np.array_equal(turn(pe.stones(game)), pe.stones(turned))
    assert (pe.ending(game), pe.winner(game), game.captured.tolist()) == (
        pe.ending(turned),
        pe.winner(turned),
        turned.captured.tolist(),
    )


@given(tables, st.integers(1, 2))
@settings(max_examples=60)
def test_seats_are_only_names(table: Any, shift: int) -> None:
    """The same position with the seats renamed in turn order goes on in the same way."""
    rules, players, choices = table
    rules = pe.Rules(
        size=rules.size, overlines=rules.overlines, captures=rules.captures, opening="free"
    )
    half = len(choices) // 2
    game = play(rules, players, choices[:half])
    if pe.is_over(game):
        return
    board = pe.stones(game)
    names = ["."] + ["123"[(seat + shift) % players] for seat in range(players)]
    other = pe.position(
        ["".join(names[stone] for stone in row) for row in board],
        (int(game.player) + shift) % players,
        np.roll(game.captured[:players], shift).tolist(),
        players,
        rules,
    )
    for choice in choices[half:]:
        if pe.is_over(game):
            break
        point = chosen(game, choice)
        pe.step(game, point)
        pe.step(other, point)
    assert pe.ending(game) == pe.ending(other)
    assert np.roll(game.captured[:players], shift).tolist() == other.captured[:players].tolist()
    if (winner := pe.winner(game)) is not None:
        assert pe.winner(other) == (winner + shift) % players


@given(tables)
@settings(max_examples=60)
def test_a_five_is_one_before_the_stones_are_taken_and_after(table: Any) -> None:
    rules, players, choices = table
    game = pe.new_game(players, rules)
    for point in points_chosen(game, choices):
        fives = pe.points(game, int(game.player), "fives").tolist()
        pe.step(game, point)
        assert ("five" in pe.ending(game)) == (point in fives)


@given(tables)
@settings(max_examples=60)
def test_a_capture_never_changes_own_stones(table: Any) -> None:
    rules, players, choices = table
    game = pe.new_game(players, rules)
    for point in points_chosen(game, choices):
        seat, before = int(game.player), pe.stones(game)
        expected = pe.takes(game, seat, point)
        pe.step(game, point)
        own = (before == seat + 1).ravel()
        own[point] = True
        assert np.array_equal((pe.stones(game) == seat + 1).ravel(), own)
        assert np.count_nonzero(before) + 1 - np.count_nonzero(pe.stones(game)) == expected


@given(tables)
@settings(max_examples=40)
def test_a_copy_is_another_game(table: Any) -> None:
    rules, players, choices = table
    game = play(rules, players, choices)
    copied = pe.clone(game)
    assert pe.digest(copied) == pe.digest(game)
    if not pe.is_over(game):
        pe.step(copied, int(pe.legal_actions(copied)[0]))
        assert pe.digest(copied) != pe.digest(game)
        assert core.batch_of(game)[0].moves == copied.moves - 1
