"""Carry out the experiments, and write their page.

For example:

    # all of them: hours
    python -m studies.evolution
    # one; a run that is there goes on, or is done
    python -m studies.evolution --only skew --threads 2
    # in seconds, to see how it goes
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
)
from studies.evolution.experiment import Experiment, Outcome, Outcomes, scaled
from studies.pages import Page
from training.evolution.run import EvolutionOptions, carry_on
from training.run.folder import Run

EXPERIMENTS: Final[dict[str, Experiment]] = {
    "populations": populations.EXPERIMENT,
    "skew": skew.EXPERIMENT,
    "fitnesses": fitnesses.EXPERIMENT,
    "hypotheses": hypotheses.EXPERIMENT,
    "pring": pring.EXPERIMENT,
    "absolute": absolute.EXPERIMENT,
    "refusals": refusals.EXPERIMENT,
    "families": families.EXPERIMENT,
}


@dataclass(frozen=True)
class Options:
    """Answer what the published evolutions left open.

    The page keeps what is written between its sections.
    """

    only: Annotated[
        tuple[str, ...], tyro.conf.arg(help=f"Which: {', '.join(EXPERIMENTS)}. Default: all.")
    ] = ()
    out: Path = Path("runs/experiments")
    """Folder of the runs, a folder each.

    One that is finished is not played again, one that was stopped goes on.
    """
    page: Path = Path("docs/results/evolution.md")
    """The page. A section lies between two comments that name its experiment.

    Its pictures lie in a folder beside the page.
    """
    budget: float = 1.0
    """Share of generations, matches and measurements of every run: to try things out."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""


def check(options: Options) -> list[str]:
    """The experiments that are meant.

    Raises:
        ConfigurationError: An unknown one, a budget out of range.
    """
    for name in options.only:
        if name not in EXPERIMENTS:
            raise ConfigurationError(f"Unknown experiment {name!r}. {nearest(name, EXPERIMENTS)}")
    if not 0 < options.budget <= 1:
        raise ConfigurationError(f"--budget {options.budget:g} must be above 0 and at most 1.")
    return [name for name in EXPERIMENTS if not options.only or name in options.only]


def carry_out(runs: Mapping[str, EvolutionOptions], options: Options, console: Console) -> Outcomes:
    """Carry out those runs that are not finished yet.

    Raises:
        MonopolyError: A run in the folder that was begun with other settings, a checkpoint that is
            damaged.
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
        else:
            console.print(f"{name}, run {number + 1} of {len(runs)}")
            carry_on(settings, console)
    return outcomes


def _check_finished(outcome: Outcome) -> None:
    """Raise unless the run that is finished in a folder is the one that is meant.

    Raises:
        ConfigurationError: It was begun with other settings, or is shorter or longer.
        FormatError: What it found is damaged.
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
    """Carry out what is missing, and write the page.

    Raises:
        MonopolyError: Wrong options, or a file that can't be read or written.
    """
    names = check(options)
    page = Page(options.page, "# Evolution, reproduced\n")
    for name in names:
        page.check(name)  # a page that is damaged is better known now than after hours
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
