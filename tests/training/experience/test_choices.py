"""Choices recorded from games: what an agent chose, in its own terms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.learned.action_space import NUM_CHOICES, PACKAGE, PRICE
from agents.learned.agent import LearnedAgent
from agents.learned.architectures import CHOICES, NAMES, OUTPUT, architectures
from agents.networks.forward import evaluate
from monopoly_env.actions import HEADS
from training.experience.choices import SLICE, Choices, play_games

HIDDEN = (16, 8)


@pytest.fixture(scope="module")
def agent() -> LearnedAgent:
    """Random weights; it plays its best choice."""
    made = LearnedAgent(3, HIDDEN)
    generator = np.random.default_rng(1)
    made.set_arrays(
        {
            name: generator.normal(0, 0.3, array.shape).astype(np.float32)
            for name, array in made.arrays().items()
        }
    )
    return made


def play(
    policies: list[Any], rows: list[list[int]], recorded: list[bool], **options: Any
) -> Choices:
    return play_games(
        policies, np.array(rows), np.array(recorded), rules=me.Rules(), turn_limit=60, **options
    )


def same(one: Choices, other: Choices) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_an_agent_is_recorded_as_it_chose(agent: LearnedAgent) -> None:
    """The recorded choice is the best of the open ones by the weights, for packages and prices too.

    Float16 may change near ties.
    """
    recorded = play([agent], [[0, 0, 0]] * 6, [True])
    networks = architectures(3, HIDDEN)
    open_ = np.unpackbits(recorded.open, axis=1, count=NUM_CHOICES).astype(np.bool_)
    assert (open_.sum(axis=1) >= 2).all()
    assert open_[np.arange(recorded.size), recorded.choice].all()
    agreed = np.zeros(recorded.size, np.bool_)
    for number, name in enumerate(NAMES):
        rows = np.flatnonzero(recorded.network == number)
        scores = evaluate(
            networks[name].pack(agent.arrays(), name),
            recorded.observation[rows, : networks[name].inputs].astype(np.float32),
        )
        chosen = np.where(
            open_[rows][:, CHOICES[number]], scores[:, OUTPUT[number, CHOICES[number]]], -np.inf
        ).argmax(axis=1)
        agreed[rows] = CHOICES[number][chosen] == recorded.choice[rows]
    assert agreed.mean() > 0.995
    assert {"buy", "bid", "turn", "package", "price", "reply"} <= {
        NAMES[number] for number in np.unique(recorded.network)
    }


def test_a_scripted_policy_is_recorded_in_the_same_terms() -> None:
    recorded = play([agents.make("expert")], [[0, 0, 0]] * 12, [True])
    bids = recorded.choice[recorded.network == NAMES.index("bid")] - HEADS["bid"].start
    # small raises are recorded as the smallest that is open
    assert (bids > 0).sum() > (bids == 0).sum() > 10
    for first, last in ((PACKAGE, PRICE), (PRICE, NUM_CHOICES)):
        assert ((recorded.choice >= first) & (recorded.choice < last)).sum() > 10
    assert set(np.unique(recorded.outcome)) <= {0.0, 1.0}
    for game in range(12):
        mine = recorded.game == game
        shares = {
            int(seat): float(share)
            for seat, share in zip(recorded.player[mine], recorded.outcome[mine], strict=True)
        }
        assert sum(shares.values()) == 1


@pytest.mark.parametrize("name", ["random", "expert/bargaining"])
def test_a_recorded_choice_was_open(name: str) -> None:
    """Of any policy: `random` gives offers up half-way, and asks for nothing to give nothing."""
    recorded = play([agents.make(name)], [[0, 0, 0]] * 16, [True])
    open_ = np.unpackbits(recorded.open, axis=1, count=NUM_CHOICES).astype(np.bool_)
    assert open_[np.arange(recorded.size), recorded.choice].all()
    assert set(np.unique(recorded.network)) >= {NAMES.index(name) for name in ("package", "price")}


def test_threads_and_blocks_do_not_matter(agent: LearnedAgent) -> None:
    policies, rows = [agent, agents.make("algorithmic")], [[0, 1, 1], [1, 0, 1], [1, 1, 0]] * 8
    one = play(policies, rows, [True, False], threads=1)
    assert same(one, play(policies, rows, [True, False], threads=2))
    first, second = (
        play(policies, rows[:SLICE], [True, False]),
        play(policies, rows[SLICE:], [True, False], first=SLICE),
    )
    assert same(one, Choices.joined([first, second._replace(game=second.game + np.int32(SLICE))]))


def test_only_the_wanted_are_recorded(agent: LearnedAgent) -> None:
    rows = [[0, 1, 1], [1, 0, 1]]
    recorded = play([agent, agents.make("algorithmic")], rows, [True, False])
    assert {
        (int(game), int(seat)) for game, seat in zip(recorded.game, recorded.player, strict=True)
    } == {(0, 0), (1, 1)}


def test_only_the_decisions_of_networks_are_recorded() -> None:
    bidder = agents.make("ppo/best/two").copy("bidder", decisions=("buy", "bid"))
    assert isinstance(bidder, LearnedAgent)
    rows = [[0, 2], [1, 2]] * 5
    twins = [bidder.drawing(0.5, "one"), bidder.drawing(0.5, "other"), agents.make("expert")]
    both = play(twins, rows, [True, True, False])
    assert {NAMES[number] for number in np.unique(both.network)} == {"buy", "bid"}
    one = play(twins, rows, [True, False, False])  # the other is played by the policy's kernel
    assert same(one, both.take(both.game % 2 == 0))


def test_a_network_plays_the_same_whether_it_is_recorded_or_not(agent: LearnedAgent) -> None:
    """Recorded choices are made beside the record, the others by the policy's kernel.

    Both with the same draws.
    """
    twins, rows = (
        [agent.drawing(0.5, "one"), agent.drawing(0.5, "other"), agents.make("expert")],
        [[0, 1, 2]] * 10,
    )
    one = play(twins, rows, [True, False, False], seed=4)
    other, both = (
        play(twins, rows, [False, True, False], seed=4),
        play(twins, rows, [True, True, False], seed=4),
    )
    assert same(one, both.take(both.player == 0))
    assert same(other, both.take(both.player == 1))
    assert min(one.size, other.size) > 500
