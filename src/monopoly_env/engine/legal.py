"""The legal actions of each question, collected from the chapters, as bits in the record.

A chapter says what its rule allows (`building.buildable`, `trade.legal_goods`); this file puts a
question's actions together, and every interface reads them here (promise 4 of docs/design.md).
"""

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
    A_TURN,
    A_UNMORTGAGE,
)
from monopoly_env.engine import agenda, auction, trade
from monopoly_env.engine.building import buildable, sellable
from monopoly_env.engine.debt import may_give_up
from monopoly_env.engine.jail import may_pay_before_throw
from monopoly_env.engine.liquidation import raisable, safe_sales
from monopoly_env.engine.mortgage import liftable, mortgageable, pledges, principal
from monopoly_env.engine.sets import nth, size
from monopoly_env.facts.board import PRICE
from monopoly_env.game import Game
from monopoly_env.kernels import kernel

WORDS = 7  # of 32 actions each
_FIRST, _SECOND, _BOTH = 1, 2, 3  # legal answers of a head with two actions, as bits


@kernel
def open_actions(game: Game, start: int, actions: int) -> None:
    """Mark actions as legal: bit i, of up to 32, stands for action start + i."""
    word = start >> 5
    shifted = int(actions) << (start & 31)
    game.legal[word] = int(game.legal[word]) | (shifted & 0xFFFFFFFF)
    if shifted >> 32:
        game.legal[word + 1] = int(game.legal[word + 1]) | (shifted >> 32)


@kernel
def count_legal(game: Game) -> int:
    """How many actions are legal."""
    count = 0
    for word in range(WORDS):
        count += size(game.legal[word])
    return count


@kernel
def is_legal(game: Game, action: int) -> bool:
    """Whether an action is legal."""
    return (int(game.legal[action >> 5]) >> (action & 31)) & 1 == 1


@kernel
def nth_legal(game: Game, n: int) -> int:
    """The n-th legal action, counted from 0 in ascending order."""
    for word in range(WORDS):
        bits = int(game.legal[word])
        count = size(bits)
        if n < count:
            return word * 32 + nth(bits, n)
        n -= count
    return -1


@kernel
def write_mask(game: Game, mask: object) -> None:
    """Write the legal actions into an array: (NUM_ACTIONS,) zeros and ones."""
    for action in range(len(mask)):  # type: ignore[arg-type]
        mask[action] = (int(game.legal[action >> 5]) >> (action & 31)) & 1  # type: ignore[index]


@kernel
def ask(game: Game, question: int, seat: int, first: int, second: int) -> None:
    """Ask a seat a question: store it in the record with its legal actions."""
    game.decision = question
    game.player = seat
    for word in range(WORDS):
        game.legal[word] = 0
    if question == agenda.WINDOW:
        _open_window(game, seat, first)
    elif question == agenda.BUY:
        _open_purchase(game, seat, first)
    elif question == agenda.BID:
        open_actions(game, A_BID, auction.legal_raises(game, seat))
    elif question == agenda.SEALED_BID:
        open_actions(game, A_BID, auction.legal_sealed(game, seat))
    elif question == agenda.PLACE:
        open_actions(game, A_BUILD, auction.places_for(game, seat, first, second))
    elif question == agenda.JAIL:
        _open_jail(game, seat, first, second)
    elif question == agenda.ASK or question == agenda.GIVE:
        open_actions(
            game,
            A_ASK if question == agenda.ASK else A_GIVE,
            trade.legal_goods(game, question == agenda.ASK),
        )
    elif question == agenda.CASH:
        open_actions(game, A_CASH, trade.legal_cash(game))
    elif question == agenda.REPLY:
        open_actions(
            game, A_REPLY, _BOTH | (1 << trade.COUNTER if trade.may_counter(game, seat) else 0)
        )
    elif question == agenda.DEBT:
        _open_debt(game, seat, first)
    elif question == agenda.TAX:
        open_actions(game, A_CHOICE, _BOTH)
    elif question == agenda.FINE_OR_CHANCE:  # S10
        open_actions(game, A_CHOICE, _BOTH if raisable(game, seat) >= first else _SECOND)
    else:
        _open_takeover(game, seat, first)


@kernel
def _open_window(game: Game, seat: int, when: int) -> None:
    """Open a window of the turn: go on, leave jail, build, sell, mortgage, trade (30, 41, 45)."""
    open_actions(game, A_TURN, _FIRST)
    if game.place[seat] != 0:
        return
    if game.jail[seat] > 0 and when == agenda.BEFORE_THROW and not game.rules.jail_pay_after_throw:
        pay = game.cash[seat] >= game.rules.jail_fine and may_pay_before_throw(game, seat)
        _open_exit(game, seat, pay)
    if game.lots[seat] != 0:
        open_actions(game, A_BUILD, buildable(game, seat))
        _open_raising(game, seat)
        open_actions(game, A_UNMORTGAGE, liftable(game, seat))
    open_actions(game, A_TRADE, trade.partners(game, seat))


@kernel
def _open_raising(game: Game, seat: int) -> None:
    open_actions(game, A_SELL, sellable(game, seat))
    open_actions(game, A_MORTGAGE, mortgageable(game, seat))


@kernel
def _open_exit(game: Game, seat: int, pay: bool) -> None:
    open_actions(
        game, A_JAIL, (_FIRST if pay else 0) | (_SECOND if game.jail_cards[seat] != 0 else 0)
    )


@kernel
def _open_jail(game: Game, seat: int, steps: int, forced: int) -> None:
    """Ask about leaving jail outside a window; forced after the last failed throw (45d, 47, 48)."""
    fine = int(game.rules.jail_fine)
    if forced:
        _open_exit(game, seat, game.jail_cards[seat] == 0 or raisable(game, seat) >= fine)
    else:
        open_actions(game, A_TURN, _FIRST)
        _open_exit(
            game, seat, game.cash[seat] >= fine and (steps > 0 or may_pay_before_throw(game, seat))
        )


@kernel
def _open_purchase(game: Game, seat: int, lot: int) -> None:
    """Offer a lot: decline, buy with cash in hand, or raise cash if that suffices (13, S11)."""
    price = int(PRICE[game.rules.board, lot])
    open_actions(game, A_BUY, _BOTH if game.cash[seat] >= price else _FIRST)
    if game.rules.buy_with_raised_cash and game.lots[seat] != 0 and raisable(game, seat) >= price:
        _open_raising(game, seat)


@kernel
def _open_takeover(game: Game, seat: int, lot: int) -> None:
    """Ask about a received mortgage: keep it, lift it, or raise the cash to lift it (37)."""
    due = principal(game, lot)
    open_actions(game, A_CHOICE, _BOTH if game.cash[seat] >= due else _FIRST)
    if game.cash[seat] < due <= raisable(game, seat):
        _open_raising(game, seat)


@kernel
def _open_debt(game: Game, seat: int, amount: int) -> None:
    """Ask a debtor to sell, mortgage and, where the rules allow it, trade or give up (42, 55)."""
    # these lots alone cover the bid, so the winner still has a street for it (S3)
    if agenda.below(game) == agenda.PLACE:
        open_actions(game, A_MORTGAGE, pledges(game, seat))
        return
    open_actions(game, A_SELL, safe_sales(game, seat, amount))
    open_actions(game, A_MORTGAGE, mortgageable(game, seat))
    if game.rules.debt_trade:
        open_actions(game, A_TRADE, trade.partners(game, seat))
    if may_give_up(game, seat, amount):
        open_actions(game, A_TURN, _FIRST)
