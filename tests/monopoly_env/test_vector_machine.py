"""A state machine of `VectorMonopoly`: every row is a PettingZoo environment of the same seed.

More examples: `pytest --hypothesis-profile search`.
"""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import monopoly_env as me
from monopoly_env import encoding, monopoly_v0, rewards
from tests.play import chosen

SEEDS = st.integers(0, 2**64 - 1)
KEYS = st.integers(0, 2**32 - 1)


class Vector(RuleBasedStateMachine):
    """The vector, and an environment for each of its rows."""

    @initialize(
        rows=st.integers(1, 4), players=st.integers(2, 4), cash=st.sampled_from([300, 1500]),
        preset=st.sampled_from(me.Rules.presets()), reward=st.sampled_from(rewards.names()),
        limit=st.integers(1, 8), most=st.none() | st.integers(1, 60),
        autoreset=st.sampled_from([True, False, "next_step"]), seed=SEEDS,
    )  # fmt: skip
    def begin(
        self, rows: int, players: int, cash: int, preset: str, reward: str, limit: int,
        most: int | None, autoreset: Any, seed: int,
    ) -> None:  # fmt: skip
        rules = me.Rules.preset(preset, start_cash=cash)
        shared: Any = {"reward": reward, "turn_limit": limit}
        self.most, self.autoreset, self.begun = most or 10**9, autoreset, False
        self.vec = me.VectorMonopoly(
            rows, players, rules, seed=seed, autoreset=autoreset, max_steps=most, **shared
        )
        self.envs = [monopoly_v0.env(players, rules, **shared) for _ in range(rows)]
        self.steps = [0] * rows
        self.own = [False] * rows  # whether the seeds of a row follow from one of its own
        self.story: dict[int, list[int]] = {}  # seeds of the first games after each reset
        self.reset(None)

    @rule(seed=st.none() | SEEDS)
    def reset(self, seed: int | None) -> None:
        self.vec.reset(seed)
        assert (
            self.story.setdefault(self.vec.seed, self.vec.seeds.tolist()) == self.vec.seeds.tolist()
        )
        self.own = [False] * len(self.envs)
        for row in range(len(self.envs)):
            self.next_game(row)

    @rule(data=st.data())
    def begin_some(self, data: st.DataObject) -> None:
        rows = len(self.envs)
        mask = data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
        seeds = data.draw(st.none() | st.lists(st.none() | SEEDS, min_size=rows, max_size=rows))
        self.vec.begin(np.array(mask), seeds)
        for row in np.flatnonzero(mask).tolist():
            given = seeds[row] if seeds else None
            if given is not None:
                assert self.vec.seeds[row] == given
                self.own[row] = False  # its env begins anew, too
            self.next_game(row)
            self.own[row] |= given is not None

    def next_game(self, row: int) -> None:
        """The next game of a row has begun."""
        env, seed = self.envs[row], int(self.vec.seeds[row])
        env.reset(seed=None if self.own[row] else seed)
        self.steps[row] = 0
        assert env.game.tobytes() == self.vec.games[row].tobytes()

    def ended(self, row: int) -> bool:
        """Whether a row is at the end of a game, until it begins again."""
        env = self.envs[row]
        over = me.is_over(env.game) or any(env.truncations.values())
        return over or not env.agents or self.steps[row] >= self.most

    @property
    def stuck(self) -> bool:
        return self.autoreset is False and any(map(self.ended, range(len(self.envs))))

    def actions(self, key: int) -> list[int]:
        """A legal action for every row that goes on."""
        masks = [me.action_mask(env.game) for env in self.envs]
        return [
            -7 if self.ended(row) else chosen(mask, key + row) for row, mask in enumerate(masks)
        ]

    @precondition(lambda self: not self.stuck)
    @rule(key=KEYS, count=st.integers(1, 40))
    def step(self, key: int, count: int) -> None:
        for number in itertools.takewhile(lambda _: not self.stuck, range(count)):
            self.advance(self.actions(key + number))

    def advance(self, actions: list[int]) -> None:
        waiting = [row for row in range(len(self.envs)) if self.ended(row)]
        actors = [env.agent_selection for env in self.envs]
        batch = self.vec.step(actions)
        for row, env in enumerate(self.envs):
            if row in waiting:
                assert not batch.reward[row].any()
                assert not batch.out[row].any()
                assert not batch.terminated[row]
                assert not batch.truncated[row]
                self.next_game(row)
                continue
            assert f"player_{batch.actor[row]}" == actors[row]
            env.step(actions[row])
            self.steps[row] += 1
            over = me.is_over(env.game)
            assert batch.terminated[row] == over
            assert batch.truncated[row] == (not over and self.ended(row))
            seats = env.possible_agents
            assert batch.reward[row].tolist() == [env.rewards.get(agent, 0.0) for agent in seats]
            out = [env.terminations.get(agent, False) for agent in seats]
            assert batch.out[row].tolist() == out
            while env.agents and env.terminations[env.agent_selection] and not over:
                env.step(None)
            assert (row in batch.finished) == self.ended(row)
            if row in batch.finished:
                self.finish(row)

    def finish(self, row: int) -> None:
        """A game has ended in this step."""
        batch, env = self.vec.batch, self.envs[row]
        at = batch.finished.tolist().index(row)
        assert batch.final_games[at].tobytes() == env.game.tobytes()
        for seat, seen in enumerate(batch.final_observation[at]):
            assert (seen == encoding.observe(env.game, "standard", seat)).all()
        if self.autoreset is True:
            self.next_game(row)

    @precondition(lambda self: not self.stuck)
    @rule(key=KEYS, data=st.data())
    def step_illegally(self, key: int, data: st.DataObject) -> None:
        actions = self.actions(key)
        rows = [row for row in range(len(actions)) if not self.ended(row)]
        if not rows:
            return
        row = data.draw(st.sampled_from(rows))
        wrong = np.flatnonzero(~me.action_mask(self.envs[row].game)).tolist()
        before = copy.deepcopy(self.vec.state())
        bad = [*actions[:row], data.draw(st.sampled_from(wrong)), *actions[row + 1 :]]
        with pytest.raises(me.IllegalActionError, match="Legal: "):
            self.vec.step(bad)
        after = self.vec.state()
        assert all((after[name] == array).all() for name, array in before.items())
        self.advance(actions)

    @precondition(lambda self: self.stuck)
    @rule()
    def step_after_the_end(self) -> None:
        with pytest.raises(me.GameOverError, match=r"begin\(\)"):
            self.vec.step([0] * len(self.envs))

    @rule(key=KEYS, by_state=st.booleans())
    def go_on_with_a_copy(self, key: int, by_state: bool) -> None:
        twin = copy.deepcopy(self.vec)
        if by_state:
            twin.reset()
            twin.set_state(self.vec.state())
        if not self.stuck:  # steps that the twin never sees
            self.vec.step(self.actions(key))
        self.vec = twin

    @invariant()
    def rows_are_environments(self) -> None:
        vec, batch = self.vec, self.vec.batch
        for row, env in enumerate(self.envs):
            if self.ended(row):
                assert not batch.action_mask[row].any()
                continue
            assert vec.games[row].tobytes() == env.game.tobytes()
            seat = int(env.game.player)
            assert (batch.player[row], batch.decision[row]) == (seat, env.game.decision)
            assert (batch.action_mask[row] == me.action_mask(env.game)).all()
            assert (batch.observation[row] == encoding.observe(env.game, "standard", seat)).all()


Vector.TestCase.settings = settings(
    max_examples=max(1, settings().max_examples // 8), stateful_step_count=20
)
TestVector = Vector.TestCase
