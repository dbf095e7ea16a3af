"""Measures a policy kernel in a file, in a process of its own.

The process is `python -m monopoly_bench.kernel ORDER ANSWER`, which `code` starts.

The file is run as a program, with the rights of whoever starts this.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numba

from agents.arena import Seating
from monopoly_bench.task import Score, share, won
from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.files import read_file
from monopoly_env.policy.protocol import CompiledPolicy, PolicyKernel, policy_kernel

FUNCTION: Final = "play"
NUMBERS: Final = "PARAMS"


def load(path: Path) -> CompiledPolicy:
    """The policy of a file, which is run.

    The file has a function `play(game, mask, params, memory)`, and perhaps a list `PARAMS`.

    Raises:
        ConfigurationError: The file has no such function, or it can't be run or compiled.
    """
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(read_file(path), str(path), "exec"), names)
    except Exception as error:
        raise ConfigurationError(
            f"{path.name} can't be run: {type(error).__name__}: {error}"
        ) from error
    if FUNCTION not in names:
        raise ConfigurationError(
            f"{path.name} has no function {FUNCTION}(game, mask, params, memory)."
        )
    found = names[FUNCTION]
    policy = CompiledPolicy(
        path.stem,
        found if isinstance(found, PolicyKernel) else policy_kernel(found),
        names.get(NUMBERS, ()),
    )
    assert policy.kernel.handle  # it compiles
    return policy


def measure(
    policy: CompiledPolicy,
    opponents: list[str],
    seeds: int,
    seed: int,
    turn_limit: int,
    threads: int | None,
) -> Score:
    """Its share of the win against each of the opponents, two players."""
    seatings = [Seating((name,), "official", turn_limit) for name in opponents]
    return share(won(policy, seatings, seeds, seed, threads), opponents)


def main(order: Path, answer: Path) -> int:
    """Carry out an order, a JSON object, and write the score, or the error, as another."""
    asked = json.loads(order.read_text(encoding="utf-8"))
    try:
        found = asdict(measure(load(Path(asked.pop("file"))), **asked))
    except (MonopolyError, ArithmeticError, LookupError, numba.core.errors.NumbaError) as error:
        # Also of the kernel, while it plays
        found = {"error": f"{type(error).__name__}: {error}"}
    answer.write_text(json.dumps(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
