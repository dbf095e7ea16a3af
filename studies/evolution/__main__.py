"""Carry out the experiments, and write their page.

For example:

    # all of them: hours
    python -m studies.evolution
    # one; existing runs continue
    python -m studies.evolution --only skew --threads 2
    # a trial of seconds
    python -m studies.evolution --only skew --budget 0.02 --out runs/try --page runs/try/page.md
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import tyro
from rich.console import Console

from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError, nearest
from studies.evolution import (
    absolute,
    families,
    fitnesses,
    hypotheses,
    populations,
    pring,
    refusals,
    skew,
    trading,
)
from studies.evolution.experiment import Experiment, Outcome, Outcomes, scaled
from studies.pages import Page
from training.evolution.run import EvolutionOptions, carry_on
from training.run.folder import Run

PAGE: Final = Path("studies/data/evolution_runs.md")
PICTURES: Final = Path("docs/results/evolution_runs")
EXPERIMENTS: Final[dict[str, Experiment]] = {
    "populations": populations.EXPERIMENT,
    "skew": skew.EXPERIMENT,
    "fitnesses": fitnesses.EXPERIMENT,
    "hypotheses": hypotheses.EXPERIMENT,
    "trading": trading.EXPERIMENT,
    "pring": pring.EXPERIMENT,
    "absolute": absolute.EXPERIMENT,
    "refusals": refusals.EXPERIMENT,
    "families": families.EXPERIMENT,
}


@dataclass(frozen=True)
class Options:
    """Carry out experiments on the published evolutions, and write a page.

    Text between the sections of the page is preserved.
    """

    only: Annotated[
        tuple[str, ...], tyro.conf.arg(help=f"Which: {', '.join(EXPERIMENTS)}. Default: all.")
    ] = ()
    out: Path = Path("runs/experiments")
    """Folder of the runs. Finished runs are not played again, stopped ones continue."""
    page: Path = PAGE
    """The page, with a section for each experiment. Pictures go to docs/results/evolution_runs,
    those of another page to a folder beside it."""
    budget: float = 1.0
    """Share of generations, matches and measurements of every run, for trials."""
    only_finished: bool = False
    """Write the page of the runs that are finished, and carry out none."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""


def check(options: Options) -> list[str]:
    """The chosen experiments.

    Raises:
        ConfigurationError: An unknown experiment, or a budget out of range.
    """
    for name in options.only:
        if name not in EXPERIMENTS:
            raise ConfigurationError(f"Unknown experiment {name!r}. {nearest(name, EXPERIMENTS)}")
    if not 0 < options.budget <= 1:
        raise ConfigurationError(f"--budget {options.budget:g} must be above 0 and at most 1.")
    return [name for name in EXPERIMENTS if not options.only or name in options.only]


def carry_out(runs: Mapping[str, EvolutionOptions], options: Options, console: Console) -> Outcomes:
    """Carry out the unfinished runs.

    Raises:
        MonopolyError: A run in the folder has other settings, or a damaged checkpoint.
    """
    outcomes: dict[str, Outcome] = {}
    for number, (name, full) in enumerate(runs.items()):
        folder = options.out / name.replace(" ", "_").replace(",", "")
        settings = dataclasses.replace(
            scaled(full, options.budget), out=folder, threads=options.threads
        )
        outcomes[name] = Outcome(folder, settings)
        if outcomes[name].evaluation.is_file():
            _check_finished(outcomes[name])
        elif options.only_finished:
            del outcomes[name]
        else:
            console.print(f"{name}, run {number + 1} of {len(runs)}")
            carry_on(settings, console)
    return outcomes


def _check_finished(outcome: Outcome) -> None:
    """Raise unless the finished run in a folder has these settings.

    Raises:
        ConfigurationError: It has other settings or another length.
        FormatError: Its results are damaged.
    """
    settings = outcome.settings
    settings.check()
    Run.open(settings.out, settings.search().settings(), resume=True, overwrite=False)
    if outcome.played != settings.length:
        raise ConfigurationError(
            f"The run in {str(settings.out)!r} ended after {outcome.played} generations, not"
            f" {settings.length:,}: choose another --out."
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all runs succeed and the page is written."""
    return command.main(
        "studies.evolution", Command(Options, execute), arguments, resume_from="the last generation"
    )


def execute(options: Options, console: Console) -> int:
    """Carry out missing runs, and write the page.

    Raises:
        MonopolyError: Invalid options, or a file that can't be read or written.
    """
    names = check(options)
    pictures = PICTURES if options.page == PAGE else None
    page = Page(options.page, "# Evolution: the runs\n", pictures=pictures)
    for name in names:
        page.check(name)  # before hours of runs
    for name in names:
        experiment = EXPERIMENTS[name]
        outcomes = carry_out(experiment.runs, options, console)
        share = f" --budget {options.budget:g}" if options.budget != 1 else ""
        command = f"```sh\npython -m studies.evolution --only {name}{share}\n```"
        page.write(
            name,
            f"\n{command}\n\n{experiment.section(outcomes, page)}\n",
            f"\n## {experiment.title}\n\n",
        )
        console.print(f"{name}: written to {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
