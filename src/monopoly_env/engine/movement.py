"""Throwing, moving and arriving (3, 7, 10-11, 13, 53)."""

from __future__ import annotations

from monopoly_env.engine import agenda, jail, rent, tax
from monopoly_env.engine.players import owner_of
from monopoly_env.engine.randomness import THROWS, UTILITY_THROWS, below
from monopoly_env.facts.board import (
    CHANCE,
    CHEST,
    FREE_PARKING,
    GO_TO_JAIL,
    INCOME_TAX,
    LUXURY_TAX,
    NUM_SQUARES,
    SQUARE_KIND,
    SQUARE_LOT,
)
from monopoly_env.facts.cards import CHANCE_DECK, CHEST_DECK
from monopoly_env.game import NOBODY, POT, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

_POT_NONE = number("free_parking_pot", "none")
_POT_500 = number("free_parking_pot", "fines_plus_500")
POT_BONUS = 500  # dollars that the house rule puts on Free Parking


@kernel
def set_dice(game: Game, stream: int, seat: int, count: int) -> None:
    """Throw two dice: the next forced throw if there is one, else number `count` of a stream."""
    if game.num_forced > 0:
        first, second = int(game.forced_throws[0]) // 10, int(game.forced_throws[0]) % 10
        game.num_forced -= 1
        for i in range(game.num_forced):
            game.forced_throws[i] = game.forced_throws[i + 1]
        game.forced_throws[game.num_forced] = 0
    else:
        both = below(game, stream, seat, count, 36)
        first, second = both // 6 + 1, both % 6 + 1
    game.dice[0] = first
    game.dice[1] = second


@kernel
def utility_throw(game: Game) -> int:
    """Throw for utility rent without moving; returns the sum of the dice."""
    game.utility_throws += 1
    set_dice(game, UTILITY_THROWS, 0, int(game.utility_throws) - 1)
    return int(game.dice[0]) + int(game.dice[1])


@kernel
def decide_again(game: Game, seat: int) -> None:
    """A quirk of Ocnaru's program: a throw without a move decides whether the turn goes on."""
    game.again = 1 if game.dice[0] == game.dice[1] and game.jail[seat] == 0 else 0


@kernel
def throw(game: Game, seat: int) -> None:
    """Throw for the seat on turn and move its token (3, 7)."""
    game.throws[seat] += 1
    set_dice(game, THROWS, seat, int(game.throws[seat]) - 1)
    steps = int(game.dice[0]) + int(game.dice[1])
    double = game.dice[0] == game.dice[1]
    game.again = 0
    if game.jail[seat] > 0:
        if jail.throw_in_jail(game, seat, steps, double):
            walk(game, seat, steps)
        return
    if double and game.rules.doubles_again:
        game.streak += 1
        if game.streak == 3:  # 7: the token does not move, nothing is settled, no salary
            jail.send_to_jail(game, seat)
            return
        game.again = 1
    walk(game, seat, steps)


@kernel
def walk(game: Game, seat: int, steps: int) -> None:
    """Move forward, collect the salary, then settle the square (3, 10)."""
    advance(game, seat, steps)
    agenda.push(game, agenda.SETTLE, seat, rent.ORDINARY, 0)


@kernel
def advance(game: Game, seat: int, steps: int) -> None:
    """Move the token forward; GO pays before the destination is settled (10, 12)."""
    square = int(game.position[seat]) + steps
    if square >= NUM_SQUARES:
        square -= NUM_SQUARES
        salary = int(game.rules.go_salary)
        game.cash[seat] += 2 * salary if square == 0 and game.rules.double_go else salary
    game.position[seat] = square


@kernel
def leave_jail(game: Game, seat: int, steps: int) -> None:
    """Leave jail after the fine or a card, moving by the throw that had failed (45d)."""
    if game.place[seat] == 0:
        game.jail[seat] = 0
        walk(game, seat, steps)


@kernel
def settle(game: Game, seat: int, how: int, multiplier: int) -> None:
    """Settle the square that a token has reached (3)."""
    if game.place[seat] != 0:
        return
    board, square = int(game.rules.board), int(game.position[seat])
    lot = int(SQUARE_LOT[board, square])
    if lot >= 0:
        owner = owner_of(game, lot)
        if owner == NOBODY:
            if how != rent.AGAIN:
                agenda.push(game, agenda.BUY, seat, lot, 0)
        elif owner != seat:
            collect_rent(game, seat, owner, lot, how, multiplier)
        return
    if how == rent.AGAIN:
        return
    kind = SQUARE_KIND[board, square]
    if kind == CHANCE:
        agenda.push(game, agenda.CARD, seat, CHANCE_DECK, 0)
    elif kind == CHEST:
        agenda.push(game, agenda.CARD, seat, CHEST_DECK, 0)
    elif kind == INCOME_TAX:
        tax.income_tax(game, seat)
    elif kind == LUXURY_TAX:
        agenda.push(game, agenda.CHARGE, seat, int(game.rules.luxury_tax), POT)
    elif kind == GO_TO_JAIL:
        jail.send_to_jail(game, seat)
    elif kind == FREE_PARKING and game.rules.free_parking_pot != _POT_NONE:
        game.cash[seat] += game.pot
        game.pot = POT_BONUS if game.rules.free_parking_pot == _POT_500 else 0


@kernel
def collect_rent(game: Game, seat: int, owner: int, lot: int, how: int, multiplier: int) -> None:
    """Charge a visitor rent (17-22). A fresh throw for a utility is made here."""
    if rent.is_free(game, owner, lot, how):
        return
    quirks = game.rules.ocnaru_quirks
    total = int(game.dice[0]) + int(game.dice[1])
    if quirks or rent.needs_fresh_throw(game, lot, how):
        total = utility_throw(game)
    if quirks:
        decide_again(game, seat)
    due = rent.card_rent(game, owner, lot, how, multiplier, total)
    tested = rent.quirk_tested_rent(game, owner, lot, due)
    if due > tested:
        agenda.push(game, agenda.TAKE, seat, due - tested, owner)
    agenda.push(game, agenda.CHARGE, seat, tested, owner)
