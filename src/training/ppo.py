"""Train a Monopoly agent by proximal policy optimization, and measure it: `python -m training.ppo --help`.

python -m training.ppo                                            # the default: two players, minutes
python -m training.ppo --steps 500000 --out runs/short            # a smaller budget
python -m training.ppo --resume                                   # go on with a run that was stopped
python -m training.ppo --heads buy bid build turn --parent strategic --out runs/hybrid   # the rest is played by a parent

The algorithm is MaskablePPO of sb3-contrib: PPO (Schulman et al., "Proximal policy optimization algorithms", 2017) with illegal
actions masked (Huang and Ontanon, "A closer look at invalid action masking in policy gradient algorithms", 2020). It stands
beside `training.dqn` as something well known: the same panel, run folder and curves. Budgets, evaluations and checkpoints are
counted in steps - decisions of the learner - never in seconds, so a run that was killed and resumed ends in the same weights as
one that was not.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import set_random_seed

from agents.networks.actor import ActorPolicy
from agents.networks.repertoire import OFFER_HEADS, Repertoire
from monopoly_env import rewards
from monopoly_env.actions import HEAD_NAMES
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy import files
from monopoly_env.policy.names import names
from monopoly_env.policy.resolve import resolve
from monopoly_env.rules import Rules
from monopoly_env.vector import VectorMonopoly
from training.learner import DivergenceError
from training.run import checkpoints
from training.run import panel as evaluation
from training.run.command import resumable
from training.run.devices import device_of
from training.run.folder import Run, exclusive
from training.run.options import check_ranges, shaping
from training.run.report import Reporter
from training.sb3 import ChoiceBuffer, MonopolyVecEnv

NOBODY: Final = "none"  # in place of a parent
LEARNED: Final = tuple(head for head in HEAD_NAMES if head not in OFFER_HEADS)
_LOGS: Final = 100  # points of a curve
_NEVER: Final = 2  # iterations of a call that makes one, until the library logs by itself
_RECENT: Final = 1000  # games whose mean reward and length the curves show


@dataclass(frozen=True)
class Options:
    """Train an agent by MaskablePPO against other policies, and measure it against a panel of policies.

    The folder of a run holds config.json, curves for TensorBoard, checkpoints, the agent (`agents.load` plays it) and its win
    rates. A run that was stopped goes on with --resume and the same settings.
    """

    steps: int = 2_000_000
    """The budget: decisions of the learner in all games, those without a choice included."""
    out: Path = Path("runs/ppo")
    """Folder of the run."""
    seed: int = 0
    """Decides everything: dice, exploration, weights. On one machine, the same seed gives the same agent."""
    resume: bool = False
    """Go on from the last checkpoint of the run in --out. All settings that shape the result must be the same."""
    overwrite: bool = False
    """Remove the run that is in --out and begin anew."""
    json: bool = False
    """Print one JSON object at the end instead of the table."""

    rules: str = "ocnaru"
    """A preset of rules: official, any_time, modern, short, classic, uk, ocnaru, mukhar, pring, frayn, mukhar_trading,
    mukhar_thesis."""
    num_players: int = 2
    """Seats at the table. The others are filled with an opponent's copies."""
    encoding: str = "standard"
    """What the networks see: standard, ocnaru100, ocnaru100+."""
    reward: str = "win_shaped"
    """What is learned: win, rank or net_worth; with _shaped, changes of the share of worth are paid at once (they cancel by the end)."""

    opponents: tuple[str, ...] = ("strategic", "algorithmic")
    """Against whom the learner plays, in equal parts: policies by name or file."""
    games: int = 256
    """Games under way at once, over all opponents."""
    heads: tuple[str, ...] = LEARNED
    """Heads whose actions are learned. With a parent, any; without, all but those that make offers."""
    parent: str = NOBODY
    """Policy that plays the other heads; the learner decides where its answer lies in one of his. `none`: offers are not made."""
    raise_freely: bool = False
    """Let the learner sell and mortgage also where no debt is due. Such choices are many and seldom matter."""
    hidden: tuple[int, ...] = (128, 64)
    """Units of the hidden layers of the actor, and of the critic."""

    rollout: int = 128
    """Decisions of each game between two updates."""
    batch: int = 1024
    """Most decisions in a gradient step."""
    epochs: int = 4
    """Gradient steps that each decision takes part in."""
    learning_rate: float = 5e-4
    """Adam's, at the start: it falls to 0 in a straight line."""
    discount: float = 0.999
    """Weight of what comes one decision later."""
    gae_lambda: float = 0.98
    """Weight of later estimates in an advantage (generalized advantage estimation): 0 the next value alone, 1 the return alone."""
    clip: float = 0.2
    """By how much an update may change the probability of a decision, relative."""
    entropy: float = 0.005
    """Weight of the entropy in the loss: more explores more."""
    value_weight: float = 0.5
    """Weight of the critic's loss."""
    sample: bool = False
    """Let the agent that is measured and saved draw its actions; else it plays the likeliest."""

    panel: tuple[str, ...] = ("random", "random/no_trades", "algorithmic", "strategic")
    """Whom the agent is measured against."""
    panel_games: int = 1000
    """Games against each of them at each evaluation on the way; the best agent so far is the one that is kept."""
    final_games: tuple[int, ...] = (2000, 1000, 1000, 1000)
    """Games against each of them at the end, with other seeds."""
    evaluate_every: int = 500_000
    """Steps between two evaluations."""
    checkpoint_every: int = 250_000
    """Steps between two checkpoints."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the networks are: a GPU if there is one, or as said."""
    threads: int = 1
    """Threads of the networks; with 1, results repeat to the bit. More help on idle machines with large batches only."""


# What numbers may be: from, to; both are allowed.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("steps", "games", "rollout", "batch", "epochs", "hidden"), (1, math.inf)),
    **dict.fromkeys(("panel_games", "evaluate_every", "checkpoint_every", "threads", "final_games"), (1, math.inf)),
    **dict.fromkeys(("entropy", "value_weight", "seed"), (0, 1 << 31)),
    **dict.fromkeys(("gae_lambda",), (0, 1)),
    **dict.fromkeys(("discount", "clip", "learning_rate"), (1e-9, 1)),
}


def check(options: Options) -> None:
    """Check all that can be checked without compiling anything.

    Raises:
        MonopolyError: A number out of range, an unknown name, a missing file, or settings that do not go together.
    """
    check_ranges(options, _RANGES)
    known = names()
    for who in (*options.opponents, *options.panel, *((options.parent,) if options.parent != NOBODY else ())):
        if who not in known and Path(who).suffix != files.SUFFIX:
            raise ConfigurationError(f"Unknown policy {who!r}. {nearest(who, known)}")
    for broken, message in (
        (len(options.final_games) != len(options.panel), f"--final-games {options.final_games} must be a number for each of the panel."),
        (not options.panel, "--panel must name somebody to measure the agent against."),
        (not options.opponents, "--opponents must name somebody to play against."),
        (options.games < len(options.opponents), f"--games {options.games} must be at least one for each of the opponents."),
        (not options.hidden, "--hidden must name the units of a layer or more."),
        (options.rollout * options.games < 2, "--rollout and --games must make two decisions or more."),
    ):
        if broken:
            raise ConfigurationError(message)
    Rules.preset(options.rules)
    rewards.make(options.reward)
    agent(options)  # its heads, parent and encoding
    for who in (*options.opponents, *options.panel):
        resolve(who)  # its file
    device_of(options.device)


def agent(options: Options, name: str = "ppo") -> ActorPolicy:
    """The policy that is trained, with a network of zeros."""
    return ActorPolicy(
        options.heads,
        options.hidden,
        encoding=options.encoding,
        num_players=options.num_players,
        raise_freely=options.raise_freely,
        parent=_name(options.parent),
        sample=options.sample,
        rules=Rules.preset(options.rules).changed(),
        name=name,
    )


def _name(given: str) -> str | None:
    return None if given == NOBODY else given


def games_of(options: Options) -> MonopolyVecEnv:
    """The games: an equal part against each opponent."""
    reward = rewards.make(options.reward, options.discount)
    share = options.games // len(options.opponents)
    tables = [
        VectorMonopoly(share, options.num_players, options.rules, options.encoding, [who] * (options.num_players - 1), reward=reward)
        for who in options.opponents
    ]
    parent = _name(options.parent)
    return MonopolyVecEnv(tables, Repertoire(options.heads, options.raise_freely), resolve(parent) if parent else None)


class Trainer:
    """A run under way: all that changes while it trains."""

    def __init__(self, options: Options) -> None:
        """Begin at step 0."""
        torch.set_num_threads(options.threads)
        self.options = options
        self.step = 0  # decisions of the learner so far
        self.best = -1.0  # mean win rate of the best agent so far
        self.env = games_of(options)
        self.model = MaskablePPO(
            "MlpPolicy",
            self.env,
            learning_rate=lambda _: options.learning_rate * (1.0 - self.step / options.steps),
            n_steps=options.rollout,
            batch_size=options.batch,
            n_epochs=options.epochs,
            gamma=options.discount,
            gae_lambda=options.gae_lambda,
            clip_range=options.clip,
            ent_coef=options.entropy,
            vf_coef=options.value_weight,
            rollout_buffer_class=ChoiceBuffer,
            stats_window_size=_RECENT,
            policy_kwargs={
                "net_arch": {"pi": list(options.hidden), "vf": list(options.hidden)},
                "activation_fn": torch.nn.ReLU,
                "optimizer_kwargs": {"eps": 1e-5, "fused": True},
            },
            seed=options.seed,
            device=device_of(options.device),
        )
        self.model.set_logger(Logger(None, []))  # what it records is read in `iterate`
        self.model.policy.optimizer.register_step_pre_hook(self._check_gradients)
        self._begin(self.env.reset())

    def _begin(self, observations: NDArray[np.float32]) -> None:
        """Let the model go on from games that are under way: by itself it would begin them anew."""
        self.model._last_obs = observations
        self.model._last_episode_starts = np.ones(len(observations), np.bool_)  # of the first step, which no advantage reads

    def iterate(self) -> dict[str, float]:
        """Play a rollout and learn from it.

        Returns:
            What Stable-Baselines3 tells of it: `train/...`, `rollout/...`.

        Raises:
            DivergenceError: A gradient is not finite. The networks are left as they were.
        """
        # All chance of this iteration: a run that goes on from a checkpoint draws the same.
        words = np.random.SeedSequence([self.options.seed, self.step]).generate_state(1)
        set_random_seed(int(words[0]), using_cuda=self.model.device.type == "cuda")
        self.model.learn(self.env.num_envs * self.options.rollout, log_interval=_NEVER, reset_num_timesteps=False)
        self.step = self.model.num_timesteps
        told = {name: float(value) for name, value in self.model.logger.name_to_value.items() if name != "train/n_updates"}
        games, successes = self.model.ep_info_buffer, self.model.ep_success_buffer
        if games and successes:
            told |= {f"rollout/ep_{name}_mean": float(np.mean([game[name[0]] for game in games])) for name in ("rew", "len")}
            told["rollout/success_rate"] = float(np.mean(list(successes)))
        return told

    def _check_gradients(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        gradients = [parameter.grad for group in optimizer.param_groups for parameter in group["params"] if parameter.grad is not None]
        if not torch.stack([gradient.isfinite().all() for gradient in gradients]).all():
            raise DivergenceError(f"The loss is not finite after {self.step:,} steps. Try a lower learning rate.")

    def agent(self) -> ActorPolicy:
        """The actor as it is now, as a policy."""
        layers = [*(layer for layer in self.model.policy.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)),
                  self.model.policy.action_net]  # fmt: skip
        policy = agent(self.options)
        policy.set_arrays(
            {f"{number}.{name}": _array(value) for number, layer in enumerate(layers) for name, value in layer.state_dict().items()}
        )
        return policy

    def due(self, every: int, before: int) -> bool:
        """Whether a multiple of `every` steps, or the end, was passed since the step `before`."""
        return self.step // every > before // every or self.step >= self.options.steps

    def arrays(self) -> dict[str, dict[str, NDArray[Any]]]:
        """Parts of a checkpoint: `weights`, `optimizer` (Adam's moments, by number of the parameter) and `games`."""
        moments = self.model.policy.optimizer.state_dict()["state"]
        return {
            "weights": {name: _array(value) for name, value in self.model.policy.state_dict().items()},
            "optimizer": {f"{number}.{name}": _array(value) for number, state in moments.items() for name, value in state.items()},
            "games": self.env.arrays(),
        }

    def save(self, folder: Path) -> None:
        """Write a checkpoint."""
        checkpoints.write(folder, self.step, self.arrays(), {"step": self.step, "best": self.best})

    def restore(self, folder: Path) -> None:
        """Go on from the last checkpoint."""
        parts, state = checkpoints.read_last(folder)
        self.best, self.step, self.model.num_timesteps = state["best"], state["step"], state["step"]
        policy = self.model.policy
        policy.load_state_dict({name: torch.as_tensor(array) for name, array in parts["weights"].items()})
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for key, array in parts["optimizer"].items():
            number, name = key.split(".")
            moments.setdefault(int(number), {})[name] = torch.as_tensor(array)
        policy.optimizer.load_state_dict({"state": moments, "param_groups": policy.optimizer.state_dict()["param_groups"]})
        self.env.set_arrays(parts["games"])
        self._begin(self.env.observations())


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    return np.asarray(tensor.detach().cpu().numpy()).copy()


def train(trainer: Trainer, run: Run, report: Reporter) -> None:
    """The algorithm: play, learn; tell, measure, save."""
    options, clock, model = trainer.options, report.clock, trainer.model
    trainer.env.step_wait = clock.timed("engine", trainer.env.step_wait)  # type: ignore[method-assign]
    model.train = clock.timed("training", model.train)  # type: ignore[method-assign]
    while trainer.step < options.steps:
        before = trainer.step
        with clock("network"):
            report.learned(trainer.iterate())
        report.advance(trainer.step, "playing")
        if trainer.due(max(1, options.steps // _LOGS), before):
            report.curves(trainer.step, trainer.env.finished, {})
        if trainer.due(options.evaluate_every, before):
            with clock("evaluation"):
                evaluation.keep_best(trainer, run, report)
        if trainer.due(options.checkpoint_every, before):
            with clock("checkpoints"):
                trainer.save(run.checkpoints)


@exclusive
def execute(options: Options, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, then measure.

    Raises:
        MonopolyError: Wrong settings, a folder in the way, a checkpoint that is missing or damaged, a loss that is not finite.
    """
    check(options)
    run = Run.open(options.out, settings(options), resume=options.resume, overwrite=options.overwrite)
    console.print(f"Compiling and setting up ... ({options.steps:,} steps into {run.folder})")
    trainer = Trainer(options)
    if options.resume:
        trainer.restore(run.checkpoints)
    with Reporter(run.curves, console, options.steps, trainer.step) as report:
        train(trainer, run, report)
        shares = report.clock.shares()
    return evaluation.finish(trainer, run) | {"time": shares}


def settings(options: Options) -> dict[str, Any]:
    """The settings that shape the result, as JSON has them, and the version of the rules: a resumed run must have the same."""
    return shaping(options, algorithm="ppo")


@resumable("the last checkpoint")
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit status is 0 only if training and measuring went through."""
    options = tyro.cli(Options, args=arguments, prog="python -m training.ppo")
    results = execute(options, Console(stderr=True))
    if options.json:
        print(json.dumps(results))
    else:
        Console().print(evaluation.table(results["opponents"], f"{results['agent']} after {results['steps']:,} steps"))


if __name__ == "__main__":
    sys.exit(main())
