"""Rules 61 to 64: the end of a game and its score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env.facts import board
from tests.monopoly_env import oracle
from tests.play import act, cash, end_turn, land, levels, randomly, table, texts, throw

ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]


def visit(num_players: int = 2, **contents: Any) -> Any:
    """Seat 0's turn, in which it only visits Free Parking, has ended."""
    return end_turn(throw(table(num_players, positions={0: 10}, throws=[(4, 6)], **contents)))


def random_game(num_players: int, rules: Any, seed: int) -> Any:
    """A game of uniformly random actions, at its end."""
    *_, game = randomly(me.new_game(num_players, rules, seed), seed)
    return game


def test_rule_61_the_last_solvent_player_wins() -> None:
    game = land(
        39, num_players=4, bankrupt=(2, 1), lots={3: ["Boardwalk"]}, cash={0: 49}, anchored=(3,)
    )
    assert me.is_over(game)
    assert me.winner(game) == 3
    assert game.place[:4].tolist() == [2, 3, 4, 1]
    assert cash(game)[3] == 1549


def test_rule_62_short_game_three_free_lots() -> None:
    game = me.new_game(4, "short", 3)
    assert [int(lots).bit_count() for lots in game.lots[:4]] == [3] * 4
    assert cash(game) == [1500] * 4


def test_rule_62_hotel_after_three_houses() -> None:
    game = table(
        rules="short", lots={0: ORANGE}, buildings=dict.fromkeys(ORANGE, 3), cash={0: 1000}
    )
    assert game.houses == 23
    act(game, "build New York Avenue")
    assert levels(game, *ORANGE) == [3, 3, 5]
    assert (game.houses, game.hotels, game.cash[0]) == (26, 11, 900)
    act(game, "sell New York Avenue")
    assert levels(game, *ORANGE) == [3, 3, 3]
    assert (game.houses, game.hotels, game.cash[0]) == (23, 12, 950)


def test_rule_62_out_of_jail_on_the_next_turn() -> None:
    game = table(rules="short", lots={0: ["States Avenue"]}, jail={0: 0}, throws=[(1, 2)])
    # by rule 45; what the short game adds comes after the throw
    assert "pay the fine" in texts(game)
    throw(game)
    assert (game.position[0], game.cash[0]) == (13, 1450)


def test_rule_62_flat_income_tax() -> None:
    assert cash(land(4, rules="short")) == [1300, 1500, 1500]


def test_rule_62_ends_at_the_first_bankruptcy_by_score() -> None:
    game = land(
        38,
        num_players=4,
        rules="short",
        cash={0: 99, 1: 1000, 2: 1300, 3: 999},
        lots={1: ["Boardwalk"]},
        anchored=(),
    )
    assert me.is_over(game)
    assert me.winner(game) == 1
    assert game.place[:4].tolist() == [4, 1, 2, 3]


def test_rule_63_time_limit_game_two_lots_paid_for() -> None:
    game = me.new_game(4, me.Rules(start_lots=2, start_lots_paid=True), 3)
    for seat in range(4):
        lots = board.lots_of(game.lots[seat])
        assert len(lots) == 2
        assert cash(game)[seat] == 1500 - sum(int(board.PRICE[0, lot]) for lot in lots)


OWNED = {"lots": ["Boardwalk"], "cash": 1500}
MORTGAGED = OWNED | {"mortgaged": ["Boardwalk"]}
BUILT = {
    "lots": ["Boardwalk", "Park Place"],
    "cash": 0,
    "buildings": {"Boardwalk": 5, "Park Place": 4},
}


@pytest.mark.parametrize(
    ("score", "zero", "one", "winner"),
    [
        ("short_game", OWNED, {"cash": 1899}, 0),
        ("short_game", MORTGAGED, {"cash": 1701}, 1),
        ("short_game", MORTGAGED, {"cash": 1699}, 0),
        ("tax_worth", MORTGAGED, {"cash": 1899}, 0),
        ("tax_worth", MORTGAGED, {"cash": 1901}, 1),
        ("cash", OWNED, {"cash": 1501}, 1),
        ("short_game", BUILT, {"cash": 2549}, 0),
        ("short_game", BUILT, {"cash": 2551}, 1),
        # jail cards count nothing
        ("short_game", {"cash": 1000, "jail_cards": ("chance",)}, {"cash": 1001}, 1),
        ("short_game", {"cash": 1000}, {"cash": 1000}, None),  # a draw
    ],
)
def test_rule_64_a29_scores(
    score: str, zero: dict[str, Any], one: dict[str, Any], winner: int | None
) -> None:
    anchors = {0: ["Pacific Avenue"], 1: ["North Carolina Avenue"]}  # 300 dollars each
    game = visit(
        lots={0: [*anchors[0], *zero.get("lots", [])], 1: anchors[1]},
        cash={0: zero["cash"], 1: one["cash"]}, anchored=(),
        mortgaged=zero.get("mortgaged", ()), buildings=zero.get("buildings", {}),
        jail_cards={0: zero.get("jail_cards", ())},
        rules=me.Rules(score=score, max_turns=1),
    )  # fmt: skip
    assert me.is_over(game)
    assert me.winner(game) == winner
    assert game.place[:2].tolist() == (
        [1, 1] if winner is None else [1 + (winner != 0), 1 + (winner != 1)]
    )


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_rule_64_a_round_is_a_turn_of_every_player(num_players: int) -> None:
    game = random_game(num_players, me.Rules(max_rounds=2), seed=num_players)
    assert (game.rounds, game.turns) == (2, 2 * num_players)
    state = oracle.read(game)
    scores = [oracle.score(state, seat) for seat in range(num_players)]
    assert [int(place) for place in game.place[:num_players]] == [
        1 + sum(other > mine for other in scores) for mine in scores
    ]


@pytest.mark.parametrize(
    ("money", "winner"),
    [
        ({0: 999, 1: 5}, "none"),
        ({0: 1000, 1: 5}, 0),
        ({0: 5, 1: 1200}, 1),
        ({0: 1100, 1: 1200}, 1),
        ({0: 1200, 1: 1200}, None),
    ],
)
def test_s09_win_cash_at_the_end_of_a_turn(money: dict[int, int], winner: Any) -> None:
    game = visit(cash=money, rules=me.Rules(win_cash=1000))
    assert me.is_over(game) is (winner != "none")
    assert me.winner(game) == (None if winner == "none" else winner)


def test_s09_win_cash_is_not_tested_within_a_turn() -> None:
    game = land(0, cash={0: 900, 1: 5, 2: 5}, rules=me.Rules(win_cash=1000))
    assert game.cash[0] == 1100
    assert not me.is_over(game)
    assert me.winner(end_turn(game)) == 0


@pytest.mark.parametrize("turns", [1, 2, 7])
def test_s13_max_turns(turns: int) -> None:
    game = random_game(3, me.Rules(max_turns=turns), seed=1)
    assert game.turns == turns


@pytest.mark.parametrize(
    ("preset", "cap"),
    [("ocnaru", 1000), ("mukhar", 400), ("official", 0), ("frayn", 0), ("pring", 0)],
)
def test_s13_caps_of_the_presets(preset: str, cap: int) -> None:
    rules = me.Rules.preset(preset)
    assert (rules.max_turns, rules.max_rounds) == (cap, 0)


@pytest.mark.parametrize(
    ("preset", "options"),
    [
        ("short", "start_lots=3 hotel_after=3 end_at_first_bankruptcy=True jail_turns=1"),
        ("modern", "auction_start=10"),
        ("pring", "win_cash=20000 rent_in_jail=False trade=one_for_one board=uk"),
        ("pring", "liquidation=houses_then_mortgages auction=none jail_pay_after_throw=True"),
        ("ocnaru", "auction=none bank_bankruptcy=game_over even_build=whole_group"),
        ("ocnaru", "jail_double_extra_throw=True"),
        ("mukhar", "auction=sealed_second_price sealed_increment=5 income_tax=min"),
        ("mukhar", "building_shortage=first_come"),
        ("classic", "board=us_pre2008 income_tax=choice luxury_tax=75"),
        ("uk", "board=uk double_rent_if_group_mortgaged=False income_tax=flat200 luxury_tax=100"),
        ("any_time", "build_window=before_each_throw"),
        ("official", "auction=english build_window=own_turn double_rent_if_group_mortgaged=True"),
        ("official", "bank_bankruptcy=auction_clear"),
    ],
)
def test_s14_presets(preset: str, options: str) -> None:
    rules = me.Rules.preset(preset)
    names = [option.split("=")[0] for option in options.split()]
    assert " ".join(f"{name}={getattr(rules, name)}" for name in names) == options


def test_s14_a_lot_in_the_short_game_is_nobodys_twice() -> None:
    game = me.new_game(8, "short", 1)
    assert sum(int(lots).bit_count() for lots in game.lots) == 24
    assert int(np.bitwise_or.reduce(game.lots)).bit_count() == 24
