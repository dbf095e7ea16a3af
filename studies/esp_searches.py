"""Several runs of each search for networks of Monopoly players.

`python -m studies.esp_searches --help`.

    # six runs of each: 35 minutes of a core
    python -m studies.esp_searches
    # some of them
    python -m studies.esp_searches --only attentive cmaes --runs 3
    # only write the section of studies/data/esp_monopoly.md
    python -m studies.esp_searches --runs 0

The three kinds of network are evolved by ESP, and the feed-forward one by other searches, too, on
as many games. The results of finished runs are saved in studies/data/esp_searches.jsonl, a line
each: they are not played again, so runs of several days add up.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import tyro
from rich.console import Console

from agents.networks.esp import FORMS
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.files import read_file, read_json, understood, write_atomically
from monopoly_env.reference import table
from studies.evolution.experiment import mean_of
from studies.pages import Page
from studies.searches import ALGORITHMS, ComparedOptions, ComparedSearch
from training.cluster import HERE, Place
from training.evolution.esp_monopoly import BASE, EspMonopoly, MonopolySearch
from training.evolution.run import carry_on

PAGE: Final = Path(__file__).parent / "data" / "esp_monopoly.md"
TEMPLATE: Final = "# Networks that correct a scripted player\n"
FINISHED: Final = Path(__file__).parent / "data" / "esp_searches.jsonl"
FAMILIES: Final = ("known", "unknown")

# Each search's changes of the preset, which has the length and size of the shipped networks.
SEARCHES: Final[dict[str, dict[str, Any]]] = {form: {"network": form} for form in FORMS}
SEARCHES.update(
    {algorithm: {"algorithm": algorithm} for algorithm in ALGORITHMS if algorithm != "esp"}
)


@dataclass(frozen=True)
class ComparedMonopoly(EspMonopoly, ComparedOptions):
    """Networks of a Monopoly player, evolved by ESP or another search."""

    def search(self, place: Place = HERE) -> MonopolySearch:
        """The search before its first generation."""
        return _MonopolySearch(self, place)


class _MonopolySearch(MonopolySearch, ComparedSearch):
    options: ComparedMonopoly


PRESET: Final = ComparedMonopoly()


@dataclass(frozen=True)
class Options:
    """Evolve networks of Monopoly players several times, and compare them with the base policy."""

    only: Annotated[
        tuple[str, ...], tyro.conf.arg(help=f"Of {', '.join(SEARCHES)}. Default: all.")
    ] = ()
    runs: int = 6
    """Runs of each search; 0: only write the page."""
    generations: int = 64
    """Length of a run."""
    out: Path = Path("runs/esp_searches")
    """Folder of the runs."""
    finished: Path = FINISHED
    """File of the finished runs, which are not played again."""
    page: Path = PAGE
    """The page."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""


def settings_of(search: str, seed: int, options: Options) -> ComparedMonopoly:
    """A run of a search."""
    out = options.out / search / str(seed)
    more: dict[str, Any] = {
        "hidden": 4,
        "generations": options.generations,
        "seed": seed,
        "threads": options.threads,
        "out": out,
    }
    return dataclasses.replace(PRESET, **SEARCHES[search], **more)


def carry_out(search: str, seed: int, options: Options, console: Console) -> dict[str, Any]:
    """Carry out or continue a run; returns the gain over the base policy, by families.

    Raises:
        MonopolyError: The run in the folder has other settings, or a damaged checkpoint.
    """
    results = carry_on(settings_of(search, seed, options), console)
    found = {row["families"]: round(float(row["difference"]), 4) for row in results["measured"]}
    return {"search": search, "seed": seed, "generations": options.generations} | found


def read(path: Path) -> dict[tuple[str, int, int], dict[str, Any]]:
    """The finished runs, by search, length and seed.

    Raises:
        FormatError: The file is damaged.
    """
    if not path.is_file():
        return {}
    with understood(path):
        rows = [read_json(line) for line in read_file(path).splitlines()]
        return {(row["search"], row["generations"], row["seed"]): row for row in rows}


def section(rows: Sequence[dict[str, Any]]) -> str:
    """A row for each search: means over its runs with 95% intervals by Student's t, in points."""
    lines = []
    for search in SEARCHES:
        mine = [row for row in rows if row["search"] == search]
        if mine:
            found = [
                mean_of(np.array([100 * row[families] for row in mine])) for families in FAMILIES
            ]
            cells = [
                f"{mean:+.1f}" + (f" ± {half:.1f}" if len(mine) > 1 else "") for mean, half in found
            ]
            lines.append((f"`{search}`", str(len(mine)), *cells))
    return table(
        (
            "search",
            "runs",
            *(f"wins more than `{BASE}`: {families} families" for families in FAMILIES),
        ),
        lines,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all runs succeed and the page is written."""
    return command.main(
        "studies.esp_searches",
        Command(Options, execute),
        arguments,
        resume_from="the last generation",
    )


def execute(options: Options, console: Console) -> int:
    """Carry out missing runs, and write the page.

    Raises:
        MonopolyError: Invalid options, or a file that can't be read or written.
    """
    for name in options.only:
        if name not in SEARCHES:
            raise ConfigurationError(f"Unknown search {name!r}. {nearest(name, SEARCHES)}")
    if options.runs < 0:
        raise ConfigurationError(f"--runs {options.runs} must be 0 or more.")
    page, done = Page(options.page, TEMPLATE), read(options.finished)
    page.check("runs")  # before hours of runs
    for seed in range(options.runs):
        for search in options.only or SEARCHES:
            if (search, options.generations, seed) not in done:
                console.print(f"{search}, seed {seed}")
                done[search, options.generations, seed] = carry_out(search, seed, options, console)
                lines = [json.dumps(done[key]) for key in sorted(done)]
                write_atomically(options.finished, ("\n".join(lines) + "\n").encode())
    rows = [row for (_, length, _), row in sorted(done.items()) if length == options.generations]
    if rows:
        page.write("runs", section(rows), "\n## Several runs of each search\n\n")
    console.print(f"Written to {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
