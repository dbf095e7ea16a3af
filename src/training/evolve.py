"""Evolve players, and measure them: `python -m training.evolve --help`.

python -m training.evolve                                                    # the expert at tables of four, by CMA-ES
python -m training.evolve --fitness two --out runs/two                       # in games of two
python -m training.evolve --genome strategic --fitness ocnaru --out runs/strategic
python -m training.evolve --resume --generations 200                         # go on with a run that was stopped, or make it longer
python -m training.evolve --genome tga --fitness mukhar --sigma 1 --out runs/tga   # chances to buy, judged by wins against a panel
python -m training.evolve --start runs/evolve/best.safetensors --sigma 0.2 --out runs/finer
python -m training.evolve --preset mukhar2012 --out runs/rga                 # a population that plays itself, as in Mukhar & Kalita's paper
python -m training.evolve --preset mukhar2013 --genome sga --fitness net_worth_share --out runs/sga
python -m training.evolve --preset pring --union mean --out runs/pring       # Pring's steady state, with the mean of the winners
python -m training.evolve --preset pring --cluster auto --out runs/far       # the games on all machines of a Ray cluster

`--preset NAME --help` explains the settings of a preset, a line each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Final

import tyro
from rich.console import Console
from rich.table import Table

from training.evolution import cmaes, generations, populations, steady
from training.evolution.run import RunOptions, execute
from training.run.command import chosen, preset_help, resumable


@dataclass(frozen=True)
class Preset:
    """A way to evolve.

    Attributes:
        options: Its settings, unless others are given.
        about: What it is.
        tables: Shows the results of a run in a terminal.
        check: Raises on wrong settings, before anything is played.
        execute: Carries out a run.
    """

    options: RunOptions
    about: str
    tables: Callable[[Mapping[str, Any]], list[Table]]
    check: Callable[[RunOptions], None] = methodcaller("check")
    execute: Callable[[RunOptions, Console], dict[str, Any]] = execute


DEFAULT: Final = "cmaes"
PRESETS: Final = {
    "cmaes": Preset(cmaes.Options(), "the numbers of a scripted family, or genes, judged by wins against a panel, by CMA-ES", cmaes.tables),
    "mukhar2012": Preset(
        generations.MUKHAR2012, "Mukhar & Kalita's paper: 1,000 players, 100 matches a generation, roulette", populations.tables
    ),
    "mukhar2013": Preset(
        generations.MUKHAR2013,
        "Mukhar's thesis: 1,024 players, fitness in percent, tournament selection, its bids and rules",
        populations.tables,
    ),
    "frayn": Preset(
        generations.FRAYN, "Frayn 2005: 1,000 players, tournament selection, uniform crossover, official rules", populations.tables
    ),
    "pring": Preset(
        steady.PRING, "Pring 2015: 10,000 players who make way for the winners' children, 400,000 games, UK board", populations.tables
    ),
}


@resumable("the last generation")
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit status is 0 only if evolution and measuring went through."""
    known = {name: ("", preset.about) for name, preset in PRESETS.items()}
    name, rest = chosen(sys.argv[1:] if arguments is None else arguments, known, DEFAULT)
    preset = PRESETS[name]
    about = preset_help(name, known, type(preset.options).__doc__ or "")
    options = tyro.cli(type(preset.options), args=rest, prog="python -m training.evolve", description=about, default=preset.options)
    results = preset.execute(options, Console(stderr=True))
    if options.json:
        print(json.dumps(results))
    else:
        shown = Console()
        for table in preset.tables(results):
            shown.print(table)


if __name__ == "__main__":
    sys.exit(main())
