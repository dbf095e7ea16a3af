"""Offers compared by playouts: what is proposed, what others would offer, and no offer."""

from __future__ import annotations

from typing import Any

import pytest

import agents
import monopoly_env as me
from agents.players.search import comparison
from monopoly_env.actions import A_CASH, A_REPLY, A_TRADE, A_TURN, DECISION_NAMES
from monopoly_env.analyse import WholeOffer


def two_that_complete_each_other(players: int = 3) -> Any:
    """Players 0 and 1 each have what the other lacks to complete a group."""
    return me.position(
        players,
        lots={
            0: ["St. James Place", "Tennessee Avenue", "Virginia Avenue"],
            1: ["New York Avenue", "St. Charles Place", "States Avenue"],
        },
        cash=dict.fromkeys(range(players), 1200),
        positions={0: 10, 1: 20},
    )


def test_offers_are_found_and_an_accepted_one_beats_none() -> None:
    game = two_that_complete_each_other()
    before = game.tobytes()
    compared = agents.compare_offers(game, "algorithmic", 80, turns=10, most=2)
    assert game.tobytes() == before
    offers = [one for one in compared.candidates if isinstance(one, WholeOffer)]
    (none,) = (one for one in compared.candidates if not isinstance(one, WholeOffer))
    assert none.action not in range(A_TRADE, A_TRADE + 7)
    assert 3 <= len(offers) <= 2 * 2 + 1 + len(comparison.ADVISERS)
    assert compared.best in offers
    assert none.difference_high < 0
    assert all(one.text.startswith("offer player 1 ") and " for " in one.text for one in offers)
    laid = me.clone(game)
    for action in compared.best.move:  # the offer can be made by hand
        assert DECISION_NAMES[laid.decision] != "reply"
        me.step(laid, action)
    assert DECISION_NAMES[laid.decision] == "reply"
    assert (
        agents.make("algorithmic").act(agents.Decisions(me.core.batch_of(laid)))[0] == A_REPLY + 1
    )


def test_offers_are_compared_the_same_at_any_number_of_threads_and_until_known() -> None:
    game = two_that_complete_each_other()
    options: dict[str, Any] = {
        "policies": ["algorithmic", {"algorithmic": 2, "random": 1}, ["random"]],
        "turns": 6,
        "seed": 4,
        "most": 1,
    }
    compared = agents.compare_offers(game, n=16, threads=1, **options)
    assert compared == agents.compare_offers(game, n=16, threads=2, **options)
    assert agents.compare_offers(game, n=4000, until=0.3, **options).best.playouts < 4000


def test_without_packages_there_remain_the_offers_of_policies() -> None:
    game = two_that_complete_each_other()
    moves = {
        one.move
        for one in agents.compare_offers(game, "algorithmic", 2, turns=1, most=0).candidates
    }
    for adviser in comparison.ADVISERS:
        steps = comparison.composed(game, comparison.advice(agents.make(adviser)))
        assert steps is None or (steps in moves and steps[-1] == A_CASH)
    assert len(moves) > 1


def test_a_large_table_takes_another_value() -> None:
    game = two_that_complete_each_other(5)
    with pytest.raises(me.ConfigurationError, match="for tables of 2 to 4, not of 5"):
        agents.compare_offers(game, "algorithmic", 2)
    assert len(agents.compare_offers(game, "algorithmic", 2, turns=2, value="worth").candidates) > 1


def test_who_makes_no_offer_does_something_else() -> None:
    game = two_that_complete_each_other()
    for name in ("algorithmic", "random", "expert"):
        chosen = comparison.no_offer(game, agents.make(name))
        assert chosen in me.legal_actions(game)
        assert chosen != A_TRADE
    only = me.position(2, lots={0: [], 1: ["Boardwalk"]}, cash={0: 5, 1: 5})
    assert comparison.no_offer(only, agents.make("algorithmic")) == A_TURN


def test_where_no_offer_can_be_made_it_is_refused() -> None:
    sale = me.position(2, cash={0: 3000, 1: 1500}, positions={0: 35}, throws=[(1, 3)])
    assert DECISION_NAMES[sale.decision] == "buy"
    started = two_that_complete_each_other()
    me.step(started, A_TRADE)
    open_game = two_that_complete_each_other()
    for game, arguments, message in (
        (sale, {}, "can't begin an offer at this decision [(]buy[)]"),
        (started, {}, "composes an offer [(]trade_ask[)]"),
        (open_game, {"most": -1}, "most=-1 must be a whole number"),
        (open_game, {"policies": ["random"] * 2}, "2 policies are given for 3 seats"),
        (open_game, {"policies": "human"}, "not compiled"),
        (open_game, {"value": "bset"}, "best"),
        (open_game, {"seconds": "x"}, "seconds='x'"),
    ):
        with pytest.raises(me.ConfigurationError, match=message):
            agents.compare_offers(game, **arguments)


def test_the_package_of_players_has_the_calls_of_analysis() -> None:
    assert agents.rollout is me.rollout
    assert agents.compare_actions is me.compare_actions
