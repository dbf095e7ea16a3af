"""Rules 33 to 39: mortgages."""

from __future__ import annotations

from typing import Any

import pytest

import monopoly_env as me
from monopoly_env.engine.liquidation import raisable
from tests.play import (
    act,
    asked,
    cash,
    compose,
    debt,
    end_turn,
    land,
    legal,
    mortgaged,
    offer,
    owner,
    table,
    texts,
)

ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Boardwalk", 200),
        ("Park Place", 175),
        ("Short Line", 100),
        ("Water Works", 75),
        ("Baltic Avenue", 30),
    ],
)
def test_rule_33_mortgage_value_is_half_the_price(name: str, value: int) -> None:
    game = table(lots={0: [name]})
    act(game, f"mortgage {name}")
    assert mortgaged(game, name)
    assert cash(game) == [1500 + value, 1500, 1500]


def test_rule_33_no_building_anywhere_in_the_group() -> None:
    game = table(lots={0: [*ORANGE, "Short Line"]}, buildings={ORANGE[0]: 1})
    assert not legal(game, "mortgage") & {*ORANGE}
    assert "Short Line" in legal(game, "mortgage")
    act(game, f"sell {ORANGE[0]}")
    assert legal(game, "mortgage") > {*ORANGE}


@pytest.mark.parametrize(
    ("rounding", "name", "cost"),
    [
        ("up", "Park Place", 193), ("down", "Park Place", 192), ("nearest", "Park Place", 193),
        ("up", "Water Works", 83), ("down", "Water Works", 82), ("nearest", "Water Works", 83),
        ("up", "Boardwalk", 220), ("down", "Boardwalk", 220), ("nearest", "Boardwalk", 220),
    ],
)  # fmt: skip
def test_rule_34_a16_lifting(rounding: str, name: str, cost: int) -> None:
    game = table(lots={0: [name]}, mortgaged=[name], rules=me.Rules(interest_rounding=rounding))
    act(game, f"unmortgage {name}")
    assert not mortgaged(game, name)
    assert game.cash[0] == 1500 - cost


@pytest.mark.parametrize(("money", "legal_now"), [(219, False), (220, True)])
def test_rule_34_lifting_needs_the_cash(money: int, legal_now: bool) -> None:
    game = table(lots={0: ["Boardwalk"]}, mortgaged=["Boardwalk"], cash={0: money})
    assert ("unmortgage Boardwalk" in texts(game)) is legal_now


@pytest.mark.parametrize(("base", "cost"), [("mortgage", 193), ("price", 210)])
def test_rule_35_a17_interest_base(base: str, cost: int) -> None:
    game = table(
        lots={0: ["Park Place"]}, mortgaged=["Park Place"], rules=me.Rules(interest_base=base)
    )
    act(game, "unmortgage Park Place")
    assert game.cash[0] == 1500 - cost


def traded(**contents: Any) -> Any:
    """Seat 0 buys the mortgaged Boardwalk of seat 1 for 100 dollars.

    It has accepted nothing yet beyond that.
    """
    game = table(lots={1: ["Boardwalk"]}, mortgaged=["Boardwalk"], **contents)
    offer(game, 1, ask=["Boardwalk"], cash=100)
    return act(game, "accept")


def test_rule_36_receiver_of_a_mortgaged_lot_pays_a_tenth_now() -> None:
    game = traded()
    assert asked(game) == ("takeover", 0)
    assert cash(game) == [1380, 1600, 1500]  # the giver owes nothing
    act(game, "keep the mortgage")
    assert owner(game, "Boardwalk") == 0
    assert mortgaged(game, "Boardwalk")
    assert game.cash[0] == 1380
    act(game, "unmortgage Boardwalk")
    assert game.cash[0] == 1160  # and a further tenth


def test_rule_36_or_lifts_at_once() -> None:
    game = act(traded(), "lift the mortgage")
    assert not mortgaged(game, "Boardwalk")
    assert game.cash[0] == 1180  # 100 for the trade, 220 for the mortgage


def test_rule_36_the_giver_of_a_mortgaged_lot_owes_nothing() -> None:
    game = table(lots={0: ["Boardwalk"]}, mortgaged=["Boardwalk"])
    offer(game, 2, give=["Boardwalk"], cash=-50)
    act(game, "accept")
    assert asked(game) == ("takeover", 2)
    assert cash(game) == [1550, 1500, 1430]
    act(game, "keep the mortgage")
    assert asked(game) == ("turn", 0)


def ruined(
    estate: list[str], cash_of_creditor: int, lots_of_creditor: list[str], **contents: Any
) -> Any:
    """Seat 0, with only mortgaged lots, lands on Baltic Avenue of seat 1 and is bankrupt to it."""
    lots = {0: estate, 1: ["Baltic Avenue", *lots_of_creditor]}
    return land(
        3,
        num_players=4,
        lots=lots,
        mortgaged=estate,
        cash={0: 1, 1: cash_of_creditor},
        anchored=(2, 3),
        **contents,
    )


def test_rule_37_s04_lots_of_a_bankrupt_cost_a_tenth_at_once() -> None:
    game = ruined(["Boardwalk", "Park Place"], 300, [])
    assert game.place[0] == 4
    assert asked(game) == ("takeover", 1)
    assert game.cash[1] == 300 + 1 - 20 - 18
    act(game, "keep the mortgage", "lift the mortgage")  # in board order
    assert [mortgaged(game, name) for name in ("Park Place", "Boardwalk")] == [True, False]
    assert game.cash[1] == 263 - 200  # the principal without further interest
    assert owner(game, "Park Place") == owner(game, "Boardwalk") == 1


def test_rule_37_who_waits_pays_the_tenth_again() -> None:
    game = act(ruined(["Boardwalk"], 300, []), "keep the mortgage")
    assert mortgaged(game, "Boardwalk")
    assert game.cash[1] == 281
    assert asked(game) == ("turn", 1)
    act(game, "unmortgage Boardwalk")
    assert game.cash[1] == 281 - 220


def test_rule_37_a_creditor_may_raise_the_cash_for_lifting() -> None:
    game = ruined(["Boardwalk"], 30, ["Reading Railroad", "Short Line"])
    assert (asked(game), game.cash[1]) == (("takeover", 1), 30 + 1 - 20)
    assert texts(game) == {
        "keep the mortgage",
        *(f"mortgage {name}" for name in ("Baltic Avenue", "Reading Railroad", "Short Line")),
    }
    act(game, "mortgage Reading Railroad", "mortgage Short Line")
    assert texts(game) == {"keep the mortgage", "lift the mortgage"}
    act(game, "lift the mortgage")
    assert not mortgaged(game, "Boardwalk")
    assert game.cash[1] == 11 + 200 - 200


def test_rule_37_who_has_just_the_cash_raises_none() -> None:
    game = ruined(["Boardwalk"], 219, ["Reading Railroad"])
    assert game.cash[1] == 219 + 1 - 20  # what lifting costs
    assert texts(game) == {"keep the mortgage", "lift the mortgage"}


@pytest.mark.parametrize(
    ("lots", "question"),
    [
        (["Reading Railroad", "Oriental Avenue"], ("takeover", 1)),
        (["Reading Railroad"], ("turn", 1)),
    ],
)
def test_rule_37_who_cannot_raise_it_is_not_asked(
    lots: list[str], question: tuple[str, int]
) -> None:
    # 40 in cash, 30 for Baltic Avenue, 100 and 50 for the others, against 200
    game = ruined(["Boardwalk"], 59, lots)
    assert asked(game) == question


def test_rule_38_a18_no_fee() -> None:
    rules = me.Rules(mortgage_transfer_fee="none")
    game = traded(rules=rules)
    assert game.cash[0] == 1400
    assert ruined(["Boardwalk"], 100, [], rules=rules).cash[1] == 101


@pytest.mark.parametrize(("money", "possible"), [(119, False), (120, True)])
def test_rule_38_s05_a_trade_needs_the_fee_in_cash(money: int, possible: bool) -> None:
    game = table(lots={1: ["Boardwalk"]}, mortgaged=["Boardwalk"], cash={0: money})
    act(game, "trade with player +1")
    compose(game, ask=["Boardwalk"], cash=100)
    assert ("cash: done" in texts(game)) is possible


def test_rule_38_a_creditor_raises_the_fee() -> None:
    game = ruined(["Boardwalk", "Park Place"], 0, ["Reading Railroad", "Short Line"])
    assert asked(game) == ("debt", 1)
    assert debt(game) == 38
    act(game, "mortgage Reading Railroad")
    assert game.cash[1] == 1 + 100 - 38
    assert owner(game, "Boardwalk") == 1


def test_rule_38_s04_or_is_bankrupt_to_the_bank_with_the_whole_estate() -> None:
    # 1 in cash and 30 for Baltic Avenue, against 38
    game = ruined(["Boardwalk", "Park Place"], 0, [])
    assert game.place[:4].tolist() == [4, 3, 0, 0]
    assert asked(game) == ("bid", 2)
    assert game.cash[:2].tolist() == [0, 0]
    assert not mortgaged(game, "Boardwalk")


def test_rule_38_s05_both_sides_hold_their_fees() -> None:
    game = table(
        lots={0: ["Boardwalk"], 1: ["Short Line"]},
        mortgaged=["Boardwalk", "Short Line"],
        cash={1: 19},
    )
    act(game, "trade with player +1")
    compose(game, ask=["Short Line"], give=["Boardwalk"])
    assert "cash: done" not in texts(game)  # the fee on Boardwalk is 20
    act(game, "give $1", "cash: done", "accept")
    assert asked(game) == ("takeover", 0)
    assert game.cash[0] == 1500 - 1 - 10
    act(game, "keep the mortgage")
    # seat 1 has nothing left to lift Boardwalk with, so it is not asked
    assert asked(game) == ("turn", 0)
    assert cash(game) == [1489, 0, 1500]


def test_rule_39_mortgaged_lots_may_be_barred_from_trades() -> None:
    for allowed in (True, False):
        game = table(
            lots={1: ["Boardwalk", "Short Line"]},
            mortgaged=["Boardwalk"],
            rules=me.Rules(trade_mortgaged=allowed),
        )
        act(game, "trade with player +1")
        assert ("ask for Boardwalk" in texts(game)) is allowed
        assert "ask for Short Line" in texts(game)


@pytest.mark.parametrize(("price", "cost"), [("full", 193), ("ten_percent", 18)])
def test_rule_39_unmortgage_price(price: str, cost: int) -> None:
    game = table(
        lots={0: ["Park Place"]}, mortgaged=["Park Place"], rules=me.Rules(unmortgage_price=price)
    )
    act(game, "unmortgage Park Place")
    assert game.cash[0] == 1500 - cost


def test_rule_39_lifting_for_a_tenth_is_no_money_pump() -> None:
    """A lot is mortgaged once in a game.

    Neither in a later turn nor by another owner, and nobody counts on money for it.
    """
    game = table(
        2,
        lots={0: ["Park Place"]},
        anchored=(1,),
        throws=[(4, 6)] * 3,
        rules=me.Rules(unmortgage_price="ten_percent"),
    )
    act(game, "mortgage Park Place", "unmortgage Park Place")
    assert game.cash[0] == 1500 + 175 - 18
    for seat in (0, 1, 0):
        assert asked(game) == ("turn", seat)
        assert not legal(game, "mortgage") & {"Park Place"}
        end_turn(game)
    offer(game, 1, ask=["Park Place"])  # of seat 1, whose turn it is
    act(game, "accept")
    assert owner(game, "Park Place") == 1
    assert not legal(game, "mortgage") & {"Park Place"}
    assert raisable(game, 0) == game.cash[0]


def test_rule_39_a_full_price_lets_a_lot_be_mortgaged_again() -> None:
    game = table(lots={0: ["Park Place"]})
    act(game, "mortgage Park Place", "unmortgage Park Place", "mortgage Park Place")
    assert game.cash[0] == 1500 + 175 - 193 + 175
