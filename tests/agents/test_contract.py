"""The contract of policies (`monopoly_env.testing`).

Every family keeps it in whole games of all presets, and so does every name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import agents
import monopoly_env as me
from agents.registry import BUILT_IN
from monopoly_env.testing import check_policy

UNUSUAL = (  # options of no preset that policies could trip over
    {"debt_trade": True},
    {"liquidation": "one_request"},
    {"trade": "one_for_one_cash"},
    {"trade_mortgaged": False, "houses": 8},
)
RULES = [*me.Rules.presets(), *(me.Rules(**options) for options in UNUSUAL)]


class Family(NamedTuple):
    """A family of policies at a table.

    Its options for the first seat, the others, and how many games of each rules and size.
    """

    options: dict[str, Any]
    opponents: tuple[str | agents.Policy, ...]
    games: int
    num_players: tuple[int, ...] = (2, 3, 8)
    turn_limit: int = 1000


FAMILIES = {
    "algorithmic": Family({}, ("random",), 8),
    "expert": Family({}, ("random", "algorithmic", "expert"), 2, (2, 3, 4, 5, 6, 7, 8), 150),
    "fp/b": Family(
        {},
        ("random", "fp/c", "fp/a", "fp/a/guarded", "fp/c/guarded", "algorithmic", "fp/b/guarded"),
        8,
    ),
    "friedman": Family({}, ("random", "algorithmic", "random", "friedman"), 6),
    "gcp": Family({}, ("random", "gcp", "algorithmic"), 6),
    "landlord/aggressive": Family(
        {}, ("random", "landlord/balanced", "landlord/cautious", "landlord/darling"), 6
    ),
    "ocnaru/algorithmic": Family({}, ("ocnaru/random", "random"), 4, (2, 3, 5, 8), 300),
    "strategic": Family(
        {"complete": True},
        (
            "random",
            "strategic",
            agents.make("strategic", legacy_trades=True),
            "strategic/adaptive",
            "strategic/late_game",
            "strategic/cautious",
            "strategic/aggressive",
        ),
        8,
        turn_limit=200,
    ),
    "yasumura": Family(
        {"legacy": True}, ("random", "yasumura", "algorithmic", "landlord/balanced"), 4
    ),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_families_keep_the_contract_in_whole_games_of_all_rules(name: str) -> None:
    family = FAMILIES[name]
    check_policy(
        agents.make(name, **family.options), opponents=family.opponents, rules=RULES,
        num_players=family.num_players, games=family.games,
        turn_limit=family.turn_limit,
    )  # fmt: skip


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_name_keeps_the_contract(name: str) -> None:
    policy = agents.make(name)
    sizes = (
        range(policy.fewest_players or policy.num_players, policy.num_players + 1)
        if policy.num_players
        else [2]
    )
    check_policy(name, num_players=sizes, games=1, turn_limit=60)
