"""What every command of training does where it can't go on: an error is a line and an exit status, no traceback."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence

from monopoly_env.errors import MonopolyError


def resumable(last: str) -> Callable[[Callable[[Sequence[str] | None], None]], Callable[..., int]]:
    """Decorate the body of a command whose run can be resumed: it then returns the exit status.

    Args:
        last: From where a run goes on that was stopped.
    """

    def decorate(body: Callable[[Sequence[str] | None], None]) -> Callable[..., int]:
        @functools.wraps(body)
        def main(arguments: Sequence[str] | None = None) -> int:
            try:
                body(arguments)
            except MonopolyError as error:
                print(f"error: {error}", file=sys.stderr)
                return 2
            except OSError as error:  # a full disk under the curves, for instance
                print(f"error: {error}. Mend that and go on with --resume.", file=sys.stderr)
                return 2
            except KeyboardInterrupt:
                print(f"Stopped. Go on from {last} with the same command and --resume.", file=sys.stderr)
                return 130
            return 0

        return main

    return decorate
