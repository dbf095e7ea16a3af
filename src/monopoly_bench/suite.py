"""Suites: seeds, strangers, rules and positions of the tasks. One suite ships for development.

A suite is a folder: suite.json, deal.json, kingmaker.json and puzzles.json, all derived from one
text. The text of the shipped suite is public. For a sealed suite only the SHA-256 of its secret
text is published, which proves later that the suite was fixed in advance.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from monopoly_bench import puzzles
from monopoly_bench.puzzles import DIGITS, Puzzle, read_entries, write_entries
from monopoly_env import core, replays
from monopoly_env.errors import FormatError
from monopoly_env.files import read_file, read_json, understood, write_atomically
from monopoly_env.game import Game
from monopoly_env.replays import Replay

SHIPPED: Final = Path(__file__).with_name("data")
PUBLIC: Final = "monopoly-env bench: development"  # text of the shipped suite
FORMAT: Final = "monopoly-bench-suite"
VERSION: Final = 3  # of the file format and the shipped positions
POSITIONS_FORMAT: Final = "monopoly-bench-positions"
POSITIONS_VERSION: Final = 1
_MOST_BYTES: Final = 1 << 22


@dataclass(frozen=True)
class Position:
    """A decision of a recorded game.

    Attributes:
        replay: The game up to the decision.
        seed: The seed of the playouts.
        labels: By action: the share of the win of each seat, by playouts; empty if not needed.
    """

    replay: Replay
    seed: int = 0
    labels: dict[int, tuple[float, ...]] = field(default_factory=dict)

    @property
    def game(self) -> Game:
        """The position, as a new record."""
        return replays.final(self.replay)


@dataclass(frozen=True)
class Suite:
    """A folder of tasks.

    Attributes:
        folder: Its path.
        sha256: The SHA-256 of its text.
        seed: Origin of the seeds of games, derived from the text.
        strangers: Players of task 2, each a family and its options.
        rules: Random rules of task 3.
    """

    folder: Path
    sha256: str
    seed: int
    strangers: tuple[dict[str, Any], ...]
    rules: tuple[dict[str, Any], ...]

    @cached_property
    def deals(self) -> tuple[Position, ...]:
        """Positions of task 4."""
        return load_positions(self.folder / "deal.json")

    @cached_property
    def kingmaker(self) -> tuple[Position, ...]:
        """Positions of task 6."""
        return load_positions(self.folder / "kingmaker.json")

    @cached_property
    def puzzles(self) -> tuple[Puzzle, ...]:
        """Puzzles of task 7."""
        return puzzles.load(self.folder / "puzzles.json")

    @property
    def sealed(self) -> bool:
        """Whether its text is not the public one."""
        return self.sha256 != fingerprint(PUBLIC)

    def game_seed(self, task: int) -> int:
        """The seed of a task's games: 0 to 2**32 - 1."""
        return int(self.generator(task).integers(1 << 32))

    def generator(self, task: int) -> Generator:
        """The random generator of a task."""
        return np.random.default_rng([self.seed, task])


def fingerprint(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def seed_of(text: str) -> int:
    """The seed of a text's suite, which can't be derived from the fingerprint."""
    return int.from_bytes(hashlib.sha256(f"seed of {text}".encode()).digest()[:8], "big")


def write(
    folder: Path, text: str, strangers: list[dict[str, Any]], rules: list[dict[str, Any]]
) -> None:
    """Write suite.json."""
    about = {
        "format": FORMAT, "version": VERSION, "sha256": fingerprint(text), "seed": seed_of(text),
        "strangers": strangers, "rules": rules,
    }  # fmt: skip
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
    with understood(path):
        rows = tuple(data["strangers"]), tuple(data["rules"])
        return Suite(folder, str(data["sha256"]), int(data["seed"]), *rows)


def save_positions(path: Path, positions: Iterable[Position]) -> Path:
    """Write positions to a file, atomically."""
    return write_entries(path, "positions", map(_to_dict, positions), _positions_header())


def load_positions(path: Path) -> tuple[Position, ...]:
    """Read positions, and check playback and labels of each.

    Raises:
        ConfigurationError: The file does not exist. FormatError: It holds no positions, is corrupt,
            or of another version.
    """
    return read_entries(path, "positions", _from_dict, _positions_header())


def _positions_header() -> dict[str, Any]:
    return replays.versions() | {"format": POSITIONS_FORMAT, "format_version": POSITIONS_VERSION}


def _to_dict(position: Position) -> dict[str, Any]:
    labels = {
        str(action): [round(share, DIGITS) for share in shares]
        for action, shares in position.labels.items()
    }
    return {"seed": position.seed, "labels": labels, "replay": replays.to_dict(position.replay)}


def _from_dict(data: Mapping[str, Any]) -> Position:
    labels = {
        int(action): tuple(float(share) for share in shares)
        for action, shares in data["labels"].items()
    }
    position = Position(replays.from_dict(data["replay"]), int(data["seed"]), labels)
    legal, players = set(core.legal_actions(position.game).tolist()), position.replay.num_players
    fits = all(len(shares) == players for shares in labels.values())
    if not legal or not set(labels) <= legal or not fits:
        raise FormatError(
            "A position has ended, or a label is of no legal action, or not of every seat."
        )
    return position
