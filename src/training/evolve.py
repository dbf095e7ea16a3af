"""Evolve players, and measure them.

# the expert at tables of four, by CMA-ES
python -m training.evolve
# in games of two
python -m training.evolve --fitness two --out runs/two
python -m training.evolve --genome strategic --fitness ocnaru --out runs/strategic
# go on with a run that was stopped, or make it longer
python -m training.evolve --resume --generations 200
# chances to buy, judged by wins against fixed opponents
python -m training.evolve --genome tga --fitness mukhar --sigma 1 --out runs/tga
python -m training.evolve --start runs/evolve/best.safetensors --sigma 0.2 --out runs/finer
# a population that plays itself, as in Mukhar & Kalita's paper
python -m training.evolve --preset mukhar2012 --out runs/rga
python -m training.evolve --preset mukhar2013 --genome sga --fitness net_worth_share --out runs/sga
# Pring's steady state, with the mean of the winners
python -m training.evolve --preset pring --union mean --out runs/pring
# the games on all machines of a Ray cluster
python -m training.evolve --preset pring --cluster auto --out runs/far
# small networks that play Monopoly, by ESP
python -m training.evolve --preset esp/monopoly --network recurrent --out runs/recurrent

`--preset NAME --help` explains the settings of a preset, a line each.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Final

from monopoly_env.cli import command
from monopoly_env.cli.command import Command, Preset
from training.evolution import cmaes, esp_monopoly, populations
from training.evolution.esp_monopoly import EspMonopoly
from training.evolution.generations import FRAYN, MUKHAR2012, MUKHAR2013
from training.evolution.run import execute
from training.evolution.steady import PRING

DEFAULT: Final = "cmaes"
PRESETS: Final = {
    DEFAULT: Preset(
        "the numbers of a scripted family, or genes, by wins against fixed opponents, by CMA-ES",
        partial(Command, cmaes.CmaesOptions(), execute, cmaes.show),
    ),
    "mukhar2012": Preset(
        "Mukhar & Kalita's paper: 1,000 players, 100 matches a generation, roulette",
        partial(Command, MUKHAR2012, execute, populations.show),
    ),
    "mukhar2013": Preset(
        "Mukhar's thesis: 1,024 players, fitness in percent, tournament selection, its bids and"
        " rules",
        partial(Command, MUKHAR2013, execute, populations.show),
    ),
    "frayn": Preset(
        "Frayn 2005: 1,000 players, tournament selection, uniform crossover, official rules",
        partial(Command, FRAYN, execute, populations.show),
    ),
    "pring": Preset(
        "Pring 2015: 10,000 players that make way for the winners' children, 400,000 games, UK"
        " board",
        partial(Command, PRING, execute, populations.show),
    ),
    "esp/monopoly": Preset(
        "small networks that correct `algorithmic`, one for each kind of question, at tables of"
        " Monopoly, by ESP",
        partial(Command, EspMonopoly(), execute, esp_monopoly.show),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if evolution and measuring went through."""
    return command.main_of_presets(
        "training.evolve", PRESETS, arguments, default=DEFAULT, resume_from="the last generation"
    )


if __name__ == "__main__":
    sys.exit(main())
