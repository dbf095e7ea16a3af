"""Whole offers become picks that the engine allows, or are refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import actions
from monopoly_env.actions import A_REPLY
from monopoly_env.game import CHANCE_GOOD
from monopoly_env.offers import REFUSALS, compose, exchanged

LOTS = {0: ["Boardwalk", "Baltic Avenue"], 1: ["Park Place", "Reading Railroad"], 2: [0]}


def table(**more: object) -> me.Game:
    return me.position(3, lots=LOTS, jail_cards={0: ["chance"]}, **more)


def reason(game: me.Game, to: int, give: int, ask: int, dollars: int) -> str:
    return list(REFUSALS)[compose(game, to, give, ask, dollars).reason]


def test_an_offer_is_composed_and_accepted() -> None:
    game = table()
    give, ask = 1 << 1 | 1 << CHANCE_GOOD, 1 << 20
    picks = compose(game, 1, give, ask, 37).picks
    looked = exchanged(game, 1, give, ask, 37)
    for action in picks:
        me.step(game, action)
    assert (game.offer_give, game.offer_ask, game.offer_cash) == (give, ask, 37)
    assert actions.DECISION_NAMES[game.decision] == "reply"
    counter = compose(game, 0, 0, 1 << 1, -5)
    assert counter.picks[0] == A_REPLY + 2
    assert reason(game, 2, 0, 1, 0) == "partner"
    me.step(game, A_REPLY + 1)
    for name in ("lots", "cash", "jail_cards"):
        assert looked[name].tolist() == game[name].tolist()


@pytest.mark.parametrize(("to", "give", "ask", "dollars", "wanted"), [
    (0, 0, 0, 0, "partner"), (7, 1 << 21, 0, 0, "partner"), (1, 1 << 20, 0, 0, "not_owned"),
    (1, 0, 1 << CHANCE_GOOD, 0, "not_owned"), (1, 1 << 21, 1 << 20, 1501, "cash"),
    (1, 1 << 21, 1 << 20, -1501, "cash"), (1, 0, 0, 5, "empty"), (1, 1 << 21, 0, -100, "none"),
])  # fmt: skip
def test_an_impossible_offer_has_a_reason(
    to: int, give: int, ask: int, dollars: int, wanted: str
) -> None:
    assert reason(table(), to, give, ask, dollars) == wanted


def test_buildings_rules_and_refusals_are_reasons() -> None:
    lots = {0: ["Boardwalk", "Park Place"], 1: ["Baltic Avenue"], 2: [0]}
    game = me.position(3, lots=lots, buildings={"Boardwalk": 1})
    composed = compose(game, 1, 1 << 20, 1 << 1, 0)
    assert (list(REFUSALS)[composed.reason], composed.seat, composed.good) == ("buildings", 0, 20)
    swap = me.Rules(trade="one_for_one")
    assert reason(table(rules=swap), 1, 1 << 21, 1 << 20, 5) == "sum"
    assert reason(table(rules=swap), 1, 1 << 21 | 1 << 1, 1 << 20, 0) == "rules"
    game = table()
    for action in [*compose(game, 1, 1 << 21, 0, 0).picks, A_REPLY]:
        me.step(game, action)
    assert reason(game, 1, 1 << 21, 0, 0) == "repeated"
    rich = table(cash={0: 10**6, 1: 1, 2: 1})
    assert reason(rich, 1, 1 << 21, 0, 10**6 - 1) == "too_much"


@pytest.mark.parametrize("preset", me.Rules.presets())
def test_offers_of_random_games_are_composed_as_they_were_made(preset: str) -> None:
    """The picks of an offer made in random play are those that compose gives."""
    random, met = np.random.default_rng(4), 0
    game = me.new_game(3, preset, seed=5)
    start: tuple[me.Game, list[int]] | None = None
    for _ in range(1500):
        if me.is_over(game):
            break
        action = int(random.choice(me.legal_actions(game)))
        opens = actions.A_TRADE <= action < actions.A_ASK or action == A_REPLY + 2
        if opens:
            start = me.clone(game), []
        if start is not None:
            start[1].append(action)
        me.step(game, action)
        if start is not None and actions.DECISION_NAMES[game.decision] == "reply":
            terms = (int(game[f"offer_{part}"]) for part in ("to", "give", "ask", "cash"))
            made = compose(start[0], *terms).picks
            # notes may be picked in another number: 5 x $100 for $500
            assert [pick for pick in made if pick < actions.A_CASH] == [
                pick for pick in start[1] if pick < actions.A_CASH
            ]
            met, start = met + 1, None
        elif start is not None and actions.DECISION_NAMES[game.decision] not in actions.OFFER_STEPS:
            start = None
    assert met or me.Rules.preset(preset).trade == "none"
