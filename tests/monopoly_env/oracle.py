"""Brute-force definitions of single quantities in plain Python.

They are written from the rules and not from the engine.

They share nothing with it but the data files and the record's fields: `read` turns a record into
plain lists, dictionaries and sets. Numbers in parentheses are the rules (docs/rules.md).
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from typing import Any

import monopoly_env as me

BOARD_FILES = {"us_2008": "board_us.csv", "us_pre2008": "board_us.csv", "uk": "board_uk.csv"}


@dataclass(frozen=True)
class Deed:
    """What a title deed prints."""

    square: int
    group: str
    price: int
    mortgage: int
    house_price: int
    rents: tuple[int, ...]


def _deeds(file: str) -> list[Deed]:
    with (files("monopoly_env") / "facts" / "data" / file).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    columns = {
        "street": ("rent_base", "rent_1h", "rent_2h", "rent_3h", "rent_4h", "rent_hotel"),
        "railroad": ("rent_1rr", "rent_2rr", "rent_3rr", "rent_4rr"),
        "utility": ("dice_mult_1ut", "dice_mult_2ut"),
    }
    return [
        Deed(
            int(row["index"]),
            row["group"],
            int(row["price"]),
            int(row["mortgage"]),
            int(row["house_cost"] or 0),
            tuple(int(row[column]) for column in columns[kind]),
        )
        for kind in columns
        for row in rows
        if row["kind"] == kind
    ]


DEEDS = {board: _deeds(file) for board, file in BOARD_FILES.items()}
LOTS = range(28)
STREETS = range(22)


@dataclass
class State:
    """A game as a person would write it down."""

    rules: me.Rules
    deeds: list[Deed]
    cash: list[int]
    in_jail: list[bool]
    owner: dict[int, int]
    mortgaged: set[int]
    level: list[int]
    bank_houses: float
    bank_hotels: float

    def group(self, lot: int) -> list[int]:
        """All lots of a lot's group."""
        return [other for other in LOTS if self.deeds[other].group == self.deeds[lot].group]

    def lots(self, seat: int) -> list[int]:
        """The lots of a seat."""
        return [lot for lot in LOTS if self.owner.get(lot) == seat]

    def has_group(self, seat: int, lot: int) -> bool:
        """Whether the seat owns the whole group of a lot."""
        return all(self.owner.get(other) == seat for other in self.group(lot))

    def built(self, lot: int) -> bool:
        """Whether any building stands in the group of a lot."""
        return any(self.level[other] for other in self.group(lot) if other in STREETS)

    def steps(self, level: int) -> int:
        """Purchases that lead to a level (27, 62).

        A hotel (5) is one more than the houses it needs.
        """
        return level if level < 5 else self.rules.hotel_after + 1


def read(game: Any) -> State:
    """The record in plain Python."""
    rules = me.Rules.from_record(game.rules)
    owned, mortgaged, jail = game.lots.tolist(), int(game.mortgaged), game.jail.tolist()
    seats = range(game.num_players)
    limited = rules.building_limit == "limited"
    return State(
        rules=rules,
        deeds=DEEDS[rules.board],
        cash=game.cash.tolist()[: len(seats)],
        in_jail=[jail[seat] > 0 for seat in seats],
        owner={lot: seat for seat in seats for lot in LOTS if owned[seat] >> lot & 1},
        mortgaged={lot for lot in LOTS if mortgaged >> lot & 1},
        level=game.level.tolist(),
        bank_houses=int(game.houses) if limited else math.inf,
        bank_hotels=int(game.hotels) if limited else math.inf,
    )


def rent(state: State, lot: int, visitor: int, throw: int, fresh: int, card: bool = False) -> int:
    """Dollars that a visitor owes (17 to 22).

    `fresh`: a second throw; `card`: brought by a 'nearest' Chance card.
    """
    rules, deed, landlord = state.rules, state.deeds[lot], state.owner.get(lot)
    if (
        landlord is None
        or landlord == visitor
        or (state.in_jail[landlord] and not rules.rent_in_jail)
    ):
        return 0
    if lot in state.mortgaged and not (
        card and deed.group == "utility" and rules.card_utility_pays_when_mortgaged
    ):
        return 0
    if card and deed.group == "utility":
        return 10 * fresh
    if deed.group in ("railroad", "utility"):
        others = [
            other
            for other in state.group(lot)
            if state.owner.get(other) == landlord and other != lot
        ]
        counted = 1 + sum(
            rules.count_mortgaged_rr_ut or other not in state.mortgaged for other in others
        )
        amount = deed.rents[counted - 1]
        if deed.group == "railroad":
            return amount * (2 if card else 1)
        return amount * (fresh if rules.utility_dice == "fresh" else throw)
    if state.level[lot]:
        return deed.rents[state.level[lot]]
    spoilt = not rules.double_rent_if_group_mortgaged and any(
        other in state.mortgaged for other in state.group(lot)
    )
    return deed.rents[0] * (2 if state.has_group(landlord, lot) and not spoilt else 1)


def buildable(state: State, seat: int) -> set[int]:
    """Streets on which a seat may ask for the next building (25 to 28)."""
    return {lot for lot in STREETS if _may_build(state, seat, lot)}


def _may_build(state: State, seat: int, lot: int) -> bool:
    rules, group, level = state.rules, state.group(lot), state.level[lot]
    if (
        not state.has_group(seat, lot)
        or any(other in state.mortgaged for other in group)
        or level == 5
    ):
        return False
    if rules.even_build == "whole_group":
        return lot == group[0] and state.cash[seat] >= state.deeds[lot].house_price * len(group)
    if rules.even_build == "even" and any(
        state.steps(state.level[other]) < state.steps(level) for other in group
    ):
        return False
    hotel = level == rules.hotel_after
    if hotel and any(state.steps(state.level[other]) < rules.hotel_after for other in group):
        return False
    supply = state.bank_hotels if hotel else state.bank_houses
    return supply >= 1 and state.cash[seat] >= state.deeds[lot].house_price


def sellable(state: State, seat: int) -> set[int]:
    """Streets from which a seat may sell a building (31, 32)."""
    return {
        lot
        for lot in STREETS
        if state.owner.get(lot) == seat and state.level[lot] and _may_sell(state, lot)
    }


def _may_sell(state: State, lot: int) -> bool:
    rules, group, level = state.rules, state.group(lot), state.level[lot]
    if rules.even_build == "whole_group":
        return lot == group[0]
    collapses = (
        rules.even_build == "even"
        and rules.hotel_breakdown == "vector"
        and state.bank_houses < rules.hotel_after
    )
    if collapses and any(state.level[other] == 5 for other in group):
        return True  # the whole group goes down; the street that keeps least is named
    if rules.even_build == "even" and any(
        state.steps(state.level[other]) > state.steps(level) for other in group
    ):
        return False
    return not (
        level == 5
        and rules.hotel_breakdown == "needs_four"
        and state.bank_houses < rules.hotel_after
    )


def best_breakdowns(state: State, lot: int, named: bool = True) -> list[tuple[int, ...]]:
    """The highest even levels of a group after a sale, in the order of its lots.

    Ties are all given (32).

    Only those in which the lot, if it was `named`, has less than before.
    """
    group = state.group(lot)
    old = [state.steps(state.level[other]) for other in group]
    place = group.index(lot)
    standing = sum(_houses(state, steps) for steps in old)
    found: dict[int, list[tuple[int, ...]]] = {}
    for steps in itertools.product(*(range(count + 1) for count in old)):
        even = max(steps) - min(steps) <= 1
        backed = sum(_houses(state, count) for count in steps) <= standing + state.bank_houses
        if even and backed and (steps[place] < old[place] if named else sum(steps) < sum(old)):
            found.setdefault(sum(steps), []).append(steps)
    return found[max(found)]


def _houses(state: State, steps: int) -> int:
    return 0 if steps > state.rules.hotel_after else steps


def mortgageable(state: State, seat: int) -> set[int]:
    """Lots that a seat may mortgage (33)."""
    return {lot for lot in state.lots(seat) if lot not in state.mortgaged and not state.built(lot)}


def liftable(state: State, seat: int) -> set[int]:
    """Mortgaged lots that a seat can pay to lift (34)."""
    return {
        lot
        for lot in state.lots(seat)
        if lot in state.mortgaged and lifting_cost(state, lot) <= state.cash[seat]
    }


def lifting_cost(state: State, lot: int) -> int:
    """Dollars that lifting a mortgage costs (34, 35, 39)."""
    deed, rules = state.deeds[lot], state.rules
    exact = Fraction(deed.mortgage if rules.interest_base == "mortgage" else deed.price, 10)
    rounded = {
        "up": math.ceil(exact),
        "down": math.floor(exact),
        "nearest": math.floor(exact + Fraction(1, 2)),
    }
    interest = rounded[rules.interest_rounding]
    return interest if rules.unmortgage_price == "ten_percent" else deed.mortgage + interest


def raisable(state: State, seat: int) -> int:
    """Cash after selling all buildings and mortgaging all lots that can be (16, 55)."""
    stuck = _stuck_steps(state, seat)
    total = state.cash[seat]
    for lot in state.lots(seat):
        if lot in STREETS:
            total += (
                (state.steps(state.level[lot]) - stuck.get(lot, 0))
                * state.deeds[lot].house_price
                // 2
            )
        if lot not in state.mortgaged and not any(stuck.get(other) for other in state.group(lot)):
            total += state.deeds[lot].mortgage
    return total


def piece_funds(state: State, seat: int) -> int:
    """What a seat may bid for a scarce house or hotel (29)."""
    free = [
        lot
        for lot in state.lots(seat)
        if lot not in state.mortgaged and not (lot in STREETS and state.has_group(seat, lot))
    ]
    return state.cash[seat] + sum(
        state.deeds[lot].mortgage for lot in free if state.rules.piece_limit == "raisable"
    )


def _stuck_steps(state: State, seat: int) -> dict[int, int]:
    """Purchases that can't be sold (32, 55).

    Only where a hotel needs its houses from the bank, `hotel_breakdown="needs_four"`.

    Groups (single streets where building need not be even) without a hotel go first, for they only
    bring houses; then every group whose hotels the bank can turn into houses, for they bring more
    houses than they take; then single hotels, the dearest first.
    """
    needed = state.rules.hotel_after
    if state.rules.hotel_breakdown != "needs_four" or state.bank_houses == math.inf:
        return {}
    streets = [lot for lot in state.lots(seat) if lot in STREETS and state.level[lot]]
    units = {
        tuple(state.group(lot)) if state.rules.even_build == "even" else (lot,) for lot in streets
    }
    bank = state.bank_houses
    while True:
        free = [unit for unit in units if needed * _hotels(state, unit) <= bank]
        if not free:
            break
        unit = min(free)
        units.remove(unit)
        bank += sum(_houses(state, state.steps(state.level[lot])) for lot in unit)
    stuck = {lot: state.steps(state.level[lot]) for unit in units for lot in unit}
    hotels = sorted(
        (lot for lot in stuck if state.level[lot] == 5),
        key=lambda lot: -state.deeds[lot].house_price,
    )
    for lot in hotels[: int(bank // needed)]:
        stuck[lot] -= 1
    return stuck


def _hotels(state: State, lots: tuple[int, ...]) -> int:
    return sum(state.level[lot] == 5 for lot in lots)


def worth(state: State, seat: int) -> int:
    """Total worth for the income tax (51).

    Cash, printed prices, buildings at their purchase price.
    """
    return (
        state.cash[seat]
        + sum(state.deeds[lot].price for lot in state.lots(seat))
        + _buildings(state, seat)
    )


def score(state: State, seat: int) -> int:
    """What decides a capped game (62, 64)."""
    if state.rules.score == "cash":
        return state.cash[seat]
    if state.rules.score == "tax_worth":
        return worth(state, seat)
    lots = sum(
        state.deeds[lot].price // (2 if lot in state.mortgaged else 1) for lot in state.lots(seat)
    )
    return state.cash[seat] + lots + _buildings(state, seat)


def _buildings(state: State, seat: int) -> int:
    return sum(
        state.steps(state.level[lot]) * state.deeds[lot].house_price
        for lot in state.lots(seat)
        if lot in STREETS
    )


def seats(state: State) -> Iterator[int]:
    """All seats."""
    return iter(range(len(state.cash)))
