"""Events in words: a subject and a phrase each; those of one task and subject form a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from monopoly_env import actions, events
from monopoly_env.events import Row
from monopoly_env.facts.board import SQUARE_NAME, lots_of
from monopoly_env.facts.cards import CARD_LABEL, DECKS
from monopoly_env.game import CHANCE_GOOD, NOBODY, Game
from monopoly_env.render import words
from monopoly_env.render.text import PLAYERS
from monopoly_env.render.words import Names

Event: TypeAlias = tuple[str, str]  # a subject and what it does

_LEVELS: Final = ("no house", "1 house", "2 houses", "3 houses", "4 houses", "a hotel")


def step(game: Game, action: int, names: Names = PLAYERS) -> list[str]:
    """Carry out an action, as `monopoly_env.step` does, and describe its events.

    Args:
        game: A game that is not over; it changes in place.
        action: A legal action.
        names: The players' names by seat.

    Returns:
        The events, one sentence each, in order.

    Raises:
        IllegalActionError: The action is not legal here. The game is unchanged.
        PositionError: The record is invalid. It is unchanged.
    """
    return sentences(events.play(game, action), game, names)


def compare(before: Game, after: Game, names: Names = PLAYERS) -> list[str]:
    """Describe the differences of two records one task apart, a sentence for each subject."""
    return sentences(events.between(before, after), after, names)


def sentences(rows: Sequence[Row], game: Game, names: Names = PLAYERS) -> list[str]:
    """Rows of `monopoly_env.events` in words.

    Args:
        rows: The events.
        game: A record of the game, for its board and rules.
        names: The players' names by seat.
    """
    said = ((row[-1], *event) for row in rows for event in _said(row, game, names))
    groups = itertools.groupby(said, key=lambda one: one[:2])
    return [_sentence(subject, [one[2] for one in group]) for (_, subject), group in groups]


def differences(before: Game, after: Game, names: Names = PLAYERS) -> list[Event]:
    """The differences of places, goods and cash between two records many decisions apart."""
    rows = events.differences(before, after)
    return [event for row in rows for event in _said(row, after, names)]


def _sentence(subject: str, phrases: list[str]) -> str:
    return f"{subject} {words.joined(phrases)}."


def _said(row: Row, game: Game, names: Names) -> Iterator[Event]:
    kind, seat, *numbers, _ = row
    if kind == events.OVER:
        winners = [name for other, name in enumerate(names) if numbers[1] >> other & 1]
        yield "The game", "is over"
        yield words.joined(winners), "wins" if len(winners) == 1 else "share the win"
    elif kind in _WITHOUT_PLAYER:
        yield _WITHOUT_PLAYER[kind](game, numbers, names)
    elif kind == events.TURN:
        yield f"Turn {numbers[0]}:", names[seat]
    elif kind == events.CHOSE:
        decision = actions.DECISION_NAMES[numbers[1]]
        yield f"{names[seat]}:", actions.text_of(numbers[0], decision, int(game.rules.board))
    elif kind in _PHRASES:
        yield names[seat], _PHRASES[kind](game, numbers, names)


def _card(game: Game, numbers: list[int], _: Names) -> str:
    deck, card = numbers[:2]
    label = CARD_LABEL[int(game.rules.board)][deck][card]
    return f'draws from {DECKS[deck].replace("_", " ").title()} "{label}"'


def _offer(game: Game, numbers: list[int], names: Names) -> str:
    to, give, ask, cash = numbers
    given, asked = words.goods(game, give, cash), words.goods(game, ask, -cash)
    return f"offers {names[to]} {given} for {asked}"


def _owed(game: Game, numbers: list[int], names: Names) -> str:
    dollars, creditor = numbers[:2]
    return f"owes {words.payee(game, creditor, names)} ${dollars:,} and must raise cash"


def _paid(_: Game, numbers: list[int], names: Names) -> str:
    dollars, to = numbers[:2]
    return f"pays ${dollars:,}" if to == NOBODY else f"pays {names[to]} ${dollars:,}"


_Phrase: TypeAlias = Callable[[Game, list[int], Names], str]


def _lots(verb: str) -> _Phrase:
    def phrase(game: Game, numbers: list[int], _: Names) -> str:
        return f"{verb} {words.joined([words.lot_name(game, lot) for lot in lots_of(numbers[0])])}"

    return phrase


def _building(verb: str) -> _Phrase:
    def phrase(game: Game, numbers: list[int], _: Names) -> str:
        return f"{verb}: {words.lot_name(game, numbers[0])} now has {_LEVELS[numbers[1]]}"

    return phrase


# What the player of an event does.
_PHRASES: Final[dict[int, _Phrase]] = {
    events.THROW: lambda _, numbers, __: f"throws {numbers[0]} + {numbers[1]}",
    events.CARD: _card,
    events.GO_TO_JAIL: lambda *_: "goes to jail",
    events.STAY_IN_JAIL: lambda *_: "stays in jail",
    events.LEAVE_JAIL: lambda *_: "leaves jail",
    events.MOVE: lambda game, numbers, _: (
        f"moves to {SQUARE_NAME[int(game.rules.board)][numbers[0]]}"
    ),
    events.OWE: _owed,
    events.OFFER: _offer,
    events.BID: lambda _, numbers, __: f"bids ${numbers[0]:,}",
    events.GET: _lots("gets"),
    events.MORTGAGE: _lots("mortgages"),
    events.LIFT: _lots("lifts the mortgage on"),
    events.JAIL_CARD: lambda _, numbers, __: f"gets {words.JAIL_CARDS[CHANCE_GOOD + numbers[0]]}",
    events.BUILD: _building("builds"),
    events.SELL: _building("sells"),
    events.PAY: _paid,
    events.RECEIVE: lambda _, numbers, __: f"gets ${numbers[0]:,}",
    events.MORE: lambda _, numbers, __: f"has ${numbers[0]:,} more than before",
    events.LESS: lambda _, numbers, __: f"has ${numbers[0]:,} less than before",
    events.BANKRUPT: lambda *_: "is bankrupt",
}

# Subjects and phrases of events that no player does.
_WITHOUT_PLAYER: Final[dict[int, Callable[[Game, list[int], Names], Event]]] = {
    events.UTILITY_THROW: lambda _, numbers, __: (
        "A throw for the utility:",
        f"{numbers[0]} + {numbers[1]}",
    ),
    events.AUCTION: lambda game, numbers, _: ("Auction:", words.lot_name(game, numbers[0])),
    events.SOLD: lambda *_: ("The auction", "is closed"),
    events.UNSOLD: lambda *_: ("The auction", "ends without a bid"),
    events.RETURN: lambda game, numbers, _: (
        words.lot_name(game, numbers[0]),
        "goes back to the bank",
    ),
}
