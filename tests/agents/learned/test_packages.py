"""Packages: what an offer may be, apart from its price."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.learned import compact
from agents.learned.answers import nothing
from agents.learned.menus import (
    BEST_AT_LIMIT,
    BEST_AT_LIST,
    BEST_VALUED,
    NO_PACKAGE,
    NUM_PACKAGES,
    find_place,
    is_chosen_by,
    menus_of,
    write_menu,
)
from agents.learned.packages import ASKED, FIELDS, LENT, OWN_GAIN, PROMISE, RATED_AT, WINS
from agents.learned.valued import is_asked_now
from agents.players.vocabulary.groups import groups_of
from monopoly_env import actions
from monopoly_env.engine import agenda, trade
from monopoly_env.facts.board import ALL_LOTS, GROUP_LOTS, GROUPS
from tests.play import by_policy

RATED = (slice(BEST_AT_LIMIT, BEST_AT_LIST), slice(BEST_AT_LIST, BEST_VALUED))
VALUED = slice(BEST_VALUED, NUM_PACKAGES)
TRADE = actions.parse("trade with player +1")


def packages(game: Any, maker: int, partner: int) -> np.ndarray:
    menu = np.full((NUM_PACKAGES, FIELDS), np.nan)
    write_menu(game, maker, partner, menu)
    return menu


def lots_of(rows: np.ndarray) -> list[tuple[int, int]]:
    return [(int(row[ASKED]), int(row[LENT])) for row in rows if row[PROMISE] > 0]


def positions(rules: str, num_players: int) -> Any:
    """Some of the states, early in a game of `expert`, in which an offer may begin."""
    found = 0
    for game, _ in by_policy(agents.make("expert"), me.new_game(num_players, rules, seed=3), 2000):
        if game.decision == agenda.WINDOW and trade.partners(game, int(game.player)):
            found += 1
            if found % 20 == 0:
                yield game


@pytest.mark.parametrize(
    ("rules", "num_players"),
    [("official", 2), ("official", 4), ("ocnaru", 2), ("mukhar_trading", 3)],
)
def test_every_package_can_be_offered(rules: str, num_players: int) -> None:
    found = 0
    for game in positions(rules, num_players):
        maker = int(game.player)
        for partner in set(range(num_players)) - {maker}:
            if game.place[partner] != 0:
                continue
            table = packages(game, maker, partner)
            for part in RATED:
                assert (np.diff(table[part, PROMISE]) <= 0).all()  # the best first
            assert (np.diff(table[VALUED, WINS]) <= 0).all()
            assert ((table[VALUED, WINS] > 0) == (table[VALUED, PROMISE] > 0)).all()
            for part in (slice(BEST_VALUED), VALUED):
                assert len(set(lots_of(table[part]))) == len(lots_of(table[part]))
            held = table[table[:, PROMISE] > 0]
            for row in held:
                ask, give = int(row[ASKED]), int(row[LENT])
                assert ask | give
                assert ask & ~trade.tradable(game, partner) & ALL_LOTS == 0
                assert give & ~trade.tradable(game, maker) & ALL_LOTS == 0
                assert groups_of(ask) & groups_of(give) == 0
                assert -int(game.cash[partner]) <= row[RATED_AT] <= int(game.cash[maker])
            chosen = [place for place in range(NUM_PACKAGES) if is_chosen_by(table, place)]
            # each package by one place
            assert len(set(lots_of(table[chosen]))) == len(chosen) == len(set(lots_of(held)))
            for place in chosen[:1]:
                assert find_place(table, int(table[place, ASKED]), int(table[place, LENT])) == place
            found += len(held)
    assert found > 30


@pytest.fixture
def swap() -> Any:
    """Each of two players lacks a lot that the other has.

    Both gain by the swap, at the cost of the third.
    """
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
    # with all one's money
    swap.refused_ask[0], swap.refused_give[0], swap.refused_cash[0] = (
        int(best[ASKED]),
        int(best[LENT]),
        1500,
    )
    assert find_place(packages(swap, 0, 1), int(best[ASKED]), int(best[LENT])) == NO_PACKAGE
    swap.refused_cash[0] = int(best[RATED_AT]) - 1  # a worse price was refused
    assert find_place(packages(swap, 0, 1), int(best[ASKED]), int(best[LENT])) != NO_PACKAGE


def test_no_package_is_no_place(swap: Any) -> None:
    assert find_place(packages(swap, 0, 1), int(ALL_LOTS), 0) == NO_PACKAGE


def test_a_player_sees_what_the_best_packages_promise(swap: Any) -> None:
    names, row = compact.names(3), np.zeros(compact.length(3), np.float32)
    promises = [packages(swap, 0, partner)[0, PROMISE] for partner in (1, 2)]
    compact.write(swap, 0, menus_of(swap, 0), nothing(), row)
    seen = [
        float(row[names.index(f"player +{offset} promises: at the limit")]) for offset in (1, 2)
    ]
    assert seen == pytest.approx([promise / (promise + 0.2) for promise in promises])
    raises = [packages(swap, 0, partner)[BEST_VALUED, WINS] for partner in (1, 2)]
    seen_raises = [float(row[names.index(f"player +{offset} raises the win")]) for offset in (1, 2)]
    assert seen_raises == pytest.approx([rise / (rise + 0.02) for rise in raises])
    me.step(swap, TRADE)
    compact.write(swap, 0, menus_of(swap, 0), nothing(), row)
    told = dict(zip(names, row.tolist(), strict=True))
    assert told["package promises: 1"] == pytest.approx(seen[0])
    assert told["package completes: 1"] == told["package lets complete: 1"] == 1
    assert [told[f"package promises: {place + 1}"] > 0 for place in range(NUM_PACKAGES)] == (
        packages(swap, 0, 1)[:, PROMISE] > 0
    ).tolist()
    assert told[f"package wins: {BEST_VALUED + 1}"] == pytest.approx(seen_raises[0])


def test_the_menu_is_the_same_at_every_step_of_an_offer(swap: Any) -> None:
    game, menu = me.core.clone(swap), packages(swap, 0, 1)
    assert (menu[VALUED, WINS] > 0).sum() > 2
    ask, give = lots_of(menu[VALUED])[0]
    me.step(game, TRADE)
    while game.decision != agenda.REPLY:
        assert packages(game, 0, 1)[VALUED].tolist() == menu[VALUED].tolist(), agenda.TASK_NAMES[
            game.decision
        ]
        me.step(game, _next_step(game, ask, give))
    assert packages(game, 0, 1)[VALUED].tolist() == menu[VALUED].tolist()
    assert find_place(packages(game, 0, 1), ask, give) == BEST_VALUED


def test_a_debtor_is_not_shown_packages_by_their_value() -> None:
    lots = {
        0: ["Kentucky Avenue", "Tennessee Avenue"],
        1: ["Boardwalk", "Park Place", "Indiana Avenue"],
        2: ["Illinois Avenue"],
    }
    house = {"Boardwalk": 1, "Park Place": 1}
    rules = me.Rules(debt_trade=True)
    game = me.position(
        3,
        rules,
        lots=lots,
        buildings=house,
        cash=[100, 900, 900],
        positions=[37, 0, 0],
        throws=[(1, 1)],
    )
    assert is_asked_now(game, 0)
    me.step(game, actions.parse("go on"))
    assert game.decision == agenda.DEBT
    assert not is_asked_now(game, 0)
    me.step(game, TRADE)
    assert game.decision == agenda.ASK
    assert not is_asked_now(game, 0)


def _next_step(game: Any, ask: int, give: int) -> int:
    """A step towards an offer of these lots for nothing."""
    for first, missing in (
        (actions.A_ASK, ask & ~int(game.offer_ask)),
        (actions.A_GIVE, give & ~int(game.offer_give)),
    ):
        if game.decision == (agenda.ASK if first == actions.A_ASK else agenda.GIVE):
            return first + (
                (missing & -missing).bit_length() - 1 if missing else actions.GOODS_DONE
            )
    return actions.A_CASH


def test_the_value_is_asked_about_the_first_offer_of_every_third_round_if_three_are_left(
    swap: Any,
) -> None:
    assert is_asked_now(swap, 0)
    assert lots_of(packages(swap, 0, 1)[VALUED])
    for change in ({"rounds": 1}, {"offers": 1}, {"place": 3}):
        game = me.core.clone(swap)
        for field, number in change.items():
            if field == "rounds":
                game.rounds = number
            else:
                game[field][0 if field == "offers" else 2] = number
        assert not is_asked_now(game, 0), change
        assert not lots_of(packages(game, 0, 1)[VALUED])
    assert not is_asked_now(me.position(2), 0)
