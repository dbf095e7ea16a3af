"""What rules hardly or never reach: tasks of players who have left, full tables, faults.

Kernels are called one by one here, in plain Python, on records set up by hand.
"""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from monopoly_env.actions import A_TURN
from monopoly_env.engine import agenda, auction, debt, jail, legal, liquidation, step, trade, turn
from monopoly_env.facts.cards import CHANCE_DECK
from monopoly_env.game import AGENDA_DEPTH, MAX_REFUSED
from tests.play import asked, land, lot, table, texts

LEFT = 2  # the seat that has left
TASKS = {
    "settle": (agenda.SETTLE, 0, 0),
    "card": (agenda.CARD, CHANCE_DECK, 0),
    "charge": (agenda.CHARGE, 50, 0),
    "take": (agenda.TAKE, 50, 0),
    "pay_each": (agenda.PAY_EACH, 50, 1),
    "collect_each": (agenda.COLLECT_EACH, 50, 1),
    "leave_jail": (agenda.LEAVE_JAIL, 7, 0),
    "before_throw": (agenda.BEFORE_THROW_TASK, 1, 1),
    "takeovers": (agenda.TAKEOVERS, 1, 0),
}


def settled(game: Any, task: int, seat: int, first: int, second: int) -> Any:
    """Push a task and carry it out, without those that it pushes."""
    agenda.push(game, task, seat, first, second)
    assert step.settle_one(game)
    return game


@pytest.mark.parametrize("task", TASKS)
def test_a_task_of_a_player_who_has_left_does_nothing(task: str) -> None:
    before = table(4, bankrupt=[LEFT], positions={LEFT: 1})
    game = settled(before.copy(), TASKS[task][0], LEFT, *TASKS[task][1:])
    game.agenda[int(game.depth)] = before.agenda[int(game.depth)]  # above the top
    assert game.tobytes() == before.tobytes()


def test_a_window_of_a_player_who_has_left_only_goes_on() -> None:
    game = table(4, bankrupt=[LEFT])
    legal.ask(game, agenda.WINDOW, LEFT, agenda.BEFORE_THROW, 0)
    assert legal.count_legal(game) == 1
    assert legal.is_legal(game, A_TURN)


def test_a_way_out_of_jail_that_is_no_card_returns_none() -> None:
    game = table(jail_cards={0: ("chance",)})
    before = game.tobytes()
    jail.settle_fine(game, 0, 2)
    assert game.tobytes() == before


def test_nobody_is_left_to_pay_the_one_who_drew_the_card() -> None:
    game = table(3, bankrupt=[LEFT])
    game.place[1] = 2
    depth = int(game.depth)
    settled(game, agenda.COLLECT_EACH, 0, 10, 1)
    assert int(game.depth) == depth


def test_the_first_bidder_of_an_estate_may_have_left() -> None:
    game = table(4, bankrupt=[LEFT])
    auction.auction_lot(game, lot("Boardwalk"), LEFT)
    assert int(game.auction_asked) == LEFT + 1
    assert int(game.auction_bidders) == 0b1011


def test_s09_the_cash_of_a_player_who_has_left_wins_nothing() -> None:
    game = table(3, bankrupt=[LEFT], rules=me.Rules(win_cash=2000))
    game.cash[LEFT] = 3000
    turn.end_turn(game, 0)
    assert game.decision != agenda.OVER
    game.cash[1] = 2000
    turn.end_turn(game, 0)
    assert game.decision == agenda.OVER


def test_an_agenda_that_is_full_takes_no_task() -> None:
    game = table()
    game.depth = AGENDA_DEPTH
    before = game.agenda.tobytes()
    agenda.push(game, agenda.SETTLE, 0, 0, 0)
    assert int(game.fault) == agenda.AGENDA_OVERFLOW
    assert game.agenda.tobytes() == before


def test_an_unknown_task_is_a_fault() -> None:
    assert int(settled(table(), agenda.LAST_TASK + 1, 0, 0, 0).fault) == agenda.UNKNOWN_TASK


def test_a_question_without_an_answer_is_a_fault() -> None:
    game = table()
    agenda.push(game, agenda.PLACE, 0, lot("Boardwalk"), 0)
    game.houses = game.hotels = 0
    assert not step.settle_one(game)
    assert int(game.fault) == agenda.NO_ANSWER
    assert not step.settle_one(game)


def test_there_is_no_action_after_the_last() -> None:
    game = table()
    actions = me.legal_actions(game)
    assert [legal.nth_legal(game, n) for n in range(len(actions))] == list(actions)
    assert legal.nth_legal(game, len(actions)) == -1


@pytest.mark.parametrize("order", ["houses_then_mortgages", "mortgages_hotels_houses"])
def test_a_liquidation_ends_when_nothing_is_left(order: str) -> None:
    game = table(2, anchored=(), lots={0: ["Short Line"]}, cash={0: 10},
                 rules=me.Rules(liquidation=order))  # fmt: skip
    liquidation.liquidate(game, 0, 1000)
    assert int(game.cash[0]) == 110


def test_a_refusal_beyond_the_table_is_forgotten() -> None:
    game = table()
    game.num_refused = MAX_REFUSED
    before = game.tobytes()
    trade.reply(game, 1, trade.REJECT)
    assert game.tobytes() == before


def test_rule_42_a20_a_debtor_with_nothing_to_sell_may_trade() -> None:
    game = land(
        4,
        cash={0: 50},
        lots={0: ["Short Line"]},
        mortgaged=["Short Line"],
        rules=me.Rules(debt_trade=True),
        anchored=(1, 2),
    )
    assert asked(game) == ("debt", 0)
    assert "trade with player +1" in texts(game)
    assert debt.can_raise_more(game, 0, 200)
