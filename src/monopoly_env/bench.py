"""Bench-8: fixed tasks by which any agent can be compared. `python -m monopoly_env.bench --help`; docs/bench.md describes the tasks.

The suite is `training.bench`. It stands above this package, so it is found by its name, as policies are.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Final

from monopoly_env.policy.names import check_ours

_SUITE: Final = "training.bench.__main__"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status.

    Raises:
        ConfigurationError: Another package of the name `training` or `agents` stands before the one of this project.
    """
    check_ours("training")
    status: int = importlib.import_module(_SUITE).main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main())
