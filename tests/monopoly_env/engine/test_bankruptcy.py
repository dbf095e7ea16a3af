"""Rules 55 to 60: debts and bankruptcy."""

from __future__ import annotations

import random
from typing import Any

import pytest

import monopoly_env as me
from monopoly_env.engine.liquidation import liquidate
from tests.play import (
    act,
    asked,
    auction,
    cash,
    debt,
    end_turn,
    land,
    legal,
    levels,
    mortgaged,
    owner,
    table,
    texts,
    throw,
)

BROWN = ["Mediterranean Avenue", "Baltic Avenue"]
LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
DARK_BLUE = ["Park Place", "Boardwalk"]


def debtor(**contents: Any) -> Any:
    """Seat 0 owes 200 dollars of income tax and has 50, two brown houses, and two railroads."""
    return land(
        4,
        (1, 3),
        lots={0: [*BROWN, "Reading Railroad", "Short Line"]},
        buildings=dict.fromkeys(BROWN, 1),
        cash={0: 50},
        anchored=(1, 2),
        **contents,
    )


def ruined_by_rent(money: int = 100, **contents: Any) -> Any:
    """Seat 0 owes 2000 dollars of rent to seat 1.

    Its estate: cash, three houses, a mortgaged lot and another, a jail card.
    """
    return land(
        39, lots={0: [*LIGHT_BLUE, "Short Line", "Reading Railroad"], 1: DARK_BLUE},
        buildings={**dict.fromkeys(LIGHT_BLUE, 1), **dict.fromkeys(DARK_BLUE, 5)},
        mortgaged=["Short Line"], cash={0: money},
        jail_cards={0: ("chance",)}, num_players=4, anchored=(1, 2, 3), **contents,
    )  # fmt: skip


def ruined_by_bank(money: int = 1500, rivals: tuple[int, ...] = (1, 2), **contents: Any) -> Any:
    """Seat 0 owes 100 dollars of luxury tax and has 50, two mortgaged lots and a jail card.

    Seat 1 has `money`.
    """
    lots = ["Reading Railroad", "Baltic Avenue"]
    cards = {0: ("community_chest",)}
    return land(
        38,
        lots={0: lots},
        mortgaged=lots,
        cash={0: 50, 1: money},
        jail_cards=cards,
        anchored=rivals,
        **contents,
    )


def test_rule_55_the_debtor_chooses_what_to_liquidate() -> None:
    game = debtor()
    assert asked(game) == ("debt", 0)
    assert debt(game) == 200
    assert texts(game) == {
        "sell Mediterranean Avenue",
        "sell Baltic Avenue",
        "mortgage Reading Railroad",
        "mortgage Short Line",
    }
    act(game, "mortgage Short Line", "sell Baltic Avenue", "sell Mediterranean Avenue")
    assert asked(game) == ("turn", 0)
    assert cash(game) == [0, 1500, 1500]
    assert not mortgaged(game, "Reading Railroad")


@pytest.mark.parametrize(("money", "bankrupt"), [(149, True), (150, False)])
def test_rule_55_bankrupt_only_if_all_that_can_be_raised_is_too_little(
    money: int, bankrupt: bool
) -> None:
    game = land(
        4,
        (1, 3),
        lots={0: BROWN},
        buildings={"Baltic Avenue": 1},
        cash={0: money - 35},
        anchored=(1, 2),
    )
    assert bool(game.place[0]) is bankrupt  # 25 for the house and 30 for each lot: 85


@pytest.mark.parametrize(
    ("liquidation", "houses", "refund"),
    [("houses_then_mortgages", [0, 0], 50), ("mortgages_hotels_houses", [1, 1], 0)],
)
def test_rule_55_a26_fixed_orders(liquidation: str, houses: list[int], refund: int) -> None:
    game = debtor(rules=me.Rules(liquidation=liquidation))
    assert asked(game) == ("turn", 0)
    assert levels(game, *BROWN) == houses
    values = {"Reading Railroad": 100, "Short Line": 100, **dict.fromkeys(BROWN, 30)}
    raised = sum(value for name, value in values.items() if mortgaged(game, name))
    assert game.cash[0] == 50 + refund + raised - 200
    assert game.cash[0] < 100  # and no more than was needed


def test_rule_55_a26_hotels_go_before_houses() -> None:
    lots = [*BROWN, *LIGHT_BLUE]
    game = land(
        4, (1, 3), lots={0: lots},
        buildings={**dict.fromkeys(LIGHT_BLUE, 1), **dict.fromkeys(BROWN, 5)}, cash={0: 175},
        anchored=(1, 2),
        rules=me.Rules(liquidation="mortgages_hotels_houses"),
    )  # fmt: skip
    assert asked(game) == ("turn", 0)
    assert levels(game, *LIGHT_BLUE) == [1, 1, 1]
    assert sorted(levels(game, *BROWN)) == [4, 5]
    assert game.cash[0] == 0


@pytest.mark.parametrize("done", range(4))
def test_rule_55_a26_railroads_go_in_the_order_of_mukhars_program(done: int) -> None:
    order = ["Reading Railroad", "Short Line", "Pennsylvania Railroad", "B. & O. Railroad"]
    game = land(
        4, (1, 3), lots={0: order}, mortgaged=order[:done], cash={0: 150}, anchored=(1, 2),
        rules=me.Rules(liquidation="mortgages_hotels_houses"),
    )  # fmt: skip
    assert [mortgaged(game, name) for name in order] == [number <= done for number in range(4)]
    assert game.cash[0] == 50


def test_rule_55_a26_mukhars_order_spares_groups() -> None:
    """Single streets, a single utility, railroads, and last what shares its group."""
    lots = ["Oriental Avenue", "Vermont Avenue", "Boardwalk", "Water Works", "Short Line"]
    game = table(2, anchored=(), lots={0: lots}, cash={0: 0},
                 rules=me.Rules(liquidation="mortgages_hotels_houses"))  # fmt: skip
    order: list[str] = []
    while len(order) < len(lots):
        liquidate(game, 0, int(game.cash[0]) + 1)
        order += [name for name in lots if mortgaged(game, name) and name not in order]
    assert order == ["Boardwalk", "Water Works", "Short Line", "Oriental Avenue", "Vermont Avenue"]


@pytest.mark.parametrize("utilities", [["Electric Company"], ["Electric Company", "Water Works"]])
def test_rule_55_a26_a_single_utility_goes_before_railroads(utilities: list[str]) -> None:
    game = land(
        4, (1, 3), lots={0: ["Reading Railroad", *utilities]}, cash={0: 150}, anchored=(1, 2),
        rules=me.Rules(liquidation="mortgages_hotels_houses"),
    )  # fmt: skip
    single = len(utilities) == 1
    assert mortgaged(game, "Electric Company") is single
    assert mortgaged(game, "Reading Railroad") is not single


def test_rule_55_a26_one_request_may_give_up() -> None:
    game = debtor(rules=me.Rules(liquidation="one_request"), num_players=3)
    assert asked(game) == ("debt", 0)
    assert "go on" in texts(game)
    act(game, "go on")
    assert game.place[0] == 3


def test_rule_55_the_default_debtor_may_not_give_up() -> None:
    assert "go on" not in texts(debtor())


@pytest.mark.parametrize("liquidation", ["agent", "one_request"])
@pytest.mark.parametrize("seed", range(6))
def test_rule_55_no_order_of_sales_ruins_a_debtor_who_can_pay(liquidation: str, seed: int) -> None:
    """With four houses in the bank, the brown hotel goes first.

    Sold first, a hotel of the dark blues would leave all others stuck.
    """
    game = land(
        4, (1, 3), lots={0: [*BROWN, *DARK_BLUE, "Water Works"]}, cash={0: 0}, anchored=(1, 2),
        buildings=dict(zip([*BROWN, *DARK_BLUE], (5, 4, 5, 5), strict=True)),
        rules=me.Rules(houses=8, hotel_breakdown="needs_four", liquidation=liquidation),
    )  # fmt: skip
    assert (asked(game), debt(game)) == (("debt", 0), 200)
    assert legal(game, "sell") == {"Mediterranean Avenue"}
    rng = random.Random(seed)
    while asked(game)[0] == "debt":
        act(game, rng.choice(sorted(texts(game) - {"go on"})))
    assert game.place[0] == 0
    me.check(game)


def test_rule_55_hotels_are_sold_in_any_order_where_each_order_pays() -> None:
    game = land(
        4, (1, 3), lots={0: [*BROWN, *DARK_BLUE]},
        buildings=dict(zip([*BROWN, *DARK_BLUE], (5, 4, 5, 5), strict=True)), cash={0: 150},
        anchored=(1, 2), rules=me.Rules(houses=8, hotel_breakdown="needs_four"),
    )  # fmt: skip
    assert legal(game, "sell") == {"Mediterranean Avenue", *DARK_BLUE}
    act(game, "sell Boardwalk")
    assert (asked(game), game.cash[0]) == (("turn", 0), 50)


def test_rule_56_bankrupt_to_a_player() -> None:
    game = ruined_by_rent()
    assert game.place[0] == 4
    assert asked(game) == ("takeover", 1)
    act(game, "keep the mortgage")
    assert [owner(game, name) for name in (*LIGHT_BLUE, "Short Line", "Reading Railroad")] == [
        1
    ] * 5
    assert levels(game, *LIGHT_BLUE) == [0, 0, 0]
    assert game.houses == 32
    assert mortgaged(game, "Short Line")
    assert cash(game) == [0, 1500 + 100 + 3 * 25 - 10, 1500, 1500]  # a tenth of 100 on Short Line
    assert game.jail_cards[:2].tolist() == [0, 1]
    assert asked(game) == ("turn", 1)


def test_rule_56_earlier_mortgages_are_not_undone_and_hotels_count_five() -> None:
    game = land(
        39,
        lots={0: BROWN, 1: DARK_BLUE},
        buildings={**dict.fromkeys(BROWN, 5), **dict.fromkeys(DARK_BLUE, 5)},
        cash={0: 0},
        anchored=(1, 2),
    )
    assert cash(game) == [0, 1500 + 10 * 25, 1500]
    assert game.hotels == 10
    assert [owner(game, name) for name in BROWN] == [1, 1]


def test_rule_56_preset_mukhar_refunds_in_full() -> None:
    game = act(ruined_by_rent(rules=me.Rules(bankrupt_sell_ratio=1.0)), "keep the mortgage")
    assert game.cash[1] == 1500 + 100 + 3 * 50 - 10


def test_rule_57_bankrupt_to_the_bank() -> None:
    game = ruined_by_bank()
    assert game.place[0] == 3
    assert game.cash[0] == 0
    assert (game.jail_cards[0], game.deck_size[1]) == (0, 16)
    assert not mortgaged(game, "Baltic Avenue")
    assert not mortgaged(game, "Reading Railroad")
    assert asked(game) == ("bid", 1)
    assert game.auction_lot == 1  # Baltic Avenue stands before Reading Railroad
    assert auction(game, {2: 1}) == [1, 2, 1, 2]
    assert owner(game, "Baltic Avenue") == 2
    assert owner(game, "Reading Railroad") is None or game.cash[2] == 1498


def test_rule_57_each_lot_is_auctioned_among_the_rest_and_the_game_goes_on() -> None:
    game = ruined_by_bank()
    act(game, "bid +10", "fold")
    assert owner(game, "Baltic Avenue") == 1
    act(game, "fold", "fold")
    assert owner(game, "Reading Railroad") is None
    assert cash(game) == [0, 1490, 1500]
    assert asked(game) == ("turn", 1)


def test_rule_57_buildings_go_to_the_supply() -> None:
    game = land(
        38,
        (2, 4),
        lots={0: BROWN},
        buildings=dict.fromkeys(BROWN, 1),
        cash={0: 0},
        anchored=(1, 2),
        rules=me.Rules(luxury_tax=300),
    )
    assert game.place[0] == 3
    assert game.houses == 32
    assert levels(game, *BROWN) == [0, 0]
    assert cash(game) == [0, 1500, 1500]


def test_rule_57_a27_auctioned_with_their_mortgages() -> None:
    game = ruined_by_bank(rules=me.Rules(bank_bankruptcy="auction_mortgaged"))
    act(game, "bid +10", "fold")
    if asked(game)[0] == "takeover":
        act(game, "keep the mortgage")
    assert owner(game, "Baltic Avenue") == 1
    assert mortgaged(game, "Baltic Avenue")
    assert game.cash[1] == 1500 - 10 - 3


def test_rule_57_a27_s04_the_bid_limit_includes_the_fee() -> None:
    game = ruined_by_bank(
        rules=me.Rules(bank_bankruptcy="auction_mortgaged", auction_limit="cash"), money=102
    )
    assert legal(game, "bid") == {"+1", "+5", "+10", "+20", "+50"}  # 100 and 3 are more than 102


def test_rule_57_a27_back_to_the_bank() -> None:
    game = ruined_by_bank(rules=me.Rules(bank_bankruptcy="to_bank_unowned"))
    assert [owner(game, "Baltic Avenue"), owner(game, "Reading Railroad")] == [None, None]
    assert game.mortgaged == 0
    assert asked(game) == ("turn", 1)


def test_rule_57_a27_the_game_ends() -> None:
    game = ruined_by_bank(rules=me.Rules(bank_bankruptcy="game_over"))
    assert me.is_over(game)
    assert game.place[0] == 3


def elected(option: str, money: int = 70) -> Any:
    """Seat 1 of four owes 50 dollars to each of the others and has nothing but cash."""
    return land(
        7,
        seat=1,
        num_players=4,
        chance=["chairman"],
        cash={1: money},
        anchored=(0, 2, 3),
        rules=me.Rules(multi_creditor=option),
    )


def test_rule_58_pay_each() -> None:
    game = elected("seat_order", 151)
    assert cash(game) == [1550, 1, 1550, 1550]
    assert game.place[1] == 0  # nothing is due to the payer itself


def test_rule_58_in_turn_order_bankrupt_to_the_first_not_fully_paid() -> None:
    game = elected("seat_order")
    assert game.place[1] == 4
    assert cash(game) == [1500, 0, 1550, 1520]


def test_rule_58_a28_nobody_is_paid() -> None:
    game = elected("bank")
    assert game.place[1] == 4
    assert cash(game) == [1500, 0, 1500, 1500]


def test_rule_58_a28_split() -> None:
    game = elected("split")
    shares = [cash(game)[seat] - 1500 for seat in (0, 2, 3)]
    assert game.place[1] == 4
    assert min(shares) == 23
    assert max(shares) <= 24
    assert sum(shares) <= 70


def asked_to_pay_each(option: str, money: int = 70) -> Any:
    """The same with a railroad to mortgage and the right to give up."""
    rules = me.Rules(multi_creditor=option, liquidation="one_request")
    lots = {1: ["Short Line", "Reading Railroad"]}
    return land(
        7,
        seat=1,
        num_players=4,
        chance=["chairman"],
        cash={1: money},
        lots=lots,
        anchored=(0, 2, 3),
        rules=rules,
    )


@pytest.mark.parametrize(
    ("option", "due", "shares"),
    [("bank", 150, [0, 0, 0]), ("split", 150, [23, 23, 23]), ("seat_order", 50, [20, 50, 0])],
)
def test_rule_58_a28_who_gives_up(option: str, due: int, shares: list[int]) -> None:
    """The debts to all are one debt, whose estate goes to the bank.

    Paid one by one, they are debts to single players.
    """
    game = asked_to_pay_each(option)
    assert (asked(game), debt(game)) == (("debt", 1), due)
    act(game, "go on")
    assert game.place[1] == 4
    assert [cash(game)[seat] - 1500 for seat in (3, 2, 0)] == shares
    assert owner(game, "Short Line") == (3 if option == "seat_order" else None)
    assert asked(game)[0] == ("turn" if option == "seat_order" else "bid")


@pytest.mark.parametrize("option", ["bank", "split"])
def test_rule_58_a28_who_raises_the_money_pays_everybody(option: str) -> None:
    game = act(asked_to_pay_each(option), "mortgage Short Line")
    assert cash(game) == [1550, 20, 1550, 1550]
    assert owner(game, "Short Line") == 1


def test_rule_58_collect_from_each() -> None:
    game = land(17, num_players=4, community_chest=["players_pay"])
    assert cash(game) == [1530, 1490, 1490, 1490]


def test_rule_58_the_bankrupt_do_not_pay() -> None:
    game = land(17, num_players=4, community_chest=["players_pay"], bankrupt=(1, 3))
    assert cash(game) == [1510, 0, 1490, 0]


def test_rule_58_a_payer_who_cannot_pay_is_bankrupt_to_the_drawer() -> None:
    game = land(
        17,
        num_players=4,
        community_chest=["players_pay"],
        lots={1: ["Short Line"]},
        mortgaged=["Short Line"],
        cash={1: 4},
        anchored=(0, 2, 3),
    )
    assert game.place[1] == 4
    assert owner(game, "Short Line") == 0
    act(game, "keep the mortgage")
    assert cash(game) == [1500 + 4 + 20 - 10, 0, 1490, 1490]
    assert asked(game) == ("turn", 0)


def test_rule_58_nobody_pays_a_drawer_ruined_by_interest_on_a_payers_lot() -> None:
    game = land(
        17,
        num_players=4,
        community_chest=["players_pay"],
        lots={1: ["Boardwalk"]},
        mortgaged=["Boardwalk"],
        cash={0: 0, 1: 4},
        anchored=(2, 3),
    )
    assert game.place[:2].tolist() == [3, 4]
    assert cash(game)[2:] == [1500, 1500]


def test_rule_58_a_payer_raises_the_money() -> None:
    game = land(
        17,
        community_chest=["players_pay"],
        lots={2: ["Short Line", "Reading Railroad"]},
        cash={2: 4},
        anchored=(0, 1),
    )
    assert asked(game) == ("debt", 2)
    act(game, "mortgage Short Line")
    assert cash(game) == [1520, 1490, 94]


def test_rule_59_with_two_players_the_first_bankruptcy_ends_the_game() -> None:
    game = ruined_by_bank(num_players=2, rivals=(1,))
    assert me.is_over(game)
    assert me.winner(game) == 1
    assert game.place[:2].tolist() == [2, 1]
    assert len(me.legal_actions(game)) == 0
    with pytest.raises(me.GameOverError):
        me.step(game, 0)


def test_rule_60_a_bankruptcy_inside_another_settlement() -> None:
    """Seat 1 is ruined by the fees of seat 0's estate.

    Both estates are auctioned, then the next seat's turn begins.
    """
    game = land(
        3,
        num_players=4,
        lots={0: DARK_BLUE, 1: ["Baltic Avenue"]},
        mortgaged=DARK_BLUE,
        cash={0: 1, 1: 0},
        anchored=(2, 3),
    )
    assert game.place[:4].tolist() == [4, 3, 0, 0]
    lots = []
    while asked(game)[0] == "bid":
        lots.append(int(game.auction_lot))
        act(game, "bid +1", "fold")
    assert lots == [1, 20, 21]
    assert [owner(game, name) for name in ("Baltic Avenue", *DARK_BLUE)] == [2, 2, 2]
    assert game.mortgaged == 0
    assert cash(game) == [0, 0, 1497, 1500]
    assert asked(game) == ("turn", 2)


def test_s08_a_bankrupt_throws_no_more_after_a_double() -> None:
    game = land(38, (2, 2), cash={0: 50}, anchored=(1, 2))
    assert game.place[0] == 3
    assert asked(game) == ("turn", 1)
    assert (game.throws[0], game.streak) == (1, 0)


def test_s08_another_players_bankruptcy_leaves_the_turn_as_it_is() -> None:
    game = land(
        17, (2, 2), more=[(1, 2)], community_chest=["players_pay"], cash={1: 4}, anchored=(0, 2)
    )
    assert game.place[1] == 3
    assert asked(game) == ("turn", 0)
    throw(game)
    assert game.throws[0] == 2
    assert end_turn(game).turn == 2


def test_s03_a_debt_of_an_auction_is_an_ordinary_debt() -> None:
    game = act(
        land(39, lots={1: BROWN}, buildings=dict.fromkeys(BROWN, 2), cash={1: 0}, anchored=(0, 2)),
        "decline",
        "bid +50",
        "fold",
        "fold",
    )
    assert (asked(game), debt(game)) == (("debt", 1), 50)
    assert texts(game) == {"sell Baltic Avenue", "sell Mediterranean Avenue"}
    # then evenness leaves only Mediterranean Avenue, which is not asked
    act(game, "sell Baltic Avenue")
    assert owner(game, "Boardwalk") == 1
    assert levels(game, *BROWN) == [1, 1]
    assert game.cash[1] == 0


def test_rule_57_bankrupt_seats_are_skipped() -> None:
    game = table(4, bankrupt=(1, 2), positions={0: 10}, throws=[(4, 6)])
    assert end_turn(throw(game)).turn == 3


def test_rule_58_the_bankrupt_are_not_paid() -> None:
    game = land(7, num_players=4, chance=["chairman"], bankrupt=(1, 3))
    assert cash(game) == [1450, 0, 1550, 0]


@pytest.mark.parametrize("order", ["houses_then_mortgages", "mortgages_hotels_houses"])
def test_rule_55_a26_too_little_in_any_order_is_bankruptcy(order: str) -> None:
    game = land(4, num_players=3, cash={0: 50}, anchored=(), lots={0: ["Short Line"]},
                rules=me.Rules(liquidation=order))  # fmt: skip
    assert game.place[0] == 3
