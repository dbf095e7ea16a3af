"""The preset `cmaes` of `python -m training.evolve`: a scripted family's numbers by the CMA evolution strategy."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from training.evolution.options import Options
from training.evolution.reporting import genome_table, result_table
from training.evolution.run import execute

__all__ = ["Options", "defaults", "execute", "tables"]


def defaults(preset: str) -> Options:
    """The settings of the preset, of which there is one."""
    del preset
    return Options()


def tables(results: dict[str, Any]) -> list[Table]:
    """What a run came to, for a terminal."""
    title = f"{results['agent']} after {results['generations']:,} generations"
    return [genome_table(results["genome"]), result_table(results["tables"], title)]
