"""Books of money, deeds, buildings, tokens and decks, and of what must come next."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.monopoly_env.second_reading.booklet import Booklet, table

BANK = -1
HOUSE, HOTEL = 28, 29  # in the place of an auction's lot
TOP = 5  # the level of a hotel
JAIL = 10  # the square
NOTES = (1, 5, 10, 20, 50, 100, 500)
ONE_LEFT, BY_BANKRUPTCY, BY_CAP, BY_CASH = 1, 2, 3, 4


class Objection(Exception):  # noqa: N818 - the word for it
    """The game and the booklet do not agree."""


def require(sound: bool, *what: Any) -> None:
    """Object unless something is so."""
    if not sound:
        raise Objection(*what)


class Event(NamedTuple):
    """A row of the events; its kind, a choice and the decision are words."""

    kind: str
    seat: int
    first: Any
    second: Any
    third: int
    fourth: int
    task: int


class Deck:
    """A deck whose order is unknown until it has been seen once."""

    def __init__(self, cards: list[dict[str, str]], reshuffled: bool) -> None:
        self.cards, self.reshuffled = cards, reshuffled
        self.unseen, self.bottom = set(range(len(cards))), list[int]()
        names = [card["effect"] for card in cards]
        self.jail_card = names.index("get_out_of_jail_free")

    def draw(self, card: int) -> dict[str, str]:
        """Draw a card: one not seen yet, or the one that has lain longest (50)."""
        if self.reshuffled and not self.unseen:
            self.unseen, self.bottom = set(self.bottom), []
        if self.unseen:
            require(card in self.unseen, "drawn twice", card)
            self.unseen.remove(card)
        else:
            require(card == self.bottom.pop(0), "not the next card", card)
        if card != self.jail_card:
            self.bottom.append(card)
        return self.cards[card]


@dataclass
class Open:
    """Something that the booklet requires to come next."""

    what: str
    seat: int
    number: int = 0
    dollars: int = 0
    payees: tuple[int, ...] = ()  # empty: the bank
    why: str = ""
    lots: list[int] = field(default_factory=list)


class Books:
    """The books of one game.

    Args:
        booklet: Its rules.
        dealt: The lots of each seat at the start.
        cash: The dollars of each seat at the start.
    """

    def __init__(self, booklet: Booklet, dealt: Sequence[set[int]], cash: int = 1500) -> None:
        self.booklet, players = booklet, len(dealt)
        self.seats = range(players)
        squares = table(f"board_{booklet.board}")
        self.kind = [square["kind"] for square in squares]
        kinds = "street", "railroad", "utility"
        self.deed = [row for kind in kinds for row in squares if row["kind"] == kind]
        self.square_of = [int(deed["index"]) for deed in self.deed]
        self.lots, self.streets = range(28), range(22)
        names = [deed["group"] for deed in self.deed]
        self.groups = [
            [lot for lot in self.lots if names[lot] == name] for name in dict.fromkeys(names)
        ]
        cards = [card for card in table("cards") if card["board"] == booklet.board]
        self.decks = [
            Deck([card for card in cards if card["deck"] == deck], booklet.reshuffled)
            for deck in ("chance", "community_chest")
        ]
        self.balance = Counter[int]()
        self.posted = Counter[int]()  # of the task that is being read
        self.reasons = Counter[str]()
        for seat in self.seats:
            self.post(BANK, seat, cash, "start")
        self.posted.clear()
        self.owner = {lot: seat for seat, lots in enumerate(dealt) for lot in lots}
        self.whole = self.complete()
        self.mortgaged = set[int]()
        self.level = [0] * 22
        self.houses, self.hotels = 32, 12
        self.square = [0] * players
        self.jail = [0] * players
        self.held = [set[int]() for _ in self.seats]  # jail cards, by their deck
        self.out = set[int]()
        self.turn, self.turns, self.streak = BANK, 0, 0
        self.may_throw = False
        self.steps = 0
        self.open = list[Open]()  # the last one comes next
        self.expected = list[tuple[Any, ...]]()  # rows that must come in the same task
        self.offer: Event | None = None
        self.offered, self.refused = Counter[int](), list[tuple[int, ...]]()
        self.traded = 0
        self.countering: tuple[int, int] | None = None
        self.bid, self.leader, self.folded = 0, BANK, set[int]()
        self.sealed = Counter[int]()
        self.lifting = BANK
        self.ending, self.over = 0, False
        self.heard = Counter[str]()

    # --- the ledger

    def post(self, giver: int, taker: int, dollars: int, why: str) -> None:
        """Enter a payment: as much as one account gives, another takes."""
        for account, amount in ((giver, -dollars), (taker, dollars)):
            self.balance[account] += amount
            self.posted[account] += amount
        self.reasons[why] += 1

    def owes(self, seat: int, dollars: int, payees: Iterable[int], why: str) -> None:
        """Enter a debt, to be settled before all that is open already."""
        self.open.append(Open("due", seat, dollars=dollars, payees=tuple(payees), why=why))

    def compare(self, record: dict[str, Any]) -> None:
        """Compare the books with the record of the game between two decisions."""
        playing = [seat for seat in self.seats if seat not in self.out]
        books: dict[str, Any] = {
            "cash": [self.balance[seat] for seat in self.seats],
            "owner": self.owner,
            "mortgaged": self.mortgaged,
            "level": self.level,
            "houses": self.houses,
            "hotels": self.hotels,
            "jail": self.jail,
            "cards": self.held,
            "square": [self.square[seat] for seat in playing],
            "turn": self.turn,
            "over": self.over,
        }
        for name, value in books.items():
            theirs = record[name]
            if name == "square":
                theirs = [theirs[seat] for seat in playing]
            require(value == theirs, name, value, theirs)

    # --- what must come next

    def top(self) -> Open | None:
        """The first open item, after those that came to nothing by themselves."""
        while self.open and self._is_void(self.open[-1]):
            self.open.pop()
        return self.open[-1] if self.open else None

    def _is_void(self, item: Open) -> bool:
        """Whether nothing is told of an item, since a player left or had only one answer."""
        if item.what == "estate":
            return not item.lots
        if item.seat in self.out or set(item.payees) & self.out:
            return True
        if item.what == "due":
            return item.dollars <= 0
        if item.what == "sale":
            return self.booklet.auction == "none" and not self._may_buy(item)
        while item.lots and self.funds(item.seat) < self.mortgage_value(item.lots[0]):
            item.lots.pop(0)  # of a takeover: it keeps a mortgage that it cannot pay
        return item.what == "takeover" and not item.lots

    def _may_buy(self, sale: Open) -> bool:
        raising = self.booklet.buy_by_raising and sale.seat in self.owner.values()
        return (self.funds(sale.seat) if raising else self.balance[sale.seat]) >= sale.dollars

    def close(self, what: str, seat: int, *details: Any) -> Open:
        """Take the first open item, which must be this one."""
        item = self.top()
        if item is not None and item.what == "may leave" and what != "may leave":
            self.open.pop()  # it stays in jail
            item = self.top()
        require(item is not None and (item.what, item.seat) == (what, seat), what, item, *details)
        return self.open.pop()

    def settled(self, *details: Any) -> None:
        """Object if something is still open."""
        if (item := self.top()) and item.what == "may leave":
            self.open.pop()
        require(self.top() is None, "not settled", self.open, *details)

    # --- values

    def group(self, lot: int) -> list[int]:
        """The lots of a lot's group."""
        return next(group for group in self.groups if lot in group)

    def number(self, lot: int, column: str) -> int:
        """A number on a title deed."""
        return int(self.deed[lot][column])

    def mortgage_value(self, lot: int) -> int:
        """The mortgage value of a lot."""
        return self.number(lot, "mortgage")

    def interest(self, lot: int) -> int:
        """A tenth of the mortgage, rounded up (34)."""
        return math.ceil(self.mortgage_value(lot) / 10)

    def steps_of(self, level: int) -> int:
        """Purchases that lead to a level."""
        return self.booklet.hotel_after + 1 if level == TOP else level

    def has_group(self, seat: int, lot: int) -> bool:
        """Whether a seat owns the group of a lot."""
        return all(self.owner.get(other) == seat for other in self.group(lot))

    def complete(self) -> set[tuple[int, int]]:
        """The whole groups of all seats, as seat and number of the group."""
        first = ((self.owner.get(lots[0], BANK), number) for number, lots in enumerate(self.groups))
        return {
            (seat, number)
            for seat, number in first
            if seat != BANK and self.has_group(seat, self.groups[number][0])
        }

    def built(self, lot: int) -> bool:
        """Whether a building stands in the group of a lot."""
        return lot in self.streets and any(self.level[other] for other in self.group(lot))

    def owned(self, seat: int) -> list[int]:
        """The lots of a seat in the order of the board."""
        lots = [lot for lot in self.lots if self.owner.get(lot) == seat]
        return sorted(lots, key=lambda lot: self.square_of[lot])

    def buildings(self, seat: int) -> int:
        """The purchase price of a seat's buildings."""
        return sum(
            self.steps_of(self.level[lot]) * self.number(lot, "house_cost")
            for lot in self.owned(seat)
            if lot in self.streets
        )

    def funds(self, seat: int) -> int:
        """Cash, half of all buildings, and mortgage values (16, 55)."""
        free = [lot for lot in self.owned(seat) if lot not in self.mortgaged]
        mortgages = sum(map(self.mortgage_value, free))
        return self.balance[seat] + self.buildings(seat) // 2 + mortgages

    def worth(self, seat: int, mortgaged: int = 100) -> int:
        """Cash, printed prices and buildings; of mortgaged lots a percentage (51, 62)."""
        prices = (
            self.number(lot, "price") * (mortgaged if lot in self.mortgaged else 100) // 100
            for lot in self.owned(seat)
        )
        return self.balance[seat] + sum(prices) + self.buildings(seat)

    def rent(self, lot: int, total: int) -> tuple[int, str]:
        """The rent of a lot for a throw, and its reason (17 to 19)."""
        owner, deed = self.owner[lot], self.deed[lot]
        same = sum(self.owner.get(other) == owner for other in self.group(lot))
        if deed["kind"] == "railroad":
            return self.number(lot, f"rent_{same}rr"), "rent of a railroad"
        if deed["kind"] == "utility":
            return self.number(lot, f"dice_mult_{same}ut") * total, "rent of a utility"
        if self.level[lot]:
            houses = "hotel" if self.level[lot] == TOP else f"{self.level[lot]}h"
            why = "rent with a hotel" if houses == "hotel" else "rent with houses"
            return self.number(lot, f"rent_{houses}"), why
        spoilt = bool(self.mortgaged & set(self.group(lot)))
        if self.has_group(owner, lot) and (self.booklet.doubled_if_mortgaged or not spoilt):
            return 2 * self.number(lot, "rent_base"), "doubled rent"
        return self.number(lot, "rent_base"), "rent"

    def after(self, seat: int) -> list[int]:
        """The other players in turn order."""
        order = [(seat + offset) % len(self.seats) for offset in self.seats]
        return [other for other in order[1:] if other not in self.out]


def bits(number: int) -> list[int]:
    """The numbers of a set."""
    return [bit for bit in range(30) if number >> bit & 1]
