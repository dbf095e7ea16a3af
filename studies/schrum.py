"""Schrum's experiments with networks for Pente, repeated: `python -m studies.schrum --help`.

    # all cells at full length, 20 runs each: days on one core
    python -m studies.schrum
    # shorter; existing runs continue
    python -m studies.schrum --only two --runs 5 --generations 200 --threads 1
    # only write the page from finished runs
    python -m studies.schrum --runs 0

A cell is one setting of `studies.pente_esp`; its runs differ only in their seed. The results of
finished runs are saved in studies/data/schrum.jsonl, a line each: they are not played again, so
runs of several days add up. The sections of studies/data/schrum_runs.md show the saved runs, their
number and length. A section without runs is preserved.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.files import read_file, read_json, understood, write_atomically
from monopoly_env.reference import table
from studies.evolution.experiment import mean_of
from studies.pages import Page
from studies.pente_esp import NETWORKS, PROGRAMS, SCHRUM, Schrum
from training.evolution.run import CURVES, carry_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE: Final = Path(__file__).parent / "data" / "schrum_runs.md"
PICTURES: Final = Path(__file__).parents[1] / "docs" / "results" / "esp"
TEMPLATE: Final = "# Schrum's experiments: the runs\n"
FINISHED: Final = PAGE.with_name("schrum.jsonl")
_EVALUATION: Final = "evaluation.json"
_CHAMPION: Final = "champion/"  # prefix of the curves of champions
_STAYS: Final = 0.95  # of the games of a test: a champion hardly ever loses
_PARTS: Final = 100  # of a saved curve

# --- cells

# The players' choices (P20, P21) and the number of hidden units (E1), which the text leaves open.
_FIXED: Final = {"ends": "forward", "opening_stone": "nearest"}
READINGS: Final[dict[str, dict[str, Any]]] = {
    "random": {},
    "fixed": _FIXED,
    "fixed-5-units": _FIXED | {"hidden": 5},
}
# One change each of `random`: P20 alone, P21 alone, P28, P14.
_FORWARD, _NEAREST, _POINTS, _TIES = (
    {"ends": "forward"},
    {"opening_stone": "nearest"},
    {"moves_max": "points"},
    {"ties": "random"},
)
SHORT: Final = {"two": 100, "pairs": 50}  # generations of the runs that compare these


def _cells() -> dict[str, dict[str, Any]]:
    """Each cell's changes of the preset, by name; the part before the slash is its section."""
    cells: dict[str, dict[str, Any]] = {}
    for experiment, generations in SHORT.items():
        own = {"experiment": experiment}
        for name, reading in READINGS.items():
            cells[f"{experiment}/{name}"] = own | reading
        readings = {
            "random": {},
            "forward": _FORWARD,
            "nearest": _NEAREST,
            "points": _POINTS,
            "ties": _TIES,
        }
        for name, reading in readings.items():
            cells[f"{experiment}/short/{name}"] = own | {"generations": generations} | reading
        cells |= {
            f"{experiment}/random-points": own | _POINTS,
            f"{experiment}/random-ties": own | _TIES,
        }
    cells["two/fixed-10-neurons"] = {"experiment": "two", "neurons": 10} | _FIXED
    cells["two/short/2-inputs"] = {
        "experiment": "two",
        "generations": SHORT["two"],
        "inputs": 2,
    }
    cells["two/short/hall"] = {"experiment": "hall", "generations": SHORT["two"]}
    for network in NETWORKS[1:]:
        cells[f"pairs/short/{network}"] = {
            "experiment": "pairs",
            "generations": SHORT["pairs"],
            "network": network,
        }
    cells["better/fixed-points/recurrent"] = (
        {"experiment": "better", "network": "recurrent"} | _FIXED | _POINTS
    )
    for network in NETWORKS:
        own = {"network": network}
        for name in ("fixed", "fixed-5-units", "random"):
            cells[f"better/{name}/{network}"] = {"experiment": "better"} | READINGS[name] | own
        for experiment in ("colluders", "lot"):
            cells[f"memory/{experiment}/{network}"] = {
                "experiment": experiment,
                "generations": 60,
            } | own
    one_change: dict[str, dict[str, Any]] = {"esp": {}}
    one_change |= {
        algorithm: {"algorithm": algorithm} for algorithm in ("genetic", "cmaes", "random")
    }
    one_change |= {name.replace("/", "-"): changes for name, changes in PROGRAMS.items()}
    one_change |= {"forward": _FORWARD, "nearest": _NEAREST, "fixed": _FIXED, "points": _POINTS}
    one_change |= {"no-bursts": {"stagnation": 0}, "more-bursts": {"stagnation": 5}}
    one_change |= {"unpaired": {"paired": False}, "20-units": {"hidden": 20}}
    one_change |= {"captures": {"captures": True}, "wins_alone": {"wins_alone": True}}
    one_change |= {"factor0": {"factor": 0.0}, "factor1": {"factor": 1.0}}
    # as many games as from all three
    one_change |= {f"seat{seat}": {"seat": seat, "matches": 30} for seat in (1, 2, 3)}
    one_change["gomoku"] = {"experiment": "gomoku"}
    boards: dict[str, dict[str, Any]] = {
        "7-window": {"window": 9},
        "11": {"size": 11},
        "11-window": {"size": 11, "window": 9},
    }
    short = {"experiment": "better", "generations": 100}
    cells |= {f"changes/{name}": short | changes for name, changes in one_change.items()}
    return cells | {f"boards/{name}": short | changes for name, changes in boards.items()}


CELLS: Final = _cells()
ESP_ITSELF: Final = "changes/esp"  # what the other cells of `changes` and `boards` change


@dataclass(frozen=True)
class Finished:
    """A finished run.

    Attributes:
        generations: Its length.
        rates: The win rate of the best network in fresh games, by test.
        champions: The win rate of a generation's champion in its own evaluation: means of equal
            parts of the run, at most `_PARTS` (the last one may be shorter).
        settings: A digest of the settings that determine the result.
        all_won: The first generation whose champion won all games of a test in its own evaluation,
            by test; 0: none. Older runs lack this and the following fields.
        least: The lowest such win rate of a champion in the last quarter of the run, by test.
        seats: The win rate of the best network in fresh games from each of its seats, by test.
        by_chance: Its win rate against builders that play by chance, by test, if it met others.
    """

    generations: int
    rates: dict[str, float]
    champions: list[float]
    settings: str
    all_won: dict[str, int] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)
    seats: dict[str, list[float]] = field(default_factory=dict)
    by_chance: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of_folder(cls, folder: Path, settings: Schrum) -> Finished:
        """A finished run from its folder.

        Raises:
            FormatError: A file is damaged.
        """
        with understood(folder / _EVALUATION):
            results: dict[str, Any] = read_json(read_file(folder / _EVALUATION))
            rates, by_chance = (
                {test["opponents"]: float(test["win_rate"]) for test in results.get(tests, ())}
                for tests in ("tests", "by_chance")
            )
            seats = {test["opponents"]: _by_seat(test) for test in results["tests"]}
        with understood(folder / CURVES):
            found = np.atleast_1d(
                np.genfromtxt(folder / CURVES, delimiter=",", names=True, deletechars="")
            )
            own = {
                name.removeprefix(_CHAMPION): found[name]
                for name in found.dtype.names or ()
                if name.startswith(_CHAMPION)
            }
            champions = np.mean([*own.values()], axis=0)
        starts = _starts(len(champions))
        parts = [round(float(part.mean()), 4) for part in np.split(champions, starts[1:])]
        all_won = {
            test: int(np.append(np.flatnonzero(shares == 1) + 1, 0)[0])
            for test, shares in own.items()
        }
        least = {
            test: round(float(shares[3 * len(shares) // 4 :].min()), 4)
            for test, shares in own.items()
        }
        generations, settings_digest = int(results["generations"]), digest(settings)
        return cls(generations, rates, parts, settings_digest, all_won, least, seats, by_chance)

    @property
    def middles(self) -> NDArray[np.float64]:
        """The generation in the middle of each part."""
        starts = _starts(self.generations)
        return np.asarray((starts + 1 + np.append(starts[1:], self.generations)) / 2)


def _by_seat(test: Mapping[str, Any]) -> list[float]:
    wins: list[int] = test["wins_by_seat"]
    return [round(won * len(wins) / test["games"], 4) for won in wins]


def _starts(generations: int) -> NDArray[np.int64]:
    """The first generation of each part of a run, from 0."""
    return np.arange(0, generations, -(-generations // _PARTS))


def digest(settings: Schrum) -> str:
    """A short hash of the settings that determine the result."""
    return hashlib.sha256(
        json.dumps(settings.search().settings(), sort_keys=True).encode()
    ).hexdigest()[:16]


# --- saved runs


class SavedRuns:
    """The finished runs of all cells in one file, a line each, from several days and machines.

    Runs with outdated settings are ignored.
    """

    def __init__(self, path: Path) -> None:
        """Read the file, if there is one.

        Raises:
            FormatError: It is damaged.
        """
        self._path = path
        self._runs: dict[tuple[str, int], Finished] = {}
        if path.is_file():
            with understood(path):
                for line in read_file(path).splitlines():
                    found = read_json(line)
                    key = found.pop("cell"), found.pop("seed")
                    self._runs[key] = Finished(**found)

    def find(self, cell: str, seed: int) -> Finished | None:
        """A run, unless it has other settings."""
        run = self._runs.get((cell, seed))
        return run if run and run.settings == digest(settings_of(cell, seed, Options())) else None

    def finished(self, cell: str) -> list[Finished]:
        """The runs of a cell."""
        runs = [self.find(cell, seed) for name, seed in sorted(self._runs) if name == cell]
        return [run for run in runs if run is not None]

    def add(self, cell: str, seed: int, run: Finished) -> None:
        """Add a run, and write the file."""
        self._runs[cell, seed] = run
        lines = [
            json.dumps({"cell": name, "seed": number} | asdict(self._runs[name, number]))
            for name, number in sorted(self._runs)
        ]
        write_atomically(self._path, ("\n".join(lines) + "\n").encode())


# --- running


@dataclass(frozen=True)
class Options:
    """Repeat Schrum's experiments; text between the sections of the page is preserved."""

    only: Annotated[
        tuple[str, ...], tyro.conf.arg(help="Cells, or beginnings of their names. Default: all.")
    ] = ()
    out: Path = Path("runs/schrum")
    """Folder of the runs."""
    finished: Path = FINISHED
    """File of the finished runs, which are not played again."""
    page: Path = PAGE
    """The page. Pictures go to docs/results/esp, those of another page to a folder beside it."""
    runs: int = 20
    """Runs of each cell; 0: only write the page."""
    generations: int | None = None
    """Length of the runs; longer ones are not cut. Default: that of the paper; 60 and 100 in
    sections that are not in the paper."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""


def meant(options: Options) -> list[str]:
    """The chosen cells.

    Raises:
        ConfigurationError: An unknown cell, or a number out of range.
    """
    if options.runs < 0:
        raise ConfigurationError(f"--runs {options.runs} must be 0 or more.")
    for name in options.only:
        if not any(_within(cell, name) for cell in CELLS):
            raise ConfigurationError(f"Unknown cell {name!r}. {nearest(name, (*SECTIONS, *CELLS))}")
    return [
        cell
        for cell in CELLS
        if not options.only or any(_within(cell, name) for name in options.only)
    ]


def _within(cell: str, name: str) -> bool:
    return f"{cell}/".startswith(f"{name.rstrip('/')}/")


def settings_of(cell: str, seed: int, options: Options) -> Schrum:
    """A run of a cell."""
    changes = CELLS[cell] | (
        {} if options.generations is None else {"generations": options.generations}
    )
    return dataclasses.replace(
        SCHRUM, **changes, seed=seed, out=options.out / cell / str(seed), threads=options.threads
    )


# --- the page

SECTIONS: Final = {
    "two": "5.1: one opponent",
    "pairs": "5.2: two different opponents",
    "better": "5.3: two Better",
    "memory": "Memory, where opponents collude or change",
    "changes": "ESP against other searches, and one change each",
    "boards": "Larger boards, and a window that is moved over the board",
}
# sections of Schrum's experiments, whose claims are about winning all games
_HIS: Final = ("two", "pairs", "better")


def section(name: str, saved: SavedRuns, page: Page) -> str:
    """A section's picture and tables; empty without a run."""
    cells = {
        cell: saved.finished(cell)
        for cell in CELLS
        if _within(cell, name) or (name == "boards" and cell == ESP_ITSELF)
    }
    cells = {cell: runs for cell, runs in cells.items() if runs}
    if not any(_within(cell, name) for cell in cells):
        return ""
    tests = sorted({test for runs in cells.values() for run in runs for test in run.rates})
    rows = [_row(cell, runs, tests) for cell, runs in cells.items()]
    picture = page.picture(
        name, champions(cells), f"Games won by the champion of each generation: {SECTIONS[name]}"
    )
    heads = ("cell", "runs", "generations", *tests, *(["all tests"] if len(tests) > 1 else []))
    parts = [picture, table(heads, rows), *against_chance(cells), *won_by_seat(cells, tests)]
    return "\n\n".join([*parts, *(perfection(cells) if name in _HIS else [])])


def _row(cell: str, runs: Sequence[Finished], tests: Sequence[str]) -> tuple[str, ...]:
    lengths = sorted({run.generations for run in runs})
    length = f"{lengths[0]:,}" + (f" to {lengths[-1]:,}" if len(lengths) > 1 else "")
    rates = np.array([[run.rates.get(test, np.nan) for test in tests] for run in runs])
    columns = [rates[:, n] for n in range(len(tests))] + (
        [rates.mean(axis=1)] if len(tests) > 1 else []
    )
    return (f"`{cell}`", str(len(runs)), length, *(share_of_runs(column) for column in columns))


def against_chance(cells: Mapping[str, Sequence[Finished]]) -> list[str]:
    """Text and table of win rates against builders that play by chance, of runs with others."""
    rows = []
    for cell, finished in cells.items():
        runs = [run for run in finished if run.by_chance]
        for test in runs[0].by_chance if runs else ():
            met = share_of_runs(np.array([run.rates[test] for run in runs]))
            unmet = share_of_runs(np.array([run.by_chance[test] for run in runs]))
            rows.append((f"`{cell}`", str(len(runs)), test, met, unmet))
    heads = ("cell", "runs", "test", "builders of its evolution", "builders by chance")
    return [f"The best networks against builders that they never met:\n\n{table(heads, rows)}"] * (
        len(rows) > 0
    )


def won_by_seat(cells: Mapping[str, Sequence[Finished]], tests: Sequence[str]) -> list[str]:
    """Text and table of the best networks' win rates from each seat, means over runs; or empty."""
    rows = []
    for cell, finished in cells.items():
        runs = [run for run in finished if run.seats]
        if runs:
            won = {
                test: np.mean([run.seats[test] for run in runs], axis=0)
                for test in tests
                if test in runs[0].seats
            }
            shares = [
                " / ".join(f"{share:.0%}" for share in won[test]) if test in won else ""
                for test in tests
            ]
            rows.append((f"`{cell}`", str(len(runs)), *shares))
    return (
        [
            "From each seat in order, means over the runs that recorded it:",
            table(("cell", "runs", *tests), rows),
        ]
        if rows
        else []
    )


def perfection(cells: Mapping[str, Sequence[Finished]]) -> list[str]:
    """Text and table of when champions first won all games of a test, and whether it lasted."""
    rows = []
    for cell, finished in cells.items():
        runs = [run for run in finished if run.all_won]
        for test in sorted(
            {test for run in runs for test, generation in run.all_won.items() if generation}
        ):
            reached = [run for run in runs if run.all_won[test]]
            first = np.array([run.all_won[test] for run in reached])
            when = f"{np.median(first):,.0f}" + (
                f" ({first.min():,} to {first.max():,})" if len(first) > 1 else ""
            )
            stay = sum(run.least[test] >= _STAYS for run in reached)
            rows.append((f"`{cell}`", test, f"{len(reached)} of {len(runs)}", when, str(stay)))
    if not rows:
        return []
    heads = (
        "cell",
        "test",
        "runs that had one",
        "the first at generation",
        f"runs with {_STAYS:.0%} won by all of the last quarter",
    )
    return [
        (
            "Champions that won all games of a test in their own evaluation (median and range over"
            " runs):"
        ),
        table(heads, rows),
    ]


def share_of_runs(rates: NDArray[np.float64]) -> str:
    """The mean over runs, with its 95% interval by Student's t; of two runs, both values."""
    if np.isnan(rates).any():
        return ""
    if len(rates) == 2:
        return " and ".join(f"{rate:.1%}" for rate in rates)
    mean, half = mean_of(rates)
    return f"{mean:.1%}" + (f" ± {100 * half:.1f}" if len(rates) > 1 else "")


def champions(cells: Mapping[str, Sequence[Finished]]) -> Figure:
    """Curves of the champions: all runs, median and quartiles, with axes for each cell."""
    from matplotlib.figure import Figure

    columns = min(len(cells), 4)
    rows = -(-len(cells) // columns)
    figure = Figure(figsize=(2.6 * columns, 0.4 + 1.9 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for axes, (cell, runs) in zip(grid, cells.items(), strict=False):
        generations = min(runs, key=lambda run: run.generations).middles
        rates = np.array([np.interp(generations, run.middles, run.champions) for run in runs])
        low, middle, high = np.quantile(rates, (0.25, 0.5, 0.75), axis=0)
        axes.fill_between(generations, low, high, alpha=0.25, linewidth=0)
        axes.plot(generations, rates.T, color="grey", alpha=0.5, linewidth=0.5)
        axes.plot(generations, middle, linewidth=1.5)
        axes.set(ylim=(0, 1.02))
        axes.set_title(f"{cell} ({len(runs)})", fontsize=8)
        axes.tick_params(labelsize=7)
    for axes in grid[len(cells) :]:
        axes.axis("off")
    figure.supxlabel("generation", fontsize=8)
    figure.supylabel("games won by the champion", fontsize=8)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all runs succeed and the page is written."""
    return command.main(
        "studies.schrum", Command(Options, execute), arguments, resume_from="the last generation"
    )


def execute(options: Options, console: Console) -> int:
    """Carry out missing runs, and write the page.

    Raises:
        MonopolyError: Invalid options, or a file that can't be read or written.
    """
    cells = meant(options)
    page = Page(options.page, TEMPLATE, pictures=PICTURES if options.page == PAGE else None)
    for name in SECTIONS:
        page.check(name)  # before hours of runs
    saved = SavedRuns(options.finished)
    for seed in range(options.runs):  # a run of every cell first
        for cell in cells:
            settings, run = settings_of(cell, seed, options), saved.find(cell, seed)
            if run is None or run.generations < settings.length:
                console.print(f"{cell}, seed {seed}")
                carry_on(settings, console)
                saved.add(cell, seed, Finished.of_folder(settings.out, settings))
    for name, title in SECTIONS.items():
        text = section(name, saved, page)
        if text:
            command = f"```sh\npython -m studies.schrum --only {name}\n```"
            page.write(name, f"\n{command}\n\n{text}\n", f"\n## {title}\n\n")
    console.print(f"Written to {options.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
