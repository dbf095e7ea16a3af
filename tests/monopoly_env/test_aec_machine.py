"""A state machine of the PettingZoo environment against a model of its contract.

Hypothesis draws the table and the calls; the model is a record of `monopoly_env`, played by
`me.step`, and what each agent was promised. More examples: `pytest --hypothesis-profile search`.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import monopoly_env as me
from monopoly_env import encoding, monopoly_v0, rewards
from monopoly_env.engine.agenda import OVER
from tests.play import chosen

SEEDS = st.integers(0, 2**64 - 1)
KEYS = st.integers(0, 2**32 - 1)
COPIES: list[Callable[[Any], Any]] = [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))]  # noqa: S301
ILLEGAL = ("raise", "penalize", "random")


class AEC(RuleBasedStateMachine):
    """The environment, and beside it the game that it should be at."""

    @initialize(
        players=st.integers(2, 5), preset=st.sampled_from(me.Rules.presets()),
        cash=st.sampled_from([150, 400, 1500]), reward=st.sampled_from(rewards.names()),
        limit=st.integers(1, 60), illegal=st.sampled_from(ILLEGAL), seed=SEEDS,
    )  # fmt: skip
    def begin(
        self, players: int, preset: str, cash: int, reward: str, limit: int, illegal: str,
        seed: int,
    ) -> None:  # fmt: skip
        self.rules, self.reward = me.Rules.preset(preset, start_cash=cash), reward
        self.limit, self.illegal = limit, illegal
        self.env = monopoly_v0.env(
            players, self.rules, reward=reward, turn_limit=limit, illegal=illegal
        )
        self.known: dict[tuple[int, int], str] = {}  # games by the last seed and those since
        self.base = seed
        with pytest.raises(me.ConfigurationError, match=r"reset\(\)"):
            self.env.last()
        self.reset(seed)

    @rule(seed=st.none() | SEEDS)
    def reset(self, seed: int | None) -> None:
        self.env.reset(seed=seed)
        words = self.env.game.seed.tolist()
        own = words[0] | words[1] << 32
        if seed is not None:
            self.base, self.number = seed, 0
            assert own == seed
        place = self.base, self.number
        assert self.known.setdefault(place, me.digest(self.env.game)) == me.digest(self.env.game)
        self.number += 1
        self.game = me.new_game(len(self.env.possible_agents), self.rules, own)
        self.left: list[str] = []
        self.owed = dict.fromkeys(self.env.possible_agents, 0.0)
        self.paid = dict.fromkeys(self.env.possible_agents, 0.0)
        self.forfeited = False
        self.earned(self.env.agent_selection)  # some may be bankrupt before the first decision

    # --- the model

    def seat(self, agent: str) -> int:
        return int(self.env.possible_agents.index(agent))

    @property
    def agents(self) -> list[str]:
        return [agent for agent in self.env.possible_agents if agent not in self.left]

    @property
    def truncated(self) -> bool:
        over = self.forfeited or me.is_over(self.game)
        return not over and int(self.game.turns) > self.limit * len(self.env.possible_agents)

    def terminated(self, agent: str) -> bool:
        return bool(self.forfeited or me.is_over(self.game) or self.game.place[self.seat(agent)])

    def out(self, agent: str) -> bool:
        return self.truncated or self.terminated(agent)

    @property
    def mover(self) -> str | None:
        """The agent that must decide; None while agents that are out have to leave."""
        if any(self.out(agent) for agent in self.agents) or not self.agents:
            return None
        return str(self.env.possible_agents[self.game.player])

    def earned(self, actor: str) -> None:
        """Note the rewards of a step."""
        self.owed[actor] = 0.0
        for agent, reward in self.env.rewards.items():
            self.owed[agent] += reward
            self.paid[agent] += reward

    # --- calls

    def decide(self, key: int) -> None:
        action = chosen(me.action_mask(self.game), key)
        actor = self.env.agent_selection
        me.step(self.game, action)
        self.env.step(action)
        self.earned(actor)

    @precondition(lambda self: self.mover)
    @rule(key=KEYS, count=st.integers(1, 150))
    def act(self, key: int, count: int) -> None:
        for number in range(count):
            if self.mover:
                self.decide(key + number)

    @precondition(lambda self: self.mover)
    @rule(data=st.data())
    def act_illegally(self, data: st.DataObject) -> None:
        wrong = np.flatnonzero(~me.action_mask(self.game)).tolist()
        action, before, actor = (
            data.draw(st.sampled_from(wrong)),
            pickle.dumps(self.env),
            self.mover,
        )
        assert actor is not None
        if self.illegal == "raise":
            with pytest.raises(me.IllegalActionError, match="Legal: "):
                self.env.step(action)
            assert pickle.dumps(self.env) == before
            return
        self.env.step(action)
        self.earned(actor)
        if self.illegal == "penalize":
            self.forfeited = True
            assert self.env.rewards == {agent: -float(agent == actor) for agent in self.agents}
            return
        ways = (me.step(me.clone(self.game), legal) for legal in me.legal_actions(self.game))
        after = me.clone(self.env.game)
        assert any(_same(after, way) for way in ways)
        assert (after["policy_draws"] != self.game["policy_draws"]).any()
        self.game = after

    @precondition(lambda self: self.mover)
    @rule(wrong=st.sampled_from([-1, 10**6, 1.0, "buy", None, True]))
    def act_wrongly(self, wrong: Any) -> None:
        before = pickle.dumps(self.env)
        with pytest.raises(me.ConfigurationError):
            self.env.step(wrong)
        assert pickle.dumps(self.env) == before

    @precondition(lambda self: self.agents and not self.mover)
    @rule()
    def leave(self) -> None:
        agent = self.env.agent_selection
        before = pickle.dumps(self.env)
        with pytest.raises(me.ConfigurationError, match="is out"):
            self.env.step(0)
        assert pickle.dumps(self.env) == before
        assert self.env.last()[1] == pytest.approx(self.owed[agent], abs=1e-5)
        self.env.step(None)
        self.left.append(agent)

    @precondition(lambda self: not self.agents)
    @rule()
    def play_after_the_end(self) -> None:
        for call in (self.env.last, lambda: self.env.step(None)):
            with pytest.raises(me.GameOverError, match=r"reset\(\)"):
                call()
        assert list(self.env.agent_iter()) == []

    @rule(number=st.integers(0, 1), key=KEYS)
    def go_on_with_a_copy(self, number: int, key: int) -> None:
        """The copy takes a step or two that the original never sees."""
        twin, before = COPIES[number](self.env), pickle.dumps(self.env)
        if self.mover:
            twin.step(chosen(me.action_mask(self.game), key))
            assert pickle.dumps(self.env) == before
        self.env = COPIES[number](self.env)

    # --- at all times

    @invariant()
    def is_as_the_model_says(self) -> None:
        env, agents = self.env, self.agents
        assert _same(env.game, self.game)
        assert env.agents == agents == list(env.infos)
        for agent in agents:
            assert env.terminations[agent] == self.terminated(agent)
            assert env.truncations[agent] == self.truncated
            seen = env.observe(agent)
            mask = me.action_mask(self.game) if agent == self.mover and agents else 0
            own = encoding.observe(self.game, "standard", self.seat(agent))
            assert (seen["observation"] == own).all()
            if self.mover:
                assert (seen["action_mask"] == mask).all()
            asked = self.game.decision if agent == self.mover else OVER
            if self.mover or agent == env.agent_selection:
                assert env.infos[agent]["decision"] == asked
        assert (env.state() == encoding.observe(self.game, "standard", 0)).all()
        if agents:
            assert env.agent_selection == (self.mover or env.agent_selection)
            _, reward, terminated, truncated, _ = env.last()
            assert reward == pytest.approx(self.owed[env.agent_selection], abs=1e-5)
            assert (terminated or truncated) == (self.mover is None)

    @invariant()
    def adds_up(self) -> None:
        if me.is_over(self.game) and not self.forfeited:
            goal = rewards.make(self.reward.removesuffix("_shaped"))
            final = goal.after(self.game, np.zeros(len(self.paid)))
            assert list(self.paid.values()) == pytest.approx(final.tolist(), abs=1e-4)
            assert sum(self.paid.values()) == pytest.approx(0, abs=1e-4)


def _same(one: Any, other: Any) -> bool:
    """Whether two records differ in nothing but the draws of policies."""
    return all(
        np.array_equal(one[name], other[name]) for name in me.GAME.names if name != "policy_draws"
    )


AEC.TestCase.settings = settings(
    max_examples=max(1, settings().max_examples // 8), stateful_step_count=30
)
TestAEC = AEC.TestCase
