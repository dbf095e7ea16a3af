"""The two decks: shuffling, drawing, and the jail cards that leave them (1, 50)."""

from __future__ import annotations

from monopoly_env.engine.randomness import DECKS, below
from monopoly_env.engine.sets import has
from monopoly_env.facts.cards import DECK_SIZE, JAIL_CARD_NUMBER
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

EACH_DRAW = number("deck", "reshuffle_each_draw")
_WHEN_EMPTY = number("deck", "reshuffle_when_empty")


@kernel
def fill(game: Game, deck: int) -> None:
    """Put all cards into a deck and shuffle it."""
    for card in range(DECK_SIZE):
        game.deck[deck, card] = card
    game.deck_size[deck] = DECK_SIZE
    shuffle(game, deck)


@kernel
def shuffle(game: Game, deck: int) -> None:
    """Shuffle the cards that are in a deck (Fisher-Yates)."""
    for last in range(int(game.deck_size[deck]) - 1, 0, -1):
        other = _draw_below(game, deck, last + 1)
        card = game.deck[deck, last]
        game.deck[deck, last] = game.deck[deck, other]
        game.deck[deck, other] = card
    game.deck_next[deck] = 0


@kernel
def shuffle_unseen(game: Game, deck: int) -> None:
    """Shuffle the cards still to be drawn in this pass, whose order nobody has seen."""
    first = int(game.deck_next[deck])
    for last in range(int(game.deck_size[deck]) - 1, first, -1):
        other = first + _draw_below(game, deck, last - first + 1)
        card = game.deck[deck, last]
        game.deck[deck, last] = game.deck[deck, other]
        game.deck[deck, other] = card


@kernel
def _draw_below(game: Game, deck: int, bound: int) -> int:
    game.deck_draws[deck] += 1
    return below(game, DECKS, deck, int(game.deck_draws[deck]) - 1, bound)


@kernel
def draw(game: Game, seat: int, deck: int) -> int:
    """Draw a card: a jail card goes to the seat, any other to the bottom of the deck."""
    count = int(game.deck_size[deck])
    place = int(game.deck_next[deck])
    if game.rules.deck == EACH_DRAW:
        place = _draw_below(game, deck, count)
    elif place >= count:
        if game.rules.deck == _WHEN_EMPTY:
            shuffle(game, deck)
        place = 0
    card = int(game.deck[deck, place])
    if card == JAIL_CARD_NUMBER[game.rules.board, deck]:
        _remove(game, deck, place)
        game.jail_cards[seat] |= 1 << deck
    else:
        place += 1
    game.deck_next[deck] = place
    return card


@kernel
def _remove(game: Game, deck: int, place: int) -> None:
    game.deck_size[deck] -= 1
    for i in range(place, game.deck_size[deck]):
        game.deck[deck, i] = game.deck[deck, i + 1]
    game.deck[deck, game.deck_size[deck]] = 0


@kernel
def return_jail_card(game: Game, seat: int) -> None:
    """Return a seat's jail card, the Chance one first, to the bottom of its own deck (50, S7)."""
    deck = 0 if has(game.jail_cards[seat], 0) else 1
    game.jail_cards[seat] &= 2 if deck == 0 else 1
    put_to_bottom(game, deck)


@kernel
def put_to_bottom(game: Game, deck: int) -> None:
    """Insert the jail card behind the last drawn card, so that it comes after all others."""
    place = int(game.deck_next[deck])
    for i in range(int(game.deck_size[deck]), place, -1):
        game.deck[deck, i] = game.deck[deck, i - 1]
    game.deck[deck, place] = JAIL_CARD_NUMBER[game.rules.board, deck]
    game.deck_size[deck] += 1
    game.deck_next[deck] = place + 1


@kernel
def return_all(game: Game, seat: int) -> None:
    """Return all jail cards of a seat to the bottoms of their decks (57)."""
    while game.jail_cards[seat] != 0:
        return_jail_card(game, seat)
