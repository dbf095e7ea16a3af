"""`expert`: its tables against a second counting, its decisions at positions, and whole games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.players.expert import odds
from monopoly_env.facts import board
from tests.agents.players.trading import asked_of, landed, proposed
from tests.play import act, asked, offer

EXPERT = agents.make("expert")
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
LIGHT_BLUE = ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"]
RED = ["Kentucky Avenue", "Indiana Avenue", "Illinois Avenue"]
YELLOW = ["Atlantic Avenue", "Ventnor Avenue", "Marvin Gardens"]
DARK_BLUE = ["Park Place", "Boardwalk"]
RAILROADS = ["Reading Railroad", "Pennsylvania Railroad", "B. & O. Railroad", "Short Line"]


def after_throw(
    lots: dict[int, list[str]],
    cash: dict[int, int],
    num_players: int = 2,
    others_at: int = 0,
    **contents: Any,
) -> Any:
    """Seat 0 has thrown, come to Free Parking, and may manage its estate."""
    squares = [17, *[others_at] * (num_players - 1)]
    game = me.position(
        num_players, lots=lots, cash=cash, positions=squares, throws=[(1, 2)], **contents
    )
    while int(game.num_forced):
        act(game, "go on")
    assert asked(game) == ("turn", 0), asked(game)
    return game


def managed(game: Any, most: int = 60) -> list[str]:
    """What the policy does until it goes on, refused in every offer."""
    memory, told = np.zeros((1, agents.MEMORY)), []
    while asked(game) == ("turn", 0) and len(told) < most:
        action = asked_of(EXPERT, game, memory)
        told.append(action)
        if action == "go on":
            break
        act(game, action)
        while asked(game)[0].startswith("trade_"):
            act(game, asked_of(EXPERT, game, memory))
        if asked(game)[0] == "reply":
            act(game, "reject")
    return told


# --- odds


def test_the_odds_of_a_turn_are_those_of_throwing_by_hand() -> None:
    """Six million to one against a false alarm: 200,000 turns, six standard deviations."""
    generator = np.random.default_rng(5)
    turns, start = (
        200_000,
        24,
        # from Illinois Avenue: Go To Jail, railroads, a Chance and a Community Chest square lie
        # ahead
    )
    arrivals = np.zeros(board.NUM_SQUARES)
    for _ in range(turns):
        square = start
        for throw in range(3):
            first, second = generator.integers(1, 7, 2)
            if first == second and throw == 2:
                break
            square = (square + int(first + second)) % board.NUM_SQUARES
            resting = _by_hand(square, arrivals, 1.0, generator)
            if resting == odds.IN_JAIL or first != second:
                break
            square = resting
    measured = arrivals / turns
    exact = odds.NEXT[0, start]
    deviation = np.sqrt(np.maximum(exact, 1e-3) * 2.5 / turns)  # weights are at most 2.5
    assert (np.abs(measured - exact) < 6 * deviation).all()


def _by_hand(square: int, arrivals: Any, weight: float, generator: np.random.Generator) -> int:
    """Come to a square and follow its cards; where the token rests."""
    from monopoly_env.facts import cards

    arrivals[square] += weight
    kind = board.SQUARE_KIND[0, square]
    if kind == board.GO_TO_JAIL:
        return odds.IN_JAIL
    if kind not in (board.CHANCE, board.CHEST):
        return square
    deck = cards.CHANCE_DECK if kind == board.CHANCE else cards.CHEST_DECK
    effect, a, b = cards.CARD[0, deck, generator.integers(16)].tolist()
    if effect == cards.TO_JAIL:
        return odds.IN_JAIL
    if effect == cards.MOVE_TO:
        return _by_hand(a, arrivals, weight, generator)
    if effect == cards.MOVE_STEPS:
        return _by_hand(square + a, arrivals, weight, generator)
    if effect == cards.MOVE_TO_NEAREST:
        targets = (12, 28) if a else (5, 15, 25, 35)
        target = next((t for t in targets if t > square), targets[0])
        return _by_hand(target, arrivals, weight * (2.5 if a else b), generator)
    return square


@pytest.mark.parametrize(
    ("group", "level", "income"),
    [
        ("orange", 3, 50.02),
        ("light_blue", 5, 39.01),
        ("dark_blue", 3, 60.81),
        ("green", 0, 4.16),
        ("brown", 5, 15.06),
        ("red", 4, 78.22),
    ],
)
def test_the_income_of_groups_is_the_known_one(group: str, level: int, income: float) -> None:
    """Against the exact rents a throw of another computation; a turn has 1.187 throws."""
    assert odds.SET_INCOME[0, board.GROUPS.index(group), level] / 1.187 == pytest.approx(
        income, rel=0.002
    )


def test_every_turn_ends_somewhere() -> None:
    for edition in range(board.NUM_EDITIONS):
        _, ends = odds.turn_odds(edition)
        assert ends.sum(axis=1) == pytest.approx(1)
    assert odds.NEXT[0, odds.IN_JAIL].sum() < 0.25  # only a double leaves


# --- lots for sale


def test_it_buys_nearly_everything() -> None:
    squares = [square for square in board.LOT_SQUARE[0].tolist() if square >= 3]
    refused = [square for square in squares if asked_of(EXPERT, landed(square, {}, {}, 4)) != "buy"]
    assert len(refused) <= 1, refused


def test_it_mortgages_for_the_last_lot_of_a_group() -> None:
    game = landed(19, {0: [*ORANGE[:2], "Electric Company", "Baltic Avenue"]}, {0: 150})
    assert asked_of(EXPERT, game).startswith("mortgage")


def test_it_leaves_a_lot_to_an_auction_that_nobody_else_can_pay() -> None:
    assert asked_of(EXPERT, landed(39, {1: ["Baltic Avenue"]}, {0: 1500, 1: 100})) == "decline"
    assert asked_of(EXPERT, landed(39, {1: ["Baltic Avenue"]}, {0: 1500, 1: 1500})) == "buy"
    no_auction = me.Rules(auction="none")
    assert (
        asked_of(EXPERT, landed(39, {1: ["Baltic Avenue"]}, {0: 1500, 1: 100}, rules=no_auction))
        == "buy"
    )


def highest_bid(lots: dict[int, list[str]], square: int = 19, cash: int = 1500) -> int:
    """What the policy bids at most, as seat 1, against a rival who always raises by a dollar."""
    game = act(landed(square, lots, {0: cash, 1: cash}), "decline")
    memory, bid = np.zeros((1, agents.MEMORY)), 0
    while asked(game)[0] == "bid":
        if int(game.player) == 1:
            action = asked_of(EXPERT, game, memory)
            act(game, action)
            if action == "fold":
                break
            bid = int(game.auction_bid)
        else:
            act(game, "bid +1")
    return bid


def test_it_bids_more_for_what_completes_a_group_or_denies_it() -> None:
    plain, own, denied = highest_bid({}), highest_bid({1: ORANGE[:2]}), highest_bid({0: ORANGE[:2]})
    assert own > 1.5 * plain
    assert denied > 1.5 * plain


# --- houses


def test_it_builds_three_houses_where_a_dollar_earns_most() -> None:
    game = after_throw(
        {0: [*ORANGE, "Mediterranean Avenue", "Baltic Avenue"]}, {0: 900, 1: 1500}, others_at=10
    )
    told = managed(game)
    assert [int(game.level[board.LOT_NAME[0].index(name)]) for name in ORANGE] == [3, 3, 3], told
    assert int(game.level[0]) == 0


def test_it_builds_after_its_throw_not_before() -> None:
    game = me.position(2, lots={0: ORANGE, 1: RED}, cash=[1000, 1500], positions={1: 10})
    assert asked_of(EXPERT, game) == "go on"


def test_it_builds_before_others_throw_where_the_rules_have_that_window() -> None:
    game = me.position(
        2,
        "any_time",
        lots={0: [*ORANGE], 1: ["Baltic Avenue"]},
        cash=[1000, 1500],
        positions={1: 10},
        turn=1,
    )
    while asked(game)[1] != 0:
        act(game, "go on")
    assert asked_of(EXPERT, game).startswith("build")


def test_it_keeps_cash_for_what_it_could_owe() -> None:
    """With everything in houses, one visit to the hotels ahead would cost half of them."""
    safe = managed(
        after_throw({0: LIGHT_BLUE, 1: ["Baltic Avenue"]}, {0: 500, 1: 500}, others_at=15)
    )
    hotels = dict.fromkeys(YELLOW, 5) | dict.fromkeys(RED, 5)
    cautious = managed(
        after_throw(
            {0: LIGHT_BLUE, 1: [*YELLOW, *RED]}, {0: 500, 1: 500}, others_at=15, buildings=hotels
        )
    )
    assert sum(text.startswith("build") for text in cautious) < sum(
        text.startswith("build") for text in safe
    )


def test_it_mortgages_idle_lots_for_houses() -> None:
    lots = {0: [*ORANGE, "Electric Company", "Pacific Avenue"], 1: ["Baltic Avenue"]}
    told = managed(
        after_throw(lots, {0: 80, 1: 1500}, others_at=8, buildings=dict.fromkeys(ORANGE, 2))
    )
    assert "mortgage Electric Company" in told or "mortgage Pacific Avenue" in told
    assert any(text.startswith("build") for text in told)


def test_it_keeps_houses_scarce_while_a_rival_lacks_them() -> None:
    """Six streets with four houses and three with one leave five in the bank.

    Hotels would return four each.
    """
    levels = dict.fromkeys([*ORANGE, *RED], 4) | dict.fromkeys(LIGHT_BLUE, 1)
    hotels = {f"build {name}" for name in [*ORANGE, *RED]}
    owned = [*ORANGE, *RED, *LIGHT_BLUE]
    told = managed(
        after_throw({0: owned, 1: YELLOW}, {0: 3000, 1: 1500}, buildings=levels, others_at=10)
    )
    assert hotels.isdisjoint(told)
    told = managed(
        after_throw({0: owned, 1: YELLOW[:2]}, {0: 3000, 1: 1500}, buildings=levels, others_at=10)
    )
    assert not hotels.isdisjoint(told)


def test_it_lifts_mortgages_when_cash_is_idle() -> None:
    told = managed(
        after_throw({0: RAILROADS, 1: ["Baltic Avenue"]}, {0: 1500, 1: 1500}, mortgaged=RAILROADS)
    )
    assert sum(text.startswith("unmortgage") for text in told) == 4


def test_it_raises_cash_by_what_loses_least() -> None:
    owned = {0: [*LIGHT_BLUE, "Electric Company", "Baltic Avenue"], 1: DARK_BLUE}
    levels = dict.fromkeys(LIGHT_BLUE, 3) | dict.fromkeys(DARK_BLUE, 1)
    game = landed(39, owned, {0: 10, 1: 500}, buildings=levels)
    told = []
    while asked(game) == ("debt", 0):
        told.append(asked_of(EXPERT, game))
        act(game, told[-1])
    assert set(told[:2]) == {"mortgage Electric Company", "mortgage Baltic Avenue"}
    assert all(text.startswith("sell") for text in told[2:])


# --- jail


def test_it_leaves_jail_early_and_stays_late() -> None:
    early = me.position(2, jail={0: 0}, positions={0: 10}, lots={0: ["Baltic Avenue"]})
    assert asked_of(EXPERT, early) == "pay the fine"
    owned = {
        0: LIGHT_BLUE,
        1: [lot for lot in range(board.NUM_LOTS) if board.LOT_NAME[0][lot] not in LIGHT_BLUE],
    }
    late = me.position(
        2, jail={0: 0}, positions={0: 10}, lots=owned, buildings=dict.fromkeys([*ORANGE, *RED], 3)
    )
    assert asked_of(EXPERT, late) == "go on"


# --- trades

MATCHED = {
    0: [*ORANGE[:2], YELLOW[2], "Baltic Avenue", "Pacific Avenue"],
    1: [*YELLOW[:2], ORANGE[2], "Mediterranean Avenue", "Virginia Avenue"],
    2: [*RED[:2], "Oriental Avenue", "States Avenue"],
    3: [RED[2], "Vermont Avenue", "St. Charles Place", "Park Place"],
}


def test_it_offers_a_swap_that_completes_a_group_for_both() -> None:
    game = after_throw(MATCHED, {}, 4)
    made = proposed(EXPERT, game)
    assert made is not None
    assert (made["to"], made["ask"]) == (1, [ORANGE[2]])
    assert made["give"]  # cash alone would be needed for the houses


def test_it_pays_for_a_group_with_the_lot_that_completes_one_for_the_partner() -> None:
    """Offers by a proposer who knows that his partner judges as he does."""
    expert = agents.make("expert", naive=0.01)
    made = proposed(expert, after_throw(MATCHED, {}, 4))
    assert made is not None
    assert made["ask"] == [ORANGE[2]]
    assert YELLOW[2] in made["give"]


def test_it_accepts_a_swap_of_groups_and_refuses_gifts_to_others() -> None:
    game = offer(me.position(4, lots=MATCHED), 1, ask=[ORANGE[2]], give=[YELLOW[2]])
    assert asked_of(EXPERT, game) == "accept"
    poor = offer(me.position(4, lots=MATCHED), 1, ask=[ORANGE[2]], give=["Baltic Avenue"], cash=100)
    assert asked_of(EXPERT, poor) != "accept"
    duel = {0: [*ORANGE[:2], "Baltic Avenue"], 1: [*YELLOW[:2], ORANGE[2]]}
    gift = offer(me.position(2, lots=duel), 1, ask=[ORANGE[2]], cash=300)
    assert asked_of(EXPERT, gift) != "accept"


def test_a_dollar_buys_nothing_from_it() -> None:
    for name in [*DARK_BLUE[:1], *RAILROADS[:1], *ORANGE[:1]]:
        game = offer(
            me.position(3, lots={0: ["Baltic Avenue"], 1: [name], 2: ["Virginia Avenue"]}),
            1,
            ask=[name],
            cash=1,
        )
        assert asked_of(EXPERT, game) != "accept"


def test_it_counters_an_offer_that_is_too_low() -> None:
    game = offer(me.position(4, lots=MATCHED), 1, ask=[ORANGE[2]], give=[YELLOW[2]], cash=-900)
    assert asked_of(EXPERT, game) == "counter"
    memory = np.zeros((1, agents.MEMORY))
    while asked(game)[1] == 1:
        act(game, asked_of(EXPERT, game, memory))
    assert asked(game) == ("reply", 0)
    assert int(game.offer_cash) < 900  # it asks the same goods at a better price


def test_a_refusal_raises_the_next_offer_within_the_turn() -> None:
    lots = {0: LIGHT_BLUE[:2], 1: LIGHT_BLUE[2:], 2: ["Virginia Avenue"], 3: ["Baltic Avenue"]}
    game, memory = after_throw(lots, dict.fromkeys(range(4), 3000), 4), np.zeros((1, agents.MEMORY))
    prices: dict[str, list[int]] = {}
    for _ in range(4):
        made = proposed(EXPERT, game, memory)
        if made is None:
            break
        prices.setdefault(f"{made['to']} {made['ask']} {made['give']}", []).append(made["cash"])
        act(game, "reject")
    assert max(map(len, prices.values())) >= 2, prices
    assert all(offers == sorted(set(offers)) for offers in prices.values()), prices


def test_it_buys_up_a_partner_who_sells_for_a_dollar() -> None:
    results = agents.arena.play(["expert", "fp/a"], games=200, seed=4)
    assert next(row for row in results.rows() if row["name"] == "expert")["low"] > 0.9


def test_it_offers_no_more_when_the_answer_stays_the_same() -> None:
    lots = {0: ORANGE[:2], 1: [ORANGE[2], "Baltic Avenue"]}
    told = managed(after_throw(lots, {}))
    assert told[-1] == "go on"
    assert sum(text.startswith("trade") for text in told) <= 4


# --- whole games
