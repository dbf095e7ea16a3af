"""Puzzles: positions from games in which one answer is clearly the best.

    >>> from monopoly_bench import puzzles
    >>> puzzle = puzzles.load()[0]  # print(puzzle) shows the position and the answers
    >>> puzzle.best == puzzle.candidates[0]  # the solution
    True

`python -m monopoly_bench.puzzles` finds more of them.

A file of puzzles is JSON: versions, then for each puzzle the recorded game up to the question and
the share of the win after each answer. Loading plays each game back, to make sure that its position
is valid.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from monopoly_env import core, replays
from monopoly_env.actions import describe
from monopoly_env.analyse import Candidate
from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    MonopolyError,
    nearest,
    shortened,
    whole_number,
)
from monopoly_env.files import differing, read_file, read_json, write_atomically
from monopoly_env.game import Game
from monopoly_env.kernels.philox import MAX_SEED
from monopoly_env.render.description import to_text
from monopoly_env.replays import Replay

T = TypeVar("T")
FORMAT: Final = "monopoly-puzzles"
PUZZLES_VERSION: Final = 1  # of the file format
SHIPPED: Final = Path(__file__).with_name("puzzles.json")
DIGITS: Final = 4  # of rounded shares
_MOST_BYTES: Final = 1 << 25
_MOST_ENTRIES: Final = 10_000

# Subject of each kind of puzzle.
KINDS: Final = {
    "buy": "a lot for sale at its price",
    "bid": "whether to stay in an auction",
    "build": "where to build, or whether",
    "jail": "whether to leave jail, and how",
    "trade": "an offer was received",
    "money": "what to sell or mortgage for a debt, whether to lift a mortgage, a tax",
}


@dataclass(frozen=True)
class Puzzle:
    """A position, and the possible answers with their shares of the win.

    Attributes:
        kind: One of `KINDS`.
        replay: The game up to the question.
        candidates: The answers, the best first. All others are significantly worse.
        policies: Policies of the playouts: one for every seat, or one for each seat.
        seed: The seed of the playouts.
    """

    kind: str
    replay: Replay
    candidates: tuple[Candidate, ...]
    policies: tuple[str, ...]
    seed: int

    @property
    def game(self) -> Game:
        """The position, as a new record."""
        return replays.final(self.replay)

    @property
    def best(self) -> Candidate:
        """The solution."""
        return self.candidates[0]

    @property
    def lead(self) -> float:
        """Lower bound of the best answer's lead over all others."""
        return -max(candidate.difference_high for candidate in self.candidates[1:])

    def of(self, action: int) -> Candidate:
        """The candidate of an action.

        Raises:
            ConfigurationError: The action is no answer of this puzzle.
        """
        for candidate in self.candidates:
            if candidate.action == action:
                return candidate
        raise ConfigurationError(
            f"Action {action!r} is no answer of this puzzle."
            f" {nearest(action, [c.action for c in self.candidates])}"
        )

    def __str__(self) -> str:
        answers = sorted(f"{candidate.action} {candidate.text}" for candidate in self.candidates)
        position = to_text(self.game).splitlines()[:-1]  # without the legal actions
        return "\n".join([*position, "Which is best? " + "; ".join(answers)])


def save(path: str | os.PathLike[str], puzzles: Iterable[Puzzle]) -> Path:
    """Write puzzles to a file, atomically.

    Raises:
        ConfigurationError: The file can't be written.
    """
    return write_entries(path, "puzzles", map(_to_dict, puzzles), _header())


def load(path: str | os.PathLike[str] = SHIPPED) -> tuple[Puzzle, ...]:
    """Load puzzles, and check playback, answers and solution of each.

    Args:
        path: A file that `save` wrote; by default the puzzles that come with the library.

    Raises:
        ConfigurationError: The file does not exist.
        FormatError: It holds no puzzles, is corrupt, or has other versions; the message names the
            difference.
    """
    return read_entries(path, "puzzles", _from_dict, _header())


def write_entries(
    path: str | os.PathLike[str], name: str, entries: Iterable[Any], header: Mapping[str, Any]
) -> Path:
    """Write a JSON object atomically: a header, and under `name` a list, an entry a line."""
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    text = f'{{{json.dumps(header)[1:-1]}, "{name}": [\n{lines}\n]}}\n'
    return write_atomically(path, text.encode())


def read_entries(
    path: str | os.PathLike[str],
    name: str,
    read: Callable[[Mapping[str, Any]], T],
    header: Mapping[str, Any],
) -> tuple[T, ...]:
    """The entries of a file of `write_entries`, read one by one.

    Raises:
        ConfigurationError: The file does not exist.
        FormatError: It holds no such list, is corrupt, or has another header.
    """
    file, data = repr(os.fspath(path)), read_json(read_file(path, _MOST_BYTES))
    if not isinstance(data, dict) or data.get("format") != header["format"]:
        raise FormatError(f"{file} holds no {name}.")
    if differences := differing(data, header):
        raise FormatError(f"{file} was written by another version: {differences}.")
    entries = data.get(name)
    if not isinstance(entries, list) or len(entries) > _MOST_ENTRIES:
        raise FormatError(f"{file} must have a list of {_MOST_ENTRIES:,} {name} at most.")
    found, one = [], name.removesuffix("s").capitalize()
    for number, entry in enumerate(entries, 1):
        try:
            found.append(read(entry))
        except Exception as error:  # any error that damaged content causes
            kind = "" if isinstance(error, MonopolyError) else f"{type(error).__name__}: "
            raise FormatError(
                f"{one} {number} of {len(entries)} in {file} is corrupt. {kind}{error}"
            ) from error
    return tuple(found)


def _header() -> dict[str, Any]:
    return replays.versions() | {"format": FORMAT, "format_version": PUZZLES_VERSION}


def _to_dict(puzzle: Puzzle) -> dict[str, Any]:
    candidates = [asdict(candidate) for candidate in puzzle.candidates]
    for candidate in candidates:
        del candidate["text"]
    return {
        "kind": puzzle.kind, "policies": puzzle.policies, "seed": puzzle.seed,
        "candidates": candidates, "replay": replays.to_dict(puzzle.replay),
    }  # fmt: skip


def _from_dict(data: Mapping[str, Any]) -> Puzzle:
    if data["kind"] not in KINDS:
        raise FormatError(f"Unknown kind {shortened(data['kind'])}. {nearest(data['kind'], KINDS)}")
    replay = replays.from_dict(data["replay"])
    policies = tuple(data["policies"])
    names = all(isinstance(policy, str) for policy in policies)
    if len(policies) not in (1, replay.num_players) or not names:
        raise FormatError(
            f"policies {shortened(policies)} must be one name, or one for each of"
            f" {replay.num_players} seats."
        )
    whole_number("seed", data["seed"], 0, MAX_SEED)
    game = replays.final(replay)
    legal = set(core.legal_actions(game).tolist())
    candidates = tuple(_candidate(entry, game, legal) for entry in data["candidates"])
    _check_order(candidates)
    return Puzzle(data["kind"], replay, candidates, policies, data["seed"])


def _candidate(data: Mapping[str, Any], game: Game, legal: set[int]) -> Candidate:
    """One answer from its entry, checked."""
    if data["action"] not in legal:
        raise FormatError(f"Answer {shortened(data['action'])} is not legal.")
    shares, text = tuple(float(share) for share in data["shares"]), describe(data["action"], game)
    one = Candidate(**{**data, "shares": shares, "text": text})
    bounded = all(0 <= share <= 1 for share in (one.share, one.low, one.high, *shares))
    if len(shares) != game.num_players or not bounded:
        raise FormatError(f"The shares of {text!r} must be {game.num_players} numbers from 0 to 1.")
    if not math.isclose(sum(shares), 1, abs_tol=0.001) or not one.low <= one.share <= one.high:
        raise FormatError(f"The shares of {text!r} must add up to 1 and lie in their interval.")
    within = one.difference_low <= one.difference <= one.difference_high
    if not within or not 0 < one.playouts < math.inf:
        raise FormatError(
            f"The difference of {text!r} must lie in its interval and stand on one playout or more."
        )
    return one


def _check_order(candidates: Sequence[Candidate]) -> None:
    """Check for two or more distinct answers, the first one clearly the best."""
    if len(candidates) < 2 or len({candidate.action for candidate in candidates}) < len(candidates):
        raise FormatError("It must have two answers or more, each once.")
    for candidate in candidates[1:]:
        if candidate.difference_high >= 0:
            raise FormatError(
                f"{candidate.text!r} is not clearly worse than {candidates[0].text!r}."
            )
