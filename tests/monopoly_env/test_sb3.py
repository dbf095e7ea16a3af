"""Stable-Baselines3: `MonopolyVecEnv` against games stepped one by one, and a learner."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv

import agents
import monopoly_env as me
from monopoly_env import encoding as encodings
from monopoly_env.actions import HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.adapters.sb3 import MonopolyVecEnv
from monopoly_env.envs.vector import VectorMonopoly
from monopoly_env.errors import ConfigurationError, IllegalActionError
from monopoly_env.policy.protocol import Decisions
from monopoly_env.rules import Rules


def explore(choices: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.int64]:
    """(N,) random actions out of (N, 205) legal ones.

    First an open head, then one of its actions.
    """
    heads = np.stack([choices[:, head.slice].any(1) for head in HEADS.values()], axis=1)
    head = np.where(heads, generator.random(heads.shape), -1.0).argmax(1)
    return np.asarray(
        np.where(
            choices & (head[:, None] == HEAD_OF), generator.random(choices.shape), -1.0
        ).argmax(1)
    )


def table(opponents: Sequence[str], games: int = 12, **options: Any) -> VectorMonopoly:
    return VectorMonopoly(
        games,
        len(opponents) + 1,
        options.pop("rules", "ocnaru"),
        opponents=opponents,
        threads=1,
        **options,
    )


def test_the_environment_is_as_the_libraries_want_it() -> None:
    env = MonopolyVecEnv([table(["random"], 3), table(["algorithmic"], 2)])
    env.seed(7)
    seen = env.reset()
    assert env.num_envs == 5
    assert (seen.shape, seen.dtype) == ((5, *env.observation_space.shape), np.float32)  # type: ignore[misc]
    assert all(env.observation_space.contains(row) for row in seen)
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert (masks.shape, masks.dtype) == ((5, NUM_ACTIONS), np.bool_)
    assert np.array_equal(env.env_method("action_masks", indices=[4, 1]), masks[[4, 1]])
    assert env.get_attr("render_mode", 2) == [None]
    assert env.env_is_wrapped(object) == [False] * 5
    kept = seen.copy()
    after, reward, done, infos = env.step(masks.argmax(1))
    assert np.array_equal(seen, kept)  # what was returned is not written again
    assert (after.shape, reward.shape, done.shape, len(infos)) == (seen.shape, (5,), (5,), 5)
    assert (reward.dtype, done.dtype) == (np.float32, np.bool_)
    env.seed(7)
    assert np.array_equal(env.reset(), kept)
    env.seed(8)
    assert not np.array_equal(env.reset(), kept)
    with pytest.raises(IllegalActionError, match=r"Game 0 of 3: Action \d+ .* is illegal"):
        env.step((~get_action_masks(env)).argmax(1))
    with pytest.raises(ConfigurationError, match="'speed' can't be set"):
        env.set_attr("speed", 1)
    with pytest.raises(AttributeError):
        env.get_attr("speed")
    env.close()


def test_wrong_tables_are_refused() -> None:
    for wrong in ([], table(["random"]), ["random"], [VectorMonopoly(4, 2)]):
        with pytest.raises(
            ConfigurationError,
            match=r"needs a list of VectorMonopoly with opponents, as in \[vec\]",
        ):
            MonopolyVecEnv(wrong)
    with pytest.raises(ConfigurationError, match="must share encoding and number of players"):
        MonopolyVecEnv([table(["random"]), table(["random"] * 2)])


class Shadow:
    """A game of the learner's, stepped alone.

    The engine's `step`, and the opponents asked one decision at a time.
    """

    def __init__(self, vec: VectorMonopoly, number: int) -> None:
        """Begin the game that is under way there."""
        self.seat = int(vec.batch.player[number])
        self.limit = vec.turn_limit * vec.num_players
        self.opponents = {
            (self.seat + 1 + offset) % vec.num_players: policy
            for offset, policy in enumerate(vec.opponents)
        }
        self.memory = np.zeros((vec.num_players, 1, agents.MEMORY))
        self.games = me.new_games([int(vec.seeds[number])], vec.num_players, vec.rules)
        self.go_on()

    @property
    def game(self) -> Any:
        return self.games[0]

    @property
    def out(self) -> bool:
        return me.is_over(self.game) or self.game.place[self.seat] != 0

    @property
    def first(self) -> bool:
        return bool(self.game.place[self.seat] == 1)

    @property
    def cut_off(self) -> bool:
        return not self.out and self.game.turns > self.limit

    def go_on(self) -> None:
        while not (self.out or self.cut_off) and self.game.player != self.seat:
            seat = int(self.game.player)
            decisions = Decisions(self.games, self.memory[seat], np.zeros(1, np.uint64))
            me.step(self.game, int(self.opponents[seat].act(decisions)[0]))

    def step(self, action: int) -> bool:
        """Carry out the learner's action.

        Returns whether his game went on until somebody else moved.
        """
        me.step(self.game, action)
        others = not (self.out or self.cut_off)
        self.go_on()
        return others

    def reward(self) -> float:
        """By hand: 1 for the first place, else an equal share of -1.

        If k share the first place, they draw lots.
        """
        if not self.out:
            return 0.0
        first, others = (self.game.place == 1).sum(), self.game.num_players - 1
        return (1.0 - (first - 1) / others) / first if self.first else -1.0 / others


@pytest.mark.parametrize(
    ("opponents", "max_turns", "turn_limit"),
    [
        (("algorithmic",), 41, 1000),
        (("random/no_trades",), 0, 50),
        (("random/no_trades", "algorithmic"), 0, 60),
    ],
)
def test_every_step_is_that_of_games_stepped_alone(
    opponents: tuple[str, ...], max_turns: int, turn_limit: int
) -> None:
    generator = np.random.default_rng(0)
    rules = dataclasses.replace(Rules.preset("ocnaru"), max_turns=max_turns, trade="none")
    vec = table(opponents, rules=rules, turn_limit=turn_limit, reward="win", seed=5)
    env = MonopolyVecEnv([vec])
    seen = env.reset()
    shadows = [Shadow(vec, number) for number in range(env.num_envs)]
    ends: Counter[str] = Counter()
    for _ in range(300):
        for number, shadow in enumerate(shadows):
            assert np.array_equal(seen[number], encodings.observe(shadow.game, seat=shadow.seat))
        actions = explore(env.action_masks(), generator)
        seen, reward, done, infos = env.step(actions)
        for number, (shadow, action) in enumerate(zip(shadows, actions.tolist(), strict=True)):
            others = shadow.step(action)
            assert reward[number] == pytest.approx(shadow.reward())
            assert done[number] == (shadow.out or shadow.cut_off)
            if not done[number]:
                assert infos[number] == {}
                continue
            info = infos[number]
            assert np.array_equal(
                info["terminal_observation"], encodings.observe(shadow.game, seat=shadow.seat)
            )
            assert info["TimeLimit.truncated"] == shadow.cut_off
            assert info["is_success"] == shadow.first
            assert info["episode"]["r"] == pytest.approx(shadow.reward())
            who = "another's" if others else "own"
            ends[
                (
                    "cut off"
                    if shadow.cut_off
                    else f"{'won' if shadow.first else 'lost'} on {who} move"
                )
            ] += 1
            shadows[number] = Shadow(vec, number)
    if max_turns:  # the score decides, whoever moved
        assert (
            min(
                ends["lost on another's move"],
                ends["lost on own move"],
                ends["won on another's move"],
            )
            > 0
        )
    else:
        assert min(ends["lost on own move"], ends["cut off"]) > 0


def test_episodes_are_summed_and_counted() -> None:
    generator = np.random.default_rng(0)
    tables = [
        table(["random/no_trades"], 6, reward="win_shaped"),
        table(["algorithmic"], 5, reward="win_shaped"),
    ]
    env = MonopolyVecEnv(tables)
    env.reset()
    total, steps, ended = np.zeros(11), np.zeros(11, int), [0, 0]
    while min(ended) < 2:
        _, reward, done, infos = env.step(explore(env.action_masks(), generator))
        total, steps = total + reward, steps + 1
        for number in np.flatnonzero(done):
            assert infos[number]["episode"] == {
                "r": pytest.approx(total[number], abs=1e-5),
                "l": steps[number],
            }
            assert abs(abs(total[number]) - 1.0) < 1e-4  # shaping cancels by the end
            total[number] = steps[number] = 0
            ended[int(number >= 6)] += 1


# --- MaskablePPO on the Gymnasium environment

ID = "monopoly_env/Monopoly-v0"


def make_env(turn_limit: int = 20) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(
        ID, opponents=["random"], rules="ocnaru", reward="net_worth_shaped", turn_limit=turn_limit
    )


@pytest.mark.slow
def test_maskable_ppo() -> None:
    """A few thousand steps: every action is legal, or the environment would raise.

    The policy moves; a saved one plays alike.
    """
    envs = DummyVecEnv([make_env, make_env])
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=256, batch_size=256, n_epochs=2, seed=0, device="cpu"
    )
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(2_500)
    assert model.num_timesteps >= 2_500
    assert len(model.ep_info_buffer) == 0 or all(
        np.isfinite(info["r"]) for info in model.ep_info_buffer
    )
    assert any(
        (now != then).any() for now, then in zip(model.policy.parameters(), before, strict=True)
    )
    mean, spread = evaluate_policy(model, make_env(), n_eval_episodes=2, warn=False)
    assert -2.0 <= mean <= 2.0
    assert np.isfinite(spread)


def test_a_saved_model_plays_alike(tmp_path: Path) -> None:
    env = make_env()
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=0, device="cpu"
    )
    model.learn(64)
    model.save(tmp_path / "model")
    loaded = MaskablePPO.load(tmp_path / "model", device="cpu")
    observation, _ = env.reset(seed=1)
    for _ in range(100):
        mask = get_action_masks(env)
        action, _ = model.predict(observation, action_masks=mask, deterministic=True)
        again, _ = loaded.predict(observation, action_masks=mask, deterministic=True)
        assert mask[action]
        assert action == again
        observation, reward, terminated, truncated, _ = env.step(action)
        assert reward == pytest.approx(reward)
        if terminated or truncated:
            observation, _ = env.reset()
