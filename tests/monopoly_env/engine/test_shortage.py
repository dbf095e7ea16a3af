"""Rule 29: buildings are asked for one at a time.

What players could get by declaring a number of them, and what they get so.
"""

from __future__ import annotations

import itertools
from typing import Any, TypeAlias

import pytest

import monopoly_env as me
from monopoly_env import actions
from monopoly_env.actions import RAISES
from tests.play import levels

BROWN = ["Mediterranean Avenue", "Baltic Avenue"]
LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
PRICE = {BROWN[0]: 50, LIGHT_BLUE[0]: 50, ORANGE[0]: 100}
MOST_HOUSES = 4
VERBS = ("build", "bid", "fold", "go")

Groups: TypeAlias = tuple[list[str], ...]  # of each seat
Levels: TypeAlias = tuple[tuple[int, ...], ...]  # houses on the streets of each seat
Result: TypeAlias = tuple[Levels, tuple[int, ...]]  # and the cash of each seat


def one_at_a_time(groups: Groups, cash: tuple[int, ...], houses: int, passes: int) -> set[Result]:
    """Every result of the windows before a throw.

    By trying every action that asks, bids, folds, places or goes on.
    """
    rules = me.Rules.preset("any_time", houses=houses, window_passes=passes, trade="none")
    open_games = [
        me.position(len(groups), rules, lots=dict(enumerate(groups)), cash=cash, throws=[(4, 6)])
    ]
    results, seen = set(), set()
    while open_games:
        game = open_games.pop()
        if game.throws[0]:
            results.add(
                (
                    tuple(tuple(levels(game, *streets)) for streets in groups),
                    tuple(game.cash[: len(groups)].tolist()),
                )
            )
            continue
        for action in me.legal_actions(game):
            if actions.describe(action).split()[0] in VERBS:
                after = me.step(me.clone(game), action)
                if after.tobytes() not in seen:
                    seen.add(after.tobytes())
                    open_games.append(after)
    return results


def declared(groups: Groups, cash: tuple[int, ...], houses: int) -> set[Result]:
    """Every result of declarations.

    List prices if the supply suffices, otherwise an open auction of each house, with bids in any
    order.
    """
    start: Result = tuple((0,) * len(streets) for streets in groups), cash
    prices = [PRICE[streets[0]] for streets in groups]
    most = [
        min(MOST_HOUSES * len(streets), money // price)
        for streets, money, price in zip(groups, cash, prices, strict=True)
    ]
    results = set()
    for wanted in itertools.product(*(range(count + 1) for count in most)):
        if sum(wanted) <= houses:
            results |= sold_at_list_prices(start, wanted, prices)
        else:
            results |= auctioned(start, wanted, prices, houses)
    return results


def sold_at_list_prices(result: Result, wanted: tuple[int, ...], prices: list[int]) -> set[Result]:
    """All players build what they declared."""
    reached = {result}
    for seat, count in enumerate(wanted):
        for _ in range(count):
            reached = {more for one in reached for more in with_house(one, seat, prices[seat])}
    return reached


def auctioned(
    start: Result, wanted: tuple[int, ...], prices: list[int], houses: int
) -> set[Result]:
    """Up to so many houses go to the highest bidders, one by one.

    Nobody gets more than declared.
    """
    reached = {(start, wanted)}
    results = {start}
    for _ in range(houses):
        after = set()
        for result, left in reached:
            for seat, bid in winning_bids(result[1], left, prices):
                fewer = tuple(count - (other == seat) for other, count in enumerate(left))
                after |= {(more, fewer) for more in with_house(result, seat, bid)}
        reached = after
        results |= {result for result, _ in reached}
    return results


def winning_bids(
    cash: tuple[int, ...], left: tuple[int, ...], prices: list[int]
) -> set[tuple[int, int]]:
    """The seats and bids that an open auction may end with.

    The first bid is a list price, the others are raises as in the engine.
    """
    bidders = [seat for seat, count in enumerate(left) if count]
    bids = [(seat, prices[seat]) for seat in bidders if prices[seat] <= cash[seat]]
    found = set(bids)
    while bids:
        leader, bid = bids.pop()
        for seat in bidders:
            least = max(bid + 1, prices[seat])
            higher = {
                (seat, least - 1 + step)
                for step in RAISES
                if seat != leader and least - 1 + step <= cash[seat]
            } - found
            found |= higher
            bids += higher
    return found


def with_house(result: Result, seat: int, price: int) -> set[Result]:
    """The ways in which a seat may place one more house evenly, and pay."""
    built, cash = result
    paid = tuple(money - price * (other == seat) for other, money in enumerate(cash))
    return {
        (
            (
                *built[:seat],
                (*built[seat][:i], level + 1, *built[seat][i + 1 :]),
                *built[seat + 1 :],
            ),
            paid,
        )
        for i, level in enumerate(built[seat])
        if level == min(built[seat]) < MOST_HOUSES
    }


def distance(result: Result, others: set[Result]) -> int:
    """The most dollars by which a player is off in the nearest result with the same houses."""
    return min(
        max(abs(a - b) for a, b in zip(result[1], cash, strict=True))
        for built, cash in others
        if built == result[0]
    )


TABLES: list[tuple[Groups, tuple[int, ...], int]] = [
    ((BROWN, LIGHT_BLUE), (104, 104), 1),
    ((BROWN, LIGHT_BLUE), (103, 53), 2),
    ((BROWN, LIGHT_BLUE), (102, 101), 3),
    ((BROWN, LIGHT_BLUE), (102, 101), 4),  # enough for all
    ((ORANGE, BROWN), (105, 112), 2),
    ((BROWN, LIGHT_BLUE, ORANGE), (51, 52, 101), 2),
    ((BROWN, LIGHT_BLUE, ORANGE), (102, 51, 101), 2),
]


@pytest.mark.parametrize(("groups", "cash", "houses"), TABLES)
def test_rule_29_one_building_at_a_time_stands_for_a_declared_number(
    groups: Any, cash: Any, houses: int
) -> None:
    """Single asks lead to no other result.

    They give every division of the houses, and each player's cash to the dollar next to it.
    """
    wanted = declared(groups, cash, houses)
    for passes in (1, 2):
        got = one_at_a_time(groups, cash, houses, passes)
        assert got <= wanted
        assert {built for built, _ in got} == {built for built, _ in wanted}
        assert all(distance(result, got) <= 1 for result in wanted - got)
        if passes == 2 and len(groups) == 2:
            assert got == wanted
