"""Packages: what an offer may be, apart from its price."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.learned import observation
from agents.learned.packages import (
    ASKED,
    BEST_AT_LIST,
    FIELDS,
    LENT,
    NO_PACKAGE,
    NUM_PACKAGES,
    OWN_GAIN,
    PROMISE,
    RATED_AT,
    find_package,
    write_packages,
)
from agents.players.vocabulary.parts import groups_of
from monopoly_env import actions
from monopoly_env.board import ALL_LOTS, GROUP_LOTS, GROUPS
from monopoly_env.engine import agenda, trade
from monopoly_env.policy.protocol import Decisions

HALVES = (slice(0, BEST_AT_LIST), slice(BEST_AT_LIST, NUM_PACKAGES))


def packages(game: Any, maker: int, partner: int) -> np.ndarray:
    table = np.zeros((NUM_PACKAGES, FIELDS))
    count = write_packages(game, maker, partner, table)
    assert count == (table[:, PROMISE] > 0).sum()
    return table


def positions(rules: str, num_players: int) -> Any:
    """Some of the states, early in a game of `expert`, in which an offer may begin."""
    game, policy, memory, found = me.new_game(num_players, rules, seed=3), agents.make("expert"), np.zeros((num_players, 64)), 0
    for _ in range(2000):
        if game.decision == 0:
            break
        seat = int(game.player)
        mine = memory[seat : seat + 1].copy()
        action = int(policy.act(Decisions(me.core.batch_of(game), mine))[0])
        memory[seat] = mine[0]
        if game.decision == agenda.WINDOW and trade.partners(game, seat):
            found += 1
            if found % 20 == 0:
                yield game
        me.step(game, action)


@pytest.mark.parametrize(("rules", "num_players"), [("official", 2), ("official", 4), ("ocnaru", 2), ("mukhar_trading", 3)])
def test_every_package_can_be_offered(rules: str, num_players: int) -> None:
    found = 0
    for game in positions(rules, num_players):
        maker = int(game.player)
        for partner in set(range(num_players)) - {maker}:
            if game.place[partner] != 0:
                continue
            table = packages(game, maker, partner)
            for half in HALVES:
                assert (np.diff(table[half, PROMISE]) <= 0).all()  # the best first
            held = table[table[:, PROMISE] > 0]
            assert len({(row[ASKED], row[LENT]) for row in held}) == len(held)
            for row in held:
                ask, give = int(row[ASKED]), int(row[LENT])
                assert ask | give
                assert ask & ~trade.tradable(game, partner) & ALL_LOTS == 0
                assert give & ~trade.tradable(game, maker) & ALL_LOTS == 0
                assert groups_of(ask) & groups_of(give) == 0
                assert -int(game.cash[partner]) <= row[RATED_AT] <= int(game.cash[maker])
            for row in held[:1]:
                assert find_package(game, maker, partner, int(row[ASKED]), int(row[LENT])) != NO_PACKAGE
            found += len(held)
    assert found > 30


@pytest.fixture
def swap() -> Any:
    """Each of two players lacks a lot that the other has: both gain by the swap, at the cost of the third."""
    lots = {
        0: ["St. James Place", "Tennessee Avenue", "Kentucky Avenue"],
        1: ["Indiana Avenue", "Illinois Avenue", "New York Avenue"],
        2: ["Boardwalk"],
    }
    return me.position(3, lots=lots, cash={0: 1500, 1: 1500, 2: 1500})


def test_the_swap_that_completes_two_groups_promises_most(swap: Any) -> None:
    best = packages(swap, 0, 1)[0]
    orange, red = (int(GROUP_LOTS[GROUPS.index(name)]) for name in ("orange", "red"))
    assert int(best[ASKED]) == orange & int(swap.lots[1])
    assert int(best[LENT]) == red & int(swap.lots[0])
    assert best[OWN_GAIN] > 0
    assert packages(swap, 0, 2)[0, PROMISE] < best[PROMISE]  # nothing of the kind


def test_a_refused_package_is_not_offered_again(swap: Any) -> None:
    best = packages(swap, 0, 1)[0].copy()
    swap.refused_from[0], swap.refused_to[0], swap.num_refused = 0, 1, 1
    swap.refused_ask[0], swap.refused_give[0], swap.refused_cash[0] = int(best[ASKED]), int(best[LENT]), 1500  # with all one's money
    assert find_package(swap, 0, 1, int(best[ASKED]), int(best[LENT])) == NO_PACKAGE
    swap.refused_cash[0] = int(best[RATED_AT]) - 1  # a worse price was refused
    assert find_package(swap, 0, 1, int(best[ASKED]), int(best[LENT])) == 0


def test_no_package_is_no_place(swap: Any) -> None:
    assert find_package(swap, 0, 1, int(ALL_LOTS), 0) == NO_PACKAGE


def test_a_player_sees_what_the_best_packages_promise(swap: Any) -> None:
    names, row = observation.names(3), np.zeros(observation.length(3), np.float32)
    promises = [packages(swap, 0, partner)[0, PROMISE] for partner in (1, 2)]
    observation.write(swap, 0, row)
    seen = [float(row[names.index(f"player +{offset} promises: at the limit")]) for offset in (1, 2)]
    assert seen == pytest.approx([promise / (promise + 0.2) for promise in promises])
    me.step(swap, actions.parse("trade with player +1"))
    observation.write(swap, 0, row)
    told = dict(zip(names, row.tolist(), strict=True))
    assert told["package promises: 1"] == pytest.approx(seen[0])
    assert told["package completes: 1"] == told["package lets complete: 1"] == 1
    assert [told[f"package promises: {place + 1}"] > 0 for place in range(NUM_PACKAGES)] == (packages(swap, 0, 1)[:, PROMISE] > 0).tolist()
