"""Events account for every change that they report, in whole games of every preset."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import events
from monopoly_env.events import KINDS
from monopoly_env.facts.board import lots_of


class Books:
    """Cash, squares, owners and mortgages of a game, kept by its events alone."""

    def __init__(self, game: Any) -> None:
        self.cash = game.cash.astype(int)
        self.square = game.position.tolist()
        self.lots = [set(lots_of(lots)) for lots in game.lots]
        self.mortgaged = set(lots_of(game.mortgaged))
        self.returned = set[int]()  # the bank may lift their mortgages
        self.level = game.level.tolist()
        self.over: tuple[int, int] | None = None

    def enter(self, row: list[int]) -> None:  # noqa: C901 - a case for each kind
        kind, seat, first, second, *_ = row
        match KINDS[kind]:
            case "pay":
                self.cash[seat] -= first
                if second >= 0:
                    self.cash[second] += first
            case "receive":
                self.cash[seat] += first
            case "move":
                assert self.square[seat] == second
                self.square[seat] = first
            case "get":
                for lots in self.lots:
                    lots -= set(lots_of(first))
                self.lots[seat] |= set(lots_of(first))
            case "return":
                self.returned.add(first)
                for lots in self.lots:
                    lots -= {first}
            case "mortgage":
                self.mortgaged |= set(lots_of(first))
            case "lift":
                self.mortgaged -= set(lots_of(first))
            case "build" | "sell":
                assert (second > self.level[first]) == (KINDS[kind] == "build")
                self.level[first] = second
            case "over":
                self.over = first, second


@pytest.mark.parametrize("preset", me.Rules.presets())
def test_books_kept_by_events_agree_with_the_record(preset: str) -> None:
    random, kinds = np.random.default_rng(11), set[str]()
    for seed in range(2):
        game, twin = (me.new_game(3, preset, seed) for _ in range(2))
        books = Books(game)
        for _ in range(500):
            if me.is_over(game):
                break
            action = int(random.choice(me.legal_actions(game)))
            rows = events.play(game, action)
            assert me.digest(me.step(twin, action)) == me.digest(game)
            for row in rows:
                books.enter(row)
                kinds.add(KINDS[row[0]])
            assert books.cash.tolist() == game.cash.tolist()
            assert [set(lots_of(lots)) for lots in game.lots] == books.lots
            assert books.level == game.level.tolist()
            known = set().union(*books.lots) - books.returned
            assert books.mortgaged & known == set(lots_of(game.mortgaged)) & known
            for seat in range(3):
                if not game.jail[seat]:
                    assert books.square[seat] == game.position[seat]
                books.square[seat] = int(game.position[seat])  # jail moves without an event
        if me.is_over(game):
            winners = sum(1 << seat for seat in range(3) if game.place[seat] == 1)
            assert books.over == (game.ending, winners)
    assert {"turn", "throw", "move", "pay", "get"} <= kinds


@pytest.mark.parametrize("seed", range(4))
def test_the_first_throw_is_the_opening(seed: int) -> None:
    game = me.new_game(3, seed=seed)
    rows = events.opening(game)
    (turn,), (throw,) = (
        [row for row in rows if KINDS[row[0]] == kind] for kind in ("turn", "throw")
    )
    assert turn[1] == throw[1] == game.turn
    assert throw[2:4] == game.dice.tolist()
    (move,) = (row for row in rows if KINDS[row[0]] == "move")
    assert move[2:4] == [game.position[game.turn], 0]


def test_each_throw_before_the_first_decision_is_an_event() -> None:
    rules = me.Rules(first_player="throw", start_cash=0, buy_with_raised_cash=False, auction="none")
    for seed in range(20):
        game = me.new_game(3, rules, seed)
        throws = [row for row in events.opening(game) if row[0] == events.THROW]
        contest = throws[: len(throws) - int(game.throws.sum())]
        assert len(contest) == game.start_draws / 2 >= 3
        assert {row[1] for row in contest} == {0, 1, 2}
        deciding = [row for row in contest if row[-1] == contest[-1][-1]]
        assert max(deciding, key=lambda row: row[2] + row[3])[1] == game.first
        assert throws[len(contest)][1] == game.first
        assert throws[-1][2:4] == game.dice.tolist()


def test_events_continue_when_their_rows_are_full(monkeypatch: pytest.MonkeyPatch) -> None:
    game = me.new_game(4, seed=3)
    whole, parts = [], []
    for room, rows in ((events.MOST_ROWS, whole), (193, parts)):
        monkeypatch.setattr(events, "MOST_ROWS", room)
        twin = me.clone(game)
        for _ in range(100):
            rows.append(events.play(twin, int(me.legal_actions(twin)[0])))
    assert parts == whole


def test_a_completed_group_and_a_bankruptcy_are_events() -> None:
    game = me.position(2, lots={0: ["Park Place"]}, positions={0: 36}, throws=[(1, 2)])
    rows = events.play(game, me.actions.A_TURN)
    rows += events.play(game, me.actions.A_BUY + 1)
    assert [events.COMPLETE, 0, 7, 0, 0, 0] in [row[:-1] for row in rows]
    game = me.position(
        2,
        lots={0: ["Baltic Avenue"], 1: ["Park Place", "Boardwalk"]},
        buildings={"Park Place": 5, "Boardwalk": 5},
        cash={0: 10},
        positions={0: 36},
        throws=[(1, 2)],
    )
    rows = events.play(game, me.actions.A_TURN)
    assert [KINDS[row[0]] for row in rows if row[0] in (events.BANKRUPT, events.OVER)] == [
        "bankrupt",
        "over",
    ]
