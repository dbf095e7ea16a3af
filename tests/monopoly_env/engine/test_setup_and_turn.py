"""Rules 1 to 6: setup and turn."""

from __future__ import annotations

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import actions
from monopoly_env.facts import board
from tests.play import act, asked, cash, end_turn, land, owner, table, texts, throw


@pytest.mark.parametrize("num_players", range(2, 9))
def test_rule_01_start(num_players: int) -> None:
    # a lot each, so that the first window is asked
    game = me.new_game(num_players, rules=me.Rules(start_lots=1), seed=5)
    assert asked(game) == ("turn", game.first)
    assert cash(game) == [1500] * num_players
    assert game.position.tolist() == [0] * 8
    assert (game.houses, game.hotels) == (32, 12)
    assert [sorted(deck) for deck in game.deck.tolist()] == [list(range(16))] * 2


def test_rule_01_decks_are_shuffled_once_from_the_seed() -> None:
    decks = [
        me.new_game(2, rules=me.Rules(start_lots=1), seed=seed).deck.tolist() for seed in (1, 1, 2)
    ]
    assert decks[0] == decks[1]
    assert decks[0] != decks[2]
    assert decks[0][0] != decks[0][1]


@pytest.mark.parametrize("num_players", [-1, 0, 1, 9])
def test_rule_01_two_to_eight_players(num_players: int) -> None:
    with pytest.raises(me.ConfigurationError):
        me.new_game(num_players)


@pytest.mark.parametrize(
    ("first_player", "seats"), [("fixed", {0}), ("random", {0, 1, 2, 3}), ("throw", {0, 1, 2, 3})]
)
def test_rule_02_a01_who_starts(first_player: str, seats: set[int]) -> None:
    games = me.new_games(range(200), 4, me.Rules(first_player=first_player))
    assert set(games["first"].tolist()) == seats
    if len(seats) > 1:
        assert np.bincount(games["first"]).min() > 25


def test_rule_02_a01_those_with_the_highest_throw_throw_again() -> None:
    draws = me.new_games(range(200), 3, me.Rules(first_player="throw"))["start_draws"]
    assert draws.min() == 6  # two dice each
    assert 0.1 < (draws > 6).mean() < 0.4


def test_rule_02_turns_go_clockwise() -> None:
    game = table(turn=1, positions={1: 10, 2: 10, 0: 10}, throws=[(4, 6)] * 3)
    turns = []
    for _ in range(3):
        turns.append(int(game.turn))
        end_turn(throw(game))
    assert turns == [1, 2, 0]
    assert game.turn == 1


def test_rule_03_a_turn_is_a_throw_a_move_and_its_settlement() -> None:
    game = land(24, lots={1: ["Illinois Avenue"]})
    assert game.position[0] == 24
    assert cash(game) == [1480, 1520, 1500]
    assert asked(game) == ("turn", 0)
    assert end_turn(game).turn == 1


def test_rule_03_a_forced_throw_is_used_up() -> None:
    game = throw(table(positions={0: 10}, throws=[(4, 6)]))
    assert game.num_forced == 0
    assert not game.forced_throws.any()


def test_rule_03_without_a_window_before_the_throw_who_is_not_in_jail_throws_at_once() -> None:
    rules = me.Rules(build_window="after_settlement")
    game = table(rules=rules, positions={0: 10}, throws=[(4, 6)])
    assert game.throws[0] == 1
    assert asked(game) == ("turn", 0)


def test_rule_03_settling_comes_before_the_next_throw() -> None:
    game = land(7, (2, 2), more=[(6, 6)], chance=["advance_boardwalk"])
    assert asked(game) == ("buy", 0)
    act(game, "decline")
    assert asked(game) == ("bid", 1)
    act(game, "bid +10", "fold", "fold")
    assert owner(game, "Boardwalk") == 1
    assert game.num_forced == 1
    assert asked(game) == ("turn", 0)
    throw(game)
    assert game.position[0] == (39 + 12) % 40


def test_rule_03_chains_of_cards_are_settled_in_full() -> None:
    game = land(36, chance=["back_3"], community_chest=["bank_error"])
    assert game.position[0] == 33
    assert cash(game) == [1700, 1500, 1500]


def test_rule_04_own_property_costs_nothing() -> None:
    game = land(39, lots={0: ["Boardwalk"]})
    assert cash(game) == [1500] * 3
    assert asked(game) == ("turn", 0)


def test_rule_04_tokens_may_share_a_square() -> None:
    game = land(20, positions={1: 20, 2: 20})
    assert game.position[:3].tolist() == [20] * 3
    assert cash(game) == [1500] * 3


def test_rule_05_the_bank_never_runs_out_of_money() -> None:
    with pytest.raises(me.RulesError, match="unlimited"):
        me.Rules(bank_cash="limited")
    game = land(0, cash=[10**6] * 3)
    assert cash(game) == [10**6 + 200, 10**6, 10**6]


def test_rule_06_no_loans_and_no_buildings_between_players() -> None:
    assert list(actions.HEADS) == [
        "buy", "bid", "turn", "jail", "build", "sell", "mortgage", "unmortgage",
        "trade", "trade_ask", "trade_give", "trade_cash", "reply", "choice",
    ]  # fmt: skip
    goods = {
        "ask for the Chance jail card",
        "ask for the Community Chest jail card",
        "ask: done",
        "ask: cancel",
    }
    assert goods | {f"ask for {name}" for name in board.LOT_NAME[0]} == set(
        map(actions.describe, _numbers("trade_ask"))
    )
    notes = (500, 100, 50, 20, 10, 5, 1)
    assert {f"give ${note}" for note in notes} < set(map(actions.describe, _numbers("trade_cash")))


def test_rule_06_a_built_lot_cannot_be_asked_for_or_given() -> None:
    game = table(
        lots={0: ["Baltic Avenue", "Mediterranean Avenue"], 1: ["Boardwalk", "Park Place"]},
        buildings={"Baltic Avenue": 1, "Park Place": 1},
    )
    act(game, "trade with player +1")
    assert not texts(game) & {"ask for Boardwalk", "ask for Park Place"}
    act(game, "ask: done")
    assert not texts(game) & {"give Baltic Avenue", "give Mediterranean Avenue"}


def _numbers(head: str) -> range:
    return range(actions.HEADS[head].start, actions.HEADS[head].stop)


def test_an_unknown_option_is_an_error_of_ours() -> None:
    with pytest.raises(me.RulesError, match=r"Unknown option 'auctoin'\. Did you mean 'auction'"):
        me.Rules(auctoin="none")  # type: ignore[call-arg]
