"""Carry out the experiments, and write their page.

python -m studies.evolution                                   # all of them: hours
python -m studies.evolution --only skew --threads 2           # one; a run that is there goes on, or is done
python -m studies.evolution --only skew --budget 0.02 --out runs/try --page runs/try/page.md   # in seconds, to see how it goes
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tyro
from rich.console import Console

from monopoly_env.core import write_atomically
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from studies.evolution import absolute, families, fitnesses, hypotheses, populations, pring, refusals, skew
from studies.evolution.experiment import Experiment, Outcome, Outcomes, Pictures, Settings, scaled
from training.evolution import options as options_of_cmaes
from training.evolution import run as cmaes
from training.evolution.genetic import options as options_of_genetic
from training.evolution.genetic import run as genetic
from training.evolution.genetic.searches import search_of
from training.run import checkpoints
from training.run.command import resumable
from training.run.folder import CONFIG, Run

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
    """Answer what the published evolutions left open; the page keeps what is written between its sections."""

    only: tuple[str, ...] = ()
    """Which: populations, skew, fitnesses, hypotheses, pring, absolute, refusals, families. Default: all."""
    out: Path = Path("runs/experiments")
    """Folder of the runs, a folder each. One that is finished is not played again, one that was stopped goes on."""
    page: Path = Path("docs/results/evolution.md")
    """The page. A section lies between two comments that name its experiment; its pictures lie in a folder beside the page."""
    budget: float = 1.0
    """Share of generations, matches and measurements of every run: to try things out."""
    threads: int | None = None
    """Cores to play on; default: all. The results are the same."""


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


def carry_out(runs: Mapping[str, Settings], options: Options, console: Console) -> Outcomes:
    """Carry out those runs that are not finished yet.

    Raises:
        MonopolyError: A run in the folder that was begun with other settings, a checkpoint that is damaged.
    """
    outcomes: dict[str, Outcome] = {}
    for number, (name, full) in enumerate(runs.items()):
        folder = options.out / name.replace(" ", "_").replace(",", "")
        settings = dataclasses.replace(scaled(full, options.budget), out=folder, threads=options.threads)
        outcomes[name] = Outcome(folder, settings)
        if outcomes[name].evaluation.is_file():
            _check_finished(outcomes[name])
        else:
            console.print(f"{name}, run {number + 1} of {len(runs)}")
            _go_on(settings, console)
    return outcomes


def _check_finished(outcome: Outcome) -> None:
    """Raise unless the run that is finished in a folder is the one that is meant.

    Raises:
        ConfigurationError: It was begun with other settings, or is shorter or longer.
        FormatError: What it found is damaged.
    """
    settings = outcome.settings
    if isinstance(settings, options_of_cmaes.Options):
        shaping = options_of_cmaes.settings(settings, options_of_cmaes.genome_of(settings))
        length = settings.generations
    else:
        kind = options_of_genetic.check(settings)
        shaping = options_of_genetic.settings(settings, kind, search_of(settings, kind).begins_with)
        length = genetic.length_of(settings)
    Run.open(settings.out, shaping, resume=True, overwrite=False)
    if outcome.played != length:
        raise ConfigurationError(
            f"The run in {str(settings.out)!r} ended after {outcome.played} generations, not {length:,}: choose another --out."
        )


def _go_on(settings: Settings, console: Console) -> None:
    """Carry out a run from its last checkpoint, or from the beginning if it has none yet."""
    saved = bool(checkpoints.paths(Run(settings.out).checkpoints))
    begun = (settings.out / CONFIG).is_file() and not saved
    settings = dataclasses.replace(settings, resume=saved, overwrite=begun)
    if isinstance(settings, options_of_cmaes.Options):
        cmaes.execute(settings, console)
    else:
        genetic.execute(settings, console)


def parted(page: Path, name: str) -> tuple[str, str, str, str]:
    """A page without the section of an experiment: what is before, the comments that the section lies between, and what is after.

    Nothing is after if the page has no such section.

    Raises:
        FormatError: One of the comments is missing, or they are in the wrong order.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    text = page.read_text() if page.is_file() else "# Evolution, reproduced\n"
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if found_begin and found_end:
        return before, begin, end, after or "\n"
    if found_begin or end in text:
        raise FormatError(f"{str(page)!r}: {begin!r} and {end!r} must both be there, in this order. Mend the page, or remove both.")
    return text, begin, end, ""


def write_section(page: Path, name: str, title: str, text: str) -> None:
    """Put a section in its place on the page, or at the end if it has none yet.

    Raises:
        FormatError: One of the comments that it lies between is missing, or they are in the wrong order.
    """
    before, begin, end, after = parted(page, name)
    written = f"{before}{begin}\n\n{text}\n\n{end}{after}" if after else f"{before}\n## {title}\n\n{begin}\n\n{text}\n\n{end}\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(page, written.encode())


@resumable("the last generation")
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit status is 0 only if all runs went through and the page is written."""
    options = tyro.cli(Options, args=arguments, prog="python -m studies.evolution", description=__doc__)
    console = Console(stderr=True)
    names = check(options)
    for name in names:
        parted(options.page, name)  # a page that is damaged is better known now than after hours
    for name in names:
        experiment = EXPERIMENTS[name]
        outcomes = carry_out(experiment.runs, options, console)
        share = f" --budget {options.budget:g}" if options.budget != 1 else ""
        command = f"```sh\npython -m studies.evolution --only {name}{share}\n```"
        text = experiment.section(outcomes, Pictures(options.page))
        write_section(options.page, name, experiment.title, f"{command}\n\n{text}")
        console.print(f"{name}: written to {options.page}")


if __name__ == "__main__":
    sys.exit(main())
