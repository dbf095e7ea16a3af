"""What all agents meet: seeds, strangers, rules and positions. One suite ships for development.

A sealed twin is made from a secret.

A suite is a folder: suite.json, deal.json, kingmaker.json and puzzles.json. Everything in it
follows from one secret text. The text of the shipped suite is public. Of a sealed one only the
SHA-256 is published, so that it can be shown later that it was not chosen afterwards.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from monopoly_bench import positions, puzzles
from monopoly_bench.positions import Position
from monopoly_bench.puzzles import Puzzle
from monopoly_env.errors import FormatError
from monopoly_env.files import read_file, read_json, write_atomically

SHIPPED: Final = Path(__file__).with_name("data")
PUBLIC: Final = "monopoly-env bench: development"  # the text that the shipped suite is made from
FORMAT: Final = "monopoly-bench-suite"
VERSION: Final = 3  # of the file format, and of the positions that are shipped
_MOST_BYTES: Final = 1 << 22


@dataclass(frozen=True)
class Suite:
    """A folder of tasks.

    Attributes:
        folder: Where it is.
        sha256: Of the text that it was made from.
        seed: From which games get their seeds. It follows from the text.
        strangers: The rows of the second task.
        rules: The random rules of the third.
    """

    folder: Path
    sha256: str
    seed: int
    strangers: tuple[dict[str, Any], ...]
    rules: tuple[dict[str, Any], ...]

    @cached_property
    def deals(self) -> tuple[Position, ...]:
        """The positions of the fourth task."""
        return positions.load(self.folder / "deal.json")

    @cached_property
    def kingmaker(self) -> tuple[Position, ...]:
        """The positions of the sixth."""
        return positions.load(self.folder / "kingmaker.json")

    @cached_property
    def puzzles(self) -> tuple[Puzzle, ...]:
        """The puzzles of the seventh."""
        return puzzles.load(self.folder / "puzzles.json")

    @property
    def sealed(self) -> bool:
        """Whether it was made from another text than the public one."""
        return self.sha256 != fingerprint(PUBLIC)

    def game_seed(self, task: int) -> int:
        """The seed of a task's games: 0 to 2**32 - 1."""
        return int(self.generator(task).integers(1 << 32))

    def generator(self, task: int) -> Generator:
        """A source of random numbers of a task's own."""
        return np.random.default_rng([self.seed, task])


def fingerprint(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def seed_of(text: str) -> int:
    """The seed of the suite of a text. It can't be found from the fingerprint."""
    return int.from_bytes(hashlib.sha256(f"seed of {text}".encode()).digest()[:8], "big")


def write(
    folder: Path, text: str, strangers: list[dict[str, Any]], rules: list[dict[str, Any]]
) -> None:
    """Write suite.json."""
    about = {
        "format": FORMAT,
        "version": VERSION,
        "sha256": fingerprint(text),
        "seed": seed_of(text),
        "strangers": strangers,
        "rules": rules,
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "suite.json", (json.dumps(about, indent=1) + "\n").encode())


def load(folder: Path = SHIPPED) -> Suite:
    """Read a suite. Its positions are read when a task needs them.

    Raises:
        ConfigurationError: There is no suite. FormatError: It is of another version, or damaged.
    """
    path = folder / "suite.json"
    data = read_json(read_file(path, _MOST_BYTES))
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != (FORMAT, VERSION):
        raise FormatError(f"{str(path)!r} is no suite of version {VERSION}.")
    try:
        return Suite(
            folder,
            str(data["sha256"]),
            int(data["seed"]),
            tuple(data["strangers"]),
            tuple(data["rules"]),
        )
    except Exception as error:  # whatever content leads to
        raise FormatError(f"{str(path)!r} is damaged: {type(error).__name__}: {error}.") from error
