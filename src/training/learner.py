"""The common part of `training.dqn` and `training.ppo`: games, stages and state of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from rich.console import Console

from agents.networks.policy import NetworkPolicy
from training import cluster
from training.cluster import HERE, PlayGames
from training.experience.choices import Choices
from training.imitation import imitate
from training.league import EXPLOITERS, LEARNER, PAST, League
from training.model import Model
from training.networks import Networks
from training.options import LearnerOptions, Setup
from training.run.checkpoints import Parts
from training.run.evaluation import FINAL_SEED
from training.run.options import FREE, NONE, digests_of, replaced, result_settings
from training.run.session import Session, passed

_EXPLOITER_SEED: Final = 1 << 21
_COUNTERS: Final = ("step", "imitated", "rollouts", "stages")  # in a checkpoint
_POINTS: Final = 100  # of a learning curve

Update = Callable[["Learner", Choices], dict[str, float]]  # one training step of an algorithm


class Rollout(NamedTuple):
    """League games under way.

    Attributes:
        decisions: Waits until they are played; returns the learner's decisions.
        networks: The networks that play them.
    """

    decisions: Callable[[], Choices]
    networks: Networks


class Learner:
    """An agent in training.

    Attributes:
        options: Of the algorithm.
        setup: Rules, device and policies that they name.
        model: Networks and optimizers.
        league: Opponents.
        step: Own decisions learned from so far.
        imitated: Decisions of the expert learned from so far.
        rollouts: Rollouts begun so far.
        played_by: The networks that played the last rollout: with --overlap, before the last
            update.
        stages: Measurements: of the first agent, after imitation, at the end.
    """

    def __init__(
        self, options: LearnerOptions, setup: Setup, play_games: PlayGames = HERE.play_games
    ) -> None:
        """Start at step 0; `play_games` plays the games of `LearnedAgent`."""
        torch.set_num_threads(1)
        torch.manual_seed(options.seed)
        self.options: Any = options
        self.setup = setup
        self.model = Model(setup.spec, options.optimizer, options.hardware, setup.device)
        self.play_games = setup.spec.play_games or play_games
        self.step = self.imitated = self.rollouts = 0
        self.played_by = self.model.networks
        self.stages: list[dict[str, Any]] = []
        self._prefetched: Rollout | None = None
        if setup.start:
            self.model.start_from(setup.start, options.temperature)
        past, noise = options.league.past, options.league.parameter_noise
        self.league = League(setup.opponents, options.num_players, options.seed, past, noise)

    def agent(self) -> NetworkPolicy:
        """The networks as they are now, as a policy that plays its best action."""
        return self.model.agent()

    @property
    def left(self) -> float:
        """The share of self-play that is left: 1 at the start, 0 at the end."""
        return float(max(0.0, 1 - self.step / self.options.steps))

    @property
    def learning_rate(self) -> float:
        """It falls linearly to a fiftieth."""
        return float(self.options.optimizer.learning_rate * max(0.02, self.left))

    # Games.

    def play(self) -> Choices:
        """The learner's decisions in a rollout; with --overlap the next one begins, too."""
        rollout = self._prefetched or self._begin()
        decisions = rollout.decisions()
        self._prefetched, self.played_by = None, rollout.networks
        if self.options.hardware.overlap and not self._pauses_after(decisions.size):
            self._prefetched = self._begin()
        return decisions

    def _begin(self) -> Rollout:
        """A rollout, with --overlap in the background."""
        options, league, temperature = self.options, self.options.league, self.options.temperature
        if PAST in league.opponents and self.rollouts % league.past_every == 0:
            self.league.remember(self.model.agent(temperature, PAST))
        policies, seats = self.league.seat(
            self.model.agent(temperature), league.rollout_games, self.rollouts
        )
        play = partial(
            self.play_games,
            policies,
            seats,
            np.arange(len(policies)) == LEARNER,
            rules=self.setup.rules,
            seed=options.seed,
            first=self.rollouts * league.rollout_games,
            threads=options.hardware.threads,
            turn_limit=league.turn_limit,
        )
        self.rollouts += 1
        if not options.hardware.overlap:
            return Rollout(play, self.model.networks)
        return Rollout(self.model.pool.submit(play).result, deepcopy(self.model.networks))

    def _pauses_after(self, size: int) -> bool:
        """Whether a rollout of so many decisions ends the run or is followed by other games."""
        return self.step + size >= self.options.steps or any(
            passed(every, self.step, self.step + size) for every in self._interruptions
        )

    @property
    def _interruptions(self) -> list[int]:
        """Own decisions between two evaluations, and between two exploiters if there are any."""
        league = self.options.league
        exploiters = [league.exploiter_every] if EXPLOITERS in league.opponents else []
        return [self.options.evaluation.evaluate_every, *exploiters]

    def train_exploiter(self, update: Update) -> dict[str, float]:
        """Train a copy against the agent, for the league; returns the share that it won last."""
        options = replaced(
            self.options,
            steps=self.options.league.exploiter_steps,
            seed=self.options.seed + _EXPLOITER_SEED + self.rollouts,
            opponents=("the learner",),
        )
        setup = self.setup._replace(start=None, expert=None, opponents=[self.agent()], against=[])
        with torch.random.fork_rng(devices=[]):
            exploiter = Learner(options, setup, self.play_games)
            exploiter.model.networks.load_state_dict(self.model.networks.state_dict())
            while exploiter.step < options.steps:
                rollout = exploiter.play()
                update(exploiter, rollout)
        self.league.challenge(exploiter.model.agent(self.options.temperature, EXPLOITERS))
        return {"exploiter won": float(rollout.outcome.mean())}

    # Stages of a run.

    def imitate(self, session: Session) -> None:
        """Measure the untrained agent, imitate the expert, and measure again."""
        options = self.options
        new = options.start == NONE
        self._measure(session, 0, "untrained" if new else f"{options.start}, as given")
        if self.setup.expert and new and options.imitation.imitation_steps:
            if not self._measured(1):
                self.imitated = imitate(
                    self.model, self.setup, options, self.play_games, session.report
                )
            self._measure(session, 1, f"after imitating {options.imitation.expert}")
        session.report.begin(options.steps, self.step, "decisions", stage="self-play")

    def after_update(self, update: Update, before: int, session: Session) -> None:
        """Train an exploiter, write curves, evaluate and save, if due since the step `before`."""
        options, report = self.options, session.report

        def due(every: int) -> bool:
            return passed(every, before, self.step)

        if EXPLOITERS in options.league.opponents and due(options.league.exploiter_every):
            with report.clock("exploiters"):
                report.log(self.train_exploiter(update))
        ended = self.step >= options.steps
        report.advance(self.step, "self-play")
        if due(max(1, options.steps // _POINTS)) or ended:
            report.curves(self.step, None, self.rollouts * options.league.rollout_games)
        if due(options.evaluation.evaluate_every) or ended:
            session.evaluate(
                self.agent(), self.step, self.setup.against,
                options.evaluation.evaluation_games, self.setup.rules, options.num_players,
            )  # fmt: skip
            session.keep(self, self.step)

    def finish(self, session: Session) -> dict[str, Any]:
        """Measure and save the agent; returns what evaluation.json holds."""
        self._measure(session, 2, "after self-play")
        self.agent().save(session.run.agent)
        return session.finish(
            self.options.rules, self.step, self.stages[-1]["opponents"], "decisions",
            stages=self.stages,
        )  # fmt: skip

    def _measured(self, stage: int) -> bool:
        return any(row["stage"] == stage for row in self.stages)

    def _measure(self, session: Session, stage: int, title: str) -> None:
        """Measure and save the agent after a stage, unless a resumed run has done so."""
        if self._measured(stage):
            return
        options, against = self.options, self.setup.against
        evaluation = options.evaluation
        # untrained networks play long games
        few = stage == 0 and options.start == NONE
        games = evaluation.evaluation_games if few else evaluation.final_games
        with session.report.clock("evaluation"):
            rows = session.measure(
                self.agent(), against, games, self.setup.rules, FINAL_SEED,
                options.num_players,
            )  # fmt: skip
        session.report.evaluated(self.step, rows)
        decisions = self.imitated + self.step
        self.stages.append(
            {"stage": stage, "title": title, "decisions": decisions, "opponents": rows}
        )
        session.keep(self, self.step)

    # Checkpoints.

    def state(self) -> tuple[Parts, dict[str, Any]]:
        """The content of a checkpoint."""
        generator = {"generator": torch.get_rng_state().numpy()}
        parts = {**self.model.parts(), "league": self.league.arrays(), "torch": generator}
        return parts, {name: getattr(self, name) for name in _COUNTERS}

    def set_state(self, parts: Parts, values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.model.set_parts(parts)
        self.league.set_arrays(parts["league"], self.model.agent(self.options.temperature))
        torch.set_rng_state(torch.from_numpy(parts["torch"]["generator"]))
        for name in _COUNTERS:
            setattr(self, name, values[name])
        self.model.learned = self.imitated + self.step


@contextmanager
def opened(options: LearnerOptions, console: Console) -> Iterator[tuple[Learner, Session]]:
    """A run and its learner, at its beginning or where its last checkpoint left it.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or
            damaged, a cluster that fails.
    """
    setup, hardware = Setup.of(options), options.hardware
    files = digests_of(
        (
            options.imitation.expert, options.start, *options.league.opponents,
            *options.evaluation.against,
        )
    )  # fmt: skip
    more = {"files": files} if files else {}  # another run may go on and write them anew
    settings = result_settings(
        options, (*FREE, "threads", "device", "cluster"), device=setup.device.type,
        algorithm=options.algorithm, **more,
    )  # fmt: skip
    budget = (
        f"{options.imitation.imitation_steps:,} + {options.steps:,} decisions, rounded up to whole"
        f" rollouts of {options.league.rollout_games:,} games,"
    )
    with cluster.joined(hardware.cluster, hardware.threads) as place:
        learner = Learner(options, setup, place.play_games)
        with Session.open(
            options, settings, console, budget, runner_type=place.runner, threads=hardware.threads
        ) as session:
            if options.resume:
                session.restore(learner)
            yield learner, session
