"""Plain deep Q-learning from games of one's own: `python -m training.dqn --preset plain --help`.

python -m training.dqn --preset plain                             # two players, minutes
python -m training.dqn --preset plain --steps 300000 --out runs/short   # a smaller budget
python -m training.dqn --preset plain --expert none --epsilon-start 1   # nobody shows it anything

The algorithm is `train`, from top to bottom. First an expert is watched: its decisions are learned by a margin, its games by
their outcome. Then the learner plays, against itself and others, and goes on learning from both. Budgets, evaluations and
checkpoints are counted in steps - decisions answered - never in seconds, so a run that was killed and resumed ends in the same
weights as one that was not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import torch
from rich.console import Console

from agents.networks.repertoire import OFFER_HEADS, Repertoire
from agents.networks.values import NeuralPolicy
from monopoly_env import encoding as encodings
from monopoly_env import rewards
from monopoly_env.actions import HEAD_NAMES
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy import files
from monopoly_env.policy.names import names
from monopoly_env.policy.resolve import resolve
from monopoly_env.rules import Rules
from monopoly_env.vector import VectorMonopoly
from training.experience.replay import Replay, Transitions
from training.experience.sources import EpsilonGreedy, Source
from training.learner import Learner
from training.networks import HeadNetworks
from training.run import checkpoints
from training.run import panel as evaluation
from training.run.devices import device_of
from training.run.folder import Run, exclusive
from training.run.options import check_ranges, shaping
from training.run.report import Reporter

SELF: Final = "self"  # among the opponents
NOBODY: Final = "none"  # in place of an expert or a parent
LEARNED: Final = tuple(head for head in HEAD_NAMES if head not in OFFER_HEADS)
_LOGS: Final = 100  # points of a curve


@dataclass(frozen=True)
class Options:
    """Deep Q-learning with a network a head from games of one's own and of an expert who is watched.

    The folder of a run holds config.json, curves for TensorBoard, checkpoints, the agent (`agents.load` plays it) and its win
    rates. A run that was stopped goes on with --resume and the same settings.
    """

    steps: int = 1_000_000
    """The budget: decisions answered in all games, the expert's included. Evaluations, checkpoints and epsilon follow it."""
    out: Path = Path("runs/dqn")
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

    opponents: tuple[str, ...] = (SELF, "algorithmic")
    """Against whom the learner plays, in equal parts: policies by name or file, and `self` for all seats."""
    games: int = 192
    """Games under way at once, over all opponents."""
    expert: str = "algorithmic"
    """Policy that is watched first, playing itself; `none`: learn from own games alone."""
    expert_fraction: float = 0.25
    """Share of the steps in which the expert is watched."""
    expert_batch: int = 8
    """Transitions of the expert for each head in a batch, once the learner plays."""
    margin: float = 0.03
    """By how much the expert's action shall be valued above others, in units of reward."""
    margin_weight: float = 1.0
    """Weight of that demand beside the Huber loss; 0: the expert is only data."""

    heads: tuple[str, ...] = LEARNED
    """Heads that get a network. With a parent, any; without, all but those that make offers."""
    parent: str = "none"
    """Policy that plays the other heads; the learner decides where its answer lies in one of his. `none`: offers are not made."""
    raise_freely: bool = False
    """Let the learner sell and mortgage also where no debt is due. Such choices are many and seldom matter."""
    hidden: tuple[int, ...] = (128, 64, 32)
    """Units of the hidden layers of each network."""

    n_step: int = 10
    """Own decisions that a transition reaches on."""
    discount: float = 0.99
    """Weight of what comes one own decision later."""
    learning_rate: float = 5e-4
    """Adam's."""
    batch: int = 64
    """Transitions of each head in a gradient step."""
    replay: int = 30_000
    """Transitions kept of each head."""
    update_every: int = 400
    """Steps for each gradient step."""
    target_every: int = 200
    """Gradient steps between two copies to the target networks."""
    epsilon_start: float = 0.3
    """Share of random actions when the learner begins to play."""
    epsilon_end: float = 0.02
    """The same at the end of exploration."""
    epsilon_fraction: float = 0.5
    """Share of the learner's own steps in which epsilon falls, in a straight line."""

    panel: tuple[str, ...] = ("random", "random/no_trades", "algorithmic")
    """Whom the agent is measured against."""
    panel_games: int = 1000
    """Games against each of them at each evaluation on the way; the best agent so far is the one that is kept."""
    final_games: tuple[int, ...] = (2000, 1000, 1000)
    """Games against each of them at the end, with other seeds."""
    evaluate_every: int = 250_000
    """Steps between two evaluations."""
    checkpoint_every: int = 250_000
    """Steps between two checkpoints."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the networks are: a GPU if there is one, or as said."""
    threads: int = 1
    """Threads of the networks; with 1, results repeat to the bit. More help on idle machines with large batches only."""


# What numbers may be: from, to; both are allowed.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("steps", "games", "n_step", "batch", "replay", "update_every", "target_every"), (1, math.inf)),
    **dict.fromkeys(("panel_games", "evaluate_every", "checkpoint_every", "threads", "hidden", "final_games"), (1, math.inf)),
    **dict.fromkeys(("margin", "margin_weight", "expert_batch", "seed"), (0, 1 << 31)),
    **dict.fromkeys(("expert_fraction", "discount", "epsilon_start", "epsilon_end", "epsilon_fraction"), (0, 1)),
    "learning_rate": (1e-9, 1),
}


def check(options: Options) -> None:
    """Check all that can be checked without compiling anything.

    Raises:
        MonopolyError: A number out of range, an unknown name, a missing file, or settings that do not go together.
    """
    check_ranges(options, _RANGES)
    known = (NOBODY, *names())
    for who in (*(name for name in options.opponents if name != SELF), *options.panel, options.expert, options.parent):
        if who not in known and Path(who).suffix != files.SUFFIX:
            raise ConfigurationError(f"Unknown policy {who!r}. {nearest(who, (SELF, *known))}")
    for broken, message in (
        (len(options.final_games) != len(options.panel), f"--final-games {options.final_games} must be a number for each of the panel."),
        (not options.panel, "--panel must name somebody to measure the agent against."),
        (not options.opponents, f"--opponents must name somebody; {SELF} for the learner itself."),
        (options.games < len(options.opponents), f"--games {options.games} must be at least one for each of the opponents."),
        (not options.hidden, "--hidden must name the units of a layer or more."),
        (options.replay < max(options.batch, options.expert_batch), f"--replay {options.replay} must hold a batch of {options.batch}."),
    ):
        if broken:
            raise ConfigurationError(message)
    Rules.preset(options.rules)
    rewards.make(options.reward)
    agent(options)  # its heads, parent and encoding
    for who in (*options.opponents, *options.panel, options.expert):
        if who not in (SELF, NOBODY):
            resolve(who)  # its file
    device_of(options.device)


def agent(options: Options, name: str = "dqn") -> NeuralPolicy:
    """The policy that is trained, with networks of zeros."""
    return NeuralPolicy(
        options.heads,
        options.hidden,
        encoding=options.encoding,
        num_players=options.num_players,
        raise_freely=options.raise_freely,
        parent=_name(options.parent),
        rules=Rules.preset(options.rules).changed(),
        name=name,
    )


def _name(given: str) -> str | None:
    return None if given == NOBODY else given


def sources_of(options: Options) -> dict[str, list[Source]]:
    """Where experience comes from, by phase: the expert's games, then the learner's own."""
    repertoire = Repertoire(options.heads, options.raise_freely)

    def source(number: int, who: str, games: int, parent: str | None) -> Source:
        opponents = None if who == SELF else [who] * (options.num_players - 1)
        vec = VectorMonopoly(
            games, options.num_players, options.rules, options.encoding, opponents, options.seed * 1000 + number, reward=options.reward
        )  # fmt: skip
        behind = resolve(parent) if parent else None
        return Source(who, vec, repertoire, options.n_step, options.discount, behind)

    share = options.games // len(options.opponents)
    phases = {"own": [source(1 + n, who, share, _name(options.parent)) for n, who in enumerate(options.opponents)]}
    if options.expert != NOBODY:
        phases["expert"] = [source(0, SELF, options.games, options.expert)]
    return phases


class Trainer:
    """A run under way: all that changes while it trains."""

    def __init__(self, options: Options) -> None:
        """Begin at step 0."""
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        self.options = options
        self.step = 0
        self.best = -1.0  # mean win rate of the best agent so far
        self.generator = np.random.Generator(np.random.PCG64(options.seed))
        features = encodings.size(options.encoding, options.num_players)
        networks = HeadNetworks(features, options.heads, options.hidden)
        self.learner = Learner(
            networks, device_of(options.device), options.learning_rate, options.target_every, options.margin, options.margin_weight
        )
        self.sources = sources_of(options)
        self.replay = {phase: Replay(options.heads, options.replay, features) for phase in self.sources}

    @property
    def expert_steps(self) -> int:
        """The step at which the learner begins to play."""
        return round(self.options.steps * self.options.expert_fraction) if "expert" in self.sources else 0

    @property
    def phase(self) -> str:
        """`expert` or `own`."""
        return "expert" if self.step < self.expert_steps else "own"

    @property
    def epsilon(self) -> float:
        """The share of random actions now."""
        options = self.options
        falling = max(1.0, options.epsilon_fraction * (options.steps - self.expert_steps))
        done = min(1.0, max(0.0, (self.step - self.expert_steps) / falling))
        return options.epsilon_start + done * (options.epsilon_end - options.epsilon_start)

    @property
    def finished(self) -> int:
        """Games that have ended."""
        return sum(source.finished for sources in self.sources.values() for source in sources)

    def agent(self) -> NeuralPolicy:
        """The networks as they are now, as a policy."""
        policy = agent(self.options)
        policy.set_arrays(self.learner.online.arrays())
        return policy

    def due(self, every: int, before: int) -> bool:
        """Whether a multiple of `every` steps, or the end, was passed since the step `before`."""
        return self.step // every > before // every or self.step >= self.options.steps

    def save(self, folder: Path) -> None:
        """Write a checkpoint."""
        parts: dict[str, Any] = self.learner.arrays()
        for phase, sources in self.sources.items():
            parts |= {f"{phase}-{number}": source.arrays() for number, source in enumerate(sources)}
            parts[f"replay-{phase}"] = self.replay[phase].arrays()
        state = {"step": self.step, "updates": self.learner.updates, "best": self.best, "generator": self.generator.bit_generator.state}
        checkpoints.write(folder, self.step, parts, state)

    def restore(self, folder: Path) -> None:
        """Go on from the last checkpoint."""
        parts, state = checkpoints.read_last(folder)
        self.step, self.best = state["step"], state["best"]
        self.generator.bit_generator.state = state["generator"]
        self.learner.set_arrays(parts, state["updates"])
        for phase, sources in self.sources.items():
            for number, source in enumerate(sources):
                source.set_arrays(parts[f"{phase}-{number}"])
            self.replay[phase].set_arrays(parts[f"replay-{phase}"])


def train(trainer: Trainer, run: Run, report: Reporter) -> None:
    """The algorithm."""
    options, clock = trainer.options, report.clock
    while trainer.step < options.steps:
        before, phase = trainer.step, trainer.phase
        # Play: one decision in every game.
        chooser = EpsilonGreedy(clock.timed("network", trainer.learner.best), trainer.epsilon, trainer.generator)
        for source in trainer.sources[phase]:
            with clock("engine"):
                trainer.replay[phase].add(source.play(chooser if phase == "own" else None))
            trainer.step += source.vec.num_games
        # Learn: a gradient step for every so many decisions.
        for _ in range(trainer.step // options.update_every - before // options.update_every):
            with clock("training"):
                own, expert = draw(trainer)
                if own is not None or expert is not None:
                    report.learned(trainer.learner.update(own, expert))
        # Tell, measure, save.
        report.advance(trainer.step, "watching the expert" if phase == "expert" else "playing")
        if trainer.due(max(1, options.steps // _LOGS), before):
            report.curves(trainer.step, trainer.finished, {"epsilon": trainer.epsilon if phase == "own" else 0.0})
        if trainer.due(options.evaluate_every, before):
            with clock("evaluation"):
                evaluation.keep_best(trainer, run, report)
        if trainer.due(options.checkpoint_every, before):
            with clock("checkpoints"):
                trainer.save(run.checkpoints)


def draw(trainer: Trainer) -> tuple[Transitions | None, Transitions | None]:
    """A batch of the learner's own transitions and one of the expert's."""
    options, replay = trainer.options, trainer.replay
    if trainer.phase == "expert":
        return None, replay["expert"].sample(trainer.generator, options.batch)
    shown = replay["expert"].sample(trainer.generator, options.expert_batch) if "expert" in replay and options.expert_batch else None
    return replay["own"].sample(trainer.generator, options.batch), shown


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
    return shaping(options)
