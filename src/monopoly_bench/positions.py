"""Positions as data: recorded games that lead up to a decision.

Each comes with what its answers are worth to every seat.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from monopoly_env import core, replays
from monopoly_env.errors import FormatError, MonopolyError
from monopoly_env.files import read_file, read_json, write_atomically
from monopoly_env.game import Game
from monopoly_env.replays import Replay

FORMAT: Final = "monopoly-bench-positions"
VERSION: Final = 1  # of the file format
_MOST_BYTES: Final = 1 << 25
DIGITS: Final = 4


@dataclass(frozen=True)
class Position:
    """A decision of a recorded game.

    Attributes:
        replay: The game up to the decision.
        seed: Of the playouts.
        labels: By action: the share of the win of each seat, by playouts. Empty where a task needs
            none.
    """

    replay: Replay
    seed: int = 0
    labels: dict[int, tuple[float, ...]] = field(default_factory=dict)

    @property
    def game(self) -> Game:
        """The position, as a new record."""
        return replays.final(self.replay)


def save(path: Path, positions: Iterable[Position]) -> Path:
    """Write positions to a file, atomically."""
    lines = ",\n".join(
        json.dumps(_to_dict(position), separators=(",", ":")) for position in positions
    )
    return write_atomically(
        path, f'{{{json.dumps(_versions())[1:-1]}, "positions": [\n{lines}\n]}}\n'.encode()
    )


def load(path: Path) -> tuple[Position, ...]:
    """Read positions and check each: its game plays back, and its labels are of legal actions.

    Raises:
        ConfigurationError: The file does not exist. FormatError: It holds no positions, is corrupt,
            or of another version.
    """
    data = read_json(read_file(path, _MOST_BYTES))
    expected = _versions()
    if not isinstance(data, dict) or {name: data.get(name) for name in expected} != expected:
        raise FormatError(f"{str(path)!r} holds no positions of this version: expected {expected}.")
    try:
        return tuple(_from_dict(entry) for entry in data["positions"])
    except Exception as error:  # whatever content leads to
        reason = error if isinstance(error, MonopolyError) else f"{type(error).__name__}: {error}."
        raise FormatError(f"{str(path)!r} is corrupt. {reason}") from error


def _versions() -> dict[str, Any]:
    return replays.versions() | {"format": FORMAT, "format_version": VERSION}


def _to_dict(position: Position) -> dict[str, Any]:
    labels = {
        str(action): [round(share, DIGITS) for share in shares]
        for action, shares in position.labels.items()
    }
    return {"seed": position.seed, "labels": labels, "replay": replays.to_dict(position.replay)}


def _from_dict(data: dict[str, Any]) -> Position:
    labels = {
        int(action): tuple(float(share) for share in shares)
        for action, shares in data["labels"].items()
    }
    position = Position(replays.from_dict(data["replay"]), int(data["seed"]), labels)
    legal, players = set(core.legal_actions(position.game).tolist()), position.replay.num_players
    if (
        not legal
        or not set(labels) <= legal
        or any(len(shares) != players for shares in labels.values())
    ):
        raise FormatError(
            "A position has ended, or a label is of no legal action, or not of every seat."
        )
    return position
