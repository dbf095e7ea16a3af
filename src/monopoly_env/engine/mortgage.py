"""Mortgages (33-39)."""

from __future__ import annotations

from monopoly_env.engine import agenda
from monopoly_env.engine.building import built_groups, complete_colours
from monopoly_env.engine.sets import has, lowest
from monopoly_env.facts.board import BOARD_ORDER, MORTGAGE, NUM_LOTS, PRICE
from monopoly_env.game import BANK, NOBODY, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

KEEP, LIFT = 0, 1  # the two answers to a takeover

_DOWN = number("interest_rounding", "down")
_NEAREST = number("interest_rounding", "nearest")
_ON_PRICE = number("interest_base", "price")
_TEN_PERCENT = number("unmortgage_price", "ten_percent")
_NO_FEE = number("mortgage_transfer_fee", "none")


@kernel
def interest(game: Game, lot: int) -> int:
    """The 10% interest on a lot, in whole dollars (34, 35)."""
    board = int(game.rules.board)
    base = (
        int(PRICE[board, lot])
        if game.rules.interest_base == _ON_PRICE
        else int(MORTGAGE[board, lot])
    )
    if game.rules.interest_rounding == _DOWN:
        return base // 10
    if game.rules.interest_rounding == _NEAREST:
        return (base + 5) // 10
    return (base + 9) // 10


@kernel
def principal(game: Game, lot: int) -> int:
    """The price of lifting a mortgage without the interest, in dollars (39)."""
    return (
        0 if game.rules.unmortgage_price == _TEN_PERCENT else int(MORTGAGE[game.rules.board, lot])
    )


@kernel
def lifting_cost(game: Game, lot: int) -> int:
    """The price of lifting a mortgage, in dollars (34, 39)."""
    return principal(game, lot) + interest(game, lot)


@kernel
def unencumbered(game: Game, seat: int) -> int:
    """The lots that a seat may mortgage where no building stands (33).

    If lifting costs 10% alone, each lot is mortgaged only once (39).
    """
    lots = int(game.lots[seat]) & ~int(game.mortgaged)
    # otherwise mortgaging and lifting in turn would create money
    if game.rules.unmortgage_price == _TEN_PERCENT:
        lots &= ~int(game.fresh_mortgages)
    return lots


@kernel
def pledges(game: Game, seat: int) -> int:
    """The lots whose mortgages may pay for a scarce building: none of a whole colour (29, S3)."""
    return unencumbered(game, seat) & ~complete_colours(game, seat)


@kernel
def mortgageable(game: Game, seat: int) -> int:
    """The lots that a seat may mortgage now: their groups have no buildings (33)."""
    return unencumbered(game, seat) & ~built_groups(game)


@kernel
def liftable(game: Game, seat: int) -> int:
    """The lots whose mortgage a seat can lift with the cash in hand."""
    lots = int(game.lots[seat]) & int(game.mortgaged)
    payable = 0
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        if lifting_cost(game, lot) <= game.cash[seat]:
            payable |= 1 << lot
    return payable


@kernel
def mortgage(game: Game, seat: int, lot: int) -> None:
    """Mortgage a lot for half its price (33)."""
    game.cash[seat] += int(MORTGAGE[game.rules.board, lot])
    game.mortgaged |= 1 << lot
    game.fresh_mortgages |= 1 << lot


@kernel
def forget_turn(game: Game) -> None:
    """Clear the marks on lots mortgaged this turn, unless a lot is mortgaged only once (39)."""
    if game.rules.unmortgage_price != _TEN_PERCENT:
        game.fresh_mortgages = 0


@kernel
def lift(game: Game, seat: int, lot: int, cost: int) -> None:
    """Lift a mortgage for `cost` dollars."""
    game.cash[seat] -= cost
    game.mortgaged = int(game.mortgaged) & ~(1 << int(lot))


@kernel
def transfer_fees(game: Game, lots: int) -> int:
    """The 10% that the receiver of these lots owes for the mortgaged ones, in dollars (36-38)."""
    fees = 0
    if game.rules.mortgage_transfer_fee != _NO_FEE:
        lots = int(lots) & int(game.mortgaged)
        while lots:
            lot = lowest(lots)
            lots &= lots - 1
            fees += interest(game, lot)
    return fees


@kernel
def take_over(game: Game, seat: int, lots: int) -> None:
    """Charge the fees of received mortgages as one debt, then ask about each lot (36, 37, S4)."""
    mortgaged = int(lots) & int(game.mortgaged)
    if game.place[seat] != 0 or mortgaged == 0 or game.rules.mortgage_transfer_fee == _NO_FEE:
        return
    agenda.push(game, agenda.TAKEOVERS, seat, mortgaged, 0)
    agenda.push(game, agenda.CHARGE, seat, transfer_fees(game, mortgaged), BANK)


@kernel
def ask_takeovers(game: Game, seat: int, lots: int) -> None:
    """Ask about the next received lot that is still mortgaged."""
    lots = int(lots) & int(game.mortgaged) & int(game.lots[seat])
    lot = first_in_board_order(game, lots)
    if game.place[seat] == 0 and lot != NOBODY:
        agenda.push(game, agenda.TAKEOVERS, seat, lots & ~(1 << lot), 0)
        agenda.push(game, agenda.TAKEOVER, seat, lot, 0)


@kernel
def first_in_board_order(game: Game, lots: int) -> int:
    """The lot in a set whose square comes first, or NOBODY for an empty set."""
    for i in range(NUM_LOTS):
        lot = int(BOARD_ORDER[game.rules.board, i])
        if has(lots, lot):
            return lot
    return NOBODY
