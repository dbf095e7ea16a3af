"""Games of every preset, told by their events and read by an accountant with the booklet."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import actions, events
from monopoly_env.facts import board
from monopoly_env.facts.board import lots_of
from tests.monopoly_env.second_reading.accountant import Accountant
from tests.monopoly_env.second_reading.booklet import BOOKLETS
from tests.monopoly_env.second_reading.books import (
    BANK,
    BY_BANKRUPTCY,
    BY_CAP,
    BY_CASH,
    ONE_LEFT,
    Event,
    Objection,
)

DECISIONS = 1_500
SUMMARY = 50  # decisions between two summaries
PLAYERS = {"ocnaru": 2}  # others: 4
# How often a kind of action is taken where it is legal: many buildings, no long windows.
WEIGHT = {"turn": 4.0, "build": 16.0, "unmortgage": 0.3, "sell": 0.2, "mortgage": 0.2}


# --- games


def new_game(preset: str, seed: int, **options: Any) -> tuple[Any, list[Event]]:
    """A game and its opening: in odd seeds most groups are dealt whole."""
    players, rules = PLAYERS.get(preset, 4), me.Rules.preset(preset, **options)
    if seed % 2 == 0 or rules.build_window == "after_settlement":
        game = me.new_game(players, rules, seed)
        return game, told(events.opening(game))
    game = me.position(players, rules, seed, lots=_dealt(players, seed))
    assert not game.throws.any()
    return game, [Event("turn", int(game.turn), 1, 0, 0, 0, 1)]


def _dealt(players: int, seed: int) -> dict[int, list[int]]:
    random = np.random.default_rng(seed)
    lots = {seat: list[int]() for seat in range(players)}
    for group in range(board.NUM_GROUPS):
        owner = int(random.integers(players + 1))
        if owner < players:
            lots[owner] += lots_of(board.GROUP_LOTS[group])
    return lots


def choose(game: Any, random: np.random.Generator) -> int:
    """A legal action: first its head by weight, then at random within the head."""
    legal = me.legal_actions(game)
    heads = [actions.HEAD_NAMES[actions.HEAD_OF[action]] for action in legal]
    named = list(dict.fromkeys(heads))
    weights = np.array([WEIGHT.get(head, 1.0) for head in named])
    head = named[random.choice(len(named), p=weights / weights.sum())]
    within = [action for action, its in zip(legal, heads, strict=True) if its == head]
    return int(within[0] if head == "bid" and random.random() < 0.5 else random.choice(within))


def told(rows: list[list[int]]) -> list[Event]:
    """Rows of events with their kinds, choices and decisions in words."""
    named = []
    for number, seat, first, second, *rest in rows:
        kind, words = events.KINDS[number], (first, second)
        if kind == "chose":
            words = actions.describe(first), actions.DECISION_NAMES[second]
        named.append(Event(kind, seat, *words, *rest))
    return named


def record(game: Any) -> dict[str, Any]:
    """The record in plain Python."""
    seats = range(game.num_players)
    return {
        "cash": game.cash.tolist()[: len(seats)],
        "owner": {lot: seat for seat in seats for lot in lots_of(game.lots[seat])},
        "mortgaged": set(lots_of(game.mortgaged)),
        "level": game.level.tolist(),
        "houses": int(game.houses),
        "hotels": int(game.hotels),
        "jail": game.jail.tolist()[: len(seats)],
        "cards": [{deck for deck in (0, 1) if game.jail_cards[seat] >> deck & 1} for seat in seats],
        "square": game.position.tolist()[: len(seats)],
        "turn": int(game.turn),
        "over": me.is_over(game),
    }


def step(game: Any, action: int, readers: list[Accountant]) -> list[Event]:
    """Carry out an action; accountants are told of a sealed bid, for no event tells it."""
    if actions.DECISION_NAMES[game.decision] == "sealed_bid" and action > actions.A_BID:
        for accountant in readers:
            dollars = actions.RAISES[action - actions.A_BID - 1]
            accountant.raise_sealed(int(game.player), dollars)
    return told(events.play(game, action))


# --- errors


@dataclass
class Error:
    """A row that was falsified, and the books of an accountant who was told so."""

    kind: str
    what: str
    books: Accountant
    rows: list[Event]
    age: int = 0  # decisions since


@dataclass
class Errors:
    """Errors planted in games, at most `places` of each sort.

    A sort is a kind of event and the place in its row that is false.
    """

    places: int = 0
    patience: int = 60  # decisions in which an error must be found
    planted: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: Counter[tuple[str, str]] = field(default_factory=Counter)
    open: list[Error] = field(default_factory=list)

    def plant(self, rows: list[Event], books: Accountant) -> None:
        """Falsify rows that the books are about to hear."""
        for number, row in enumerate(rows):
            for what, wrong in falsified(rows, number, len(books.seats)):
                if self.planted[row.kind, what] < self.places:
                    self.planted[row.kind, what] += 1
                    self.open.append(Error(row.kind, what, copy.deepcopy(books), wrong))

    def check(self, rows: list[Event], game: Any) -> None:
        """Keep the errors that were not found by the rows of one more decision."""
        still = []
        for error in self.open:
            try:
                error.books.hear(rows if error.age else error.rows)
                error.books.compare(record(game))
            except Objection:
                continue
            error.age += 1
            if error.age < self.patience and not me.is_over(game):
                still.append(error)
            else:
                self.missed[error.kind, error.what] += 1
        self.open = still


OTHER_ANSWER = {
    "decline": "fold", "fold": "decline", "use a jail card": "decline", "reject": "accept",
    "accept": "reject", "counter": "accept", "choose the first": "choose the second",
    "choose the second": "choose the first", **dict.fromkeys(actions.DECISION_NAMES, "none"),
}  # fmt: skip


def falsified(rows: list[Event], number: int, players: int) -> Iterator[tuple[str, list[Event]]]:
    """The rows of a decision with one error in one row: its sort, and the rows."""
    row, before, after = rows[number], rows[:number], rows[number + 1 :]
    yield "left out", before + after
    yield "twice", [*before, row, row, *after]
    if row.seat >= 0:
        yield "seat", [*before, row._replace(seat=(row.seat + 1) % players), *after]
    for name, _ in zip(Event._fields[2:6], events.EVENTS[row.kind], strict=False):
        value = getattr(row, name)
        wrong = OTHER_ANSWER[value] if isinstance(value, str) else value + 1
        yield name, [*before, row._replace(**{name: wrong}), *after]


# Errors that the rest of a game may not contradict: the goods and dollars of an offer that is
# refused, a bid below the next one, the dice of a throw that does not free a prisoner, and a debt
# whose payment is told as well.
HARMLESS = {
    ("offer", "second"), ("offer", "third"), ("offer", "fourth"), ("bid", "left out"),
    ("throw", "first"), ("throw", "second"), ("owe", "left out"),
}  # fmt: skip


# Games in which every kind of event and every reason for a payment occurs.
SAMPLE = (
    ("official", 0), ("official", 3), ("official", 5), ("classic", 0), ("uk", 3), ("pring", 3),
    ("mukhar_trading", 0),
)  # fmt: skip
REASONS = {
    "start", "price of a lot", "price at auction", "price of a scarce building", "house", "hotel",
    "sale of buildings", "mortgage", "mortgage lifted", "mortgage lifted at a takeover",
    "fee on a mortgage", "rent", "doubled rent", "rent with houses", "rent with a hotel",
    "rent of a railroad", "rent of a utility", "rent of a railroad by card",
    "rent of a utility by card", "salary", "fine for jail", "jail card used", "income tax",
    "luxury tax", "card of the bank", "card to the bank", "to each player", "from each player",
    "repairs", "trade", "buildings of an estate", "cash of an estate",
}  # fmt: skip


# --- the reading


def read(preset: str, seed: int, errors: Errors, **options: Any) -> Accountant:
    """Play a game and read it, with errors planted on the way in copies of the books."""
    game, opening = new_game(preset, seed, **options)
    random = np.random.default_rng(seed)
    dealt = [set(lots_of(game.lots[seat])) for seat in range(game.num_players)]
    books = Accountant(BOOKLETS[preset], dealt, int(game.rules.start_cash))
    books.hear(opening)
    books.compare(record(game))
    before, balance = me.clone(game), Counter(books.balance)
    for number in range(1, DECISIONS):
        if me.is_over(game):
            break
        rows = step(game, choose(game, random), [books, *(error.books for error in errors.open)])
        errors.plant(rows, books)
        books.hear(rows)
        books.compare(record(game))
        errors.check(rows, game)
        if number % SUMMARY == 0:
            rows = told(events.differences(before, game))
            books.summary(rows, balance)
            before, balance = me.clone(game), Counter(books.balance)
    errors.open.clear()
    return books


@pytest.mark.parametrize("preset", me.Rules.presets())
def test_games_are_played_by_the_booklet(preset: str) -> None:
    books = [read(preset, seed, Errors()) for seed in range(3)]
    assert sum(one.turns for one in books) > 50
    for one in books[1:2]:  # a game with dealt groups
        assert {"get", "move", "pay", "build", "bankrupt"} <= set(one.heard)


def test_planted_errors_are_found_in_every_kind_of_event() -> None:
    errors, heard, reasons = Errors(places=3), Counter[str](), Counter[str]()
    for preset, seed in SAMPLE:
        books = read(preset, seed, errors)
        heard += books.heard
        reasons += books.reasons
    assert set(errors.missed) <= HARMLESS
    assert sum(errors.missed.values()) < sum(errors.planted.values()) / 20
    assert {kind for kind, _ in errors.planted} == set(events.KINDS) - {"more", "less"}
    assert set(heard) == set(events.KINDS)
    assert set(reasons) == REASONS


def test_a_wrong_summary_is_found() -> None:
    books = Accountant(BOOKLETS["official"], [set(), set()])
    books.post(0, BANK, 100, "luxury tax")
    start = Counter({0: 1500, 1: 1500})
    rows = [Event("less", 0, 100, 0, 0, 0, 0)]
    books.summary(rows, start)
    for wrong in ([], [rows[0]._replace(kind="more")], [rows[0]._replace(first=99)]):
        with pytest.raises(Objection):
            books.summary(wrong, start)


@pytest.mark.parametrize(
    ("preset", "seed", "options", "ending"),
    [
        ("official", 3, {}, ONE_LEFT),
        ("short", 1, {}, BY_BANKRUPTCY),
        ("mukhar", 0, {}, BY_CAP),
        ("pring", 1, {"start_cash": 19_000}, BY_CASH),
    ],
)
def test_games_end_by_the_booklet(
    preset: str, seed: int, options: dict[str, int], ending: int
) -> None:
    assert read(preset, seed, Errors(), **options).ending == ending
