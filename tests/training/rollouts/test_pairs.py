"""Pairs of rollouts: each is played again here, a decision at a time in Python, and must end the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import agents
import monopoly_env as me
from agents.networks.learned.networks import FEATURES, NAMES, NETWORKS, OUTPUT, SHAPES
from agents.networks.learned.play import first_answer, weigh
from agents.networks.learned.policy import LearnedPolicy
from monopoly_env.actions import DECISION_NAMES, HEAD_NAMES, HEAD_OF, NUM_ACTIONS
from monopoly_env.engine.players import finish
from monopoly_env.game import BY_CAP
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy
from monopoly_env.rules import Rules
from tests.policies import NEVER_ENDS, blind, restless, rich, seeing
from training.rollouts import pairs as rollouts
from training.rollouts.pairs import KEPT, PAIR, RATES, League, Pairs, _Buffers, _decide, _Kept, collect

LIMIT = 45  # turns of each player
SEED = 7
ALL = (1 << len(HEAD_NAMES)) - 1


@cache
def knowing() -> LearnedPolicy:
    """Networks of random numbers: they often disagree with the parent."""
    generator = np.random.default_rng(0)
    arrays: dict[str, NDArray[Any]] = {name: (0.05 * generator.normal(size=shape)).astype(np.float32) for name, shape in SHAPES.items()}
    return LearnedPolicy(name="knowing").changed(**arrays, margins=np.full(len(NAMES), 0.01))


def compiled(name: str) -> CompiledPolicy:
    policy = agents.make(name)
    assert isinstance(policy, CompiledPolicy)
    return policy


@cache
def league(learner: str = "knowing") -> League:
    first = knowing() if learner == "knowing" else LearnedPolicy(())
    return League([first, compiled("algorithmic"), compiled("random")], [[0, 1], [0, 0, 2], [0, 1, 0, 1]], Rules())


@cache
def pairs(learner: str = "knowing", games: int = 48) -> Pairs:
    return collect(league(learner), games, SEED, LIMIT, threads=1)


# --- a slow player ------------------------------------------------------------------------------------------------------


class Slow:
    """A game under way: the record, the memories, and who sits where."""

    def __init__(self, league: League, seats: Sequence[int], game: Any, memory: NDArray[np.float64]) -> None:
        self.league = league
        self.seats = seats
        self.game = me.clone(game)
        self.memory = memory.copy()

    def copy(self) -> Slow:
        return Slow(self.league, self.seats, self.game, self.memory)

    def step(self) -> None:
        """The policy that is to move moves."""
        seat = int(self.game.player)
        policy, mask = self.league.policies[self.seats[seat]], me.action_mask(self.game)
        me.step(self.game, policy.kernel(self.game, mask, policy.params, self.memory[seat]))

    def over(self) -> bool:
        if not me.is_over(self.game) and self.game.turns > LIMIT * len(self.seats):
            finish(self.game, BY_CAP)
        return me.is_over(self.game)

    def won(self, seat: int) -> float:
        """Play to the end; the share of the win of a seat."""
        while not self.over():
            self.step()
        places = self.game.place[: len(self.seats)]
        return float(places[seat] == 1) / float((places == 1).sum())


def begin(league: League, number: int) -> Slow:
    """The game of a number: its table, seats and seed."""
    table, turn = number % len(league.tables), number // len(league.tables)
    seats = np.roll(league.tables[table], turn).tolist()
    game = me.new_game(len(seats), league.rules, (SEED << 32) + number)
    return Slow(league, seats, game, np.zeros((len(seats), MEMORY)))


def decisions(league: League, number: int) -> Iterator[tuple[Slow, int, NDArray[np.float64], NDArray[np.float32], int]]:
    """The learner's decisions of a game in which there is a choice.

    For each: the game before it, the parent's answer, the parent's memory after it, what was seen, and what the agent does.
    """
    learner, slow = league.policies[0], begin(league, number)
    while not slow.over():
        seat = int(slow.game.player)
        if slow.seats[seat] == 0:
            after, seen, values = slow.memory[seat].copy(), np.zeros(FEATURES, np.float32), np.zeros(NUM_ACTIONS)
            base = first_answer(slow.game, learner.params, after)
            if weigh(slow.game, base, ALL, learner.params, after.copy(), seen, values):
                before = slow.copy()
                does = learner.kernel(slow.game, me.action_mask(slow.game), learner.params, slow.memory[seat].copy())
                yield before, int(base), after, seen, int(does)
        slow.step()


def check(league: League, found: Pairs, number: int) -> list[tuple[bool, int]]:
    """Compare the pairs of a game with what is played here; for each, whether the agent departed from its parent, and the turn."""
    mine = found.pairs["game"] == number
    wanted = {pair.tobytes() + seen.tobytes(): pair for pair, seen in zip(found.pairs[mine], found.seen[mine], strict=True)}
    assert mine.sum() == len(wanted)
    checked = []
    for before, base, after, seen, does in decisions(league, number):
        told = seen.astype(np.float16).tobytes()
        for key in [key for key in wanted if key.endswith(told) and wanted[key]["base"] == base]:
            pair, seat, branches = wanted[key], int(before.game.player), {}
            assert DECISION_NAMES[before.game.decision] in NETWORKS[NAMES[pair["network"]]][0]
            for action in (base, int(pair["other"])):
                branch = before.copy()
                if action == base:
                    branch.memory[seat] = after
                me.step(branch.game, action)  # it is legal, or this raises
                branches[action] = branch.won(seat)
            if (branches[base], branches[int(pair["other"])]) == (pair["base_won"], pair["other_won"]):
                assert does in (base, pair["other"])
                checked.append((does != base, int(before.game.turns)))
                del wanted[key]
    assert not wanted, f"{len(wanted)} pairs of game {number} could not be found in it"
    return checked


# --- tests --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", ["knowing", "parent alone"])
def test_pairs_end_as_they_do_when_played_one_step_at_a_time(learner: str) -> None:
    departed, turns = zip(*(row for number in (0, 1, 2, 7) for row in check(league(learner), pairs(learner), number)), strict=True)
    assert len(turns) > 15
    assert (sum(departed) > 3) == (learner == "knowing")
    assert max(turns) > 40  # not the first decisions of a game alone


def test_each_branch_remembers_what_its_player_meant() -> None:
    """The parent's plan goes with the parent's answer only."""
    own, mattered = knowing().params, {True: 0, False: 0}
    for number in (0, 1, 4):
        for slow, base, after, _, does in decisions(league(), number):
            game, seat, players = slow.game, int(slow.game.player), len(slow.seats)
            before, stored, buffers = slow.memory[seat].copy(), _Kept.empty(players), _Buffers.empty()
            memory, pair = np.concatenate([slow.memory, before[None]]), np.zeros(1, PAIR)[0]
            memory[seat], pair["base"] = after, base
            weigh(game, base, ALL, own, after.copy(), buffers.seen, buffers.values)
            assert _decide(game, memory, own, 0, 1, stored, buffers, pair) == does
            follows = does == base
            kept, tried = (after, before) if follows else (before, after)
            assert np.array_equal(memory[seat], kept)
            assert np.array_equal(stored.memory[0, seat], tried)
            assert stored.branch[0] == (pair["other"] if follows else base)
            assert follows or pair["other"] == does
            assert stored.seat[0] == seat
            assert stored.games[0].tobytes() == game.tobytes()
            mattered[follows] += not np.array_equal(before, after)
    assert min(mattered.values()) > 5


def test_pairs_depend_neither_on_threads_nor_on_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "_SLICE", 5)
    again = collect(league(), 48, SEED, LIMIT, threads=3)
    assert np.array_equal(again.pairs, pairs().pairs)
    assert np.array_equal(again.seen, pairs().seen)
    other = collect(league(), 48, SEED + 1, LIMIT, threads=3)
    assert not np.array_equal(other.pairs[:50], again.pairs[:50])


COLLECT = """
import sys
from agents.networks.learned.policy import LearnedPolicy
from monopoly_env.rules import Rules
from tests.policies import NEVER_ENDS, blind, restless, rich, seeing
from training.rollouts.pairs import League, collect
found = collect(League([LearnedPolicy(())], [[0, 0]], Rules()), 2, 7, 4, threads=1)
sys.stdout.buffer.write(found.pairs.tobytes() + found.seen.tobytes())
"""


def test_compiled_and_plain_python_find_the_same_pairs() -> None:
    found = [
        subprocess.run([sys.executable, "-c", COLLECT], capture_output=True, check=True, env=os.environ | {"NUMBA_DISABLE_JIT": off}).stdout
        for off in ("0", "1")
    ]
    assert found[0] == found[1]
    assert len(found[0]) > 5 * (PAIR.itemsize + 2 * FEATURES)


def test_pairs_are_of_a_choice_that_a_network_has() -> None:
    found = pairs()
    assert found.seen.dtype == np.float16
    assert found.seen.shape == (len(found.pairs), FEATURES)
    assert found.pairs.dtype == PAIR
    assert np.isfinite(found.seen).all()
    assert found.seen.any(1).all()
    for action in ("base", "other"):
        assert (OUTPUT[found.pairs["network"], found.pairs[action]] > 0).all()
    assert (found.pairs["base"] != found.pairs["other"]).all()
    counts = np.bincount(found.pairs["game"], minlength=48)
    assert counts.max() == KEPT
    assert (counts > 0).all()
    shares = {1.0, 1 / 2, 1 / 3, 1 / 4, 0.0}
    assert {float(share) for name in ("base_won", "other_won") for share in found.pairs[name]} <= {float(np.float32(s)) for s in shares}


def test_all_kinds_of_actions_are_tried() -> None:
    found = pairs("parent alone").pairs
    assert {NAMES[network] for network in found["network"]} >= {"buy", "bid", "turn", "offer", "reply", "debt"}
    assert {HEAD_NAMES[HEAD_OF[action]] for action in found["other"]} >= {"buy", "bid", "turn", "build", "reply", "trade_cash"}


def test_every_network_has_a_rate() -> None:
    assert RATES.shape == (len(NAMES),)
    assert ((RATES > 0) & (RATES <= 1)).all()


def test_both_games_of_a_pair_have_the_same_dice() -> None:
    """Without them, half of all pairs between two players would end differently."""
    two = League([LearnedPolicy(()), compiled("expert")], [[0, 1]], Rules())
    found = collect(two, 40, SEED, LIMIT, threads=1).pairs
    assert len(found) > 150
    assert 0.65 < (found["base_won"] == found["other_won"]).mean() < 0.99
    assert 0.2 < found["base_won"].mean() < 0.8


def test_every_table_sits_in_all_seats_with_dice_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[list[int], bytes]] = []

    def watch(games: Any, progress: Any, seats: Any, *rest: Any) -> None:
        seen.extend((row.tolist(), game.seed.tobytes()) for game, row in zip(games, seats, strict=True))
        rest[-1][:] = 0

    monkeypatch.setattr(rollouts, "_play", watch)
    tables = [[0, 1], [0, 0, 2], [0, 1, 0, 2]]
    found = collect(league()._replace(tables=tables), 3 * 4, SEED, LIMIT, threads=1)
    assert len(found.pairs) == 0
    for table in tables:
        arrangements = [seats for seats, _ in seen if len(seats) == len(table)]
        assert {tuple(seats) for seats in arrangements} == {tuple(np.roll(table, turn)) for turn in range(len(table))}
        assert len(arrangements) == 4
    assert len({seed for _, seed in seen}) == len(seen)


@pytest.mark.parametrize("declined", [False, True], ids=["main game", "branch"])
def test_a_policy_that_never_ends_its_turn_is_stopped(declined: bool) -> None:
    """The learner's parent buys whatever it can, so that a lot is declined only where another action is tried."""
    with pytest.raises(me.IllegalActionError, match=NEVER_ENDS):
        collect(League([LearnedPolicy(()), restless(declined=declined)], [[0, 1]], rich()), 8, SEED, LIMIT, threads=1)


def test_a_policy_that_breaks_the_rules_is_named() -> None:
    wrong = CompiledPolicy("seeing", seeing().kernel, reads_mask=False)  # it then finds an empty mask
    with pytest.raises(me.IllegalActionError, match=r"Policy 'seeing' in the game of seed \d+: action -1 must be"):
        collect(League([LearnedPolicy(()), wrong], [[0, 1]], Rules()), 4, SEED, LIMIT, threads=1)


def test_a_mask_is_written_for_those_that_read_it() -> None:
    """Both opponents check it, and break the rules where it is wrong."""
    for policy in (blind(), seeing()):
        assert len(collect(League([LearnedPolicy(()), policy], [[0, 1]], Rules()), 4, SEED, LIMIT, threads=1).pairs)
