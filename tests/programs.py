"""Programs in interpreters of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def python(
    *words: object, folder: Path | None = None, status: int = 0, **environment: object
) -> subprocess.CompletedProcess[str]:
    """Run Python with arguments, in a folder and with variables of the environment.

    What it printed is in `stdout` and `stderr`; the exit status must be the one given.
    """
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env=os.environ | {name: str(value) for name, value in environment.items()},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stderr[-4000:]
    return done
