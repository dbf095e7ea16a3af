"""The rewards of annex A, term by term against values worked out by hand.

And how their quantities are read from games.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env.errors import ConfigurationError
from training.ocnaru import rewards
from training.ocnaru.rewards import (
    NUM_QUANTITIES,
    REWARDS,
    Quantities,
    reward,
    terminal,
    worth_gained,
)

BASE = {"worth": 2000.0, "cash": 1000.0}


def quantities(**values: float) -> Quantities:
    """One row: zeros but for a worth of 2,000 dollars, half of it cash, and what is given."""
    given = BASE | values
    return Quantities(*(np.array([float(given.get(name, 0.0))]) for name in Quantities._fields))


def paid(
    head: str,
    before: dict[str, float],
    after: dict[str, float],
    acted: bool = True,
    variant: Any = "thesis",
) -> float:
    """The reward of a decision; what is not said of after is as before."""
    return float(
        reward(
            head, quantities(**before), quantities(**(before | after)), np.array([acted]), variant
        )[0]
    )


@pytest.mark.parametrize(
    ("gained", "expected"),
    [(0, 0.0), (50, 0.25), (-120, -0.6), (200, 1.0), (700, 1.0), (-5000, -1.0)],
)
def test_worth_counts_by_200_dollars_and_is_cut_off(gained: float, expected: float) -> None:
    assert worth_gained(quantities(), quantities(worth=2000 + gained))[0] == pytest.approx(expected)


CASES: list[tuple[str, dict[str, float], dict[str, float], bool, float]] = [
    # head, before, what changes, acted, the annex's reward
    ("buy", {}, {"worth": 2100}, True, 0.5),
    ("buy", {"monopolies": 1}, {"worth": 1960, "monopolies": 2}, True, -0.2 + 0.3),
    ("buy", {"monopolies": 2}, {"monopolies": 1}, True, 0.0),
    ("upgrade", {}, {"worth": 2040, "houses": 1}, True, 1.5 * 0.2 + 0.15),
    ("upgrade", {"houses": 4, "hotels": 0}, {"houses": 4, "hotels": 1}, True, 0.3),
    ("upgrade", {"houses": 3}, {"houses": 5, "worth": 1900}, True, 1.5 * -0.5 + 0.3),
    ("upgrade", {}, {"houses": 1, "cash": 199}, True, 0.15 - 0.2),
    ("upgrade", {}, {"houses": 1, "cash": 200}, True, 0.15),
    ("downgrade", {"cash": 199}, {"cash": 249, "worth": 1950}, True, 0.8 * -0.25 + 0.3 + 0.1),
    ("downgrade", {"cash": 200}, {"cash": 500}, True, 0.15 + 0.2),
    ("downgrade", {"cash": 499}, {"cash": 549}, True, 0.15 + 0.1),
    ("downgrade", {"cash": 500}, {"cash": 550}, True, -0.1 + 0.1),
    (
        "downgrade",
        {"cash": 100, "eyed_levels": 3},
        {"cash": 150, "eyed_levels": 2},
        True,
        0.3 + 0.1 - 0.1,
    ),
    (
        "downgrade",
        {"cash": 100, "dear_levels": 3},
        {"cash": 150, "dear_levels": 2},
        True,
        0.3 + 0.1,
    ),
    ("downgrade", {"cash": 100}, {"worth": 2050}, False, 0.2),
    ("fine", {"cash": 501}, {}, True, 0.1),
    ("fine", {"cash": 500}, {}, True, -0.1),
    ("fine", {"cash": 600}, {"worth": 2010}, True, 0.05 + 0.1 + 0.2),
    ("fine", {"cash": 600}, {"worth": 1900}, True, -0.5 + 0.1),
    ("fine", {"cash": 299}, {"worth": 2010}, False, 0.05 + 0.15),
    ("fine", {"cash": 300}, {}, False, 0.0),
    ("fine", {"cash": 801}, {}, False, -0.1),
    ("fine", {"cash": 600, "danger": 0.61}, {}, True, 0.1 - 0.1),
    ("fine", {"cash": 600, "danger": 0.61}, {}, False, 0.1),
    ("fine", {"cash": 600, "danger": 0.6}, {}, False, 0.0),
    ("card", {"cards": 2}, {}, True, 0.05),
    ("card", {"cards": 1}, {"worth": 2051}, True, 0.255 + 0.15),
    ("card", {"cards": 1}, {"worth": 2050}, True, 0.25 - 0.05),
    ("card", {"cards": 1, "cash": 299}, {}, True, -0.05 + 0.2),
    ("card", {"cards": 2}, {}, False, -0.05),
    ("card", {"cards": 1, "cash": 100}, {"worth": 1980}, False, -0.1),
    ("mortgage", {"cash": 50}, {"cash": 150, "worth": 2060}, True, 0.3),
    ("unmortgage", {"cash": 801}, {"worth": 2100}, True, 0.55 + 0.3),
    ("unmortgage", {"cash": 800}, {}, True, 0.2),
    ("unmortgage", {"cash": 500}, {}, True, 0.1),
    ("unmortgage", {"cash": 300}, {}, True, -0.1),
    ("unmortgage", {"cash": 600, "eyed_lots": 1}, {"eyed_lots": 2}, True, 0.2 + 0.12),
    ("unmortgage", {"cash": 600, "dear_lots": 1}, {"dear_lots": 3}, True, 0.2 + 0.2),
    ("unmortgage", {"cash": 600, "whole": 1}, {"whole": 2}, True, 0.2 + 0.25),
    ("unmortgage", {"cash": 600, "income": 10}, {"income": 14}, True, 0.2 + 0.08),
    ("unmortgage", {"cash": 600, "income": 10}, {"income": 30}, True, 0.2 + 0.2),
    ("unmortgage", {"cash": 600, "railroads": 0}, {"railroads": 1}, True, 0.2),
]


@pytest.mark.parametrize(("head", "before", "changed", "acted", "expected"), CASES)
def test_the_annex(
    head: str, before: dict[str, float], changed: dict[str, float], acted: bool, expected: float
) -> None:
    assert paid(head, before, changed, acted) == pytest.approx(expected)


# Terms of the program that the annex has otherwise or not at all: head, before, what changes,
# acted, its reward.
PROGRAM: list[tuple[str, dict[str, float], dict[str, float], bool, float]] = [
    # illiquid, but no more than before
    ("upgrade", {"cash": 150}, {"cash": 150, "houses": 1}, True, 0.15),
    ("upgrade", {"cash": 199}, {"cash": 150, "houses": 1}, True, 0.15 - 0.2),
    ("downgrade", {"cash": 400}, {"cash": 500}, True, 0.15),  # 100 dollars are not counted
    ("downgrade", {"cash": 400}, {"cash": 501}, True, 0.15 + 0.2),
    (
        "downgrade",
        {"cash": 600, "dear_levels": 2},
        {"cash": 700, "dear_levels": 1},
        True,
        -0.1 - 0.08,
    ),
    ("downgrade", {"cash": 250}, {"cash": 350}, True, 0.15 + 0.2),  # liquidity from 0.125
    ("fine", {"cash": 600, "flat_danger": 0.7}, {}, False, 0.1),
    ("fine", {"cash": 600, "danger": 0.7}, {}, False, 0.0),
    ("card", {"cards": 1}, {"worth": 2010}, True, 0.05 - 0.05 + 0.1),
    ("card", {"cards": 2, "flat_danger": 0.7}, {}, False, 0.1),
    (
        "unmortgage",
        {"cash": 600, "railroads": 0},
        {"railroads": 1, "cash": 560},
        True,
        0.2 + 0.08 + 0.1,
    ),
    (
        "unmortgage",
        {"cash": 600, "utilities": 0},
        {"utilities": 1, "cash": 560},
        True,
        0.2 + 0.05 + 0.1,
    ),
    ("unmortgage", {"cash": 600}, {"cash": 350}, True, 0.2 - 0.08),
    ("unmortgage", {"cash": 600}, {"cash": 199}, True, 0.2 - 0.15 - 0.2),
]


@pytest.mark.parametrize(("head", "before", "changed", "acted", "expected"), PROGRAM)
def test_the_program(
    head: str, before: dict[str, float], changed: dict[str, float], acted: bool, expected: float
) -> None:
    assert paid(head, before, changed, acted, "program") == pytest.approx(expected)


def test_the_end() -> None:
    won, bankrupt = np.array([True, False, False]), np.array([False, True, False])
    assert terminal(won, bankrupt).tolist() == [1.0, -1.0, 0.0]


def test_rewards_are_computed_row_by_row() -> None:
    generator = np.random.default_rng(0)
    rows = generator.uniform(0, 1000, (2, 50, NUM_QUANTITIES))
    acted = generator.random(50) < 0.5
    before, after = Quantities.of_rows(rows[0]), Quantities.of_rows(rows[1])
    for head in REWARDS:
        for variant in rewards.VARIANTS:
            together = reward(head, before, after, acted, variant)
            alone = [
                reward(
                    head,
                    Quantities.of_rows(rows[0, [i]]),
                    Quantities.of_rows(rows[1, [i]]),
                    acted[[i]],
                    variant,
                )[0]
                for i in range(50)
            ]
            assert together.tolist() == alone


def test_unknown_names_are_refused() -> None:
    row = quantities()
    with pytest.raises(ConfigurationError, match=r"Unknown head 'bying'.*buy"):
        reward("bying", row, row, np.array([True]))
    with pytest.raises(ConfigurationError, match=r"Unknown variant 'theses'.*thesis"):
        reward("buy", row, row, np.array([True]), "theses")  # type: ignore[arg-type]


# --- reading


def at(**position: Any) -> dict[str, float]:
    """The quantities of seat 0."""
    games = np.array([me.position(2, "official", **position)])
    return {
        name: float(column[0])
        for name, column in rewards.read(games, np.array([0]))._asdict().items()
    }


def test_worth_counts_mortgaged_lots_at_half_and_own_buildings_only() -> None:
    seen = at(
        cash=[500, 500],
        lots={
            0: ["Mediterranean Avenue", "Baltic Avenue", "Boardwalk"],
            1: ["Oriental Avenue", "Vermont Avenue", "Connecticut Avenue"],
        },
        mortgaged=["Boardwalk"],
        buildings={"Mediterranean Avenue": 2, "Baltic Avenue": 1, "Oriental Avenue": 1},
    )
    assert seen["worth"] == 500 + 60 + 60 + 200 + 3 * 50
    assert seen["cash"] == 500
    assert (seen["monopolies"], seen["whole"], seen["houses"], seen["hotels"]) == (1, 1, 1, 0)


def test_groups_and_levels() -> None:
    red = ["Kentucky Avenue", "Indiana Avenue", "Illinois Avenue"]
    blue = ["Park Place", "Boardwalk"]
    brown = ["Mediterranean Avenue", "Baltic Avenue"]
    seen = at(
        lots={0: red + blue + brown},
        mortgaged=["Baltic Avenue"],
        buildings=dict.fromkeys(red, 3) | dict.fromkeys(blue, 5),
    )
    assert (seen["monopolies"], seen["whole"]) == (3, 2)
    assert (seen["houses"], seen["hotels"]) == (3 + 4, 1)
    assert (seen["eyed_levels"], seen["dear_levels"]) == (3, 5)
    assert (seen["eyed_lots"], seen["dear_lots"]) == (3, 2)


def test_income_is_that_of_lots_without_a_mortgage() -> None:
    lots = [
        "Reading Railroad",
        "Short Line",
        "Electric Company",
        "Water Works",
        "Boardwalk",
        "Virginia Avenue",
    ]
    seen = at(lots={0: lots}, mortgaged=["Water Works", "Virginia Avenue"])
    assert seen["income"] == pytest.approx(0.08 * 50 * 2 + 1.75 + 0.1 * 50)
    assert (seen["railroads"], seen["utilities"], seen["dear_lots"], seen["eyed_lots"]) == (
        2,
        1,
        1,
        0,
    )


def test_danger_by_the_dice_and_by_flat_rents() -> None:
    # From jail (10): Virginia Avenue 4 on, Pennsylvania Railroad 5 on, Electric Company 2 on and
    # mortgaged.
    seen = at(
        positions=[10, 0],
        cash=[40, 1500],
        lots={
            0: ["Boardwalk"],
            1: ["Virginia Avenue", "Pennsylvania Railroad", "Electric Company"],
        },
        mortgaged=["Electric Company"],
    )
    assert seen["danger"] == pytest.approx(3 / 36 * 12 / 40 + 4 / 36 * 25 / 40)
    assert seen["flat_danger"] == pytest.approx(2 / 10)
    rich = at(
        positions=[10, 0],
        lots={0: ["Boardwalk"], 1: ["Water Works", "Kentucky Avenue"]},  # 18 and 11 squares on
        cash=[1000, 1500],
    )
    assert rich["danger"] == pytest.approx(2 / 36 * 18 / 1000)
    assert rich["flat_danger"] == 0.0


def test_cards_and_liquidity() -> None:
    seen = at(
        jail_cards={0: ["chance", "community_chest"]}, lots={0: ["Boardwalk"]}, cash=[400, 1500]
    )
    assert seen["cards"] == 2
    assert quantities(worth=800, cash=400).liquidity[0] == 0.5
