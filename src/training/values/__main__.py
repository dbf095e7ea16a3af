"""Train the network that values states. PyTorch is imported when a run begins."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from monopoly_env.cli import command
from monopoly_env.cli.extras import lazily
from training.values.options import ValueOptions


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if training went through."""
    execute, show = (
        lazily("train", f"training.values.train:{name}") for name in ("execute", "show")
    )
    return command.main(
        "training.values",
        command.Command(ValueOptions(), execute, show),
        arguments,
        resume_from=command.CHECKPOINT,
    )


if __name__ == "__main__":
    sys.exit(main())
