"""The thesis's training, from top to bottom: experts' games for all networks at once, then own games for one network after another.

Everything is counted in games, never in seconds, so a run that was killed and resumed ends in the same numbers as one that was not.
"""

from __future__ import annotations

import itertools
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from agents.networks.ocnaru import NETWORKS, OcnaruNetworks
from monopoly_env.policy.resolve import resolve_all
from monopoly_env.rules import Rules
from training.experience.streams import stream
from training.learner import DivergenceError
from training.ocnaru.experts import HEADS, Pool, chosen, goals
from training.ocnaru.games import OwnGames, Played, compiled, joined
from training.ocnaru.learner import HeadLearner, Memory
from training.ocnaru.options import BLOCK, EXPERT_BLOCK, Options, check, epsilon, expert_games, own_games, settings
from training.ocnaru.reporting import Reporter
from training.run import checkpoints
from training.run import panel as evaluation
from training.run.devices import device_of
from training.run.folder import Run, exclusive

EXPERTS: Final = "experts"
AFTER_EXPERTS: Final = "experts.safetensors"  # in the folder of a run: all networks after phase 1
EVALUATIONS: Final = 10  # of a network while it plays own games
_POINTS: Final = 100  # of the curves of a stage

# Milliseconds of a game, measured on one core: for the bar, and so that a checkpoint comes at least every two minutes.
_COST: Final = {EXPERTS: 1.5, "buy": 22.0, "upgrade": 7.0, "downgrade": 4.5, "mortgage": 7.5, "unmortgage": 4.7, "fine": 6.8, "card": 4.4}
_CHECKPOINT_COST: Final = 60_000  # milliseconds of work between two checkpoints


class Trainer:
    """A run under way: all that changes while it trains.

    Attributes:
        stage: The number of the stage: 0 the experts' games, then a network each.
        done: Games of it.
        learners: The networks.
        pools: Experiences of phase 1 that wait to be learned.
        memory: Transitions of the network that plays own games.
        acting: The numbers by which that network plays the games that are under way.
        best: Mean win rate of the best agent so far.
    """

    def __init__(self, options: Options) -> None:
        """Begin at game 0 of the first stage."""
        torch.set_num_threads(1)  # more help with large batches only, and results would not repeat to the bit
        torch.manual_seed(options.seed)
        self.options = options
        self.rules = Rules.preset(options.rules)
        self.stages = (EXPERTS, *options.heads)
        self.stage = self.done = 0
        self.best = -1.0
        device = device_of(options.device)
        self.learners = {
            head: HeadLearner(head, device, options.learning_rate, options.discount) for head in NETWORKS if head in options.heads
        }
        self.pools = {head: Pool(head, options.seed, options.expert_batch) for head in self.learners}
        self.begin_stage(0)

    def begin_stage(self, number: int) -> None:
        """Turn to the first game of a stage."""
        self.stage, self.done = number, 0
        if 0 < number < len(self.stages):
            learner = self.learners[self.stages[number]]
            learner.copy_to_target()
            self.memory = Memory(self.options.replay, NETWORKS[learner.head].size, learner.device)
            self.acting = learner.numbers()
            self.generator = np.random.Generator(np.random.PCG64([self.options.seed, number]))

    @property
    def name(self) -> str:
        """Of the stage."""
        return self.stages[self.stage]

    def games(self, stage: int) -> int:
        """Games of a stage."""
        return expert_games(self.options) if stage == 0 else own_games(self.options, self.stages[stage])

    def work(self, stage: int, done: int) -> float:
        """What is behind a run that has got so far, in milliseconds of one core."""
        before = sum(self.games(number) * _COST[self.stages[number]] for number in range(stage))
        return before + (done * _COST[self.stages[stage]] if stage < len(self.stages) else 0.0)

    def due(self, every: float, before: int) -> bool:
        """Whether a multiple of `every` games, or the end of the stage, was passed since the game `before`."""
        return self.done // every > before // every or self.done >= self.games(self.stage)

    def agent(self, numbers: dict[str, NDArray[np.float32]] | None = None, *, everything: bool = False) -> OcnaruNetworks:
        """The player: the networks that have had own games, and the one that has them now.

        Args:
            numbers: Of that one; by default those that it has learned.
            everything: All networks, whatever they have had.
        """
        options = self.options
        heads = options.heads if everything else self.stages[1 : self.stage + 1]
        policy = OcnaruNetworks(heads, parent=options.parent, gated=options.gated, rules=self.rules.changed(), name="ocnaru")
        arrays = {key: array for head in heads for key, array in self.learners[head].numbers().items()}
        policy.set_arrays(arrays | (numbers or {}))
        return policy

    def save(self, folder: Path) -> None:
        """Write a checkpoint."""
        parts: dict[str, dict[str, NDArray[Any]]] = {f"learner-{head}": learner.arrays() for head, learner in self.learners.items()}
        state: dict[str, Any] = {"stage": self.stage, "done": self.done, "best": self.best}
        if self.stage == 0:
            parts |= {f"pool-{head}": pool.arrays() for head, pool in self.pools.items()}
        elif self.stage < len(self.stages):
            parts |= {"memory": self.memory.arrays(), "acting": dict(self.acting)}
            state["generator"] = self.generator.bit_generator.state
        number = sum(self.games(stage) for stage in range(self.stage)) + self.done
        checkpoints.write(folder, number, parts, state)

    def restore(self, folder: Path) -> None:
        """Go on from the last checkpoint."""
        parts, state = checkpoints.read_last(folder)
        for head, learner in self.learners.items():
            learner.set_arrays(parts[f"learner-{head}"])
        self.begin_stage(state["stage"])
        self.done, self.best = state["done"], state["best"]
        if self.stage == 0:
            for head, pool in self.pools.items():
                pool.set_arrays(parts[f"pool-{head}"])
        elif self.stage < len(self.stages):
            self.learners[self.name].set_arrays(parts[f"learner-{self.name}"])  # `begin_stage` has overwritten its target
            self.memory.set_arrays(parts["memory"])
            self.acting = dict(parts["acting"])
            self.generator.bit_generator.state = state["generator"]


def train(trainer: Trainer, run: Run, report: Reporter) -> None:
    """The algorithm: all stages from where the trainer stands."""
    while trainer.stage < len(trainer.stages):
        report.begin(trainer.name, trainer.games(trainer.stage), trainer.done, trainer.work(trainer.stage, trainer.done))
        if trainer.stage == 0:
            watch_experts(trainer, run, report)
        else:
            play_own_games(trainer, run, report)
        trainer.begin_stage(trainer.stage + 1)
        save(trainer, run, report)


def save(trainer: Trainer, run: Run, report: Reporter) -> None:
    """Write a checkpoint."""
    with report.clock("checkpoints"):
        trainer.save(run.checkpoints)


def advance(trainer: Trainer, games: int, run: Run, report: Reporter) -> None:
    """Count games; tell, measure and save where that is due."""
    before = trainer.done
    trainer.done += games
    stage, total = trainer.stage, trainer.games(trainer.stage)
    report.advance(trainer.done, trainer.work(stage, trainer.done))
    if trainer.due(max(1, total // _POINTS), before):
        report.curves(trainer.done, {} if stage == 0 else {"epsilon": epsilon(trainer.options, trainer.name, trainer.done - 1)})
    if stage > 0 and trainer.due(max(1, total // EVALUATIONS), before):
        with report.clock("evaluation"):
            evaluate(trainer, run, report)
    if trainer.done < total and trainer.due(max(1, _CHECKPOINT_COST // _COST[trainer.name]), before):
        save(trainer, run, report)


# --- phase 1 --------------------------------------------------------------------------------------------------------------


def watch_experts(trainer: Trainer, run: Run, report: Reporter) -> None:
    """Learn all networks from the experts' games."""
    options, total = trainer.options, trainer.games(0)
    if trainer.done < total:
        tables = list(itertools.combinations_with_replacement(options.experts, 2))
        blocks = stream(
            tables, total, rules=trainer.rules, encoding="ocnaru100", heads=HEADS, seed=options.seed, threads=options.threads,
            block=EXPERT_BLOCK, first=trainer.done,
        )  # fmt: skip
        while trainer.done < total:
            with report.clock("engine"):
                experiences = next(blocks)
            with report.clock("training"):
                for head, pool in trainer.pools.items():
                    rows, choice = chosen(head, experiences, trainer.rules)
                    asked = experiences.take(rows)
                    goal = goals(head, asked, choice, trainer.rules, options.variant)
                    tell(report, head, pool.add(asked.observation, choice, goal, trainer.learners[head]), "in phase 1")
            advance(trainer, EXPERT_BLOCK, run, report)
    for head, pool in trainer.pools.items():
        tell(report, head, pool.learn(trainer.learners[head]), "in phase 1")
    report.note({f"samples/{head}": pool.samples for head, pool in trainer.pools.items()})
    report.curves(trainer.done, {})
    policy = trainer.agent(everything=True)
    policy.save(run.folder / AFTER_EXPERTS)
    with report.clock("evaluation"):
        report.evaluated(trainer.done, trainer.name, measure(trainer, policy))


def tell(report: Reporter, head: str, told: list[Any], when: str) -> None:
    """Note losses and values; stop if a loss is not finite."""
    if told:
        loss, value = torch.stack([torch.stack(pair) for pair in told]).double().mean(0).tolist()
        if not np.isfinite(loss):
            raise DivergenceError(f"The loss of network {head!r} is {loss} {when}. Try a lower --learning-rate.")
        report.note({f"loss/{head}": loss, f"q/{head}": value})


# --- phase 2 --------------------------------------------------------------------------------------------------------------


def play_own_games(trainer: Trainer, run: Run, report: Reporter) -> None:
    """Let one network play, and learn from its games; the next block is played meanwhile, by what was learned before this one."""
    options, head, total = trainer.options, trainer.name, trainer.games(trainer.stage)
    learner = trainer.learners[head]
    opponents = compiled(resolve_all(options.opponents))
    own = OwnGames(opponents, trainer.rules, options.seed + trainer.stage, options.threads)

    def begin(first: int) -> list[Future[Played]]:
        numbers = range(first, min(first + BLOCK, total))
        shares = np.array([epsilon(options, head, number) for number in numbers])
        return own.begin(trainer.agent(trainer.acting), head, numbers, shares)

    try:
        ahead = begin(trainer.done)
        while trainer.done < total:
            with report.clock("engine"):
                played = joined([future.result() for future in ahead])
            trainer.acting = learner.numbers()
            ahead = begin(trainer.done + BLOCK)
            with report.clock("training"):
                learn(trainer, learner, played, report)
            advance(trainer, BLOCK, run, report)
    finally:
        own.close()


def learn(trainer: Trainer, learner: HeadLearner, played: Played, report: Reporter) -> None:
    """A gradient step for every decision, in the order in which they were made."""
    options, head, moves = trainer.options, learner.head, played.moves
    rewards = played.rewards(head, options.variant, moment=options.moment, stale=options.stale_previous)
    columns = transitions(learner, played, rewards)
    games = np.split(np.arange(len(moves.game)), np.searchsorted(moves.game, np.arange(played.numbers.start + 1, played.numbers.stop)))
    told = []
    for number, rows in zip(played.numbers, games, strict=True):
        for row in rows.tolist():
            trainer.memory.add(columns, row)
            if trainer.memory.added >= options.batch:
                told.append(learner.update(trainer.memory.sample(trainer.generator, options.batch)))
        if (number + 1) % options.target_every == 0:
            learner.copy_to_target()
    tell(report, head, told, f"in game {played.numbers.stop - 1:,} of its own")
    asked = moves.other >= 0
    report.note({"win rate while learning": played.won.mean(), "decisions a game": len(rewards) / len(played.numbers)})
    if len(rewards):
        report.note({f"return/{head}": returns(rewards, played.last(), options.discount).mean(), f"reward/{head}": rewards.mean()})
    if asked.any():
        report.note({f"other than the parent/{head}": (moves.other[asked] == 1).mean()})


def transitions(learner: HeadLearner, played: Played, rewards: NDArray[np.float64]) -> dict[str, torch.Tensor]:
    """The decisions as columns of `Memory`: from each to the next one of the same network in the same game."""
    moves, outputs = played.moves, NETWORKS[learner.head].size
    following = np.minimum(np.arange(1, len(rewards) + 1), max(len(rewards) - 1, 0))
    open_ = moves.open[following, None] >> np.arange(outputs) & 1
    columns = {
        "observation": moves.observation,
        "choice": moves.choice,
        "reward": rewards.astype(np.float32),
        "last": played.last(),
        "next": moves.observation[following],
        "closed": open_ == 0,
    }
    return {name: torch.from_numpy(column).to(learner.device) for name, column in columns.items()}


def returns(rewards: NDArray[np.float64], last: NDArray[np.bool_], discount: float) -> NDArray[np.float64]:
    """(N,) what followed each decision until the end of its game, discounted: what the values should be."""
    realized = np.zeros(len(rewards))
    following = 0.0
    for row in range(len(rewards) - 1, -1, -1):
        following = rewards[row] + (0.0 if last[row] else discount * following)
        realized[row] = following
    return realized


# --- measuring ------------------------------------------------------------------------------------------------------------


def measure(trainer: Trainer, policy: OcnaruNetworks) -> list[dict[str, Any]]:
    """Win rates of a player against the panel."""
    panel = trainer.options.panel
    return evaluation.measure(policy, panel, [trainer.options.panel_games] * len(panel), trainer.rules, evaluation.PANEL_SEED)


def evaluate(trainer: Trainer, run: Run, report: Reporter) -> None:
    """Measure the player as it is; keep it if it is the best so far."""
    policy = trainer.agent()
    rows = measure(trainer, policy)
    report.evaluated(trainer.done, trainer.name, rows)
    rate = sum(row["win_rate"] for row in rows) / len(rows)
    if rate > trainer.best:
        trainer.best = rate
        policy.save(run.best)


def finish(trainer: Trainer, run: Run) -> dict[str, Any]:
    """Save the player with all its networks and measure it; returns what evaluation.json holds."""
    options, policy = trainer.options, trainer.agent()
    policy.save(run.agent)
    games = [options.final_games] * len(options.final_panel)
    rows = evaluation.measure(policy, options.final_panel, games, trainer.rules, evaluation.FINAL_SEED)
    steps = sum(trainer.games(stage) for stage in range(len(trainer.stages)))
    results = {"agent": str(run.agent), "rules": options.rules, "steps": steps, "unit": "games", "opponents": rows}
    run.write_json("evaluation.json", results)
    return results


@exclusive
def execute(options: Options, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, then measure.

    Returns:
        What evaluation.json holds, and `time`, the share of each part.

    Raises:
        MonopolyError: Wrong settings, a folder in the way, a checkpoint that is missing or damaged, a loss that is not finite.
    """
    check(options)
    run = Run.open(options.out, settings(options), resume=options.resume, overwrite=options.overwrite)
    trainer = Trainer(options)
    if options.resume:
        trainer.restore(run.checkpoints)
    games = sum(trainer.games(stage) for stage in range(len(trainer.stages)))
    console.print(f"Compiling and setting up ... ({games:,} games into {run.folder})")
    with Reporter(run.curves, console, trainer.work(len(trainer.stages), 0)) as report:
        train(trainer, run, report)
        shares = report.clock.shares()
    return finish(trainer, run) | {"time": shares}
