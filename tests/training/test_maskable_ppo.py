"""PPO: its environment against games stepped one by one, and its buffer.

Runs end the same however they were interrupted.
"""

from __future__ import annotations

import dataclasses
import errno
import io
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from rich.console import Console
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

import agents
import monopoly_env as me
from agents.networks.actor import ActorPolicy
from agents.networks.repertoire import Repertoire
from monopoly_env import encoding as encodings
from monopoly_env.actions import HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.envs.vector import VectorMonopoly
from monopoly_env.errors import ConfigurationError, IllegalActionError, MonopolyError
from monopoly_env.policy.protocol import Decisions
from monopoly_env.rules import Rules
from training import maskable_ppo
from training.maskable_ppo import PPO
from training.run import checkpoints
from training.run.options import LEARNED, TrainingOptions, result_settings
from training.run.session import DivergenceError, Session
from training.sb3 import ChoiceBuffer, MonopolyVecEnv

pytestmark = pytest.mark.usefixtures("one_thread")


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


SMALL = TrainingOptions(
    steps=3072,
    parallel_games=32,
    rollout=16,
    batch=64,
    epochs=2,
    hidden=(16, 8),
    opponents=("algorithmic", "random/no_trades"),
    checkpoint_every=512,
    evaluate_every=1536,
    panel=("random/no_trades",),
    panel_games=4,
    final_games=(8,),
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


# --- the environment


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
    with pytest.raises(
        ConfigurationError, match="a repertoire must say what the parent does not play"
    ):
        MonopolyVecEnv([table(["random"])], None, agents.make("algorithmic"))


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
        (("random/no_trades", "algorithmic"), 0, 40),
    ],
)
def test_every_step_is_that_of_games_stepped_alone(
    opponents: tuple[str, ...], max_turns: int, turn_limit: int
) -> None:
    generator = np.random.default_rng(0)
    rules = dataclasses.replace(Rules.preset("ocnaru"), max_turns=max_turns)
    vec = table(opponents, rules=rules, turn_limit=turn_limit, reward="win", seed=5)
    env = MonopolyVecEnv([vec], Repertoire(LEARNED))
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
    assert env.finished == ends.total()
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
    env = MonopolyVecEnv(tables, Repertoire(LEARNED))
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
    assert env.finished == sum(ended)


def test_what_is_left_to_others_is_answered_by_the_parent() -> None:
    parent, generator = agents.make("algorithmic"), np.random.default_rng(0)
    vec = table(["random/no_trades"], 16)
    env = MonopolyVecEnv([vec], Repertoire(("buy",)), parent)
    env.reset()
    memory, choices = np.zeros((16, agents.MEMORY)), 0
    for _ in range(150):
        masks, decisions = (
            env.action_masks(),
            Decisions(vec.games.copy(), memory, np.zeros(16, np.uint64)),
        )
        by_parent = parent.act(decisions)
        settled = masks.sum(1) == 1
        assert masks[np.arange(16), by_parent].all()
        assert not masks[:, HEADS["buy"].stop :][~settled].any()
        choices += int((~settled).sum())
        _, _, done, _ = env.step(explore(masks, generator))
        memory[done] = 0.0
    assert choices > 100
    assert env.finished > 0


def test_without_a_parent_offers_are_not_made() -> None:
    vec = table(["random"], 16)
    env, generator, settled = (
        MonopolyVecEnv([vec], Repertoire(LEARNED)),
        np.random.default_rng(0),
        0,
    )
    env.reset()
    for _ in range(100):
        masks = env.action_masks()
        assert (masks <= vec.batch.action_mask).all()
        assert masks.any(1).all()
        assert not masks[:, HEADS["trade"].slice].any()
        settled += int((masks.sum(1) == 1).sum())
        env.step(explore(masks, generator))
    assert settled > 100


def test_the_buffer_samples_each_choice_once() -> None:
    env = MonopolyVecEnv([table(["random/no_trades"], 4)])
    spaces, generator = (env.observation_space, env.action_space), np.random.default_rng(0)
    buffers = [
        kind(30, *spaces, "cpu", 0.9, 0.99, 4) for kind in (ChoiceBuffer, MaskableRolloutBuffer)
    ]
    masks = generator.random((30, 4, NUM_ACTIONS)) < 0.02
    masks[:, :, 0] = True
    masks[generator.random((30, 4)) < 0.6, 1:] = False
    for step in range(30):
        numbers = torch.arange(4) + 4.0 * step
        seen = np.zeros((4, *env.observation_space.shape), np.float32)  # type: ignore[misc]
        row = (
            seen,
            np.zeros((4, 1)),
            numbers.numpy() % 3,
            np.zeros(4),
            numbers.sin()[:, None],
            numbers,
        )
        for buffer in buffers:
            buffer.add(*row, action_masks=masks[step])
    for buffer in buffers:
        buffer.compute_returns_and_advantage(torch.ones(4), np.zeros(4, np.bool_))
    torch.manual_seed(0)
    parts, everything = list(buffers[0].get(16)), next(buffers[1].get())
    real = masks.sum(2) > 1
    assert real.sum() % 16
    sizes = [len(part.returns) for part in parts]
    assert max(sizes) <= 16
    assert max(sizes) - min(sizes) <= 1
    drawn = torch.cat([part.old_log_prob for part in parts])  # each its own number
    assert drawn.tolist() != sorted(drawn.tolist())
    assert sorted(drawn.int().tolist()) == np.flatnonzero(real.ravel()).tolist()
    advantages = dict(
        zip(everything.old_log_prob.tolist(), everything.advantages.tolist(), strict=True)
    )
    assert torch.cat([part.advantages for part in parts]).tolist() == [
        advantages[number] for number in drawn.tolist()
    ]


# --- the learner


def learner_of(options: TrainingOptions) -> PPO:
    return PPO(options, maskable_ppo.check(options))


def same(first: PPO, second: PPO) -> bool:
    parts, others = first.state()[0], second.state()[0]
    return all(
        array.tobytes() == others[part][name].tobytes()
        for part, arrays in parts.items()
        for name, array in arrays.items()
    )


def test_torch_and_the_saved_agent_score_alike() -> None:
    learner = learner_of(dataclasses.replace(SMALL, hidden=(32, 16)))
    learner.iterate()
    seen, masks = learner.env.observations(), learner.env.action_masks()
    policy = learner.agent()
    with torch.no_grad():
        expected = learner.model.policy.get_distribution(
            torch.from_numpy(seen)
        ).distribution.logits.numpy()
    scores = policy.scores(seen)
    assert scores - scores.mean(1, keepdims=True) == pytest.approx(
        expected - expected.mean(1, keepdims=True), abs=1e-4
    )
    by_torch, _ = learner.model.predict(seen, deterministic=True, action_masks=masks)
    assert np.array_equal(policy.choose(seen, masks, np.zeros(len(seen), np.uint64)), by_torch)
    rewards, lengths = evaluate_policy(
        learner.model, learner.env, 6, return_episode_rewards=True, warn=False
    )
    assert len(rewards) == len(lengths) >= 6  # type: ignore[arg-type]
    assert np.abs(rewards).max() <= 2.0


def test_it_finds_the_best_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paid for every lot bought and for nothing else, at once: it buys whatever it can."""
    learner = learner_of(dataclasses.replace(SMALL, learning_rate=1e-2, discount=1e-9, epochs=4))
    step_wait, buy = learner.env.step_wait, HEADS["buy"].start + 1

    def paid() -> Any:
        seen, _, done, infos = step_wait()
        return seen, (learner.env._actions == buy).astype(np.float32), done, infos

    monkeypatch.setattr(learner.env, "step_wait", paid)
    lot, masks = learner.env.observations()[:1], np.zeros((1, NUM_ACTIONS), np.bool_)
    masks[0, [buy - 1, buy]] = True
    chances = [chance(learner, lot, masks, buy)]
    while learner.step < learner.options.steps:
        metrics = learner.iterate()
    chances.append(chance(learner, lot, masks, buy))
    assert chances[0] == pytest.approx(0.5, abs=0.1)
    assert chances[1] > 0.95
    assert learner.agent().choose(lot, masks, np.zeros(1, np.uint64)).tolist() == [buy]
    # of the last of six iterations
    assert metrics["train/learning_rate"] == pytest.approx(1e-2 / 6)
    assert metrics["rollout/ep_len_mean"] > 10


def chance(learner: PPO, seen: NDArray[np.float32], masks: NDArray[np.bool_], action: int) -> float:
    """The probability of an action."""
    with torch.no_grad():
        return float(
            learner.model.policy.get_distribution(torch.from_numpy(seen), masks).distribution.probs[
                0, action
            ]
        )


def test_a_loss_that_is_not_finite_stops_and_leaves_the_networks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = learner_of(SMALL)
    before = learner.state()[0]["weights"]
    step_wait = learner.env.step_wait

    def without_reason() -> Any:
        seen, reward, done, infos = step_wait()
        return seen, reward * np.float32(np.nan), done, infos

    monkeypatch.setattr(learner.env, "step_wait", without_reason)
    with pytest.raises(
        DivergenceError, match=r"The loss is not finite after 0 steps\. Try a lower learning rate\."
    ):
        learner.iterate()
    assert all(
        np.array_equal(before[name], array) for name, array in learner.state()[0]["weights"].items()
    )


def train(options: TrainingOptions, *, stop_after: int | None = None, resume: bool = False) -> PPO:
    """Train in this process; stop like one that is killed just after a number of checkpoints."""
    policies, saved = maskable_ppo.check(options), itertools.count(1)
    options = dataclasses.replace(options, resume=resume)
    with Session.open(
        options, result_settings(options, algorithm="ppo"), Console(file=io.StringIO()), ""
    ) as session:
        learner = PPO(options, policies)
        if resume:
            session.restore(learner)
        save = session.save

        def save_and_stop(learner: PPO, step: int) -> None:
            save(learner, step)
            if next(saved) == stop_after:
                raise KeyboardInterrupt

        session.save = save_and_stop  # type: ignore[assignment, method-assign]
        session.report.begin(options.steps, learner.step)
        maskable_ppo.train(learner, session)
        session.run.write_json("best.json", session.best)
    return learner


@pytest.mark.parametrize(
    "options",
    [SMALL, dataclasses.replace(SMALL, heads=("buy", "turn", "build"), parent="algorithmic")],
)
def test_a_run_that_was_killed_and_resumed_ends_in_the_same_weights(
    tmp_path: Path, options: TrainingOptions
) -> None:
    whole, halved = (
        dataclasses.replace(options, out=tmp_path / "whole"),
        dataclasses.replace(options, out=tmp_path / "halved"),
    )
    first = train(whole)
    assert first.step == options.steps
    with pytest.raises(KeyboardInterrupt):
        train(halved, stop_after=4)
    second = train(halved, resume=True)
    assert same(first, second)
    assert first.env.finished == second.env.finished
    assert (whole.out / "best.json").read_bytes() == (halved.out / "best.json").read_bytes()
    assert len(checkpoints.paths(halved.out / "checkpoints")) == checkpoints.KEPT
    assert (whole.out / "best.safetensors").read_bytes() == (
        halved.out / "best.safetensors"
    ).read_bytes()
    assert not same(first, train(dataclasses.replace(options, out=tmp_path / "other", seed=1)))


def test_the_command_trains_saves_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "run"
    tiny = (
        "--steps 1000 --parallel-games 16 --rollout 32 --hidden 8 --opponents random/no_trades"
        " --panel random/no_trades"
    )
    tiny = [*tiny.split(), "--panel-games", "4", "--final-games", "20", "--out", str(folder)]
    assert maskable_ppo.main([*tiny, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert results["opponents"][0]["games"] == 20
    assert results["steps"] == 1024
    assert {"engine", "network", "training", "evaluation", "checkpoints"} <= set(results["time"])
    assert json.loads((folder / "evaluation.json").read_text())["opponents"] == results["opponents"]
    assert isinstance(agents.load(folder / "agent.safetensors"), ActorPolicy)
    assert list((folder / "curves").glob("events.*"))
    assert maskable_ppo.main(tiny) == 2
    assert "--resume" in capsys.readouterr().err
    assert maskable_ppo.main([*tiny, "--resume", "--discount", "0.5", "--clip", "0.3"]) == 2
    said = capsys.readouterr().err
    assert "discount is 0.5, was 0.999" in said
    assert "clip is 0.3, was 0.2" in said
    assert maskable_ppo.main([*tiny, "--resume"]) == 0
    assert "random" in capsys.readouterr().out


def test_a_full_disk_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoints, "_write_arrays", full)
    tiny = (
        "--steps 100 --parallel-games 4 --rollout 25 --hidden 8 --opponents random --panel"
        " random/no_trades --panel-games 2 --final-games 2"
    )
    assert maskable_ppo.main([*tiny.split(), "--out", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert "No space left on device. Fix that, then --resume." in said
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"batch": 0}, "--batch must be 1 or more, not 0"),
        ({"discount": 1.5}, "--discount must be from 1e-09 to 1, not 1.5"),
        ({"gae_lambda": -0.1}, "--gae-lambda must be from 0 to 1"),
        ({"opponents": ("algoritmic",)}, "Unknown policy 'algoritmic'. Did you mean 'algorithmic'"),
        ({"parent": "stratgic"}, "Unknown policy 'stratgic'. Did you mean 'strategic'"),
        ({"opponents": ()}, "--opponents must name a policy"),
        ({"parallel_games": 1}, "--parallel-games 1 must be at least one per opponent"),
        ({"final_games": (1, 2)}, "needs one number per policy of the panel"),
        ({"hidden": ()}, "--hidden must list"),
        ({"parallel_games": 1, "rollout": 1, "opponents": ("random",)}, "two decisions or more"),
        ({"heads": ("buy",)}, "No network plays the heads bid"),
        ({"heads": ("buy", "trade_ask")}, "learn all of them or none"),
        ({"encoding": "ocnaru100", "num_players": 3}, "is for 2 players"),
        ({"rules": "offical"}, "official"),
        ({"reward": "wins"}, "win"),
        ({"panel": ("missing.safetensors",)}, "missing.safetensors"),
    ],
)
def test_wrong_settings_are_refused(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(MonopolyError, match=reason):
        maskable_ppo.check(dataclasses.replace(SMALL, **change))


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    maskable_ppo.check(SMALL)  # auto
    with pytest.raises(ConfigurationError, match="torch finds no GPU here"):
        maskable_ppo.check(dataclasses.replace(SMALL, device="cuda"))
