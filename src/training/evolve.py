"""Evolve a scripted player, and measure it: `python -m training.evolve --help`.

python -m training.evolve                                                    # the expert at tables of four
python -m training.evolve --fitness two --out runs/two                       # in games of two
python -m training.evolve --genome strategic --fitness ocnaru --out runs/strategic
python -m training.evolve --resume --generations 200                         # go on with a run that was stopped, or make it longer
python -m training.evolve --start runs/evolve/best.safetensors --sigma 0.2 --out runs/finer
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import tyro
from rich.console import Console

from training.commands import resumable
from training.evolution.options import Options
from training.evolution.reporting import genome_table, result_table
from training.evolution.run import execute


@resumable("the last generation")
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit status is 0 only if evolution and measuring went through."""
    options = tyro.cli(Options, args=arguments, prog="python -m training.evolve")
    results = execute(options, Console(stderr=True))
    if options.json:
        print(json.dumps(results))
    else:
        shown = Console()
        shown.print(genome_table(results["genome"]))
        shown.print(result_table(results["tables"], f"{results['agent']} after {results['generations']:,} generations"))


if __name__ == "__main__":
    sys.exit(main())
