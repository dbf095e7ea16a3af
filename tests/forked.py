"""Programs in a process of their own, forked from one that has imported the library and torch.

Most would spend their time on that.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import warnings
from pathlib import Path

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["agents", "gymnasium", "pettingzoo", "scipy.stats", "torch"])


def run(program: Path) -> None:
    """Run a Python program in its own folder, where it leaves what it printed; it must succeed."""
    output = program.with_suffix(".out")
    child = _SERVER.Process(target=_execute, args=(program, output))
    child.start()
    child.join()
    assert child.exitcode == 0, output.read_text(encoding="utf-8")


def _execute(program: Path, output: Path) -> None:
    """In the child: what it prints goes to the file by number.

    So its own children print there too.
    """
    os.chdir(program.parent)
    with output.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    warnings.simplefilter("ignore")
    runpy.run_path(str(program), run_name="__main__")
