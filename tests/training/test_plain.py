"""Deep Q-learning: its targets against slow definitions, its memory, and runs that end the same however they were interrupted."""

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
from agents.networks.repertoire import Repertoire, share_out
from agents.networks.values import NeuralPolicy
from monopoly_env import encoding as encodings
from monopoly_env.actions import HEAD_NAMES, HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError
from monopoly_env.policy.protocol import Decisions
from monopoly_env.vector import VectorMonopoly
from training import plain
from training.experience.replay import Replay, Transitions, pack, unpack
from training.experience.sources import Chooser, EpsilonGreedy, Source, explore_heads
from training.learner import DivergenceError, Learner, margin_losses, targets, to_tensors
from training.networks import HeadNetworks
from training.plain import LEARNED, Options, Trainer
from training.run import checkpoints
from training.run.folder import Run
from training.run.report import Reporter

pytestmark = pytest.mark.usefixtures("one_thread")
FEATURES = 12
CPU = torch.device("cpu")
SMALL = Options(
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


def random_transitions(count: int, seed: int = 0, features: int = FEATURES) -> Transitions:
    """Transitions of random numbers; a third of them ends a game."""
    generator = np.random.default_rng(seed)
    learned = Repertoire(LEARNED).actions
    choices = (generator.random((2, count, NUM_ACTIONS)) < 0.1) & learned
    choices[:, :, HEADS["turn"].start] = True
    action = np.array([generator.choice(np.flatnonzero(row)) for row in choices[0]], np.int16)
    discount = np.where(generator.random(count) < 1 / 3, 0.0, generator.uniform(0.5, 1.0, count)).astype(np.float32)
    seen = generator.normal(size=(2, count, features)).astype(np.float16)
    reward = generator.normal(size=count).astype(np.float32)
    return Transitions(seen[0], pack(choices[0]), action, reward, discount, seen[1], pack(choices[1]))


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


def test_targets_take_the_best_open_action_over_all_heads_and_nothing_after_the_end() -> None:
    online, target, moves = networks(0), networks(1), random_transitions(60)
    heads = set()
    for row, goal in enumerate(targets(online, target, to_tensors(moves, CPU)).tolist()):
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
    nets, batch = networks(), to_tensors(random_transitions(20), CPU)
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
    batch = to_tensors(moves, CPU)
    with torch.no_grad():
        expected = nets.values(batch.observation, batch.choices).numpy()
    assert np.allclose(agent.values(batch.observation.numpy(), unpack(moves.choices)), expected, atol=1e-4)


def test_learning_fits_fixed_targets() -> None:
    moves = random_transitions(64)._replace(discount=np.zeros(64, np.float32))
    learner = Learner(networks(), CPU, 3e-3, 10, 0.1, 1.0)
    first = learner.update(moves, None)
    for _ in range(200):
        last = learner.update(moves, None)
    losses = [name for name in first if name.startswith("loss/")]
    assert sum(last[name] for name in losses) < 0.05 * sum(first[name] for name in losses)


def watched(seed: int, steps: int) -> Transitions:
    """What a deterministic expert decides in games with itself."""
    vec = VectorMonopoly(64, 2, "ocnaru", seed=seed, threads=1)
    source = Source("expert", vec, Repertoire(LEARNED), 1, 1.0, agents.make("gcp"))
    moves = Transitions.joined([source.play(None) for _ in range(steps)])
    return moves._replace(reward=np.zeros(moves.size, np.float32), discount=np.zeros(moves.size, np.float32))


def test_decisions_of_an_expert_that_were_not_seen_are_foretold() -> None:
    shown, unseen = watched(1, 4000), watched(2, 500)
    torch.manual_seed(0)
    features, updates, generator = shown.observation.shape[1], 1000, np.random.default_rng(0)
    learner = Learner(HeadNetworks(features, LEARNED, (64, 32)), CPU, 5e-3, 200, 0.1, 1.0)

    def agreement() -> float:
        foretold = learner.best(unseen.observation.astype(np.float32), unpack(unseen.choices))
        return float((foretold == unseen.action).mean())

    assert agreement() < 0.5
    for update in range(updates):
        for group in learner._optimizer.param_groups:
            group["lr"] = 5e-3 * (1 - update / updates)
        learner.update(None, shown.take(generator.integers(shown.size, size=768)))
    assert agreement() > 0.95
    assert len(set(HEAD_OF[unseen.action])) > 6


def test_an_expert_is_imitated() -> None:
    moves = random_transitions(64)._replace(discount=np.zeros(64, np.float32), reward=np.zeros(64, np.float32))
    learner = Learner(networks(), CPU, 3e-3, 10, 0.1, 1.0)
    assert learner.update(None, moves)["agreement"] < 0.5
    for _ in range(200):
        told = learner.update(None, moves)
    assert told["agreement"] > 0.95


def test_a_loss_that_is_not_finite_stops_and_leaves_the_networks() -> None:
    learner, moves = Learner(networks(), CPU, 1e-3, 10, 0.1, 1.0), random_transitions(16)
    before = learner.online.arrays()
    moves.reward[3] = np.nan
    with pytest.raises(DivergenceError, match=r"The loss is nan at update 1 \(loss/"):
        learner.update(moves, None)
    assert all(np.array_equal(before[name], array) for name, array in learner.online.arrays().items())


# --- experience ---------------------------------------------------------------------------------------------------------


class Watch(Source):
    """A source that notes what happened, for a slow reckoning."""

    def __init__(self, vec: VectorMonopoly, n_step: int, discount: float) -> None:
        super().__init__("watched", vec, Repertoire(LEARNED), n_step, discount)
        self.log: dict[tuple[int, int], list[list[object]]] = {}
        self.expected: list[tuple[int, float, float]] = []

    def play(self, choose: Chooser | None) -> Transitions:
        batch = self.batch
        choices, _ = share_out(self.repertoire, batch.action_mask, batch.decision, None)
        asked = [(game, int(batch.player[game]), batch.observation[game].copy()) for game in np.flatnonzero(choices.any(1))]
        closed = super().play(choose)
        for game, seat, seen in asked:
            self.log.setdefault((game, seat), []).append([seen, []])
        for game, seat in itertools.product(range(self.vec.num_games), range(self.vec.num_players)):
            decisions = self.log.get((game, seat), [])
            counts = not self.vec.opponents or seat == self.batch.actor[game]
            if decisions and counts:
                decisions[-1][1].append(float(self.batch.reward[game, seat]))  # type: ignore[attr-defined]
            if self.batch.terminated[game]:
                self.reckon(self.log.pop((game, seat), []))
        return closed

    def reckon(self, decisions: list[list[object]]) -> None:
        """The transitions of a player in a game that has ended: (hash of what he saw, reward, discount)."""
        trail, gamma = self._trail, self._trail.gamma
        brought = [sum(rewards) for _, rewards in decisions]  # type: ignore[call-overload]
        for i, (seen, _) in enumerate(decisions):
            reward = sum(gamma**k * r for k, r in enumerate(brought[i : i + trail.n_step]))
            discount = gamma**trail.n_step if i + trail.n_step < len(decisions) else 0.0
            self.expected.append((hash(seen.astype(np.float16).tobytes()), reward, discount))  # type: ignore[attr-defined]


@pytest.mark.parametrize("opponents", [None, ["random/no_trades"]])
def test_transitions_lead_from_a_decision_to_a_later_one_of_the_same_player_or_to_the_end(opponents: list[str] | None) -> None:
    generator = np.random.default_rng(0)
    vec = VectorMonopoly(8, 2, "ocnaru", opponents=opponents, reward="win_shaped", threads=1)
    source = Watch(vec, 4, 0.9)
    found: list[Transitions] = []
    while source.finished < 6:
        found.append(source.play(EpsilonGreedy(lambda seen, choices: explore_heads(choices, generator), 0.0, generator)))
    moves = Transitions.joined(found)
    legal = unpack(moves.choices)
    assert legal[np.arange(moves.size), moves.action].all()
    assert (legal.sum(1) > 1).all()
    told: dict[int, list[tuple[float, float]]] = {}
    for i in range(moves.size):
        told.setdefault(hash(moves.observation[i].tobytes()), []).append((float(moves.reward[i]), float(moves.discount[i])))
    assert len(source.expected) > 100
    for key, *expected in source.expected:  # games of the same beginning look the same: one of them is meant
        assert any(pair == pytest.approx(tuple(expected), abs=1e-4) for pair in told[key])
    ends = moves.reward[moves.discount == 0]
    assert ends.size
    if not opponents:  # both sides of each game that ended were told of it
        assert (ends < -0.5).any()
        assert (ends > 0.5).any()


def test_the_loser_is_told_of_a_game_that_ended_on_the_others_move() -> None:
    generator = np.random.default_rng(0)
    vec = VectorMonopoly(16, 2, "ocnaru", reward="win", threads=1)
    source = Source("self", vec, Repertoire(LEARNED), 1, 1.0)
    losses = 0
    while source.finished < 5:
        before = source.finished
        moves = source.play(lambda seen, choices: explore_heads(choices, generator))
        ends = moves.reward[moves.discount == 0]
        losses += int((ends == -1.0).sum())
        ended = np.flatnonzero(source.batch.terminated)
        assert len(ended) == source.finished - before
        assert ((ends == 1.0) | (ends == -1.0)).all()
    assert losses == source.finished


def test_an_expert_is_watched_without_being_disturbed() -> None:
    parent = agents.make("algorithmic")
    source = Source("expert", VectorMonopoly(16, 2, "ocnaru", seed=5, threads=1), Repertoire(LEARNED), 2, 1.0, parent)
    vec = VectorMonopoly(16, 2, "ocnaru", seed=5, threads=1)
    batch, memory, taken = vec.reset(), np.zeros((16, 2, agents.MEMORY)), 0
    for _ in range(200):
        at = np.arange(16), batch.player
        decisions = Decisions(vec.games, memory[at])
        actions = parent.act(decisions)
        memory[at] = decisions.memory
        moves = source.play(None)
        taken += moves.size
        assert unpack(moves.choices)[np.arange(moves.size), moves.action].all()
        batch = vec.step(actions)
        memory[batch.terminated] = 0.0
        assert source.vec.games.tobytes() == vec.games.tobytes()
    assert taken > 400


def test_replay_keeps_the_last_of_each_head() -> None:
    replay, moves = Replay(LEARNED, 50, FEATURES), random_transitions(400)
    for part in range(0, 400, 40):
        replay.add(moves.take(slice(part, part + 40)))
    for head in LEARNED:
        mine = np.flatnonzero(HEAD_OF[moves.action] == HEAD_NAMES.index(head))
        assert replay.size(head) == min(50, len(mine))
        kept = replay.arrays()[f"{head}.reward"]
        assert sorted(kept) == sorted(moves.reward[mine[-50:]])
    drawn = replay.sample(np.random.default_rng(0), 30)
    assert drawn is not None
    enough = [head for head in LEARNED if replay.size(head) >= 30]
    counts = np.bincount(HEAD_OF[drawn.action], minlength=len(HEAD_NAMES))
    assert {HEAD_NAMES[i] for i in np.flatnonzero(counts)} == set(enough)
    assert set(counts[counts > 0]) == {30}
    assert Replay(LEARNED, 50, FEATURES).sample(np.random.default_rng(0), 1) is None


def test_replay_goes_on_from_its_arrays() -> None:
    moves, copy = random_transitions(300), Replay(LEARNED, 50, FEATURES)
    replay = Replay(LEARNED, 50, FEATURES)
    replay.add(moves.take(slice(0, 170)))
    copy.set_arrays(replay.arrays())
    for kept in (replay, copy):
        kept.add(moves.take(slice(170, 300)))
    first, second = replay.arrays(), copy.arrays()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_exploration_takes_open_heads_alike() -> None:
    choices = np.zeros((6000, NUM_ACTIONS), np.bool_)
    choices[:, HEADS["turn"].start] = True
    choices[:, HEADS["unmortgage"].slice] = True
    actions = explore_heads(choices, np.random.default_rng(0))
    assert choices[np.arange(6000), actions].all()
    assert np.mean(HEAD_OF[actions] == HEAD_NAMES.index("turn")) == pytest.approx(0.5, abs=0.03)


# --- runs ---------------------------------------------------------------------------------------------------------------


def train(options: Options, *, stop_after: int | None = None, resume: bool = False) -> Trainer:
    """Train in this process; stop like one that is killed just after a number of checkpoints."""
    run = Run.open(options.out, plain.settings(options), resume=resume, overwrite=False)
    trainer = Trainer(options)
    if resume:
        trainer.restore(run.checkpoints)
    save, saved = trainer.save, itertools.count(1)

    def save_and_stop(folder: Path) -> None:
        save(folder)
        if next(saved) == stop_after:
            raise KeyboardInterrupt

    trainer.save = save_and_stop  # type: ignore[method-assign]
    with Reporter(run.curves, Console(file=io.StringIO()), options.steps, trainer.step) as report:
        plain.train(trainer, run, report)
    return trainer


def same(first: Trainer, second: Trainer) -> bool:
    parts, others = first.learner.arrays(), second.learner.arrays()
    return all(np.array_equal(array, others[part][name]) for part, arrays in parts.items() for name, array in arrays.items())


@pytest.mark.parametrize(
    "options", [SMALL, dataclasses.replace(SMALL, expert="none", heads=("buy", "turn", "build"), parent="algorithmic")]
)
def test_a_run_that_was_killed_and_resumed_ends_in_the_same_weights(tmp_path: Path, options: Options) -> None:
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


def test_a_damaged_or_missing_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No checkpoint"):
        checkpoints.read_last(tmp_path)
    checkpoints.write(tmp_path, 7, {"part": {"a": np.arange(5)}}, {"step": 7})
    parts, state = checkpoints.read_last(tmp_path)
    assert state == {"step": 7}
    assert parts["part"]["a"].tolist() == [0, 1, 2, 3, 4]
    (tmp_path / "step-000000000007" / "part.npz").write_bytes(b"nothing of the kind")
    with pytest.raises(FormatError, match="is damaged"):
        checkpoints.read_last(tmp_path)


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
        ({"heads": ("buy",)}, "a parent has to play"),
        ({"encoding": "ocnaru100", "num_players": 3}, "for 2 players"),
        ({"final_games": (5, 5)}, "a number for each of the panel"),
        ({"replay": 3}, "--replay 3 must hold a batch of 8"),
        ({"hidden": (16, 0)}, "--hidden must be 1 or more"),
        ({"opponents": ("gone.safetensors",)}, "gone.safetensors"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(MonopolyError, match=reason):
        plain.check(dataclasses.replace(SMALL, **changes))  # type: ignore[arg-type]


def test_only_a_run_is_ever_replaced(tmp_path: Path) -> None:
    run = Run.open(tmp_path / "run", {"a": 1}, resume=False, overwrite=False)
    run.agent.write_text("weights")
    with pytest.raises(ConfigurationError, match="holds a run: go on with it by --resume"):
        Run.open(run.folder, {"a": 1}, resume=False, overwrite=False)
    with pytest.raises(ConfigurationError, match=r"begun with other settings: a is 2, was 1; b is 3, was None"):
        Run.open(run.folder, {"a": 2, "b": 3}, resume=True, overwrite=False)
    with pytest.raises(ConfigurationError, match="choose one"):
        Run.open(run.folder, {"a": 1}, resume=True, overwrite=True)
    with pytest.raises(ConfigurationError, match="No run to resume"):
        Run.open(tmp_path / "nowhere", {"a": 1}, resume=True, overwrite=False)
    assert run.agent.read_text() == "weights"
    Run.open(run.folder, {"a": 2}, resume=False, overwrite=True)
    assert not run.agent.exists()
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "one.jpg").write_text("dear")
    with pytest.raises(ConfigurationError, match="is no run"):
        Run.open(photos, {}, resume=False, overwrite=True)
    assert (photos / "one.jpg").read_text() == "dear"
    with pytest.raises(ConfigurationError, match="Cannot write"):
        Run.open(photos / "one.jpg" / "run", {}, resume=False, overwrite=False)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200"}
    words = [sys.executable, "-m", "training.dqn", "--preset", "plain", *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


def test_the_command_trains_saves_and_resumes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    tiny = ["--steps", "1000", "--games", "24", "--panel", "random", "--panel-games", "4", "--final-games", "20", "--out", str(folder)]
    done = command(*tiny, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["opponents"][0]["games"] == 20
    assert json.loads((folder / "evaluation.json").read_text())["opponents"] == told["opponents"]
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
