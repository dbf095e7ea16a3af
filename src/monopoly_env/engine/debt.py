"""Debts and bankruptcy (24, 55-60)."""

from __future__ import annotations

from monopoly_env.engine import agenda, decks, mortgage
from monopoly_env.engine.building import clear_buildings, liquidation_of_buildings, sellable
from monopoly_env.engine.liquidation import ONE_REQUEST, debtor_chooses, liquidate, raisable
from monopoly_env.engine.mortgage import mortgageable
from monopoly_env.engine.players import (
    finish,
    finish_if_alone,
    next_solvent,
    seat_after,
    solvent_seats,
)
from monopoly_env.engine.sets import has, size
from monopoly_env.engine.trade import may_offer
from monopoly_env.game import ALL_OTHERS, BANK, BY_BANKRUPTCY, POT, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

_NO_POT = number("free_parking_pot", "none")
_AUCTION_NONE = number("auction", "none")
_AS_THEY_ARE = number("bank_bankruptcy", "auction_mortgaged")
_UNOWNED = number("bank_bankruptcy", "to_bank_unowned")
_GAME_OVER = number("bank_bankruptcy", "game_over")
_SPLIT = number("multi_creditor", "split")
_TO_BANK = number("multi_creditor", "bank")


@kernel
def charge(game: Game, seat: int, amount: int, creditor: int) -> None:
    """Collect a debt, ask the debtor to raise cash, or bankrupt the debtor (55)."""
    if game.place[seat] != 0 or amount <= 0:
        return
    if game.cash[seat] < amount and not debtor_chooses(game) and raisable(game, seat) >= amount:
        liquidate(game, seat, amount)
    if game.cash[seat] >= amount:
        pay(game, seat, amount, creditor)
    elif can_raise_more(game, seat, amount):
        agenda.push(game, agenda.DEBT, seat, amount, creditor)
    else:
        bankrupt(game, seat, creditor)


@kernel
def can_raise_more(game: Game, seat: int, amount: int) -> bool:
    """Whether a debtor can still raise cash, by a sale, a mortgage or (option) a trade (42, 55)."""
    if not debtor_chooses(game):
        return False
    if game.rules.debt_trade and may_offer(game, seat):
        return True
    return raisable(game, seat) >= amount and (sellable(game, seat) | mortgageable(game, seat)) != 0


@kernel
def may_give_up(game: Game, seat: int, amount: int) -> bool:
    """Whether a debtor may give up: with `one_request`, or if only a trade could raise enough."""
    return game.rules.liquidation == ONE_REQUEST or (
        game.rules.debt_trade and raisable(game, seat) < amount
    )


@kernel
def pay(game: Game, seat: int, amount: int, creditor: int) -> None:
    """Move the money. Taxes and fines go to Free Parking if the house rule is on (53)."""
    game.cash[seat] -= amount
    if creditor >= 0:
        game.cash[creditor] += amount
    elif creditor == ALL_OTHERS:
        _share_out(game, seat, amount)
    elif creditor == POT and game.rules.free_parking_pot != _NO_POT:
        game.pot += amount


@kernel
def take(game: Game, seat: int, amount: int, creditor: int) -> None:
    """Take a sum even if cash falls below zero (a quirk)."""
    if game.place[seat] == 0:
        pay(game, seat, amount, creditor)


@kernel
def pay_each(game: Game, seat: int, amount: int, offset: int) -> None:
    """Pay every other player: in turn order, or all of them by one debt (58)."""
    if game.place[seat] != 0:
        return
    if game.rules.multi_creditor >= _TO_BANK:
        agenda.push(game, agenda.CHARGE, seat, amount * (size(solvent_seats(game)) - 1), ALL_OTHERS)
        return
    while offset < game.num_players and game.place[seat_after(game, seat, offset)] != 0:
        offset += 1
    if offset < game.num_players:
        agenda.push(game, agenda.PAY_EACH, seat, amount, offset + 1)
        agenda.push(game, agenda.CHARGE, seat, amount, seat_after(game, seat, offset))


@kernel
def _share_out(game: Game, seat: int, dollars: int) -> None:
    """Share a sum equally among the other players. A remainder goes to the bank."""
    others = solvent_seats(game) & ~(1 << int(seat))
    for other in range(game.num_players):
        if has(others, other):
            game.cash[other] += dollars // size(others)


@kernel
def collect_each(game: Game, seat: int, amount: int, offset: int) -> None:
    """Every other player pays the one who drew the card, or is bankrupt to that player (58)."""
    if game.place[seat] != 0:
        return
    while offset < game.num_players and game.place[seat_after(game, seat, offset)] != 0:
        offset += 1
    if offset >= game.num_players:
        return
    payer = seat_after(game, seat, offset)
    if game.rules.ocnaru_quirks and game.cash[payer] < amount:
        bankrupt(game, seat, BANK)  # the program bankrupts the collector instead
        return
    agenda.push(game, agenda.COLLECT_EACH, seat, amount, offset + 1)
    agenda.push(game, agenda.CHARGE, payer, amount, seat)


@kernel
def bankrupt(game: Game, seat: int, creditor: int) -> None:
    """A player leaves the game. The estate goes to the creditor or to the bank (56, 57)."""
    place = size(solvent_seats(game))
    cash = int(game.cash[seat]) + liquidation_of_buildings(
        game, seat, int(game.rules.bankrupt_sell_ratio)
    )
    lots = int(game.lots[seat])
    clear_buildings(game, seat)
    if creditor == ALL_OTHERS and game.rules.multi_creditor == _SPLIT:
        _share_out(game, seat, max(0, cash))
    game.cash[seat] = 0
    game.lots[seat] = 0
    game.jail[seat] = 0
    game.place[seat] = place
    if game.turn == seat:
        game.again = 0  # S8
    if creditor >= 0:
        game.cash[creditor] += max(0, cash)  # cash is negative only under a quirk
        game.lots[creditor] |= lots
        game.jail_cards[creditor] |= game.jail_cards[seat]
        game.jail_cards[seat] = 0
    else:
        decks.return_all(game, seat)
        if game.rules.bank_bankruptcy != _AS_THEY_ARE or game.rules.auction == _AUCTION_NONE:
            game.mortgaged = int(game.mortgaged) & ~lots
    if finish_if_alone(game):
        return
    if game.rules.end_at_first_bankruptcy or (
        creditor < 0 and game.rules.bank_bankruptcy == _GAME_OVER
    ):
        finish(game, BY_BANKRUPTCY)
    elif creditor >= 0:
        mortgage.take_over(game, creditor, lots)
    elif game.rules.bank_bankruptcy != _UNOWNED and game.rules.auction != _AUCTION_NONE:
        agenda.push(game, agenda.ESTATE, next_solvent(game, seat), lots, 0)
