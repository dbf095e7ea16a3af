"""A run of a learner of choices: watch, play, measure after each phase, save, resume."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from monopoly_env.cli.terminal import TextTable
from training import cluster
from training.cluster import PlayGames
from training.learner import ChoiceLearner
from training.learner_options import LearnerOptions, Named
from training.run.options import FREE, NONE, digests_of, result_settings
from training.run.panel import FINAL_SEED
from training.run.session import Session


def train(learner: ChoiceLearner, session: Session) -> None:
    """Both phases, and what the agent wins before and after each."""
    options, report, clock = learner.options, session.report, session.report.clock
    _measure(
        learner, session, 0, "untrained" if options.start == NONE else f"{options.start}, as given"
    )
    if learner.expert is not None and options.watch:
        report.begin(options.watch, learner.watched, "choices", stage="watching")
        while learner.watched < options.watch:
            with clock("watching"):
                report.log(learner.watch())
            report.advance(learner.watched, "watching")
            report.curves(learner.watched, None, learner.finished)
        if not _measured(learner, 1):
            learner.introduce()
        _measure(learner, session, 1, f"after watching {options.expert}")
    report.begin(options.steps, learner.step, "choices", stage="own games")
    while learner.step < options.steps:
        before = learner.step
        with clock("playing"):
            choices = learner.play()
        with clock("learning"):
            report.log(learner.learn(choices) | {"won": float(choices.outcome.mean())})
        if learner.exploit_due(before):
            with clock("exploiting"):
                report.log(learner.exploit())
        session.after_iteration(learner, before, "own games", learner.blocks * options.block_games)
        del choices  # before the next block is played: one may take a gigabyte
    _measure(learner, session, 2, "after own games")


def _measured(learner: ChoiceLearner, stage: int) -> bool:
    return any(row["stage"] == stage for row in learner.stages)


def _measure(learner: ChoiceLearner, session: Session, stage: int, title: str) -> None:
    """Measure the agent after a stage, unless a resumed run has done so, and write a checkpoint."""
    if _measured(learner, stage):
        return
    options = learner.options
    # untrained networks play long games
    games = options.panel_games if stage == 0 and options.start == NONE else options.final_games
    with session.report.clock("evaluation"):
        rows = session.measure(
            learner.agent(),
            learner.panel,
            [games] * len(learner.panel),
            learner.rules,
            FINAL_SEED,
            options.num_players,
        )
    session.report.evaluated(learner.step, rows)
    learner.stages.append(
        {
            "stage": stage,
            "title": title,
            "choices": learner.watched + learner.step,
            "opponents": rows,
        }
    )
    session.keep(learner, learner.step)


def execute(
    options: LearnerOptions,
    learner_of: type[ChoiceLearner],
    named: Named,
    console: Console,
    play_games: PlayGames | None = None,
) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint; the agent is what the networks are at the end.

    Args:
        options: Of the run.
        learner_of: The learner.
        named: What `learner_options.check` found.
        console: Where progress is shown.
        play_games: Plays the games that are learned from; by default where `--cluster` says.

    Raises:
        MonopolyError: A folder that can't be used, a checkpoint that is missing or damaged, a loss
            that is not finite, a cluster that fails.
    """
    files = digests_of((options.expert, options.start, *options.opponents, *options.panel))
    more = {"files": files} if files else {}  # another run may go on and write them anew
    settings = result_settings(
        options, (*FREE, "threads", "device", "cluster"), learner=learner_of.__name__, **more
    )
    budget = f"{options.watch:,} + {options.steps:,} choices"
    with (
        cluster.joined(options.cluster, options.threads) as place,
        Session.open(
            options, settings, console, budget, runner_type=place.runner, threads=options.threads
        ) as session,
    ):
        learner = learner_of(options, named, play_games or place.play_games)
        if options.resume:
            session.restore(learner)
        train(learner, session)
        learner.agent().save(session.run.agent)
        return session.finish(
            options.rules,
            learner.step,
            learner.stages[-1]["opponents"],
            "choices",
            stages=learner.stages,
        )


def show(results: dict[str, Any]) -> None:
    """Print what the agent won before and after each phase."""
    stages = results["stages"]
    table = TextTable(
        title=f"{results['agent']}: games won against",
        caption="Every seed is played from each seat. Intervals: Wilson, 95%.",
    )
    table.add_column("the agent")
    table.add_column("choices", justify="right")
    for row in stages[0]["opponents"]:
        table.add_column(row["opponent"], justify="right")
    for stage in stages:
        rates = [
            f"{row['win_rate']:.1%} ({row['low']:.1%} - {row['high']:.1%})"
            for row in stage["opponents"]
        ]
        table.add_row(stage["title"], f"{stage['choices']:,}", *rates)
    Console().print(table)
