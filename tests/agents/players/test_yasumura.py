"""`yasumura`: its valuation written a second time, its rules of agreement, and whole games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.players import yasumura
from monopoly_env.facts import board
from tests.agents.players.trading import asked_of, landed, proposed
from tests.play import act, asked, lot, offer

PLAYER = agents.make("yasumura")
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
RED = ["Kentucky Avenue", "Indiana Avenue", "Illinois Avenue"]
BLUE = ["Park Place", "Boardwalk"]
RAILROADS = ["Reading Railroad", "Pennsylvania Railroad", "B. & O. Railroad", "Short Line"]


# --- the valuation, a second time

HITS = dict(
    zip(board.GROUPS, (0.24, 0.39, 0.43, 0.50, 0.49, 0.45, 0.44, 0.27, 0.64, 0.32), strict=True)
)


class Valuation:
    """The worth of a seat's lots by the formulas, from the names of the lots of each seat."""

    def __init__(
        self, game: Any, owned: dict[int, set[int]], w1: float = 0.5, legacy: bool = False
    ) -> None:
        self.game, self.owned, self.w1, self.legacy = game, owned, w1, legacy

    def rent(self, number: int, houses: int, distance: int) -> float:
        group = board.GROUPS[board.GROUP_OF[number]]
        if group == "railroad":
            return 200
        if group == "utility":
            return 10 * distance
        return 2 * board.RENT[0, number, 0] if houses == 0 else board.RENT[0, number, houses]

    def houses(self, group: int, cash: int) -> int:
        lots = [n for n in range(28) if board.GROUP_OF[n] == group]
        price = board.HOUSE_PRICE[0, lots[0]]
        return 0 if price == 0 else min(5, int(int(cash / price) / len(lots)))

    def throw(self, square: int, number: int, houses: int) -> float:
        distance = (board.LOT_SQUARE[0, number] - square) % 40
        ways = sum(a + b == distance for a in range(1, 7) for b in range(1, 7))
        return ways / 36 * self.rent(number, houses, distance)

    def near(self, seat: int, group: int, cash: int) -> tuple[float, float]:
        """STG and MTG."""
        lots = [n for n in range(28) if board.GROUP_OF[n] == group]
        payers = [j for j in range(self.game.num_players) if j != seat and self.game.jail[j] == 0]
        houses = self.houses(group, cash)
        return (
            sum(self.throw(int(self.game.position[j]), n, houses) for j in payers for n in lots),
            sum(HITS[board.GROUPS[group]] * self.rent(lots[0], houses, 7) for _ in payers),
        )

    def group(self, seat: int, group: int) -> float:
        """f(g)."""
        lots = [n for n in range(28) if board.GROUP_OF[n] == group]
        mine = [n for n in lots if n in self.owned[seat]]
        others = [
            n for n in lots if any(n in owned for j, owned in self.owned.items() if j != seat)
        ]
        cases = {
            2: {(1, 0): 1, (1, 1): 3, (2, 0): 4},
            3: {(2, 0): 2, (2, 1): 3, (3, 0): 4},
            4: {(2, 0): 2, (2, 1): 2, (2, 2): 3, (3, 0): 2, (3, 1): 3, (4, 0): 4},
        }[len(lots)]
        if not mine:
            return 0
        case = cases.get((len(mine), len(others)), 1)
        short, lap = self.near(seat, group, int(self.game.cash[seat]))
        total = 0.0
        for n in [lots[-1]] if self.legacy else mine:
            a1 = int(board.PRICE[0, n] / 2) + self.near(seat, group, 1000)[1]
            a2 = 2 * a1 + lap
            total += {1: a1, 2: a2, 3: a2 + short, 4: 3 * a1 + lap + short}[case]
        return total

    def utility(self, seat: int) -> float:
        return self.w1 * (sum(self.group(seat, g) for g in range(10)) + int(self.game.cash[seat]))

    def gain(self, seat: int, other: int, x: int, y: int) -> float:
        """dU of giving y for x."""
        after = {j: set(owned) for j, owned in self.owned.items()}
        after[seat] = after[seat] - {y} | {x}
        after[other] = after[other] - {x} | {y}
        risk = self.throw(int(self.game.position[seat]), x, 0) + HITS[
            board.GROUPS[board.GROUP_OF[x]]
        ] * self.rent(x, 0, 7)
        swapped = Valuation(self.game, after, self.w1, self.legacy)
        return swapped.utility(seat) - self.utility(seat) + (1 - self.w1) * risk


def table(**changes: Any) -> tuple[Any, dict[int, set[int]]]:
    """Three players; 0 and 1 can complete a group each by a swap."""
    lots = {
        0: [*ORANGE[:2], RED[2], "Boardwalk", RAILROADS[0], "Electric Company", "Baltic Avenue"],
        1: [*RED[:2], ORANGE[2], *RAILROADS[1:3], "Oriental Avenue", "Pacific Avenue"],
        2: ["Park Place", RAILROADS[3], "Water Works", "Vermont Avenue", "North Carolina Avenue"],
    }
    contents: dict[str, Any] = {"cash": [900, 1300, 700], "positions": [11, 5, 33]} | changes
    game = me.position(3, lots=lots, **contents)
    return game, {seat: {lot(name) for name in names} for seat, names in lots.items()}


POSITIONS: list[dict[str, Any]] = [
    {},
    {"positions": [0, 16, 22], "cash": [2500, 300, 1500]},
    {"jail": {2: 0}, "positions": [24, 10, 10]},  # seat 1 visits: it counts, seat 2 does not
    {"cash": [150, 150, 5000], "positions": [39, 38, 4]},
]


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("contents", POSITIONS)
def test_the_value_of_every_group_agrees(contents: dict[str, Any], legacy: bool) -> None:
    game, owned = table(**contents)
    row = yasumura.Yasumura(legacy=legacy).row()
    second = Valuation(game, owned, legacy=legacy)
    values = []
    for seat in range(3):
        others = sum(int(game.lots[j]) for j in range(3) if j != seat)
        for group in range(10):
            values.append(second.group(seat, group))
            assert yasumura.group_value(
                game, seat, group, int(game.lots[seat]), others, row
            ) == pytest.approx(values[-1]), (seat, group)
    assert sum(value > 0 for value in values) >= 15


@pytest.mark.parametrize("w1", [0.5, 0.725])
@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("contents", POSITIONS)
def test_gain_and_side_payment_agree(contents: dict[str, Any], legacy: bool, w1: float) -> None:
    game, owned = table(**contents)
    row = yasumura.Yasumura(legacy=legacy, w1=w1).row()
    second = Valuation(game, owned, w1, legacy)
    for x, y in (
        (ORANGE[2], RED[2]),
        (RAILROADS[1], "Baltic Avenue"),
        ("Oriental Avenue", RAILROADS[0]),
        (RED[0], "Electric Company"),
    ):
        mine, theirs = second.gain(0, 1, lot(x), lot(y)), second.gain(1, 0, lot(y), lot(x))
        assert yasumura.utility_gain(game, 0, 1 << lot(x), 1 << lot(y), row) == pytest.approx(mine)
        assert yasumura.utility_gain(game, 1, 1 << lot(y), 1 << lot(x), row) == pytest.approx(
            theirs
        )
        paid = yasumura.side_payment(game, mine, theirs, row)
        assert paid == pytest.approx((mine - theirs) / (2 * w1), abs=0.5)
        assert mine - w1 * paid == pytest.approx(theirs + w1 * paid, abs=1)  # both gain the same


def test_an_orange_and_a_light_blue_value_by_hand() -> None:
    """Seat 1 stands 7 before Tennessee Avenue (18).

    900 dollars pay three houses on each orange lot.
    """
    game = me.position(
        2, lots={0: ORANGE, 1: ["Oriental Avenue"]}, cash=[900, 0], positions=[0, 11]
    )
    row = yasumura.Yasumura().row()
    lap = 0.5 * 550  # St. James Place with three houses
    nearest = 4 / 36 * 550 + 6 / 36 * 550 + 5 / 36 * 600  # distances 5, 7, 8
    assert yasumura.group_value(
        game, 0, 3, int(game.lots[0]), int(game.lots[1]), row
    ) == pytest.approx(3 * (90 + 90 + 100 + 3 * lap) + 3 * (lap + nearest))
    # 1,000: a hotel
    assert yasumura.group_value(
        game, 1, 1, int(game.lots[1]), int(game.lots[0]), row
    ) == pytest.approx(50 + 0.39 * 550)


def test_the_minimum_cash_by_hand() -> None:
    game = me.position(
        3,
        lots={0: ["Baltic Avenue"], 1: ORANGE, 2: ["Boardwalk"]},
        cash=[0, 1000, 600],
        buildings=dict.fromkeys(ORANGE, 3),
    )
    worth = 1000 + 560 + 900 + 600 + 400
    assert yasumura.minimum_cash(game, 0, yasumura.Yasumura().row()) == pytest.approx(
        200 + worth / 100 + worth / 2 / 100 + 900 / 10
    )


# --- the negotiation


def test_it_swaps_lots_that_complete_two_groups_and_pays_the_difference() -> None:
    game, owned = table(cash=[2500, 1500, 700])
    second = Valuation(game, owned)
    mine, theirs = (
        second.gain(0, 1, lot(ORANGE[2]), lot(RED[2])),
        second.gain(1, 0, lot(RED[2]), lot(ORANGE[2])),
    )
    assert proposed(PLAYER, game) == {
        "to": 1,
        "ask": [ORANGE[2]],
        "give": [RED[2]],
        "cash": round(mine - theirs),
    }
    assert asked_of(PLAYER, game) == "accept"
    assert asked_of(agents.make("yasumura", threshold=3000), game) == "reject"


@pytest.mark.parametrize(
    ("owned", "ask", "give"),
    [
        # completes one group, gets nothing
        ({0: [*ORANGE[:2], "Boardwalk"], 1: [ORANGE[2], "Baltic Avenue"]}, ORANGE[2], "Boardwalk"),
        # it owns two of what it would give
        ({0: [ORANGE[0], *RED[:2]], 1: [*ORANGE[1:], RED[2]]}, ORANGE[1], RED[0]),
        # completes only its own
        (
            {0: [*ORANGE[:2], *RAILROADS[:1]], 1: [ORANGE[2], *RAILROADS[1:3]]},
            ORANGE[2],
            RAILROADS[0],
        ),
        # it owns no dark blue lot
        ({0: [ORANGE[0], *BLUE], 1: [ORANGE[1], RED[0]]}, ORANGE[1], "Boardwalk"),
        # within one group
        ({0: [ORANGE[0], RED[0]], 1: [ORANGE[1], "Baltic Avenue"]}, ORANGE[1], ORANGE[0]),
    ],
)
def test_it_refuses_what_breaks_a_rule_of_agreement(
    owned: dict[int, list[str]], ask: str, give: str
) -> None:
    generous = agents.make("yasumura", threshold=-10_000)
    game = offer(
        me.position(2, lots=owned, cash=[1500, 1500]), 1, ask=[ask], give=[give], cash=1000
    )
    assert asked_of(generous, game) == "reject"


def test_it_accepts_a_swap_from_its_threshold_on_and_above_its_minimum_cash() -> None:
    owned = {0: [*ORANGE[:2], RED[2]], 1: [*RED[:2], ORANGE[2]]}
    game = offer(
        me.position(2, lots=owned, cash=[1500, 1500]), 1, ask=[ORANGE[2]], give=[RED[2]], cash=100
    )
    lots = {seat: {lot(name) for name in names} for seat, names in owned.items()}
    gain = Valuation(game, lots).gain(1, 0, lot(RED[2]), lot(ORANGE[2])) + 0.5 * 100
    assert gain > 0
    assert asked_of(agents.make("yasumura", threshold=gain - 1), game) == "accept"
    assert asked_of(agents.make("yasumura", threshold=gain + 1), game) == "reject"
    assert asked_of(agents.make("yasumura", threshold=gain - 1, base=2000), game) == "reject"


def test_it_sells_its_only_lot_of_a_group_for_much() -> None:
    owned = {0: [ORANGE[0], "Baltic Avenue"], 1: [ORANGE[1], "Vermont Avenue"]}
    for cash, answer in ((300, "reject"), (1400, "accept")):
        game = offer(me.position(2, lots=owned, cash=[1500, 1500]), 1, ask=[ORANGE[1]], cash=cash)
        assert asked_of(PLAYER, game) == answer


def test_a_refused_lot_is_not_asked_for_again_for_a_while() -> None:
    game = me.position(
        2, lots={0: [*ORANGE[:2], RED[2]], 1: [*RED[:2], ORANGE[2]]}, cash=[1500, 1500]
    )
    memory = np.zeros((1, agents.MEMORY))
    first = proposed(PLAYER, game, memory)
    assert first is not None
    act(game, "reject")
    assert asked(game) == ("turn", 0)
    again = proposed(PLAYER, game, memory)
    assert again is None or again["ask"] != first["ask"]


def test_no_money_changes_hands_where_the_rules_forbid_it() -> None:
    game = me.position(2, "pring", lots={0: [8, 9, 13], 1: [11, 12, 10]}, cash=[1500, 1500])
    assert proposed(PLAYER, game) == {
        "to": 1,
        "ask": ["Vine Street"],
        "give": ["Trafalgar Square"],
        "cash": 0,
    }


# --- all that is no trade


def test_it_buys_while_it_keeps_the_minimum_cash() -> None:
    least = 200 + 0.02 * 1500
    assert asked_of(PLAYER, landed(39, {}, {0: 400 + round(least)})) == "buy"
    assert asked_of(PLAYER, landed(39, {}, {0: 399 + round(least)})) == "decline"
    assert asked_of(PLAYER, landed(39, {0: ["Park Place"]}, {0: 401})) == "buy"
    assert asked_of(PLAYER, landed(39, {1: ["Park Place"]}, {0: 401})) == "buy"
    assert (
        asked_of(
            PLAYER, landed(39, {0: ["Park Place", "Reading Railroad", "Baltic Avenue"]}, {0: 380})
        )
        == "mortgage Baltic Avenue"
    )


def test_it_builds_leaves_jail_and_lifts_mortgages() -> None:
    assert asked_of(PLAYER, me.position(2, lots={0: ORANGE}, cash=[100 + 115, 1500])).startswith(
        "build"
    )
    assert asked_of(PLAYER, me.position(2, lots={0: ORANGE}, cash=[100 + 114, 1500])) == "go on"
    assert (
        asked_of(
            PLAYER, me.position(2, jail={0: 0}, positions={0: 10}, lots={0: ["Baltic Avenue"]})
        )
        == "pay the fine"
    )
    late = me.position(
        2, jail={0: 0}, positions={0: 10}, lots={0: range(0, 22, 2), 1: range(1, 22, 2)}
    )
    assert asked_of(agents.make("yasumura", threshold=10_000), late) == "go on"
    contents: dict[str, Any] = {
        "lots": {0: ["Baltic Avenue", "Oriental Avenue"]},
        "mortgaged": ["Oriental Avenue"],
    }
    assert (
        asked_of(PLAYER, me.position(2, cash=[515, 1500], **contents))
        == "unmortgage Oriental Avenue"
    )
    assert asked_of(PLAYER, me.position(2, cash=[514, 1500], **contents)) == "go on"


# --- whole games


def test_below_zero_nothing_is_planned() -> None:
    assert [yasumura.houses_paid(me.new_game(2), 3, cash) for cash in (-10, 0, 299, 300)] == [
        0,
        0,
        0,
        1,
    ]
