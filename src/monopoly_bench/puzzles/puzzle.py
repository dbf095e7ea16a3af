"""A puzzle and its file.

The file is JSON: versions, then for each puzzle the recorded game up to the question and what each
answer is worth. A puzzle is played back when it is loaded, so its position is always one that the
rules allow.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

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
from monopoly_env.replays import Replay
from monopoly_env.text import to_text

FORMAT: Final = "monopoly-puzzles"
PUZZLES_VERSION: Final = 1  # of the file format: raised whenever its layout changes
SHIPPED: Final = Path(__file__).with_name("puzzles.json")
DIGITS: Final = 4  # to which shares are rounded
_MOST_BYTES: Final = 1 << 23
_MOST_PUZZLES: Final = 10_000

# What a puzzle can be about.
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
    """A position, the answers to its question, and what each is worth.

    Attributes:
        kind: One of `KINDS`.
        replay: The game up to the question.
        candidates: The answers, the best first. All others are worse by more than the interval.
        policies: Who plays on in the playouts by which they were compared: one for every seat, or
            one for each seat.
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
        """The least lead of the best answer.

        It is the bound of its interval that is nearest to another answer.
        """
        return -max(candidate.difference_high for candidate in self.candidates[1:])

    def of(self, action: int) -> Candidate:
        """What an answer is worth.

        Raises:
            ConfigurationError: It is none of the answers.
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
    header = json.dumps(_versions())[1:-1]
    lines = ",\n".join(json.dumps(_to_dict(puzzle), separators=(",", ":")) for puzzle in puzzles)
    return write_atomically(path, f'{{{header}, "puzzles": [\n{lines}\n]}}\n'.encode())


def load(path: str | os.PathLike[str] = SHIPPED) -> tuple[Puzzle, ...]:
    """Load puzzles and check each: its game plays back, its answers are legal, and the best one is.

    Args:
        path: A file that `save` wrote; by default the puzzles that come with the library.

    Raises:
        ConfigurationError: The file does not exist.
        FormatError: It holds no puzzles, is corrupt, or has other versions; the message says what
            differs.
    """
    name, data = os.fspath(path), read_json(read_file(path, _MOST_BYTES))
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError(f"{name!r} holds no puzzles.")
    differences = differing(data, _versions())
    if differences:
        raise FormatError(f"{name!r} was written by another version: {differences}.")
    entries = data.get("puzzles")
    if not isinstance(entries, list) or len(entries) > _MOST_PUZZLES:
        raise FormatError(f"{name!r} must have a list of {_MOST_PUZZLES:,} puzzles at most.")
    puzzles = []
    for number, entry in enumerate(entries, 1):
        try:
            puzzles.append(_from_dict(entry))
        except Exception as error:  # whatever content leads to
            reason = (
                error if isinstance(error, MonopolyError) else f"{type(error).__name__}: {error}."
            )
            raise FormatError(
                f"Puzzle {number} of {len(entries)} in {name!r} is corrupt. {reason}"
            ) from error
    return tuple(puzzles)


def _versions() -> dict[str, Any]:
    """The versions that a file must have.

    Of a replay's versions, those of rules, record and actions matter here too.
    """
    return replays.versions() | {"format": FORMAT, "format_version": PUZZLES_VERSION}


def _to_dict(puzzle: Puzzle) -> dict[str, Any]:
    candidates = [
        {key: value for key, value in asdict(candidate).items() if key != "text"}
        for candidate in puzzle.candidates
    ]
    replay = replays.to_dict(puzzle.replay)
    return {
        "kind": puzzle.kind,
        "policies": puzzle.policies,
        "seed": puzzle.seed,
        "candidates": candidates,
        "replay": replay,
    }


def _from_dict(data: Mapping[str, Any]) -> Puzzle:
    """One puzzle from its entry in a file."""
    if data["kind"] not in KINDS:
        raise FormatError(f"Unknown kind {shortened(data['kind'])}. {nearest(data['kind'], KINDS)}")
    replay = replays.from_dict(data["replay"])
    policies = tuple(data["policies"])
    if len(policies) not in (1, replay.num_players) or not all(
        isinstance(policy, str) for policy in policies
    ):
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
    shares = tuple(float(share) for share in data["shares"])
    playouts = data["playouts"]
    candidate = Candidate(**{**data, "shares": shares, "text": describe(data["action"], game)})
    numbers = (candidate.share, candidate.low, candidate.high, *shares)
    if len(shares) != game.num_players or not all(0 <= share <= 1 for share in numbers):
        raise FormatError(
            f"The shares of {candidate.text!r} must be {game.num_players} numbers from 0 to 1."
        )
    if (
        not math.isclose(sum(shares), 1, abs_tol=0.001)
        or not candidate.low <= candidate.share <= candidate.high
    ):
        raise FormatError(
            f"The shares of {candidate.text!r} must add up to 1 and lie in their interval."
        )
    if (
        not candidate.difference_low <= candidate.difference <= candidate.difference_high
        or not 0 < playouts < math.inf
    ):
        raise FormatError(
            f"The difference of {candidate.text!r} must lie in its interval and stand on one"
            " playout or more."
        )
    return candidate


def _check_order(candidates: Sequence[Candidate]) -> None:
    """Two answers or more, each once, the first one clearly the best."""
    if len(candidates) < 2 or len({candidate.action for candidate in candidates}) < len(candidates):
        raise FormatError("It must have two answers or more, each once.")
    for candidate in candidates[1:]:
        if candidate.difference_high >= 0:
            raise FormatError(
                f"{candidate.text!r} is not clearly worse than {candidates[0].text!r}."
            )
