"""The number of networks that a search evaluates until one balances two poles without velocities.

`python -m studies.poles --help`.

# writes the table of studies/data/poles.md: three quarters of an hour of a core
python -m studies.poles
# some searches, only on the terminal
python -m studies.poles --only esp/2.9 random --runs 5

Gomez, Schmidhuber and Miikkulainen (JMLR 2008) report the number for ESP.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.reference import table
from studies import cart
from studies.pages import Page
from studies.searches import Control
from training.evolution.esp import ESP, Fitness, Genes, Neurons, Recipe, evolve
from training.run.options import check_ranges

PAGE: Final = Path(__file__).parent / "data" / "poles.md"
HIDDEN: Final = 5

_SCHRUM: Final = replace(ESP["schrum"], challenge=0)  # the task is deterministic
_PROGRAM: Final = ESP["esp/2.9"]
Search: TypeAlias = Callable[[Fitness, Neurons, int], Iterator[Any]]


@dataclass(frozen=True)
class Options:
    """Count the networks that searches evaluate until one balances two poles, over several runs."""

    only: Annotated[
        tuple[str, ...], tyro.conf.arg(help="Searches. Default: all, and the page is written.")
    ] = ()
    runs: int = 50
    """Runs of each search."""
    seed: int = 100
    """Seed of the first run; the next run has the next seed."""
    max_networks: int = 60_000
    """Networks after which a run gives up."""
    pushes: int = 100_000
    """Pushes for which a network must balance: 33 minutes by the clock of the cart."""
    page: Path = PAGE
    """The page with the section."""
    json: bool = False
    """Print one JSON object at the end."""


# --- searches


def _esp(recipe: Recipe) -> Search:
    def search(fitness: Fitness, neurons: Neurons, seed: int) -> Iterator[Any]:
        return evolve(
            fitness,
            sub_populations=neurons.sub_populations,
            genes=neurons.genes,
            recipe=recipe,
            generations=sys.maxsize,
            seed=seed,
        )

    return search


def _random(fitness: Fitness, neurons: Neurons, seed: int) -> Iterator[Any]:
    control = Control("random", _SCHRUM, seed)
    state = control.begin(neurons.sub_populations, neurons.genes)
    while True:
        state = control.advance(state, fitness).state
        yield state


_MUTATION: Final[dict[str, Any]] = {"mutation_rate": 1.0, "mutation_size": 1.0}
SEARCHES: Final[dict[str, Search]] = {
    "schrum": _esp(_SCHRUM),
    "esp/2.9": _esp(_PROGRAM),
    "esp/3.0": _esp(ESP["esp/3.0"]),
    "esp/2.9, 3 trials": _esp(replace(_PROGRAM, trials=3)),
    "esp/2.9, more mutation": _esp(replace(_PROGRAM, **_MUTATION)),
    "esp/2.9, 3 trials, more mutation": _esp(replace(_PROGRAM, trials=3, **_MUTATION)),
    "random": _random,
}


# --- runs


class Counted:
    """The fitness of `studies.cart` with a counter.

    Attributes:
        evaluated: Networks so far.
        first: The number of the first successful one, from 1; 0: none.
    """

    def __init__(self, neurons: Neurons, steps: int) -> None:
        """Begin to count."""
        self.neurons, self.steps = neurons, steps
        self.evaluated = self.first = 0

    def __call__(self, rows: Genes, seed: int) -> NDArray[np.float64]:
        """(N,) the fitness of (N, S * G) networks."""
        found = cart.fitness(self.neurons.pack(rows), self.neurons.architecture, self.steps)
        done = np.flatnonzero(found == 1.0)
        if len(done) and not self.first:
            self.first = self.evaluated + int(done[0]) + 1
        self.evaluated += len(rows)
        return found


def needed(search: Search, seed: int, most: int, steps: int) -> int:
    """The networks that a run evaluates until one balances; 0 if none of the first `most` does."""
    counted = Counted(Neurons(cart.architecture(HIDDEN), bias=True), steps)
    for _ in search(counted, counted.neurons, seed):
        if counted.first or counted.evaluated >= most:
            break
    return counted.first if counted.first <= most else 0


def execute(options: Options, console: Console) -> dict[str, list[int]]:
    """Run all searches; returns the networks of each run. Writes the page unless `only` is given.

    Raises:
        MonopolyError: An unknown search, numbers out of range, or a damaged page.
    """
    check_ranges(
        options,
        {
            "runs": (1, 1 << 31),
            "seed": (0, 1 << 31),
            "max_networks": (1, 1 << 31),
            "pushes": (1, 1 << 31),
        },
    )
    for name in options.only:
        if name not in SEARCHES:
            raise ConfigurationError(f"Unknown search {name!r}. {nearest(name, SEARCHES)}")
    page, names = Page(options.page, "# Two poles on a cart\n"), options.only or tuple(SEARCHES)
    page.check("poles")
    jobs = [(name, options.seed + run) for name in names for run in range(options.runs)]
    found: dict[str, list[int]] = {name: [] for name in names}
    for name, seed in track(jobs, "Runs", console=console, transient=True):
        found[name].append(needed(SEARCHES[name], seed, options.max_networks, options.pushes))
    if not options.only:
        page.write("poles", f"\n{section(found, options.max_networks)}\n", "\n## Two poles\n\n")
    return found


def section(found: dict[str, list[int]], most: int) -> str:
    """The table of the page."""
    heads = ("search", "solved", "networks, median of all runs", "of those that solved it")
    return table(heads, [(f"`{name}`", *_figures(runs, most)) for name, runs in found.items()])


def _figures(runs: Sequence[int], most: int) -> tuple[str, ...]:
    """The number of successful runs, and the median, minimum and maximum of their networks."""
    solved = [number for number in runs if number]
    median = np.median([number or np.inf for number in runs])
    words = f"{median:,.0f}" if np.isfinite(median) else f"over {most:,}"
    return (
        f"{len(solved)} of {len(runs)}",
        words,
        f"{min(solved):,} to {max(solved):,}" if solved else "",
    )


def show(found: dict[str, list[int]]) -> None:
    """Print the table."""
    for name, runs in found.items():
        solved = [number for number in runs if number]
        print(
            f"{name:34} {len(solved):3} of {len(runs)} solved, networks:"
            f" {', '.join(f'{number:,}' for number in sorted(solved))}"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all runs were made."""
    return command.main("studies.poles", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
