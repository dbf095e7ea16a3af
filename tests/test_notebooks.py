"""The notebooks run from the first cell to the last, on a small budget."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SMALL = {"MONOPOLY_NOTEBOOK_GAMES": "8", "MPLBACKEND": "agg"}


def test_every_notebook_is_tested() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == [
        "benchmark_agents",
        "evolve",
        "train_dqn",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (SMALL | {"MONOPOLY_NOTEBOOK_FIGURES": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert len(list(tmp_path.glob("*.png"))) >= 3
