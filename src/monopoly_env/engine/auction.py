"""Auctions of lots and scarce buildings, English and sealed (14-16, 29, 57, S2, S3)."""

from __future__ import annotations

from monopoly_env.actions import RAISES
from monopoly_env.engine import agenda, mortgage
from monopoly_env.engine.building import (
    HOUSE_LOT,
    UNLIMITED,
    affordable,
    building_cost,
    cheapest,
    in_bank,
    piece_for,
    placeable,
    raise_level,
)
from monopoly_env.engine.liquidation import raisable
from monopoly_env.engine.players import mortgage_values, next_solvent, seat_after, solvent_seats
from monopoly_env.engine.sets import has, size
from monopoly_env.game import BANK, NOBODY, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

FOLD = 0  # the first action of the head `bid`; the others raise by the amounts in RAISES

_SEALED = number("auction", "sealed_second_price")
_NONE = number("auction", "none")
_OTHERS_ONLY = number("auction", "others_only")
_BY_CASH = number("auction_limit", "cash")
_FIRST_COME = number("building_shortage", "first_come")
_EVERY_PLAYER = number("build_window", "before_each_throw")
_OWN_PRICE = number("shortage_floor", "own_price")
_CHEAPEST_PRICE = number("shortage_floor", "cheapest_price")
_RAISABLE = number("piece_limit", "raisable")
_TEN = 10  # dollars, the lowest bid of H25
_NO_PRICE = 1 << 30


# --- lots


@kernel
def decline(game: Game, seat: int, lot: int) -> None:
    """Auction a declined lot at once (14); whether the player who declined may bid is an option."""
    if game.rules.auction == _NONE:
        return
    bidders = solvent_seats(game)
    if game.rules.auction == _OTHERS_ONLY:
        bidders &= ~(1 << int(seat))
    open_auction(game, lot, bidders, next_solvent(game, seat))


@kernel
def auction_lot(game: Game, lot: int, first_bidder: int) -> None:
    """Auction a lot of an estate among all remaining players (57)."""
    if game.place[first_bidder] != 0:
        first_bidder = next_solvent(game, first_bidder)
    open_auction(game, lot, solvent_seats(game), first_bidder)


@kernel
def open_auction(game: Game, lot: int, bidders: int, first_bidder: int) -> None:
    """Start an auction without a standing bid. Sealed bids are asked for in turn order (S2)."""
    game.auction_lot = lot
    game.auction_bid = 0
    game.auction_leader = NOBODY
    game.auction_bidders = bidders
    game.auction_asked = game.turn if is_sealed(game) else first_bidder
    agenda.push(game, agenda.AUCTION_ROUND, NOBODY, 0, 0)


@kernel
def is_sealed(game: Game) -> bool:
    """Whether the current auction takes sealed bids: never for a scarce building."""
    return game.rules.auction == _SEALED and game.auction_lot < HOUSE_LOT


@kernel
def next_round(game: Game) -> None:
    """Ask the next bidder, or close the auction."""
    seat = _next_bidder(game)
    if seat == NOBODY:
        _close(game)
        return
    agenda.push(game, agenda.AUCTION_ROUND, NOBODY, 0, 0)
    agenda.push(game, agenda.SEALED_BID if is_sealed(game) else agenda.BID, seat, 0, 0)


@kernel
def _next_bidder(game: Game) -> int:
    """The next bidder: the first from `auction_asked` on that is neither out nor leading."""
    for offset in range(game.num_players):
        seat = seat_after(game, int(game.auction_asked), offset)
        if has(game.auction_bidders, seat) and seat != game.auction_leader:
            return seat
    return NOBODY


@kernel
def limit(game: Game, seat: int) -> int:
    """The highest bid that a seat can pay, in dollars (16, S3, S4)."""
    if game.auction_lot >= HOUSE_LOT:
        return piece_funds(game, seat)
    funds = int(game.cash[seat]) if game.rules.auction_limit == _BY_CASH else raisable(game, seat)
    return funds - mortgage.transfer_fees(game, 1 << int(game.auction_lot))


@kernel
def lowest_bid(game: Game, seat: int) -> int:
    """The lowest bid that a seat may make now, in dollars (15, 29)."""
    least = int(game.rules.auction_start)
    if game.auction_leader != NOBODY:
        least = int(game.auction_bid) + int(game.rules.auction_step)
    if game.auction_lot >= HOUSE_LOT:
        least = max(least, piece_floor(game, seat, int(game.auction_lot)))
    return least


@kernel
def legal_raises(game: Game, seat: int) -> int:
    """The legal actions of an English bid, one bit each: fold, and the raises up to the limit."""
    actions = 1 << FOLD
    base, most = raise_base(game, seat), limit(game, seat)
    for i in range(len(RAISES)):
        if base + RAISES[i] <= most:
            actions |= 1 << (i + 1)
    return actions


@kernel
def raise_base(game: Game, seat: int) -> int:
    """The amount to which raises are added: a dollar below the lowest bid."""
    return lowest_bid(game, seat) - 1


@kernel
def legal_sealed(game: Game, seat: int) -> int:
    """The legal actions of a sealed bid, one bit each: done, and what may be added to it."""
    actions = 1 << FOLD
    most = limit(game, seat)
    for i in range(len(RAISES)):
        if int(game.sealed[seat]) + RAISES[i] <= most:
            actions |= 1 << (i + 1)
    return actions


@kernel
def bid(game: Game, seat: int, action: int) -> None:
    """Carry out an English bid. A fold is final (S2)."""
    if action == FOLD:
        game.auction_bidders = int(game.auction_bidders) & ~(1 << seat)
    else:
        game.auction_bid = raise_base(game, seat) + RAISES[action - 1]
        game.auction_leader = seat
    game.auction_asked = seat_after(game, seat, 1)


@kernel
def sealed_bid(game: Game, seat: int, action: int) -> None:
    """Add to a sealed maximum, or finish it and ask the next seat in turn order."""
    if action == FOLD:
        game.auction_bidders = int(game.auction_bidders) & ~(1 << seat)
        game.auction_asked = seat_after(game, seat, 1)
    else:
        game.sealed[seat] += RAISES[action - 1]
        game.auction_asked = seat


@kernel
def forget_sealed_bids(game: Game) -> None:
    """Undo the sealed bids of all players but the one asked: the others bid again in turn order."""
    for seat in range(game.num_players):
        if seat != game.player:
            game.sealed[seat] = 0
    game.auction_bidders = solvent_seats(game)
    game.auction_asked = game.turn
    agenda.pop(game)


@kernel
def _close(game: Game) -> None:
    """Sell to the winner: the winner pays, then the lot changes hands (16, S3)."""
    if is_sealed(game):
        _open_sealed_bids(game)
    lot, winner, price = int(game.auction_lot), int(game.auction_leader), int(game.auction_bid)
    _clear(game)
    if winner == NOBODY:
        game.mortgaged = int(game.mortgaged) & ~(1 << lot)  # the bank holds no mortgages
        return
    if lot >= HOUSE_LOT:
        agenda.push(game, agenda.PLACE, winner, lot, price)
    else:
        agenda.push(game, agenda.SOLD, winner, lot, 0)
    agenda.push(game, agenda.CHARGE, winner, price, BANK)


@kernel
def _open_sealed_bids(game: Game) -> None:
    """The highest maximum wins; ties go by turn order.

    The price is the second-highest maximum plus the increment of the rules (14).
    """
    best, second = 0, 0
    for offset in range(game.num_players):
        seat = seat_after(game, int(game.turn), offset)
        offered = int(game.sealed[seat])
        if offered > best and offered >= game.rules.auction_start:
            second = best
            best = offered
            game.auction_leader = seat
        elif offered > second:
            second = offered
    game.auction_bid = min(
        best, max(int(game.rules.auction_start), second + int(game.rules.sealed_increment))
    )


@kernel
def _clear(game: Game) -> None:
    game.auction_lot = NOBODY
    game.auction_bid = 0
    game.auction_leader = NOBODY
    game.auction_bidders = 0
    game.auction_asked = NOBODY
    for seat in range(game.num_players):
        game.sealed[seat] = 0


@kernel
def hand_over(game: Game, seat: int, lot: int) -> None:
    """Hand over a lot that is paid for; for a mortgaged one the fee is due (37, S4)."""
    if game.place[seat] == 0:
        game.lots[seat] |= 1 << lot
        mortgage.take_over(game, seat, 1 << lot)
    else:  # the winner gave up paying for it
        game.mortgaged = int(game.mortgaged) & ~(1 << lot)


@kernel
def next_of_estate(game: Game, lots: int, first_bidder: int) -> None:
    """Auction an estate's lots one at a time, in board order (57)."""
    lot = mortgage.first_in_board_order(game, lots)
    if lot != NOBODY:
        agenda.push(game, agenda.ESTATE, first_bidder, int(lots) & ~(1 << lot), 0)
        agenda.push(game, agenda.AUCTION, first_bidder, lot, 0)


# --- scarce buildings


@kernel
def piece_funds(game: Game, seat: int) -> int:
    """The most that a seat may bid for a scarce building, in dollars (29, S3).

    Its cash and, as an option, the mortgage values of its `pledges`.
    """
    funds = int(game.cash[seat])
    if game.rules.piece_limit == _RAISABLE:
        funds += mortgage_values(game, mortgage.pledges(game, seat))
    return funds


@kernel
def piece_floor(game: Game, seat: int, piece: int) -> int:
    """The lowest bid of a seat for a scarce building, in dollars (29).

    A seat that cannot place one has a floor above any funds.
    """
    own = _cheapest(game, seat, piece)
    if own == _NO_PRICE or game.rules.shortage_floor == _OWN_PRICE:
        return own
    if game.rules.shortage_floor != _CHEAPEST_PRICE:
        return _TEN
    for other in range(game.num_players):
        if game.place[other] == 0:
            own = min(own, _cheapest(game, other, piece))
    return own


@kernel
def _cheapest(game: Game, seat: int, piece: int) -> int:
    lots = placeable(game, seat, piece, _NO_PRICE)
    return building_cost(game, cheapest(game, lots)) if lots else _NO_PRICE


@kernel
def places_for(game: Game, seat: int, piece: int, paid: int) -> int:
    """The streets where a won building may be placed (29).

    With the floor `own_price`, only those whose list price was paid.
    """
    return placeable(
        game, seat, piece, paid if game.rules.shortage_floor == _OWN_PRICE else _NO_PRICE
    )


@kernel
def build(game: Game, seat: int, lot: int) -> None:
    """Buy the next building of a street at list price, or by auction in a shortage (27, 29)."""
    piece = piece_for(game, lot)
    cost = building_cost(game, lot)
    if game.rules.building_limit != UNLIMITED and game.rules.building_shortage != _FIRST_COME:
        rivals = contenders(game, piece)
        if size(rivals) > 1 and _demand(game, piece, rivals) > in_bank(game, piece):
            _auction_piece(game, seat, lot, piece, cost, rivals)
            return
    game.cash[seat] -= cost
    raise_level(game, lot)


@kernel
def contenders(game: Game, piece: int) -> int:
    """The seats that could place and pay for a building of this kind now, one bit each."""
    seats = 0
    for seat in range(game.num_players):
        if game.place[seat] == 0 and piece_floor(game, seat, piece) <= piece_funds(game, seat):
            seats |= 1 << seat
    return seats


@kernel
def _demand(game: Game, piece: int, seats: int) -> int:
    """The most buildings that these seats may want (29).

    One each or, if every player has a window, all that each can place and pay for.
    """
    if game.rules.build_window != _EVERY_PLAYER:
        return size(seats)
    count = 0
    for seat in range(game.num_players):
        if has(seats, seat):
            funds, floor = piece_funds(game, seat), piece_floor(game, seat, piece)
            count += affordable(game, seat, piece, funds, floor)
    return count


@kernel
def _auction_piece(game: Game, seat: int, lot: int, piece: int, cost: int, rivals: int) -> None:
    """Auction one scarce building.

    The player who asked for it opens with the list price, or with the floor of the rules if that is
    lower.
    """
    opening = cost if game.rules.shortage_floor == _OWN_PRICE else piece_floor(game, seat, piece)
    open_auction(game, piece, rivals | 1 << int(seat), seat_after(game, seat, 1))
    game.auction_bid = opening
    game.auction_leader = seat
