"""A training run from start to finish.

`Session.open` opens the folder, `restore` resumes, `evaluate` and `save` follow on the way,
`measure` and `finish` end it: `training.learner` is an example.

Everything is due at fixed numbers of steps, never of seconds, so a run that was killed and resumed
ends in the same weights as one that was not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console

from agents.arena.runner import Runner
from monopoly_env.cli.extras import extra
from monopoly_env.cli.terminal import TextTable
from monopoly_env.errors import MonopolyError
from monopoly_env.files import understood
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import Rules
from training.run import checkpoints
from training.run.evaluation import EVALUATION_SEED, measure, table
from training.run.folder import CONFIG, CURVES, Run, locked
from training.run.options import RunOptions
from training.run.report import Report


class DivergenceError(MonopolyError, ArithmeticError):
    """The loss is no longer a finite number: training can't continue."""


class Saved(Protocol):
    """Whatever a checkpoint holds: arrays by part and name, and JSON values."""

    def state(self) -> tuple[checkpoints.Parts, dict[str, Any]]:
        """Everything that training continues from."""
        ...

    def set_state(self, parts: checkpoints.Parts, values: Mapping[str, Any]) -> None:
        """Continue from what `state` returned."""
        ...


class Trainer(Saved, Protocol):
    """A run that has an agent at any time."""

    def agent(self) -> Policy:
        """The policy as it is now."""
        ...


class Session:
    """A run under way.

    Attributes:
        run: Its folder.
        report: Its progress bar, curves and clock.
        runner_type: Plays the games that measure it.
        threads: That do so; None: one per core.
        best: Mean win rate of the best agent so far.
    """

    def __init__(
        self,
        run: Run,
        report: Report,
        runner_type: type[Runner] = Runner,
        threads: int | None = None,
    ) -> None:
        """Start before the first evaluation; use `open`."""
        self.run = run
        self.report = report
        self.runner_type = runner_type
        self.threads = threads
        self.best = -1.0

    @classmethod
    @contextmanager
    def open(
        cls,
        options: RunOptions,
        settings: Mapping[str, Any],
        console: Console,
        budget: str,
        *,
        files: Mapping[str, str] | None = None,
        config: str = CONFIG,
        runner_type: type[Runner] = Runner,
        threads: int | None = None,
    ) -> Iterator[Session]:
        """Open the folder of a run, locked for other processes, and its report.

        Args:
            options: Where the run is, and whether it resumes or overwrites another one.
            settings: JSON values; a resumed run must have the same.
            console: Where progress is shown.
            budget: Length of the run, in words.
            files: Other files of this learner; see `Run.open`.
            config: The file of the settings.
            runner_type: Plays the games that measure the run.
            threads: That do so; by default one per core.

        Raises:
            ConfigurationError: The folder can't be used, or TensorBoard is not installed.
        """
        with extra("train"):  # of the report, before anything is written
            import torch.utils.tensorboard  # noqa: F401
        report = Report(options.out / CURVES, console)
        with locked(options.out):
            run = Run.open(
                options.out, settings, resume=options.resume, overwrite=options.overwrite,
                files=files, config=config,
                kind=type(options).out.name,
            )  # fmt: skip
            console.print(f"Compiling and setting up ... ({budget} into {run.folder})")
            with report:
                yield cls(run, report, runner_type, threads)

    def save(self, learner: Saved, step: int) -> None:
        """Write the checkpoint of a step."""
        with self.report.clock("checkpoints"):
            parts, values = learner.state()
            checkpoints.write(self.run.checkpoints, step, parts, values | {"best": self.best})

    def keep(self, learner: Trainer, step: int) -> None:
        """Write the agent as it is, and the checkpoint of a step; a stopped run leaves both."""
        learner.agent().save(self.run.agent)
        self.save(learner, step)

    def restore(self, learner: Saved) -> None:
        """Continue from the last checkpoint, or from the beginning if there is none yet.

        Raises:
            FormatError: The checkpoint is damaged, or other code wrote it.
        """
        parts, values = checkpoints.read_last(self.run.checkpoints)
        there = checkpoints.paths(self.run.checkpoints)
        if not there:
            return
        advice = "Remove it, and what was written after it, then try again."
        with understood(there[-1], advice=advice):
            self.best = values["best"]
            learner.set_state(parts, values)

    def measure(
        self,
        agent: Policy,
        against: Sequence[Policy],
        games: int,
        rules: Rules,
        seed: int,
        num_players: int = 2,
    ) -> list[dict[str, Any]]:
        """Play the agent against each opponent: rows of `evaluation.measure`."""
        return measure(
            agent, against, games, rules, seed, num_players, threads=self.threads,
            runner_type=self.runner_type,
        )  # fmt: skip

    def evaluate(
        self,
        agent: Policy,
        step: int,
        against: Sequence[Policy],
        games: int,
        rules: Rules,
        num_players: int = 2,
    ) -> None:
        """Measure the agent against each opponent; save it if it is the best so far."""
        with self.report.clock("evaluation"):
            rows = self.measure(agent, against, games, rules, EVALUATION_SEED, num_players)
            self.report.evaluated(step, rows)
            rate = sum(row["win_rate"] for row in rows) / len(rows)
            if rate > self.best:
                self.best = rate
                agent.save(self.run.best)

    def finish(
        self,
        rules: str,
        steps: int,
        rows: Sequence[Mapping[str, Any]],
        unit: str | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Write evaluation.json: rows of `measure` for the final agent, and more JSON values.

        Returns its content, and `time`: the share of each part of the run.
        """
        results = {"agent": str(self.run.agent), "rules": rules, "steps": steps} | (
            {"unit": unit} if unit else {}
        )
        results |= {"opponents": rows} | more
        self.run.write_json("evaluation.json", results)
        return results | {"time": self.report.clock.shares()}


def passed(every: float, before: int, step: int) -> bool:
    """Whether a step has reached a multiple of `every` that the one before had not."""
    return step // every > before // every


def show(results: dict[str, Any]) -> None:
    """Print the win rates that a run ended with: what `Session.finish` returned."""
    title = f"{results['agent']} after {results['steps']:,} {results.get('unit', 'steps')}"
    Console().print(table(results["opponents"], title))


def show_stages(results: dict[str, Any]) -> None:
    """Print what the agent won at each stage of a run."""
    stages = results["stages"]
    shown = TextTable(
        title=f"{results['agent']}: games won against",
        caption="Every seed is played from each seat. Intervals: Wilson, 95%.",
    )
    shown.add_column("the agent")
    shown.add_column("decisions", justify="right")
    for row in stages[0]["opponents"]:
        shown.add_column(row["opponent"], justify="right")
    for stage in stages:
        rates = [
            f"{row['win_rate']:.1%} ({row['low']:.1%} - {row['high']:.1%})"
            for row in stage["opponents"]
        ]
        shown.add_row(stage["title"], f"{stage['decisions']:,}", *rates)
    Console().print(shown)
