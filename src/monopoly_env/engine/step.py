"""The engine's loop: settle the agenda until a player has a real choice, then carry it out."""

from __future__ import annotations

from monopoly_env.actions import (
    A_ASK,
    A_BID,
    A_BUILD,
    A_BUY,
    A_CASH,
    A_CHOICE,
    A_GIVE,
    A_JAIL,
    A_MORTGAGE,
    A_REPLY,
    A_SELL,
    A_TRADE,
    A_UNMORTGAGE,
    H_ASK,
    H_BID,
    H_BUILD,
    H_BUY,
    H_CASH,
    H_CHOICE,
    H_GIVE,
    H_JAIL,
    H_MORTGAGE,
    H_REPLY,
    H_SELL,
    H_TRADE,
    H_UNMORTGAGE,
    HEAD_OF,
)
from monopoly_env.engine import (
    agenda,
    auction,
    building,
    cards,
    debt,
    jail,
    mortgage,
    movement,
    tax,
    trade,
    turn,
)
from monopoly_env.engine.legal import ask, count_legal, is_legal, nth_legal, write_mask
from monopoly_env.engine.players import seat_after
from monopoly_env.facts.board import PRICE
from monopoly_env.game import POT, Game
from monopoly_env.kernels import kernel

__all__ = ["apply", "count_legal", "is_legal", "nth_legal", "settle", "settle_one", "write_mask"]


@kernel
def apply(game: Game, action: int) -> None:
    """Carry out a legal action and settle everything up to the next real choice."""
    answer(game, action)
    settle(game)


@kernel
def settle(game: Game) -> None:
    """Settle the agenda until a player has a real choice or the game is over (promises 2 and 3)."""
    while settle_one(game):
        pass


@kernel
def settle_one(game: Game) -> bool:
    """Settle the top task; False if a choice is open or the game is over."""
    if game.depth == 0 or game.fault != 0:
        return False
    top = int(game.depth) - 1
    task, seat = int(game.agenda[top, 0]), int(game.agenda[top, 1])
    first, second = int(game.agenda[top, 2]), int(game.agenda[top, 3])
    if task < agenda.FIRST_PROCEDURE:
        ask(game, task, seat, first, second)
        count = count_legal(game)
        if count == 0:
            game.fault = agenda.NO_ANSWER
        if count != 1:
            return False
        answer(game, nth_legal(game, 0))
    else:
        agenda.pop(game)
        _run(game, task, seat, first, second)
    return True


@kernel
def _run(game: Game, task: int, seat: int, first: int, second: int) -> None:
    """Carry out a task that needs no answer."""
    if task == agenda.CHARGE:
        debt.charge(game, seat, first, second)
    elif task == agenda.SETTLE:
        movement.settle(game, seat, first, second)
    elif task == agenda.THROW:
        movement.throw(game, seat)
    elif task == agenda.AFTER_THROW_TASK:
        turn.after_throw(game, seat)
    elif task == agenda.BEFORE_THROW_TASK:
        turn.before_throw(game, seat, first, second)
    elif task == agenda.BEGIN_TURN:
        turn.begin_turn(game, seat)
    elif task == agenda.END_TURN:
        turn.end_turn(game, seat)
    elif task == agenda.CARD:
        cards.draw_card(game, seat, first, second)
    elif task == agenda.AUCTION_ROUND:
        auction.next_round(game)
    elif task == agenda.AUCTION:
        auction.auction_lot(game, first, seat)
    elif task == agenda.SOLD:
        auction.hand_over(game, seat, first)
    elif task == agenda.ESTATE:
        auction.next_of_estate(game, first, seat)
    elif task == agenda.LEAVE_JAIL:
        movement.leave_jail(game, seat, first)
    elif task == agenda.TAKE:
        debt.take(game, seat, first, second)
    elif task == agenda.PAY_EACH:
        debt.pay_each(game, seat, first, second)
    elif task == agenda.COLLECT_EACH:
        debt.collect_each(game, seat, first, second)
    elif task == agenda.TAKEOVERS:
        mortgage.ask_takeovers(game, seat, first)
    else:
        game.fault = agenda.UNKNOWN_TASK


@kernel
def answer(game: Game, action: int) -> None:
    """Carry out a legal action on the open question, the top task of the agenda."""
    top = int(game.depth) - 1
    question, seat = int(game.agenda[top, 0]), int(game.agenda[top, 1])
    first, second = int(game.agenda[top, 2]), int(game.agenda[top, 3])
    head = int(HEAD_OF[action])
    agenda.pop(game)
    if (
        head == H_SELL
        or head == H_MORTGAGE
        or head == H_UNMORTGAGE
        or head == H_TRADE
        or (head == H_BUILD and question != agenda.PLACE)
    ):
        _manage(game, question, seat, first, second, action, head)
    elif head == H_JAIL:
        _leave_jail(game, question, seat, first, second, action - A_JAIL)
    elif head == H_BUY:
        _purchase(game, seat, first, action - A_BUY)
    elif head == H_BID:
        if question == agenda.BID:
            auction.bid(game, seat, action - A_BID)
        else:
            auction.sealed_bid(game, seat, action - A_BID)
    elif head == H_BUILD:
        building.raise_level(game, action - A_BUILD)
    elif head == H_ASK:
        trade.pick_goods(game, seat, action - A_ASK, True)
    elif head == H_GIVE:
        trade.pick_goods(game, seat, action - A_GIVE, False)
    elif head == H_CASH:
        trade.pick_cash(game, seat, action - A_CASH)
    elif head == H_REPLY:
        trade.reply(game, seat, action - A_REPLY)
    elif head == H_CHOICE:
        _choose(game, question, seat, first, action - A_CHOICE)
    elif question == agenda.DEBT:  # go on: the debtor gives up
        debt.bankrupt(game, seat, second)


@kernel
def _manage(
    game: Game, question: int, seat: int, first: int, second: int, action: int, head: int
) -> None:
    """Build, sell, mortgage, lift or trade; then ask the same question again."""
    _ask_again(game, question, seat, first, second)
    if head == H_BUILD:
        auction.build(game, seat, action - A_BUILD)
    elif head == H_SELL:
        building.sell(game, seat, action - A_SELL)
    elif head == H_MORTGAGE:
        mortgage.mortgage(game, seat, action - A_MORTGAGE)
    elif head == H_UNMORTGAGE:
        lot = action - A_UNMORTGAGE
        mortgage.lift(game, seat, lot, mortgage.lifting_cost(game, lot))
    else:
        trade.open_offer(game, seat, seat_after(game, seat, action - A_TRADE + 1))


@kernel
def _ask_again(game: Game, question: int, seat: int, first: int, second: int) -> None:
    """Return to a question after an action that does not answer it."""
    agenda.push(game, agenda.CHARGE if question == agenda.DEBT else question, seat, first, second)
    if question == agenda.WINDOW and game.rules.window_passes > 1:
        turn.note_action(game)


@kernel
def _leave_jail(game: Game, question: int, seat: int, first: int, second: int, how: int) -> None:
    if question == agenda.JAIL and first > 0:
        jail.leave_after_throw(game, seat, how, first)
    else:
        if question == agenda.WINDOW:
            _ask_again(game, question, seat, first, second)
        jail.leave_before_throw(game, seat, how)


@kernel
def _purchase(game: Game, seat: int, lot: int, bought: int) -> None:
    """Buy at the printed price, or decline (13, 14)."""
    if bought:
        game.cash[seat] -= int(PRICE[game.rules.board, lot])
        game.lots[seat] = int(game.lots[seat]) | 1 << lot
    else:
        auction.decline(game, seat, lot)


@kernel
def _choose(game: Game, question: int, seat: int, first: int, second_answer: int) -> None:
    """Carry out one of the two answers to a tax, a card or a takeover."""
    if question == agenda.TAX:
        tax.charge_tax(game, seat, second_answer)
    elif question == agenda.FINE_OR_CHANCE:
        if second_answer:
            agenda.push(game, agenda.CARD, seat, 0, 0)
        else:
            agenda.push(game, agenda.CHARGE, seat, first, POT)
    elif second_answer == mortgage.LIFT:
        mortgage.lift(game, seat, first, mortgage.principal(game, first))
