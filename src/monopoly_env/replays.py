"""Replays: recorded games that play back to the same records.

A replay holds rules, seed, names and actions. The engine derives the rest: dice and cards follow from the seed. The random numbers that
policies drew are not kept, because nothing in the game depends on them: the field `policy_draws` stays zero during playback.

A file is a line of JSON with the versions, then one compressed block: a JSON list that describes the games, then all actions, one byte
each.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import HEADS, NUM_ACTIONS
from monopoly_env.engine.players import finish
from monopoly_env.errors import ConfigurationError, FormatError, IllegalActionError, MonopolyError
from monopoly_env.game import BY_CAP, FORMAT_VERSION, Game, Games
from monopoly_env.kernels import entry
from monopoly_env.rules import RULES_VERSION, Rules

SUFFIX: Final = ".replay"
FORMAT: Final = "monopoly-replays"
REPLAYS_VERSION: Final = 1  # of the file format: raised whenever its layout changes
_LARGEST: Final = 1 << 30  # bytes of an uncompressed block; a file that claims more is not ours


@dataclass(frozen=True, eq=False)
class Replay:
    """One recorded game.

    Attributes:
        rules: The rules of the game.
        seed: The seed of the game, 0 to 2**64 - 1.
        num_players: 2 to 8.
        names: The name of the player in each seat.
        actions: (N,) uint8, the actions of all players in order, each 0 to 204.
        turn_limit: Turns per player after which the score decided the game; 0 if there was no limit besides those of the rules.
        digest: A hash of the last record, against which a playback is checked; empty if unknown. `save` fills it in.

    Raises:
        ConfigurationError: A value is out of range, or the number of names is not the number of players.
    """

    rules: Rules
    seed: int
    num_players: int
    names: tuple[str, ...]
    actions: NDArray[np.uint8]
    turn_limit: int = 0
    digest: str = ""

    def __post_init__(self) -> None:
        core.check_players(self.num_players)
        core.split_seeds([self.seed])
        if len(self.names) != self.num_players:
            raise ConfigurationError(f"A game of {self.num_players} players needs as many names, not {len(self.names)}.")
        if isinstance(self.turn_limit, bool) or not isinstance(self.turn_limit, (int, np.integer)) or self.turn_limit < 0:
            raise ConfigurationError(f"turn_limit={self.turn_limit!r} must be a whole number, 0 for none.")
        actions = np.asarray(self.actions)
        if actions.ndim != 1 or (actions.size and not np.issubdtype(actions.dtype, np.integer)):
            raise ConfigurationError(f"Actions are one row of integers, not {actions.dtype} of shape {actions.shape}.")
        wrong = np.flatnonzero((actions < 0) | (actions >= NUM_ACTIONS))
        if wrong.size:
            raise ConfigurationError(f"Action number {wrong[0] + 1} is {actions[wrong[0]]}; there are 0 to {NUM_ACTIONS - 1}.")
        actions = actions.astype(np.uint8)  # a copy of its own
        actions.setflags(write=False)
        object.__setattr__(self, "actions", actions)
        object.__setattr__(self, "names", tuple(self.names))
        for number in ("seed", "num_players", "turn_limit"):  # NumPy's integers become Python's
            object.__setattr__(self, number, int(getattr(self, number)))

    def __eq__(self, other: object) -> bool:
        """Whether both are the same game between the same names; the digest follows from the rest."""
        if not isinstance(other, Replay):
            return NotImplemented
        return self._about() == other._about() and np.array_equal(self.actions, other.actions)

    def __hash__(self) -> int:
        return hash((self.rules, self.seed, self.actions.tobytes()))

    def _about(self) -> dict[str, Any]:
        """What a file holds besides the actions and the digest."""
        return {
            "names": list(self.names),
            "seed": self.seed,
            "rules": self.rules.changed(),
            "tables": core.table_hash(core.board_number(self.rules)),
            "turn_limit": self.turn_limit,
            "decisions": len(self.actions),
        }


def start(replay: Replay) -> Game:
    """The game before the first action."""
    return core.new_game(replay.num_players, replay.rules, replay.seed)


def games(replay: Replay) -> Iterator[Game]:
    """Yield a copy of the record after each action.

    Raises:
        FormatError: An action is illegal, or the game does not end in the recorded position.
    """
    game = start(replay)
    for number in range(len(replay.actions)):
        step(replay, game, number)
        yield core.clone(game)


def final(replay: Replay) -> Game:
    """The game after the last action; it is over unless the recording was cut short.

    Raises:
        FormatError: An action is illegal, or the game does not end in the recorded position.
    """
    game = start(replay)
    for number in range(len(replay.actions)):
        step(replay, game, number)
    return game


def step(replay: Replay, game: Game, number: int) -> None:
    """Carry out one action of a replay in place.

    Args:
        replay: The replay.
        game: The game after the actions before this one.
        number: The number of the action, from 0.

    Raises:
        FormatError: The action is illegal, or the game does not end in the recorded position.
    """
    try:
        core.step(game, int(replay.actions[number]))
    except IllegalActionError as error:
        raise FormatError(f"{_which(replay, number)} cannot be played back: {error}") from error
    settle(replay, game, number)


def settle(replay: Replay, game: Game, number: int) -> None:
    """Complete a step once its action is carried out: apply the turn limit and, after the last action, check the final position.

    Args:
        replay: The replay.
        game: The game after the action.
        number: The number of the action, from 0.

    Raises:
        FormatError: The game does not end in the recorded position.
    """
    limit = replay.turn_limit * replay.num_players
    if limit and game.turns > limit and not core.is_over(game):
        _finish_by_cap(core.batch_of(game), limit)
    if number == len(replay.actions) - 1 and replay.digest and digest(game) != replay.digest:
        raise FormatError(f"{_which(replay, number)} leads to another position than it did when the game was recorded.")


def digest(game: Game) -> str:
    """A hash of a record without the field `policy_draws`: equal for a game and its playback."""
    batch = core.batch_of(game).copy()
    batch["policy_draws"] = 0
    return hashlib.sha256(batch.tobytes()).hexdigest()[:16]


def _which(replay: Replay, number: int) -> str:
    return f"Action {number + 1} of {len(replay.actions)} in the recorded game of seed {replay.seed}"


@entry()
def _finish_by_cap(games: Games, limit: int) -> None:
    """End the first of these games as the arena does, without the turn that has just begun."""
    game = games[0]
    game.turns = limit
    finish(game, BY_CAP)


# --- files --------------------------------------------------------------------------------------------------------------


def save(path: str | os.PathLike[str], replays: Sequence[Replay]) -> Path:
    """Write replays to a file, atomically. A replay without a digest is played back first.

    Args:
        path: The file, by convention with the suffix `.replay`.
        replays: The games.

    Raises:
        FormatError: A replay cannot be played back.
        ConfigurationError: The file cannot be written.
    """
    about = [replay._about() | {"digest": replay.digest or digest(final(replay))} for replay in replays]
    block = json.dumps(about, separators=(",", ":")).encode() + b"\n" + b"".join(replay.actions.tobytes() for replay in replays)
    header = _versions() | {"games": len(replays), "bytes": len(block)}
    return core.write_atomically(path, json.dumps(header).encode() + b"\n" + zlib.compress(block, 9))


def load(path: str | os.PathLike[str]) -> list[Replay]:
    """Load the replays of a file. They are not played back here.

    Raises:
        ConfigurationError: The file does not exist.
        FormatError: The file holds no replays, is corrupt, or has other versions; the message says what differs.
    """
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"Cannot read {name!r}: {error.strerror}.") from error
    line, _, block = data.partition(b"\n")
    header = _json(line)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(f"{name!r} holds no recorded games.")
    differences = [f"{key} is {header.get(key)!r}, expected {value!r}" for key, value in _versions().items() if header.get(key) != value]
    if differences:
        raise FormatError(f"{name!r} was recorded by another version: {'; '.join(differences)}.")
    try:
        return _unpacked(header, block)
    except (zlib.error, KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        reason = f" {error}" if isinstance(error, MonopolyError) else ""
        raise FormatError(f"{name!r} is truncated or corrupt.{reason}") from error


def _versions() -> dict[str, Any]:
    """The versions that a file must have: with others, its actions would lead to other games."""
    return {
        "format": FORMAT,
        "format_version": REPLAYS_VERSION,
        "rules_version": RULES_VERSION,
        "record_version": FORMAT_VERSION,
        "heads": {name: head.size for name, head in HEADS.items()},
    }


def _json(line: bytes) -> Any:
    """The value of a line of JSON; None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _unpacked(header: dict[str, Any], block: bytes) -> list[Replay]:
    """The replays of a file's block."""
    if not 0 < header["bytes"] <= _LARGEST:
        raise FormatError(f"It claims {header['bytes']} bytes.")
    engine = zlib.decompressobj()
    text, _, actions = engine.decompress(block, header["bytes"] + 1).partition(b"\n")
    about = _json(text)
    lengths = [game["decisions"] for game in about]
    if not engine.eof or engine.unused_data or len(about) != header["games"] or sum(lengths) != len(actions) or min(lengths, default=0) < 0:
        raise FormatError("Its content does not match its header.")
    ends = np.cumsum([0, *lengths])
    return [_replay(game, actions[ends[i] : ends[i + 1]]) for i, game in enumerate(about)]


def _replay(about: dict[str, Any], actions: bytes) -> Replay:
    """One replay from its description and its actions."""
    rules = Rules.from_dict(about["rules"])
    if about["tables"] != core.table_hash(core.board_number(rules)):
        raise FormatError(f"It was recorded with another version of the board {rules.board!r}.")
    if not all(isinstance(name, str) for name in [*about["names"], about["digest"]]):
        raise FormatError("A name is not a string.")
    names = tuple(about["names"])
    return Replay(rules, about["seed"], len(names), names, np.frombuffer(actions, np.uint8), about["turn_limit"], about["digest"])
