"""What the network sees: facts of positions set up by hand."""

from __future__ import annotations

import numpy as np
import pytest

import monopoly_env as me
from agents.players.expert import odds
from agents.values import features
from agents.values.features import EACH_SIZE, FEATURES, MOST_PLAYERS, NAMES
from monopoly_env.facts.board import LOT_NAME, RENT
from monopoly_env.game import Game

ORANGE = ("St. James Place", "Tennessee Avenue", "New York Avenue")


def seen(game: Game) -> dict[str, float]:
    out, seats = np.full(FEATURES, np.nan, np.float32), np.zeros(MOST_PLAYERS, np.int64)
    count = features.write(game, out, seats)
    assert count == (game.place[: game.num_players] == 0).sum()
    assert np.isfinite(out).all()
    return dict(zip(NAMES, out.tolist(), strict=True))


def test_every_feature_has_a_name_of_its_own() -> None:
    assert len(set(NAMES)) == len(NAMES) == FEATURES


def test_places_are_in_turn_order_from_the_player_on_turn() -> None:
    game = me.position(
        4, turn=2, lots={2: ["Boardwalk"]}, cash={0: 100, 1: 200, 2: 300, 3: 400}, bankrupt=[3]
    )
    facts = seen(game)
    assert [facts[f"{place}: cash: by 5000"] for place in range(4)] == pytest.approx(
        [300 / 5000, 100 / 5000, 200 / 5000, 0]
    )
    assert [facts[f"{place}: in the game"] for place in range(4)] == [1, 1, 1, 0]
    assert facts["players: 3"] == 1
    assert facts["0: decides"] == 1


def test_who_is_out_leaves_no_trace() -> None:
    lots = {0: ["Boardwalk"], 1: [*ORANGE]}
    three = me.position(3, turn=0, lots=lots, cash={0: 700, 1: 900}, bankrupt=[2])
    two = me.position(2, turn=0, lots=lots, cash={0: 700, 1: 900})
    assert seen(three) == seen(two)


def test_rents_are_weighted_by_where_tokens_land() -> None:
    game = me.position(
        2,
        turn=0,
        positions={1: 10},
        lots={0: [*ORANGE]},
        buildings=dict.fromkeys(ORANGE, 3),
        cash={0: 0, 1: 500},
    )
    facts = seen(game)
    lots = [LOT_NAME[0].index(name) for name in ORANGE]
    soon = sum(odds.NEXT_LOT[0, 10, lot] * RENT[0, lot, 3] for lot in lots)
    later = sum(odds.LATER_LOT[0, lot] * RENT[0, lot, 3] for lot in lots)
    assert facts["1: next rent: by 200"] == pytest.approx(soon / 200)
    assert facts["1: next rent: of cash"] == pytest.approx(soon / 500)
    # 550 and 600 dollars
    assert facts["1: next rent: above cash"] == pytest.approx(
        sum(odds.NEXT_LOT[0, 10, lot] for lot in lots)
    )
    assert facts["0: collects"] == pytest.approx(soon / 200)
    assert facts["0: income: by 100"] == pytest.approx(later / 100)
    assert facts["0: income: share"] == pytest.approx(1)
    assert facts["0: complete: orange"] == 1
    assert facts["0: level: orange"] == pytest.approx(0.6)


def test_cash_in_front_of_a_complete_group_is_worth_its_houses() -> None:
    poor, rich = (
        seen(me.position(2, turn=0, lots={0: [*ORANGE]}, cash={0: cash, 1: 0}))
        for cash in (100, 1000)
    )
    assert poor["0: prospects: by 100"] == pytest.approx(poor["0: income: by 100"])
    level = 900 / 300
    assert rich["0: prospects: by 100"] == pytest.approx(odds.SET_INCOME[0, 3, int(level)] / 100)
    assert seen(me.position(2, lots={0: ["Boardwalk"]}, cash={0: 3000}))[
        "0: prospects: share"
    ] == pytest.approx(1)


def test_what_is_open_is_seen() -> None:
    game = me.position(2, lots={0: ["Park Place"]}, positions={0: 35}, throws=[(1, 3)])
    me.step(game, me.actions.parse("go on"))
    facts = seen(game)
    assert (
        facts["decision: buy"] == facts["at stake: dark_blue"] == facts["0: bids: completes"] == 1
    )
    assert facts["price: printed"] == 1
    me.step(game, me.actions.parse("decline"))
    facts = seen(game)
    assert facts["decision: bid"] == facts["1: bids: in"] == 1
    assert facts["1: bids: completes"] == 0


@pytest.mark.slow
def test_no_number_is_out_of_bounds_in_random_games() -> None:
    rng = np.random.default_rng(0)
    for seed, rules in enumerate(("official", "ocnaru", "pring", "classic") * 2):
        game = me.new_game(2 + seed % 3, rules, seed)
        for _ in range(400):
            if me.is_over(game):
                break
            facts = seen(game)
            assert max(np.abs(list(facts.values()))) < 64, max(
                facts, key=lambda name: abs(facts[name])
            )
            me.step(game, int(rng.choice(me.legal_actions(game))))
    assert EACH_SIZE * MOST_PLAYERS < FEATURES
