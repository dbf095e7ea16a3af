"""What follows from a record agrees with what the engine does."""

from __future__ import annotations

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env.actions import A_BUILD, A_BUY, A_MORTGAGE, A_SELL, A_UNMORTGAGE, HEADS
from monopoly_env.derived import REASONS, derive

BOARD = ("build", "sell", "mortgage", "unmortgage")


@pytest.mark.parametrize("preset", me.Rules.presets())
def test_costs_are_what_actions_cost_and_reasons_are_for_illegal_ones(preset: str) -> None:
    random, tried = np.random.default_rng(2), 0
    for seed in range(2):
        game = me.new_game(3, preset, seed)
        for _ in range(300):
            if me.is_over(game):
                break
            found, legal = derive(game), me.legal_actions(game)
            assert not found.reason[legal].any()
            assert found.worth[:3].tolist() == me.worth(game).tolist()
            assert (found.raisable[:3] >= game.cash[:3]).all()
            for kind in BOARD if me.actions.DECISION_NAMES[game.decision] == "turn" else ():
                head = HEADS[kind]
                for action in legal[(legal >= head.start) & (legal < head.stop)][:2]:
                    seat, cost = int(game.player), int(found.cost[action])
                    after = me.step(me.clone(game), int(action))
                    change = int(after.cash[seat]) - int(game.cash[seat])
                    if not after.depth or after.player == seat:  # else an auction of a house began
                        assert change == (cost if kind in ("sell", "mortgage") else -cost)
                        tried += 1
            me.step(game, int(random.choice(legal)))
    assert tried


def reason(game: object, action: int) -> str:
    return list(REASONS)[derive(game).reason[action]]


def test_the_reason_is_named() -> None:
    lots = {0: ["Baltic Avenue", "Mediterranean Avenue", "Park Place"], 1: ["Boardwalk"]}
    game = me.position(2, lots=lots, cash={0: 30}, mortgaged=["Park Place"])
    assert reason(game, A_BUILD) == "cash"
    assert reason(game, A_BUILD + 20) == "group_missing"
    assert reason(game, A_BUILD + 21) == "not_yours"
    assert reason(game, A_UNMORTGAGE + 20) == "cash"
    assert reason(game, A_MORTGAGE) == "none"
    built = me.position(2, lots=lots, buildings={"Baltic Avenue": 2, "Mediterranean Avenue": 1})
    assert reason(built, A_BUILD + 1) == "build_evenly"
    assert reason(built, A_SELL) == "sell_evenly"
    assert reason(built, A_MORTGAGE) == "buildings"
    poor = me.position(2, cash={0: 390}, positions={0: 36}, throws=[(1, 2)], lots={0: [0]})
    me.step(poor, me.actions.A_TURN)
    assert reason(poor, A_BUY + 1) == "cash"


def test_rent_bids_and_the_open_question() -> None:
    lots = {0: ["Baltic Avenue", "Electric Company"], 1: ["Boardwalk"]}
    game = me.position(2, lots=lots, mortgaged=["Boardwalk"], positions={0: 36}, throws=[(1, 2)])
    found = derive(game)
    assert (found.rent[1], found.rent[26], found.rent[21], found.rent[0]) == (4, 4, -1, -1)
    game = me.position(2, positions={0: 36}, throws=[(1, 2)], lots={0: [0]})
    me.step(game, me.actions.A_TURN)
    assert derive(game).question.tolist() == [21, 0]
    assert derive(game).cost[A_BUY + 1] == 400
    me.step(game, A_BUY)
    found = derive(game)
    assert found.cost[me.actions.A_BID + 1 : me.actions.A_BID + 8].tolist() == [
        found.bid_base + raised for raised in me.actions.RAISES
    ]
    assert found.bid_limit >= 1500
