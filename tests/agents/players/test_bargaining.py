"""Bargaining: offers go to the limit of a partner who judges by the model.

And not a dollar further.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.players.expert import Bargainer
from agents.players.expert.bargainer import BARGAINS, MODEL, NUMBERS, WIDTH
from agents.players.expert.bargaining import bargain, least_price
from agents.players.expert.parameters import NAMES, Expert
from agents.players.expert.play import answer
from agents.players.expert.trading import SLOT, Trade
from agents.players.vocabulary.offers import planned
from monopoly_env.actions import A_REPLY, A_TRADE
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.policy.protocol import MEMORY
from tests.agents.players.test_expert import MATCHED, ORANGE, YELLOW, after_throw
from tests.agents.players.trading import asked_of, proposed
from tests.play import act, asked, by_policy, lot, offer

EXPERT = agents.make("expert")
ROW = Expert().row()


def bargainer(**numbers: float) -> Bargainer:
    """It and its model are `expert`, but for these numbers of its own."""
    return Bargainer([numbers])


def goods(*names: str) -> int:
    return sum(1 << lot(name) for name in names)


def accepts(lots: dict[int, list[str]], ask: list[str], give: list[str], cash: int) -> bool:
    """Whether `expert` in seat 1 of four takes an offer of seat 0."""
    return (
        asked_of(EXPERT, offer(me.position(4, lots=lots), 1, ask=ask, give=give, cash=cash))
        == "accept"
    )


def position(lots: dict[int, list[str]]) -> Any:
    """The same moment, before the offer is judged."""
    return offer(me.position(4, lots=lots), 1, ask=[ORANGE[2]], give=[YELLOW[2]])


@pytest.mark.parametrize("give", [[YELLOW[2]], ["Baltic Avenue"]])
def test_the_least_price_is_the_one_at_which_the_partner_begins_to_accept(give: list[str]) -> None:
    deal = Trade(0, 1, goods(ORANGE[2]), goods(*give))
    limit = int(least_price(position(MATCHED), deal, -1400.0, 1400.0, ROW))
    assert -1400 < limit < 1400
    assert accepts(MATCHED, [ORANGE[2]], give, limit)
    assert not accepts(MATCHED, [ORANGE[2]], give, limit - 1)


def test_there_is_no_least_price_where_no_sum_is_enough() -> None:
    game, deal = position(MATCHED), Trade(0, 1, goods(ORANGE[2]), goods("Baltic Avenue"))
    limit = least_price(game, deal, -1400.0, 1400.0, ROW)
    assert least_price(game, deal, -1400.0, limit - 1, ROW) == np.inf
    assert least_price(game, deal, limit, limit, ROW) == limit
    assert least_price(game, deal, 10.0, 9.0, ROW) == np.inf


def test_an_offer_goes_to_the_limit_of_a_partner_who_is_known() -> None:
    """A proposer who is sure that nobody goes by list prices.

    `expert` accepts, and would not for a dollar less.
    """
    made = proposed(bargainer(naive=0.01), after_throw(MATCHED, {}, 4))
    assert made is not None
    assert made["to"] == 1
    stated = proposed(agents.make("expert", naive=0.01), after_throw(MATCHED, {}, 4))
    assert stated is not None
    sides = {"ask": made["ask"], "give": made["give"]}
    assert (stated["ask"], stated["give"]) == (sides["ask"], sides["give"])
    assert not accepts(MATCHED, **sides, cash=stated["cash"])  # the base policy only guesses
    assert accepts(MATCHED, **sides, cash=made["cash"])
    assert not accepts(MATCHED, **sides, cash=made["cash"] - 1)


def test_an_offer_is_answered_by_a_counter_offer_at_the_makers_limit() -> None:
    game = offer(me.position(4, lots=MATCHED), 1, ask=[ORANGE[2]], give=[YELLOW[2]], cash=300)
    assert asked_of(EXPERT, game) == "accept"
    me_too, memory = bargainer(naive=0.01), np.zeros((1, MEMORY))
    assert asked_of(me_too, game) == "counter"
    while asked(game)[1] == 1:
        act(game, asked_of(me_too, game, memory))
    assert asked(game) == ("reply", 0)
    assert -int(game.offer_cash) > 300  # it asks for more than it was offered
    assert asked_of(EXPERT, game) == "accept"
    assert least_price(
        game, Trade(1, 0, goods(YELLOW[2]), goods(ORANGE[2])), -1400.0, 1400.0, ROW
    ) == int(game.offer_cash)


def test_whom_it_takes_for_one_who_goes_by_list_prices_it_does_not_press() -> None:
    """Nothing changes where the model surely does not hold."""
    games = {
        "window": after_throw(MATCHED, {}, 4),
        "reply": offer(me.position(4, lots=MATCHED), 1, ask=[ORANGE[2]], give=[YELLOW[2]]),
    }
    for where, game in games.items():
        row, memory = Expert(naive=0.99).row(), np.zeros(MEMORY)
        memory[SLOT.leaning : SLOT.leaning + 8] = 4.0  # all evidence says so
        base = answer(game, row, row, memory)
        before = planned(memory)
        assert bargain(game, base, row, ROW, memory) == base, where
        assert planned(memory) == before, where


def test_who_refuses_what_the_model_takes_is_left_to_the_parent() -> None:
    policy, game, memory = bargainer(naive=0.01), after_throw(MATCHED, {}, 4), np.zeros((1, MEMORY))
    made = proposed(policy, game, memory)
    assert made is not None
    assert made["to"] == 1
    act(game, "reject")
    asked_of(policy, game, memory)
    assert int(memory[0, SLOT.failed]) == 1 << 1
    assert memory[0, SLOT.leaning + 1] == 0  # it need not go by list prices either
    stated = proposed(agents.make("expert", naive=0.01), after_throw(MATCHED, {}, 4))
    memory = np.zeros((1, MEMORY))
    memory[0, SLOT.failed] = 0b1110
    assert proposed(policy, after_throw(MATCHED, {}, 4), memory) == stated


def test_who_takes_it_is_trusted_on() -> None:
    policy, game, memory = bargainer(naive=0.01), after_throw(MATCHED, {}, 4), np.zeros((1, MEMORY))
    assert proposed(policy, game, memory) is not None
    act(game, "accept")
    asked_of(policy, game, memory)
    assert int(memory[0, SLOT.failed]) == 0


def play(names: list[Any], games: int, rules: str = "official") -> list[tuple[int, int, bool]]:
    """The offers of whole games that are no counter-offers.

    Maker, receiver, and whether they were accepted.
    """
    policies = [agents.resolve(name) for name in names]
    told = []
    for game in me.new_games(range(games), len(policies), rules):
        for _, action in by_policy(policies, game):
            if game.turns >= 60 * len(policies):
                break
            if A_REPLY <= action < A_REPLY + 3 and not game.offer_counter:
                told.append((int(game.offer_from), int(game.offer_to), action == A_REPLY + 1))
    return told


def test_in_whole_games_the_partner_whom_it_models_takes_most_of_its_offers() -> None:
    """All have the same numbers, but one of the four knows the others' limits."""
    told = play([bargainer(naive=0.01, doubt=0.02, haste=1), EXPERT, EXPERT, EXPERT], 20)
    mine, theirs = (
        [taken for maker, _, taken in told if maker == 0],
        [taken for maker, _, taken in told if maker != 0],
    )
    assert len(mine) > 40
    assert np.mean(mine) > 0.7, np.mean(mine)
    assert np.mean(theirs) < 0.2, np.mean(theirs)


def test_without_bargaining_it_is_expert() -> None:
    assert play([Bargainer(bargains=False), EXPERT], 5) == play([EXPERT, EXPERT], 5)


def actions(policy: agents.Policy, seed: int) -> list[int]:
    """All actions of a game of two against `expert`."""
    played = by_policy([policy, EXPERT], me.new_game(2, seed=seed))
    return [action for _, action in itertools.takewhile(lambda one: one[0].turns < 200, played)]


def test_where_two_players_are_left_it_does_not_bargain() -> None:
    """At a table of two, and where the others have failed.

    Prices and partners are those that it chooses without the model.
    """
    best, plain = agents.make("expert/bargaining"), agents.make("expert/bargaining", bargains=False)
    assert isinstance(best, Bargainer)
    assert isinstance(plain, Bargainer)
    for seed in range(5):
        assert actions(best, seed) == actions(plain, seed)
    made = [
        proposed(who, after_throw({0: MATCHED[0], 1: MATCHED[1]}, {}, 4, bankrupt=[2, 3]))
        for who in (best, plain)
    ]
    assert made[0] == made[1] is not None


def test_its_numbers_are_those_for_the_size_of_the_table() -> None:
    sets: list[dict[str, float]] = [
        {},
        {"keep": 2000.0, "deed": 0.1},
        {"margin": 0.5, "eager": 0.3},
    ]
    policy = Bargainer(sets, bargains=False)
    for players, place in ((2, 0), (3, 1), (4, 2), (5, 2)):
        games = [
            play([agents.make("expert", **numbers)] + [EXPERT] * (players - 1), 2)
            for numbers in sets
        ]
        assert play([policy] + [EXPERT] * (players - 1), 2) == games[place]
        assert games.count(games[place]) == 1


def test_numbers_of_the_last_table_hold_for_larger_ones() -> None:
    policy = Bargainer([{"keep": 1.0}, {"keep": 2.0}])
    assert [policy.at(players)[NAMES.index("keep")] for players in (2, 3, 4, 8)] == [
        1.0,
        2.0,
        2.0,
        2.0,
    ]
    for name, numbers in NUMBERS.items():
        made = agents.make(name)
        assert isinstance(made, Bargainer)
        assert (made.name, made.bargains) == (name, numbers["bargains"])
        assert dict(zip(NAMES, made.at(2).tolist(), strict=True)) == numbers["tables"][0]
        assert dict(zip(NAMES, made.at(4).tolist(), strict=True)) == numbers["tables"][-1]
        assert np.array_equal(made.params[MODEL:BARGAINS], ROW)


@pytest.mark.parametrize("rules", ["pring", "ocnaru", "mukhar"])
def test_it_plays_legally_by_rules_of_barter_of_one_lot_for_money_and_without_trades(
    rules: str,
) -> None:
    policy = bargainer(naive=0.3)
    for game in me.new_games(range(5), 3, rules):
        memory = np.zeros((3, MEMORY))
        for _, action in by_policy(policy, game, memory=memory):
            if game.turns >= 100:
                break
            assert me.action_mask(game)[action]
            if A_TRADE <= action < A_TRADE + 7 and rules == "pring":
                assert planned(memory[game.player])[2] == 0


def test_it_is_saved_as_numbers(tmp_path: Path) -> None:
    for bargains in (True, False):
        policy = Bargainer([{"keep": 1.0}, {"keep": 2.0}], {"margin": 0.1}, bargains, "mine")
        policy.save(tmp_path / "agent.safetensors")
        loaded = agents.load(tmp_path / "agent.safetensors")
        assert isinstance(loaded, Bargainer)
        assert (loaded.name, loaded.kind, loaded.bargains) == ("mine", "bargainer", bargains)
        assert np.array_equal(loaded.params, policy.params)


@pytest.mark.parametrize(
    ("place", "value", "reason"),
    [
        (0, np.nan, "horizon=nan must be a number from 1 to 200"),
        (WIDTH + NAMES.index("deed"), -1.0, "deed=-1.0 must be a number from 0 to 3"),
        (MODEL, 500.0, "horizon=500.0 must be"),
        (BARGAINS, 2.0, "must be 0 or 1, not 2"),
    ],
)
def test_wrong_numbers_are_refused_and_change_nothing(
    place: int, value: float, reason: str
) -> None:
    policy, row = Bargainer(), Bargainer().params.copy()
    row[place] = value
    with pytest.raises(FormatError, match=reason):
        policy.set_arrays({"params": row})
    with pytest.raises(FormatError, match="expected float64"):
        policy.set_arrays({"params": row[:-1]})
    assert np.array_equal(policy.params, Bargainer().params)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"tables": [{"kept": 1.0}]}, "no parameter 'kept'. Did you mean 'keep'"),
        ({"model": {"margin": 2.0}}, "margin=2.0 must be"),
        ({"tables": []}, "1 to 3 sizes of tables, not for 0"),
        ({"tables": [{}] * 4}, "not for 4"),
    ],
)
def test_wrong_options_are_told(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        agents.make("bargainer", **options)
