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

from monopoly_env.errors import MonopolyError
from training.evolution.options import Options
from training.evolution.reporting import genome_table, result_table
from training.evolution.run import execute


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if evolution and measuring went through."""
    console = Console(stderr=True)
    try:
        options = tyro.cli(Options, args=arguments, prog="python -m training.evolve")
        results = execute(options, console)
    except MonopolyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # a full disk under the curves, for instance
        print(f"error: {error}. Mend that and go on with --resume.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. Go on from the last generation with the same command and --resume.", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(results))
    else:
        shown = Console()
        shown.print(genome_table(results["genome"]))
        shown.print(result_table(results["tables"], f"{results['agent']} after {results['generations']:,} generations"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
