"""Rules 40 to 42: trading."""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from tests.play import (
    act,
    asked,
    cash,
    compose,
    end_turn,
    land,
    legal,
    mortgaged,
    offer,
    owner,
    table,
    texts,
)

CARDS = ["the Chance jail card", "the Community Chest jail card"]


def pair(**contents: Any) -> Any:
    """Seat 0 owns Boardwalk, seat 1 Reading Railroad and Water Works."""
    return table(lots={0: ["Boardwalk"], 1: ["Reading Railroad", "Water Works"]}, **contents)


def test_rule_40_lots_and_cash() -> None:
    game = pair()
    offer(game, 1, ask=["Reading Railroad", "Water Works"], give=["Boardwalk"], cash=-286)
    assert asked(game) == ("reply", 1)
    assert texts(game) >= {"accept", "reject"}
    act(game, "accept")
    assert [owner(game, name) for name in ("Boardwalk", "Reading Railroad", "Water Works")] == [
        1,
        0,
        0,
    ]
    assert cash(game) == [1786, 1214, 1500]
    assert asked(game) == ("turn", 0)


def test_rule_40_cash_for_a_lot() -> None:
    game = pair()
    offer(game, 1, ask=["Water Works"], cash=188)
    act(game, "accept")
    assert owner(game, "Water Works") == 0
    assert cash(game) == [1312, 1688, 1500]


def test_rule_40_any_price_also_nothing() -> None:
    game = pair()
    offer(game, 2, give=["Boardwalk"])
    assert asked(game) == ("reply", 2)
    act(game, "accept")
    assert owner(game, "Boardwalk") == 2
    assert cash(game) == [1500] * 3


def test_rule_40_a_mortgaged_lot_may_be_traded() -> None:
    game = pair(mortgaged=["Water Works"])
    offer(game, 1, ask=["Water Works"], cash=10)
    act(game, "accept", "keep the mortgage")
    assert owner(game, "Water Works") == 0
    assert mortgaged(game, "Water Works")
    assert cash(game) == [1500 - 10 - 8, 1510, 1500]


def test_rule_40_s07_jail_cards_are_separate_picks() -> None:
    game = pair(jail_cards={0: ("chance", "community_chest")})
    offer(game, 1, ask=["Reading Railroad"], give=CARDS[1:])
    act(game, "accept")
    assert game.jail_cards[:2].tolist() == [1, 2]
    offer(game, 1, ask=["Water Works"], give=CARDS[:1])
    act(game, "accept")
    assert game.jail_cards[:2].tolist() == [0, 3]


def test_rule_40_goods_that_cannot_be_asked_for() -> None:
    game = table(
        lots={
            0: ["Boardwalk", "Park Place"],
            1: ["Mediterranean Avenue", "Baltic Avenue", "Short Line"],
        },
        buildings={"Boardwalk": 1, "Baltic Avenue": 1},
    )
    act(game, "trade with player +1")
    assert (
        legal(game, "ask for")
        & {"Mediterranean Avenue", "Baltic Avenue", "Boardwalk", "the Chance jail card"}
        == set()
    )
    assert "Short Line" in legal(game, "ask for")
    act(game, "ask for Short Line", "ask: done")
    assert legal(game, "give") & {"Park Place", "Boardwalk", "Short Line"} == set()


def test_rule_40_in_jail_too() -> None:
    game = pair(jail={0: 0, 1: 1})
    offer(game, 1, ask=["Water Works"], cash=100)
    act(game, "accept")
    assert owner(game, "Water Works") == 0


def test_rule_41_trades_are_open_in_the_windows_alone() -> None:
    game = table(lots={0: ["Boardwalk"]}, positions={0: 0}, throws=[(1, 2)])
    assert legal(game, "trade with player") == {"+1", "+2"}
    act(game, "go on")
    assert asked(game) == ("buy", 0)
    assert not legal(game, "trade with player")
    act(game, "buy")
    assert legal(game, "trade with player") == {"+1", "+2"}


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_rule_41_a19_trade_limit(limit: int) -> None:
    game = pair(rules=me.Rules(trade_limit=limit))
    for note in (1, 5, 10)[:limit]:
        offer(game, 1, ask=["Water Works"], cash=note)
        act(game, "reject")
    assert not legal(game, "trade with player")


def test_rule_41_a19_no_trade() -> None:
    assert not legal(pair(rules=me.Rules(trade="none")), "trade with player")


def test_rule_41_a19_one_for_one() -> None:
    game = pair(rules=me.Rules(trade="one_for_one"))
    act(game, "trade with player +1", "ask for Reading Railroad")
    assert "ask for Water Works" not in texts(game)
    if asked(game)[0] == "trade_ask":
        act(game, "ask: done")
    assert "give: done" not in texts(game)  # something must be given
    act(game, "give Boardwalk")
    if asked(game)[0] == "trade_give":
        assert not legal(game, "give")
        act(game, "give: done")
    if asked(game)[0] == "trade_cash":
        assert texts(game) == {"cash: done", "cash: cancel"}
        act(game, "cash: done")
    assert asked(game) == ("reply", 1)
    act(game, "accept")
    assert [owner(game, "Boardwalk"), owner(game, "Reading Railroad")] == [1, 0]


def test_rule_41_a19_one_for_one_and_cash() -> None:
    game = pair(rules=me.Rules(trade="one_for_one_cash"))
    offer(game, 1, ask=["Reading Railroad"], give=["Boardwalk"], cash=-100)
    act(game, "accept")
    assert cash(game) == [1600, 1400, 1500]


@pytest.mark.parametrize(("allowed", "partners"), [(False, set()), (True, {"+1", "+2"})])
def test_rule_42_a20_trading_in_debt(allowed: bool, partners: set[str]) -> None:
    game = land(
        4,
        cash={0: 50},
        lots={0: ["Short Line", "Reading Railroad"]},
        rules=me.Rules(debt_trade=allowed),
        anchored=(1, 2),
    )
    assert asked(game) == ("debt", 0)
    assert legal(game, "trade with player") == partners


def test_rule_42_a20_a_trade_may_pay_the_debt() -> None:
    game = land(
        4,
        cash={0: 50},
        lots={0: ["Short Line", "Reading Railroad"]},
        rules=me.Rules(debt_trade=True),
        anchored=(1, 2),
    )
    offer(game, 1, give=["Short Line"], cash=-300)
    act(game, "accept")
    assert asked(game) == ("turn", 0)
    assert cash(game) == [150, 1200, 1500]


def test_s05_every_step_can_be_cancelled() -> None:
    game = pair(rules=me.Rules(trade_limit=10))
    for steps in (
        [],
        ["ask for Water Works"],
        ["ask: done"],
        ["ask: done", "give Boardwalk"],
        ["ask for Water Works", "ask: done", "give: done", "give $5"],
    ):
        act(game, "trade with player +1", *steps)
        act(
            game,
            {
                "trade_ask": "ask: cancel",
                "trade_give": "give: cancel",
                "trade_cash": "cash: cancel",
            }[asked(game)[0]],
        )
        assert asked(game) == ("turn", 0)
    assert cash(game) == [1500] * 3


def test_s05_picks_come_in_rising_order() -> None:
    game = act(pair(), "trade with player +1", "ask for Water Works")
    assert "ask for Reading Railroad" not in texts(game)
    game = act(
        pair(),
        "trade with player +1",
        "ask for Reading Railroad",
        "ask for Water Works",
        "ask: done",
        "give: done",
        "give $50",
    )
    assert legal(game, "give") == {"$50", "$20", "$10", "$5", "$1"}


def test_s05_a_refused_offer_is_not_repeated_in_the_turn() -> None:
    game = pair()
    offer(game, 1, ask=["Water Works"], cash=100)
    act(game, "reject")
    assert asked(game) == ("turn", 0)
    act(game, "trade with player +1")
    compose(game, ask=["Water Works"], cash=100)
    assert "cash: done" not in texts(game)
    act(game, "give $1", "cash: done")
    assert asked(game) == ("reply", 1)


def test_s05_the_memory_of_refusals_ends_with_the_turn() -> None:
    game = pair(num_players=2, positions={0: 10, 1: 0}, throws=[(4, 6), (4, 6)])
    offer(game, 1, ask=["Water Works"], cash=100)
    act(game, "reject")
    end_turn(game)
    end_turn(game)
    assert asked(game) == ("turn", 0)
    offer(game, 1, ask=["Water Works"], cash=100)
    assert asked(game) == ("reply", 1)


def test_s05_a_trade_is_not_reversed_in_the_turn() -> None:
    game = pair()
    offer(game, 1, ask=["Water Works"], give=["Boardwalk"])
    act(game, "accept")
    act(game, "trade with player +1")
    assert "ask for Boardwalk" not in texts(game)
    act(game, "ask: done")
    assert "give Water Works" not in texts(game)


def test_s06_one_counter_offer() -> None:
    game = pair()
    offer(game, 1, ask=["Water Works"], cash=100)
    act(game, "counter")
    assert asked(game)[1] == 1
    compose(game, ask=["Boardwalk"], give=["Water Works"], cash=50)
    act(game, "cash: done")
    assert asked(game) == ("reply", 0)
    assert "counter" not in texts(game)
    assert (game.offers[0], game.offers[1]) == (1, 1)
    act(game, "accept")
    assert [owner(game, "Boardwalk"), owner(game, "Water Works")] == [1, 0]
    assert cash(game) == [1550, 1450, 1500]
    assert asked(game) == ("turn", 0)


def test_s06_a_counter_offer_counts_for_the_partner() -> None:
    game = pair(rules=me.Rules(trade_limit=1))
    offer(game, 1, ask=["Water Works"], cash=100)
    assert "counter" in texts(game)
    act(game, "counter")
    compose(game, ask=["Boardwalk"])
    act(game, "cash: done", "reject")
    assert asked(game) == ("turn", 0)
    assert not legal(game, "trade with player")
