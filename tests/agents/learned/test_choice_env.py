"""The environment in the terms of a learned agent plays the games of the environment below it."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import agents
from agents.learned.action_space import NUM_CHOICES, PACKAGE
from agents.learned.choice_env import ChoiceEnv
from agents.learned.compact import names as observation_names
from monopoly_env.envs.gym import MonopolyEnv
from monopoly_env.errors import GameOverError, IllegalActionError
from monopoly_env.policy.protocol import MEMORY, Decisions


def made(rules: str = "official", opponent: str = "expert") -> ChoiceEnv:
    return ChoiceEnv(MonopolyEnv([opponent], rules=rules, encoding="compact"))


@pytest.mark.parametrize("rules", ["official", "ocnaru"])
def test_whole_games_ask_only_where_there_is_something_to_choose(rules: str) -> None:
    env, generator = made(rules), np.random.default_rng(3)
    asked, offers, answered, names = 0, 0, 0.0, list(observation_names(2))
    for seed in range(6):
        observation, info = env.reset(seed=seed)
        over = False
        while not over:
            mask = env.action_masks()
            assert mask.sum() >= 2
            assert (info["action_mask"] == mask).all()
            assert observation.shape == env.observation_space.shape
            choice = generator.choice(np.flatnonzero(mask))
            observation, reward, terminated, truncated, info = env.step(choice)
            over, asked, offers = terminated or truncated, asked + 1, offers + (choice >= PACKAGE)
            answered = max(
                answered,
                *(observation[names.index(f"player +1 {name}")] for name in ("took", "refused")),
            )
        assert reward in {-1.0, 0.0, 1.0}
        assert not env.action_masks().any()
    assert asked > 200
    assert offers > 0
    assert answered > 0  # it sees how its offers were answered


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_it_is_a_sound_environment() -> None:
    class Legal(ChoiceEnv):
        """Whose random actions are open ones: the checker knows no masks."""

        def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, object]]:
            open_ = np.flatnonzero(self.action_masks())
            return super().step(open_[int(action) % len(open_)])

    env = Legal(MonopolyEnv(["random"], encoding="compact"))
    check_env(env, skip_render_check=True)
    assert env.action_space == gymnasium.spaces.Discrete(NUM_CHOICES)


def test_a_closed_choice_changes_nothing_and_a_game_must_run() -> None:
    env = made()
    with pytest.raises(GameOverError, match="reset"):
        env.step(np.int64(0))
    env.reset(seed=1)
    before = env.env.game.copy()
    closed = int(np.flatnonzero(~env.action_masks())[0])
    with pytest.raises(IllegalActionError, match="not open"):
        env.step(np.int64(closed))
    assert env.env.game == before


def test_a_learned_agent_would_make_the_same_choices() -> None:
    """A networks agent's game, choice by choice: the wrapper plays what the kernel plays."""
    agent = agents.make("networks")
    env = made("ocnaru", "strategic")
    env.reset(seed=5)
    over = False
    while not over:  # networks of zeros choose the first open choice
        _, _, terminated, truncated, _ = env.step(np.flatnonzero(env.action_masks())[0])
        over = terminated or truncated
    plain = MonopolyEnv([agents.make("strategic")], rules="ocnaru", encoding="compact")
    plain.reset(seed=5)
    over, memory = False, np.zeros((1, MEMORY))
    while not over:
        action = int(agent.act(Decisions(plain.table.games, memory, np.zeros(1, np.uint64)))[0])
        _, _, terminated, truncated, _ = plain.step(action)
        over = terminated or truncated
    assert plain.game.tobytes() == env.env.game.tobytes()
