"""Double DQN: its targets against slow definitions, and runs that end the same however they were interrupted."""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from rich.console import Console

import agents
from agents.networks.repertoire import Repertoire
from agents.networks.values import NeuralPolicy
from monopoly_env import encoding as encodings
from monopoly_env.actions import HEAD_NAMES, HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.errors import MonopolyError
from monopoly_env.vector import VectorMonopoly
from tests.training.transitions import FEATURES, random_transitions
from training import dqn
from training.dqn import DQN, Batch, DQNOptions, QLearner, margin_losses, targets
from training.experience.replay import Transitions, unpack
from training.experience.sources import Source
from training.networks import HeadNetworks
from training.run import checkpoints
from training.run.options import LEARNED, result_settings
from training.run.session import DivergenceError, Session

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")
SMALL = DQNOptions(
    steps=3200,
    games=32,
    hidden=(16, 8),
    opponents=("self", "random"),
    replay=300,
    batch=8,
    expert_batch=4,
    update_every=64,
    target_every=5,
    n_step=3,
    checkpoint_every=640,
    evaluate_every=1600,
    panel=("random",),
    panel_games=4,
    final_games=(8,),
)


def imitating(learning_rate: float, target_every: int = 10) -> DQNOptions:
    return DQNOptions(learning_rate=learning_rate, target_every=target_every, margin=0.1, margin_weight=1.0, device="cpu")


def networks(seed: int = 0) -> HeadNetworks:
    torch.manual_seed(seed)
    return HeadNetworks(FEATURES, LEARNED, (16, 8))


def slow_value(nets: HeadNetworks, seen: NDArray[np.float16], action: int) -> float:
    """The value of one action, by hand from the weights."""
    arrays, head = nets.arrays(), HEAD_NAMES[HEAD_OF[action]]
    signal = seen.astype(np.float64)
    for layer in range(3):
        signal = np.maximum(signal, 0) if layer else signal
        signal = arrays[f"{head}.{layer}.weight"] @ signal + arrays[f"{head}.{layer}.bias"]
    return float(signal[action - HEADS[head].start])


def test_targets_take_the_best_legal_action_over_all_heads_and_nothing_after_the_end() -> None:
    online, target, moves = networks(0), networks(1), random_transitions(60)
    heads = set()
    for row, goal in enumerate(targets(online, target, Batch.of(moves, CPU)).tolist()):
        expected = float(moves.reward[row])
        if moves.discount[row] > 0:
            open_ = np.flatnonzero(unpack(moves.next_choices)[row])
            best = max(open_, key=lambda action: slow_value(online, moves.next_observation[row], action))
            expected += float(moves.discount[row]) * slow_value(target, moves.next_observation[row], best)
            heads.add(HEAD_OF[best])
        assert goal == pytest.approx(expected, abs=1e-4)
    assert len(heads) > 3
    assert (moves.discount == 0).any()


def test_closed_actions_have_no_value() -> None:
    nets, batch = networks(), Batch.of(random_transitions(20), CPU)
    values = nets.values(batch.observation, batch.choices)
    assert torch.isneginf(values[~batch.choices]).all()
    assert torch.isfinite(values[batch.choices]).all()
    assert torch.allclose(values.gather(1, batch.action[:, None])[:, 0], nets.chosen(batch.observation, batch.action))


def test_the_margin_counts_the_closest_other_action() -> None:
    values = torch.full((3, NUM_ACTIONS), -torch.inf)
    values[0, [3, 5]] = torch.tensor([1.0, 0.2])
    values[1, [3, 5, 9]] = torch.tensor([1.0, 0.95, 0.99])
    values[2, [3, 5]] = torch.tensor([0.0, 0.5])
    losses = margin_losses(values, torch.tensor([3, 3, 3]), 0.1)
    assert losses.tolist() == pytest.approx([0.0, 0.09, 0.6])


def test_torch_and_the_saved_agent_value_actions_alike() -> None:
    torch.manual_seed(0)
    nets = HeadNetworks(encodings.size("standard", 2), LEARNED, (128, 64, 32))
    agent = NeuralPolicy(LEARNED, (128, 64, 32))
    agent.set_arrays(nets.arrays())
    moves = random_transitions(50, features=encodings.size("standard", 2))
    batch = Batch.of(moves, CPU)
    with torch.no_grad():
        expected = nets.values(batch.observation, batch.choices).numpy()
    assert np.allclose(agent.values(batch.observation.numpy(), unpack(moves.choices)), expected, atol=1e-4)


def test_learning_fits_fixed_targets() -> None:
    moves = random_transitions(64)._replace(discount=np.zeros(64, np.float32))
    learner = QLearner(networks(), imitating(3e-3))
    first = learner.update(moves, None)
    for _ in range(200):
        last = learner.update(moves, None)
    losses = [name for name in first if name.startswith("loss/")]
    assert sum(last[name] for name in losses) < 0.05 * sum(first[name] for name in losses)


def watched(seed: int, steps: int) -> Transitions:
    """What a deterministic expert decides in games with itself."""
    vec = VectorMonopoly(64, 2, "ocnaru", seed=seed, threads=1)
    source = Source(vec, Repertoire(LEARNED), 1, 1.0, agents.make("gcp"))
    moves = Transitions.joined([source.play(None) for _ in range(steps)])
    return moves._replace(reward=np.zeros(moves.size, np.float32), discount=np.zeros(moves.size, np.float32))


def test_decisions_of_an_expert_that_were_not_seen_are_predicted() -> None:
    shown, unseen = watched(1, 4000), watched(2, 500)
    torch.manual_seed(0)
    features, updates, generator = shown.observation.shape[1], 1000, np.random.default_rng(0)
    learner = QLearner(HeadNetworks(features, LEARNED, (64, 32)), imitating(5e-3, target_every=200))

    def agreement() -> float:
        predicted = learner.best(unseen.observation.astype(np.float32), unpack(unseen.choices))
        return float((predicted == unseen.action).mean())

    assert agreement() < 0.5
    for update in range(updates):
        for group in learner._optimizer.param_groups:
            group["lr"] = 5e-3 * (1 - update / updates)
        learner.update(None, shown.take(generator.integers(shown.size, size=768)))
    assert agreement() > 0.95
    assert len(set(HEAD_OF[unseen.action])) > 6


def test_an_expert_is_imitated() -> None:
    moves = random_transitions(64)._replace(discount=np.zeros(64, np.float32), reward=np.zeros(64, np.float32))
    learner = QLearner(networks(), imitating(3e-3))
    assert learner.update(None, moves)["agreement"] < 0.5
    for _ in range(200):
        metrics = learner.update(None, moves)
    assert metrics["agreement"] > 0.95


def test_a_loss_that_is_not_finite_stops_and_leaves_the_networks() -> None:
    learner, moves = QLearner(networks(), imitating(1e-3)), random_transitions(16)
    before = learner.online.arrays()
    moves.reward[3] = np.nan
    with pytest.raises(DivergenceError, match=r"The loss is nan at update 1 \(loss/"):
        learner.update(moves, None)
    assert all(np.array_equal(before[name], array) for name, array in learner.online.arrays().items())


# --- runs ---------------------------------------------------------------------------------------------------------------


def train(options: DQNOptions, *, stop_after: int | None = None, resume: bool = False) -> DQN:
    """Train in this process; stop like one that is killed just after a number of checkpoints."""
    policies, saved = dqn.check(options), itertools.count(1)
    options = dataclasses.replace(options, resume=resume)
    with Session.open(options, result_settings(options), Console(file=io.StringIO()), "") as session:
        learner = DQN(options, policies)
        if resume:
            session.restore(learner)
        save = session.save

        def save_and_stop(learner: DQN, step: int) -> None:
            save(learner, step)
            if next(saved) == stop_after:
                raise KeyboardInterrupt

        session.save = save_and_stop  # type: ignore[assignment, method-assign]
        session.report.begin(options.steps, learner.step)
        dqn.train(learner, session)
    return learner


def same(first: DQN, second: DQN) -> bool:
    parts, others = first.learner.arrays(), second.learner.arrays()
    return all(np.array_equal(array, others[part][name]) for part, arrays in parts.items() for name, array in arrays.items())


@pytest.mark.parametrize(
    "options", [SMALL, dataclasses.replace(SMALL, expert="none", heads=("buy", "turn", "build"), parent="algorithmic")]
)
def test_a_run_that_was_killed_and_resumed_ends_in_the_same_weights(tmp_path: Path, options: DQNOptions) -> None:
    whole = train(dataclasses.replace(options, out=tmp_path / "whole"))
    broken = dataclasses.replace(options, out=tmp_path / "broken")
    for stop_after, resume in ((1, False), (2, True)):  # while the expert is watched, and later
        with pytest.raises(KeyboardInterrupt):
            train(broken, stop_after=stop_after, resume=resume)
    resumed = train(broken, resume=True)
    assert resumed.step == whole.step >= options.steps
    assert resumed.learner.updates == whole.learner.updates > 20
    assert same(whole, resumed)
    assert [path.name for path in checkpoints.paths(broken.out / "checkpoints")][-1] == f"step-{whole.step:012d}"
    assert len(checkpoints.paths(broken.out / "checkpoints")) == checkpoints.KEPT
    other = train(dataclasses.replace(options, out=tmp_path / "other", seed=1))
    assert not same(whole, other)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"steps": 0}, "--steps must be 1 or more, not 0"),
        ({"discount": 1.5}, "--discount must be from 0 to 1, not 1.5"),
        ({"learning_rate": float("nan")}, "--learning-rate must be from"),
        ({"opponents": ("algoritmic",)}, "Unknown policy 'algoritmic'. Did you mean 'algorithmic'"),
        ({"rules": "oficial"}, "Unknown preset 'oficial'. Did you mean 'official'"),
        ({"encoding": "ocnaru"}, "Unknown encoding 'ocnaru'"),
        ({"reward": "wins"}, "Unknown reward 'wins'. Did you mean 'win'"),
        ({"heads": ("biuld",)}, "Unknown head 'biuld'. Did you mean 'build'"),
        ({"heads": ("buy",)}, "name a parent that does"),
        ({"encoding": "ocnaru100", "num_players": 3}, "for 2 players"),
        ({"final_games": (5, 5)}, "one number per policy of the panel"),
        ({"replay": 3}, "--replay 3 must hold a batch of 8"),
        ({"hidden": (16, 0)}, "--hidden must be 1 or more"),
        ({"opponents": ("gone.safetensors",)}, "gone.safetensors"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(MonopolyError, match=reason):
        dqn.check(dataclasses.replace(SMALL, **changes))  # type: ignore[arg-type]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200"}
    words = [sys.executable, "-m", "training.dqn", "--preset", "plain", *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


def test_the_command_trains_saves_and_resumes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    tiny = ["--steps", "1000", "--games", "24", "--panel", "random", "--panel-games", "4", "--final-games", "20", "--out", str(folder)]
    done = command(*tiny, "--json")
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["opponents"][0]["games"] == 20
    assert json.loads((folder / "evaluation.json").read_text())["opponents"] == results["opponents"]
    assert isinstance(agents.load(folder / "agent.safetensors"), NeuralPolicy)
    assert list((folder / "curves").glob("events.*"))
    again = command(*tiny)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.startswith("error: ")
    assert "--resume" in again.stderr
    other = command(*tiny, "--resume", "--discount", "0.5", "--n-step", "7")
    assert other.returncode == 2
    assert "discount is 0.5, was 0.99" in other.stderr
    assert "n_step is 7, was 10" in other.stderr
    finished = command(*tiny, "--resume")
    assert finished.returncode == 0, finished.stderr
    assert "random" in finished.stdout
