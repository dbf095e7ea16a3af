"""The thesis's training: all networks on experts' games, then one after another in games.

Everything is counted in games, never in seconds, so a run that was killed and resumed ends in the
same weights as one that was not.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from agents.networks.ocnaru import NETWORKS, OcnaruNetworks
from monopoly_env.rules import Rules
from training.experience.streams import stream
from training.ocnaru.experts import HEADS, Pool, chosen, targets
from training.ocnaru.games import Played, TrainingGames, joined
from training.ocnaru.learner import HeadLearner, Memory
from training.ocnaru.options import (
    EXPERT_ROLLOUT,
    ROLLOUT,
    OcnaruOptions,
    OcnaruPolicies,
    check,
    epsilon,
    expert_games,
    settings,
    training_games,
)
from training.run.checkpoints import Parts
from training.run.devices import device_of
from training.run.evaluation import EVALUATION_SEED, FINAL_SEED
from training.run.report import Report
from training.run.session import DivergenceError, Session, passed

EXPERTS: Final = "experts"
AFTER_EXPERTS: Final = "experts.safetensors"
# in the folder of a run, beside what every run has
FILES: Final = {AFTER_EXPERTS: "all networks after phase 1"}
EVALUATIONS: Final = 10  # of a network in phase 2
_POINTS: Final = 100  # of the curves of a stage

# Milliseconds of a game, measured on one core: for the bar, and so that there is a checkpoint at
# least every two minutes.
_COST: Final = {
    EXPERTS: 1.5, "buy": 22.0, "upgrade": 7.0, "downgrade": 4.5, "mortgage": 7.5,
    "unmortgage": 4.7, "fine": 6.8, "card": 4.4,
}  # fmt: skip
_CHECKPOINT_COST: Final = 60_000  # milliseconds of work between two checkpoints


class OcnaruTrainer:
    """Everything that changes during a run.

    Attributes:
        stage: Number of the stage: 0 the experts' games, then one per network.
        done: Games of the stage.
        learners: The networks.
        pools: Experiences of phase 1 that are not learned yet.
        memory: Replay buffer of the network in phase 2.
        acting: The weights with which that network plays the games under way.
    """

    def __init__(self, options: OcnaruOptions, policies: OcnaruPolicies) -> None:
        """Start at game 0 of the first stage, with the policies that `check` found."""
        # more help with large batches only, and results would not repeat to the bit
        torch.set_num_threads(1)
        torch.manual_seed(options.seed)
        self.options = options
        self.policies = policies
        self.rules = Rules.preset(options.rules)
        self.stages = (EXPERTS, *options.heads)
        device = device_of(options.device)
        self.learners = {
            head: HeadLearner(head, device, options.learning_rate, options.discount)
            for head in NETWORKS
            if head in options.heads
        }
        self.pools = {
            head: Pool(head, options.seed, options.expert_batch) for head in self.learners
        }
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
        """Name of the stage."""
        return self.stages[self.stage]

    @property
    def step(self) -> int:
        """Games of all stages so far."""
        return sum(self.games(stage) for stage in range(self.stage)) + self.done

    def games(self, stage: int) -> int:
        """Games of a stage."""
        if stage == 0:
            return expert_games(self.options)
        return training_games(self.options, self.stages[stage])

    def work(self, stage: int, done: int) -> float:
        """Milliseconds of one core that a run has taken when it reaches game `done` of a stage."""
        before = sum(self.games(number) * _COST[self.stages[number]] for number in range(stage))
        return before + (done * _COST[self.stages[stage]] if stage < len(self.stages) else 0.0)

    def due(self, every: float, before: int) -> bool:
        """Whether a multiple of `every` games, or the stage's end, was passed since `before`."""
        return passed(every, before, self.done) or self.done >= self.games(self.stage)

    def agent(
        self, weights: dict[str, NDArray[np.float32]] | None = None, *, everything: bool = False
    ) -> OcnaruNetworks:
        """The player: the networks trained in phase 2 so far, or all.

        `weights` are those of the network in training; by default what it has learned.
        """
        options = self.options
        heads = options.heads if everything else self.stages[1 : self.stage + 1]
        policy = OcnaruNetworks(
            heads, base_policy=options.base_policy, base_gated=options.base_gated,
            rules=self.rules.changed(), name="ocnaru",
        )  # fmt: skip
        arrays = {
            key: array for head in heads for key, array in self.learners[head].numbers().items()
        }
        policy.set_arrays(arrays | (weights or {}))
        return policy

    def state(self) -> tuple[Parts, dict[str, Any]]:
        """The content of a checkpoint."""
        parts: dict[str, dict[str, NDArray[Any]]] = {
            f"learner-{head}": learner.arrays() for head, learner in self.learners.items()
        }
        values: dict[str, Any] = {"stage": self.stage, "done": self.done}
        if self.stage == 0:
            parts |= {f"pool-{head}": pool.arrays() for head, pool in self.pools.items()}
        elif self.stage < len(self.stages):
            parts |= {"memory": self.memory.arrays(), "acting": dict(self.acting)}
            values["generator"] = self.generator.bit_generator.state
        return parts, values

    def set_state(self, parts: Parts, values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        for head, learner in self.learners.items():
            learner.set_arrays(parts[f"learner-{head}"])
        self.begin_stage(values["stage"])
        self.done = values["done"]
        if self.stage == 0:
            for head, pool in self.pools.items():
                pool.set_arrays(parts[f"pool-{head}"])
        elif self.stage < len(self.stages):
            # `begin_stage` has overwritten its target
            self.learners[self.name].set_arrays(parts[f"learner-{self.name}"])
            self.memory.set_arrays(parts["memory"])
            self.acting = dict(parts["acting"])
            self.generator.bit_generator.state = values["generator"]


def train(trainer: OcnaruTrainer, session: Session) -> None:
    """The training loop: all stages from where the trainer is."""
    whole = trainer.work(len(trainer.stages), 0)
    while trainer.stage < len(trainer.stages):
        session.report.overall(trainer.work(trainer.stage, trainer.done), whole)
        games = trainer.games(trainer.stage)
        session.report.begin(games, trainer.done, "games", stage=trainer.name)
        if trainer.stage == 0:
            learn_from_experts(trainer, session)
        else:
            learn_from_games(trainer, session)
        trainer.begin_stage(trainer.stage + 1)
        session.save(trainer, trainer.step)


def after_games(trainer: OcnaruTrainer, games: int, session: Session) -> None:
    """Count games; write curves, evaluate and save where that is due."""
    before, report, options = trainer.done, session.report, trainer.options
    trainer.done += games
    stage, total = trainer.stage, trainer.games(trainer.stage)
    report.advance(trainer.done)
    report.overall(trainer.work(stage, trainer.done), trainer.work(len(trainer.stages), 0))
    if trainer.due(max(1, total // _POINTS), before):
        shares = {"epsilon": epsilon(options, trainer.name, trainer.done - 1)} if stage else {}
        report.curves(trainer.done, shares)
    if stage > 0 and trainer.due(max(1, total // EVALUATIONS), before):
        against, games = trainer.policies.against, options.evaluation_games
        session.evaluate(trainer.agent(), trainer.done, against, games, trainer.rules)
    every = max(1, _CHECKPOINT_COST // _COST[trainer.name])
    if trainer.done < total and trainer.due(every, before):
        session.save(trainer, trainer.step)


# --- phase 1


def learn_from_experts(trainer: OcnaruTrainer, session: Session) -> None:
    """Train all networks on the experts' games."""
    options, report, total = trainer.options, session.report, trainer.games(0)
    if trainer.done < total:
        tables = list(itertools.combinations_with_replacement(trainer.policies.experts, 2))
        rollouts = stream(
            tables, total, rules=trainer.rules, encoding="ocnaru100", heads=HEADS,
            seed=options.seed, threads=options.threads,
            batch=EXPERT_ROLLOUT, first=trainer.done,
        )  # fmt: skip
        while trainer.done < total:
            with report.clock("engine"):
                experiences = next(rollouts)
            with report.clock("training"):
                for head, pool in trainer.pools.items():
                    rows, choice = chosen(head, experiences, trainer.rules)
                    asked = experiences.take(rows)
                    target = targets(head, asked, choice, trainer.rules, options.variant)
                    steps = pool.add(asked.observation, choice, target, trainer.learners[head])
                    log_losses(report, head, steps, "in phase 1")
            after_games(trainer, EXPERT_ROLLOUT, session)
    for head, pool in trainer.pools.items():
        log_losses(report, head, pool.learn(trainer.learners[head]), "in phase 1")
    report.log({f"samples/{head}": pool.samples for head, pool in trainer.pools.items()})
    report.curves(trainer.done)
    agent = trainer.agent(everything=True)
    agent.save(session.run.folder / AFTER_EXPERTS)
    with report.clock("evaluation"):
        games, against = options.evaluation_games, trainer.policies.against
        measured = session.measure(agent, against, games, trainer.rules, EVALUATION_SEED)
        report.evaluated(trainer.done, measured)


def log_losses(report: Report, head: str, losses: Sequence[Any], when: str) -> None:
    """Log means of losses and values of gradient steps; a loss must be finite.

    Raises:
        DivergenceError: It is not; the message says when.
    """
    if losses:
        loss, value = torch.stack([torch.stack(pair) for pair in losses]).double().mean(0).tolist()
        if not np.isfinite(loss):
            raise DivergenceError(
                f"The loss of network {head!r} is {loss} {when}. Try a lower --learning-rate."
            )
        report.log({f"loss/{head}": loss, f"q/{head}": value})


# --- phase 2


def learn_from_games(trainer: OcnaruTrainer, session: Session) -> None:
    """Training games of one network; rollouts are prefetched by the networks before an update."""
    options, head, total = trainer.options, trainer.name, trainer.games(trainer.stage)
    learner, report = trainer.learners[head], session.report
    own = TrainingGames(
        trainer.policies.opponents, trainer.rules, options.seed + trainer.stage, options.threads
    )

    def begin(first: int) -> list[Future[Played]]:
        numbers = range(first, min(first + ROLLOUT, total))
        shares = np.array([epsilon(options, head, number) for number in numbers])
        return own.begin(trainer.agent(trainer.acting), head, numbers, shares)

    try:
        prefetched = begin(trainer.done)
        while trainer.done < total:
            with report.clock("engine"):
                played = joined([future.result() for future in prefetched])
            trainer.acting = learner.numbers()
            prefetched = begin(trainer.done + ROLLOUT)
            with report.clock("training"):
                learn(trainer, learner, played, report)
            after_games(trainer, ROLLOUT, session)
    finally:
        own.close()


def learn(trainer: OcnaruTrainer, learner: HeadLearner, played: Played, report: Report) -> None:
    """A gradient step for every decision, in the order in which they were made."""
    options, head, moves = trainer.options, learner.head, played.moves
    moment, stale = options.moment, options.stale_previous
    rewards = played.rewards(head, options.variant, moment=moment, stale=stale)
    columns = transitions(learner, played, rewards)
    begins = np.arange(played.numbers.start + 1, played.numbers.stop)
    games = np.split(np.arange(len(moves.game)), np.searchsorted(moves.game, begins))
    losses = []
    for number, rows in zip(played.numbers, games, strict=True):
        for row in rows.tolist():
            trainer.memory.add(columns, row)
            if trainer.memory.added >= options.batch:
                batch = trainer.memory.sample(trainer.generator, options.batch)
                losses.append(learner.update(batch))
        if (number + 1) % options.target_every == 0:
            learner.copy_to_target()
    log_losses(report, head, losses, f"in game {played.numbers.stop - 1:,} of phase 2")
    asked = moves.other >= 0
    decisions = len(rewards) / len(played.numbers)
    report.log({"win rate while learning": played.won.mean(), "decisions a game": decisions})
    if len(rewards):
        realized = returns(rewards, played.last(), options.discount)
        report.log({f"return/{head}": realized.mean(), f"reward/{head}": rewards.mean()})
    if asked.any():
        report.log({f"other than the base policy/{head}": (moves.other[asked] == 1).mean()})


def transitions(
    learner: HeadLearner, played: Played, rewards: NDArray[np.float64]
) -> dict[str, torch.Tensor]:
    """The decisions as columns of `Memory`, each with the next one of its game."""
    moves, outputs = played.moves, NETWORKS[learner.head].size
    following = np.minimum(np.arange(1, len(rewards) + 1), max(len(rewards) - 1, 0))
    open_ = moves.open[following, None] >> np.arange(outputs) & 1
    columns = {
        "observation": moves.observation, "choice": moves.choice,
        "reward": rewards.astype(np.float32), "last": played.last(),
        "next": moves.observation[following], "closed": open_ == 0,
    }  # fmt: skip
    return {name: torch.from_numpy(column).to(learner.device) for name, column in columns.items()}


def returns(
    rewards: NDArray[np.float64], last: NDArray[np.bool_], discount: float
) -> NDArray[np.float64]:
    """(N,) discounted returns, from each decision to the end of its game."""
    realized = np.zeros(len(rewards))
    following = 0.0
    for row in range(len(rewards) - 1, -1, -1):
        following = rewards[row] + (0.0 if last[row] else discount * following)
        realized[row] = following
    return realized


# --- the run


def finish(trainer: OcnaruTrainer, session: Session) -> dict[str, Any]:
    """Save the player with all its networks and measure it; returns as `Session.finish` does."""
    options, agent, opponents = trainer.options, trainer.agent(), trainer.policies.final_against
    agent.save(session.run.agent)
    rows = session.measure(agent, opponents, options.final_games, trainer.rules, FINAL_SEED)
    return session.finish(options.rules, trainer.step, rows, "games")


def execute(options: OcnaruOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, then measure.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or
            damaged, a loss that is not finite.
    """
    policies = check(options)
    games = expert_games(options) + sum(training_games(options, head) for head in options.heads)
    with Session.open(
        options, settings(options), console, f"{games:,} games", files=FILES
    ) as session:
        trainer = OcnaruTrainer(options, policies)
        if options.resume:
            session.restore(trainer)
        train(trainer, session)
        return finish(trainer, session)
