"""Evolve players, and measure them: `python -m training.evolve --help`.

python -m training.evolve                                                    # the expert at tables of four, by CMA-ES
python -m training.evolve --fitness two --out runs/two                       # in games of two
python -m training.evolve --genome strategic --fitness ocnaru --out runs/strategic
python -m training.evolve --resume --generations 200                         # go on with a run that was stopped, or make it longer
python -m training.evolve --genome tga --fitness mukhar --sigma 1 --out runs/tga   # chances to buy, told wins against a panel
python -m training.evolve --start runs/evolve/best.safetensors --sigma 0.2 --out runs/finer
python -m training.evolve --preset mukhar2012 --out runs/rga                 # a population that plays itself, as in Mukhar & Kalita's paper
python -m training.evolve --preset mukhar2013 --genome sga --fitness net_worth_share --out runs/sga
python -m training.evolve --preset pring --union mean --out runs/pring       # Pring's steady state, with the mean of the winners
python -m training.evolve --preset pring --cluster auto --out runs/far       # the games on all machines of a Ray cluster

`--preset NAME --help` explains the settings of a preset, a line each.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from typing import Any, Final

import tyro
from rich.console import Console

from training.run.command import chosen, preset_help, resumable

DEFAULT: Final = "cmaes"
_GENETIC: Final = "training.evolution.genetic.run"
# Each: the module with `defaults`, `execute` and `tables`, and what it is.
PRESETS: Final = {
    "cmaes": ("training.evolution.cmaes", "the numbers of a scripted family, or genes, told wins against a panel, by CMA-ES"),
    "mukhar2012": (_GENETIC, "Mukhar & Kalita's paper: 1,000 players, 100 matches a generation, roulette"),
    "mukhar2013": (_GENETIC, "Mukhar's thesis: 1,024 players, fitness in percent, tournament selection, its bids and rules"),
    "frayn": (_GENETIC, "Frayn 2005: 1,000 players, tournament selection, uniform crossover, official rules"),
    "pring": (_GENETIC, "Pring 2015: 10,000 players who make way for the winners' children, 400,000 games, UK board"),
}  # fmt: skip


@resumable("the last generation")
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit status is 0 only if evolution and measuring went through."""
    name, rest = chosen(sys.argv[1:] if arguments is None else arguments, PRESETS, DEFAULT)
    preset: Any = importlib.import_module(PRESETS[name][0])
    defaults = preset.defaults(name)
    about = preset_help(name, {other: told for other, (_, told) in PRESETS.items()}, type(defaults).__doc__ or "")
    options = tyro.cli(type(defaults), args=rest, prog="python -m training.evolve", description=about, default=defaults)
    results = preset.execute(options, Console(stderr=True))
    if options.json:
        print(json.dumps(results))
    else:
        shown = Console()
        for table in preset.tables(results):
            shown.print(table)


if __name__ == "__main__":
    sys.exit(main())
