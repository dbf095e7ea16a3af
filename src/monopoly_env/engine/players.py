"""Seats: solvent ones, turn order, owners, worth, and the end of the game."""

from __future__ import annotations

from monopoly_env.engine import agenda
from monopoly_env.engine.building import steps_of
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.facts.board import GROUP_LOTS, HOUSE_PRICE, MORTGAGE, NUM_STREETS, PRICE
from monopoly_env.game import BY_CASH, NOBODY, ONE_LEFT, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

_SCORE_CASH = number("score", "cash")
_SCORE_SHORT = number("score", "short_game")


@kernel
def solvent_seats(game: Game) -> int:
    """The seats still in the game, one bit each."""
    seats = 0
    for seat in range(game.num_players):
        if game.place[seat] == 0:
            seats |= 1 << seat
    return seats


@kernel
def seat_after(game: Game, seat: int, offset: int) -> int:
    """The seat `offset` places clockwise, whether in the game or not."""
    return (int(seat) + int(offset)) % int(game.num_players)


@kernel
def next_solvent(game: Game, seat: int) -> int:
    """The next seat clockwise that is still in the game."""
    seat = seat_after(game, seat, 1)
    while game.place[seat] != 0:
        seat = seat_after(game, seat, 1)
    return seat


@kernel
def owner_of(game: Game, lot: int) -> int:
    """The seat that owns a lot, or NOBODY."""
    for seat in range(game.num_players):
        if has(game.lots[seat], lot):
            return seat
    return NOBODY


@kernel
def owns_group(game: Game, seat: int, group: int) -> bool:
    """Whether a seat owns every lot of a group."""
    lots = int(GROUP_LOTS[group])
    return int(game.lots[seat]) & lots == lots


@kernel
def lots_worth(game: Game, seat: int, mortgaged_percent: int) -> int:
    """The printed prices of a seat's lots, in dollars; mortgaged ones count a percentage."""
    worth = 0
    lots = int(game.lots[seat])
    board = int(game.rules.board)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        share = mortgaged_percent if has(game.mortgaged, lot) else 100
        worth += int(PRICE[board, lot]) * share // 100
    return worth


@kernel
def buildings_worth(game: Game, seat: int) -> int:
    """The purchase prices of the buildings on a seat's streets, in dollars."""
    worth = 0
    board = int(game.rules.board)
    for lot in range(NUM_STREETS):
        # a quirk: all buildings count
        if game.level[lot] > 0 and (game.rules.ocnaru_quirks or has(game.lots[seat], lot)):
            worth += steps_of(game, int(game.level[lot])) * int(HOUSE_PRICE[board, lot])
    return worth


@kernel
def total_worth(game: Game, seat: int) -> int:
    """Cash, printed prices of all lots and purchase prices of buildings, in dollars (51)."""
    return int(game.cash[seat]) + lots_worth(game, seat, 100) + buildings_worth(game, seat)


@kernel
def score(game: Game, seat: int) -> int:
    """The score that decides a capped game, in dollars (62, 64)."""
    if game.rules.score == _SCORE_CASH:
        return int(game.cash[seat])
    percent = 50 if game.rules.score == _SCORE_SHORT else 100
    return int(game.cash[seat]) + lots_worth(game, seat, percent) + buildings_worth(game, seat)


@kernel
def mortgage_values(game: Game, lots: int) -> int:
    """The sum of the mortgage values of these lots, in dollars."""
    value = 0
    board = int(game.rules.board)
    while lots:
        lot = lowest(lots)
        lots &= lots - 1
        value += int(MORTGAGE[board, lot])
    return value


@kernel
def finish(game: Game, ending: int) -> None:
    """End the game (61, 64, S9).

    The remaining players are ranked by score or by cash; ties share a place.
    """
    game.ending = ending
    by_cash = ending == BY_CASH
    seats = solvent_seats(game)
    for seat in range(game.num_players):
        if has(seats, seat):
            mine = int(game.cash[seat]) if by_cash else score(game, seat)
            place = 1
            for other in range(game.num_players):
                if has(seats, other):
                    theirs = int(game.cash[other]) if by_cash else score(game, other)
                    if theirs > mine:
                        place += 1
            game.place[seat] = place
    # lots of an estate may still be waiting for their auction
    game.mortgaged = int(game.mortgaged) & _owned(game)
    agenda.clear(game)
    game.decision = agenda.OVER
    game.player = game.turn
    for word in range(7):
        game.legal[word] = 0


@kernel
def _owned(game: Game) -> int:
    lots = 0
    for seat in range(game.num_players):
        lots |= int(game.lots[seat])
    return lots


@kernel
def finish_if_alone(game: Game) -> bool:
    """End the game when one player is left (59, 61)."""
    if size(solvent_seats(game)) > 1:
        return False
    finish(game, ONE_LEFT)
    return True
