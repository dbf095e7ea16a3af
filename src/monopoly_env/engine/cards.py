"""Drawing a card and carrying it out (10, 20-21, 54, 58)."""

from __future__ import annotations

from monopoly_env.engine import agenda, decks, jail, movement, rent
from monopoly_env.engine.movement import advance
from monopoly_env.engine.sets import has
from monopoly_env.facts import cards as table
from monopoly_env.facts.board import NUM_SQUARES, NUM_STREETS, RAILROAD, SQUARE_KIND, UTILITY
from monopoly_env.game import POT, Game
from monopoly_env.kernels import kernel


@kernel
def draw_card(game: Game, seat: int, deck: int, again: int) -> None:
    """Draw a card and carry it out."""
    if game.place[seat] != 0:
        return
    if again:  # a quirk: the dice are thrown once more
        movement.utility_throw(game)
        movement.decide_again(game, seat)
    board = int(game.rules.board)
    card = decks.draw(game, seat, deck)
    effect = table.CARD[board, deck, card, 0]
    first, second = int(table.CARD[board, deck, card, 1]), int(table.CARD[board, deck, card, 2])
    if (
        game.rules.ocnaru_quirks
        and deck == table.CHANCE_DECK
        and not again
        and _keeps_place(effect)
    ):
        # the program settles the square a second time
        agenda.push(game, agenda.CARD, seat, deck, 1)
    if effect <= table.TO_JAIL:
        _move_by_card(game, seat, effect, first, second)
    elif effect == table.BANK_PAYS:
        game.cash[seat] += first
    elif effect == table.PAY_BANK:
        agenda.push(game, agenda.CHARGE, seat, first, POT)
    elif effect == table.PAY_EACH:
        agenda.push(game, agenda.PAY_EACH, seat, first, 1)
    elif effect == table.COLLECT_EACH:
        agenda.push(game, agenda.COLLECT_EACH, seat, first, 1)
    elif effect == table.REPAIRS:
        agenda.push(game, agenda.CHARGE, seat, repair_bill(game, seat, first, second), POT)
    elif effect == table.PAY_OR_DRAW:
        agenda.push(game, agenda.FINE_OR_CHANCE, seat, first, 0)


@kernel
def _keeps_place(effect: int) -> bool:
    return effect > table.TO_JAIL


@kernel
def _move_by_card(game: Game, seat: int, effect: int, first: int, second: int) -> None:
    """Move where a card says. Forward moves pay for passing GO, backward ones do not (10, 11)."""
    if effect == table.TO_JAIL:
        jail.send_to_jail(game, seat)
        return
    how, multiplier = rent.ORDINARY, 0
    if effect == table.MOVE_TO:
        advance(game, seat, _distance(game, seat, first))
    elif effect == table.MOVE_BACK_TO:
        game.position[seat] = first
    elif effect == table.MOVE_STEPS:
        game.position[seat] = (int(game.position[seat]) + first) % NUM_SQUARES
    else:
        how, multiplier = rent.CARD_RAILROAD + first, second
        advance(game, seat, _distance_to_kind(game, seat, RAILROAD if first == 0 else UTILITY))
    if game.rules.ocnaru_quirks:  # the program charges the rent of a card's destination twice
        agenda.push(game, agenda.SETTLE, seat, rent.AGAIN, 0)
    agenda.push(game, agenda.SETTLE, seat, how, multiplier)


@kernel
def _distance(game: Game, seat: int, square: int) -> int:
    return (square - int(game.position[seat])) % NUM_SQUARES


@kernel
def _distance_to_kind(game: Game, seat: int, kind: int) -> int:
    board, start = int(game.rules.board), int(game.position[seat])
    steps = 1
    while SQUARE_KIND[board, (start + steps) % NUM_SQUARES] != kind:
        steps += 1
    return steps


@kernel
def repair_bill(game: Game, seat: int, per_house: int, per_hotel: int) -> int:
    """The bill for a seat's houses and hotels, in dollars; a hotel is no house (54)."""
    bill = 0
    for lot in range(NUM_STREETS):
        if has(game.lots[seat], lot) and game.level[lot] > 0:
            bill += per_hotel if game.level[lot] == 5 else per_house * int(game.level[lot])
    return bill
