"""Replays: recorded games that play back to the same records.

A replay holds rules, seed, names and actions. The engine derives the rest: dice and cards follow from the seed. The random numbers that
policies drew are not kept, because nothing in the game depends on them: the field `policy_draws` stays zero during playback. What players
said to each other is kept where they did; nothing in the game depends on it either.

A file is a line of JSON with the versions, then one compressed block: a JSON list that describes the games, then all actions, one byte
each.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import HEADS, NUM_ACTIONS
from monopoly_env.engine.agenda import OVER
from monopoly_env.engine.players import finish
from monopoly_env.engine.step import apply, is_legal
from monopoly_env.errors import ConfigurationError, FormatError, IllegalActionError, MonopolyError, PositionError, shortened
from monopoly_env.game import BY_CAP, FORMAT_VERSION, Game, Games
from monopoly_env.kernels import entry
from monopoly_env.render import narrate
from monopoly_env.render.text import PLAYERS
from monopoly_env.rules import RULES_VERSION, Rules
from monopoly_env.talk import MOST_MESSAGES, Message, Talk

SUFFIX: Final = ".replay"
FORMAT: Final = "monopoly-replays"
REPLAYS_VERSION: Final = 1  # of the file format: raised whenever its layout changes
MOST_DECISIONS: Final = 1_000_000  # of a game; the longest that policies have played had a tenth of it
# Limits of a file; one that goes beyond them is not ours.
_MOST_BYTES: Final = 1 << 28  # of the file, and of its uncompressed block
_MOST_GAMES: Final = 100_000
_MOST_ABOUT: Final = 1 << 14  # bytes that describe a game, besides what was said
_MOST_TALK: Final = 1 << 21  # bytes of what was said in a game: 500 messages of the most bytes that 200 characters take in JSON
_MOST_RATIO: Final = 256  # of compression: games of a few decisions, with many options that they have in common, reach half of it
_MOST_HEADER: Final = 1 << 16  # bytes of the first line; also what a block may have beyond _MOST_RATIO
_MOST_TURNS: Final = 1 << 24  # of a player, as the arena allows
_DECODER: Final = json.JSONDecoder()
_BETWEEN: Final = re.compile(r"[\s,]*")  # what stands between two items of a JSON list


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
        talk: What players said, each message with the number of the action that it went with, in rising order.

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
    talk: tuple[tuple[int, Message], ...] = ()

    def __post_init__(self) -> None:
        core.check_players(self.num_players)
        core.split_seeds([self.seed])
        if len(self.names) != self.num_players:
            raise ConfigurationError(f"A game of {self.num_players} players needs as many names, not {len(self.names)}.")
        if isinstance(self.turn_limit, bool) or not isinstance(self.turn_limit, (int, np.integer)) or self.turn_limit < 0:
            raise ConfigurationError(f"turn_limit={self.turn_limit!r} must be a whole number, 0 for none.")
        if self.turn_limit > _MOST_TURNS:
            raise ConfigurationError(f"turn_limit={shortened(self.turn_limit)} must be {_MOST_TURNS} at most.")
        actions = np.asarray(self.actions)
        if actions.size > MOST_DECISIONS:
            raise ConfigurationError(f"A recorded game has {MOST_DECISIONS:,} decisions at most, not {actions.size:,}.")
        if actions.ndim != 1 or (actions.size and not np.issubdtype(actions.dtype, np.integer)):
            raise ConfigurationError(f"Actions are one row of integers, not {actions.dtype} of shape {actions.shape}.")
        wrong = np.flatnonzero((actions < 0) | (actions >= NUM_ACTIONS))
        if wrong.size:
            raise ConfigurationError(f"Action number {wrong[0] + 1} is {actions[wrong[0]]}; there are 0 to {NUM_ACTIONS - 1}.")
        actions = actions.astype(np.uint8)  # a copy of its own
        actions.setflags(write=False)
        object.__setattr__(self, "actions", actions)
        object.__setattr__(self, "names", tuple(self.names))
        self._check_talk()
        for number in ("seed", "num_players", "turn_limit"):  # NumPy's integers become Python's
            object.__setattr__(self, number, int(getattr(self, number)))

    def _check_talk(self) -> None:
        places = [at for at, _ in self.talk]
        fits = not places or 0 <= places[0] <= places[-1] < len(self.actions)
        if len(places) > MOST_MESSAGES or places != sorted(set(places)) or not fits:
            raise ConfigurationError(
                f"The {len(places)} messages of a recorded game must be {MOST_MESSAGES} at most and stand with rising numbers of its "
                f"{len(self.actions):,} actions."
            )
        for _, message in self.talk:
            if message.promise is not None and message.promise.player >= self.num_players:
                raise ConfigurationError(f"There is no player {message.promise.player} of the promise to {message.promise}.")

    def __eq__(self, other: object) -> bool:
        """Whether both are the same game between the same names; the digest follows from the rest."""
        if not isinstance(other, Replay):
            return NotImplemented
        return self._about() == other._about() and np.array_equal(self.actions, other.actions)

    def __hash__(self) -> int:
        return hash((self.rules, self.seed, self.actions.tobytes()))

    def _repr_html_(self) -> str:
        """The game in a notebook."""
        from monopoly_env.render.page import framed

        return framed(to_html(self))

    def _about(self) -> dict[str, Any]:
        """What a file holds besides the actions and the digest."""
        return {
            "names": list(self.names),
            "seed": self.seed,
            "rules": self.rules.changed(),
            "tables": core.table_hash(core.board_number(self.rules)),
            "turn_limit": self.turn_limit,
            "decisions": len(self.actions),
            **({"talk": talk_data(self.talk)} if self.talk else {}),
        }


def extended(replay: Replay, actions: Sequence[int], talk: Sequence[tuple[int, Message]] = (), digest: str = "") -> Replay:
    """A replay with more actions and messages at its end.

    Args:
        replay: The replay.
        actions: The actions after its own.
        talk: What was said, each message with the number of its action in the whole game.
        digest: The hash of the last record, if it is known.
    """
    joined = np.concatenate([replay.actions, np.array(actions, np.int64)])
    return replace(replay, actions=joined, talk=(*replay.talk, *talk), digest=digest)


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
    limit = replay.turn_limit * replay.num_players
    played = _play(core.batch_of(game), replay.actions, limit)
    if played < len(replay.actions):
        step(replay, game, played)  # raises
    _check_end(replay, game)
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
    except (IllegalActionError, PositionError) as error:
        raise FormatError(f"{_which(replay, number)} cannot be played back: {error}") from error
    settle(replay, game, number)


def tell(replay: Replay, game: Game, number: int, names: Sequence[str]) -> list[str]:
    """Carry out one action of a replay in place, as `step` does, and describe what happened, a sentence each.

    Args:
        replay: The replay.
        game: The game after the actions before this one.
        number: The number of the action, from 0.
        names: The players' names by seat.

    Raises:
        FormatError: The action is illegal, or the game does not end in the recorded position.
    """
    words = said(replay, game, number, names)
    try:
        told = narrate.step(game, int(replay.actions[number]), names)
    except (IllegalActionError, PositionError) as error:
        raise FormatError(f"{_which(replay, number)} cannot be played back: {error}") from error
    before = core.clone(game)
    settle(replay, game, number)
    return words + told + (narrate.compare(before, game, names) if core.is_over(game) else [])


def said(replay: Replay, game: Game, number: int, names: Sequence[str]) -> list[str]:
    """What is said with an action, a sentence each.

    Args:
        replay: The replay.
        game: The game before the action.
        number: The number of the action, from 0.
        names: The players' names by seat.
    """
    place = bisect_left(replay.talk, number, key=lambda one: one[0])
    if place == len(replay.talk) or replay.talk[place][0] != number:
        return []
    message, speaker = replay.talk[place][1], names[game.player]
    words = [f"{speaker} says: {json.dumps(message.text, ensure_ascii=False)}"] if message.text else []
    return words + ([f"{speaker} promises: {message.promise.worded(int(game.rules.board))}."] if message.promise else [])


def conversation(replay: Replay) -> Talk:
    """What was said in a game, and what became of each promise.

    Raises:
        FormatError: The replay can't be played back, or somebody promised what nobody could keep.
    """
    talk, game, messages = Talk(), start(replay), dict(replay.talk)
    for number in range(len(replay.actions)):
        before = core.clone(game)
        step(replay, game, number)
        try:
            talk.say(messages.get(number), before)
        except ConfigurationError as error:
            raise FormatError(f"{_which(replay, number)}: {error}") from error
        talk.step(before, int(replay.actions[number]))
    talk.end(game)
    return talk


def told(replay: Replay) -> Iterator[tuple[Game, list[str]]]:
    """Yield a copy of the record and the sentences about what happened: at the start, then after each action that changed something.

    Raises:
        FormatError: An action is illegal, or the game does not end in the recorded position.
    """
    game, names = start(replay), labels(replay)
    yield core.clone(game), []
    for number in range(len(replay.actions)):
        sentences = tell(replay, game, number, names)
        if sentences:
            yield core.clone(game), sentences


def labels(replay: Replay) -> list[str]:
    """The players as sentences call them: their letters, with their names."""
    return [f"{PLAYERS[seat]} ({name})" for seat, name in enumerate(replay.names)]


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
    if number == len(replay.actions) - 1:
        _check_end(replay, game)


def _check_end(replay: Replay, game: Game) -> None:
    if len(replay.actions) and replay.digest and digest(game) != replay.digest:
        last = _which(replay, len(replay.actions) - 1)
        raise FormatError(f"{last} leads to another position than it did when the game was recorded.")


def digest(game: Game) -> str:
    """A hash of a record without the field `policy_draws`: equal for a game and its playback."""
    batch = core.batch_of(game).copy()
    batch["policy_draws"] = 0
    return hashlib.sha256(batch.tobytes()).hexdigest()[:16]


def _which(replay: Replay, number: int) -> str:
    return f"Action {number + 1} of {len(replay.actions)} in the recorded game of seed {replay.seed}"


@entry()
def _play(games: Games, actions: NDArray[np.uint8], limit: int) -> int:
    """Play actions in the first of these games until one is illegal or the engine fails; how many were played."""
    game = games[0]
    for number in range(len(actions)):
        if not is_legal(game, actions[number]):
            return number
        apply(game, actions[number])
        if game.fault != 0:
            return number
        if 0 < limit < game.turns and game.decision != OVER:
            game.turns = limit
            finish(game, BY_CAP)
    return len(actions)


@entry()
def _finish_by_cap(games: Games, limit: int) -> None:
    """End the first of these games as the arena does, without the turn that has just begun."""
    game = games[0]
    game.turns = limit
    finish(game, BY_CAP)


# --- pictures -----------------------------------------------------------------------------------------------------------


def to_html(replay: Replay) -> str:
    """The whole game as one HTML page that needs nothing else: the board, step by step, with a log.

    Raises:
        FormatError: The replay can't be played back.
    """
    from monopoly_env.render.page import page  # here, so that an edit of pictures compiles no kernel of this file anew

    ending = "" if core.is_over(final(replay)) else " The recording ends before the game does."
    about = f"Seed {replay.seed}, {len(replay.actions):,} decisions.{ending}"
    return page(f"Monopoly: {', '.join(replay.names)}", about, replay.names, told(replay))


def save_html(replay: Replay, path: str | os.PathLike[str]) -> Path:
    """Write the page of `to_html` to a file, atomically.

    Raises:
        FormatError: The replay can't be played back.
        ConfigurationError: The file can't be written.
    """
    return core.write_atomically(path, to_html(replay).encode())


def save_animation(replay: Replay, path: str | os.PathLike[str], width: int = 488, seconds: float = 0.5) -> Path:
    """Write a moving picture of a game, an image a turn: a `.gif`, `.png` or `.webp` file. It needs the extra `pictures`.

    Args:
        replay: The replay.
        path: The file.
        width: Pixels.
        seconds: How long each turn is shown; the last position is shown ten times as long.

    Raises:
        FormatError: The replay can't be played back.
        ConfigurationError: The suffix, width or time is wrong, the file can't be written, or a library is not installed.
    """
    from monopoly_env.render.animation import animation

    return core.write_atomically(path, animation(_turns(replay), Path(path).suffix, width, seconds))


def _turns(replay: Replay) -> Iterator[Game]:
    """The game at the start of each turn, and at its end."""
    game = start(replay)
    yield game
    turn = game.turns
    for game in games(replay):
        if game.turns > turn:
            turn = game.turns
            yield game
    yield game


# --- files --------------------------------------------------------------------------------------------------------------


def save(path: str | os.PathLike[str], replays: Sequence[Replay]) -> Path:
    """Write replays to a file, atomically. A replay without a digest is played back first.

    Args:
        path: The file, by convention with the suffix `.replay`.
        replays: The games.

    Raises:
        FormatError: A replay cannot be played back.
        ConfigurationError: The file cannot be written, or it would be too large.
    """
    about = [json.dumps(replay._about() | {"digest": replay.digest or digest(final(replay))}, separators=(",", ":")) for replay in replays]
    block = f"[{','.join(about)}]\n".encode() + b"".join(replay.actions.tobytes() for replay in replays)
    packed = zlib.compress(block, 9)
    if len(replays) > _MOST_GAMES or len(block) > _most(len(packed)) or max(map(len, about), default=0) > _MOST_ABOUT + _MOST_TALK:
        raise ConfigurationError(f"{len(replays):,} games of {len(block):,} bytes are too much for a file: write several.")
    header = versions() | {"games": len(replays), "bytes": len(block)}
    return core.write_atomically(path, json.dumps(header).encode() + b"\n" + packed)


def load(path: str | os.PathLike[str]) -> list[Replay]:
    """Load the replays of a file. They are not played back here.

    Raises:
        ConfigurationError: The file does not exist.
        FormatError: The file holds no replays, is corrupt, or has other versions; the message says what differs.
    """
    name = os.fspath(path)
    line, _, block = core.read_file(path, _MOST_BYTES).partition(b"\n")
    header = core.read_json(line) if len(line) <= _MOST_HEADER else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FormatError(f"{name!r} holds no recorded games.")
    differences = [
        f"{key} is {shortened(header.get(key), 400)}, expected {value!r}" for key, value in versions().items() if header.get(key) != value
    ]
    if differences:
        raise FormatError(f"{name!r} was recorded by another version: {'; '.join(differences)}.")
    try:
        return _unpacked(header, block)
    except (zlib.error, KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
        reason = f" {error}" if isinstance(error, MonopolyError) else ""
        raise FormatError(f"{name!r} is truncated or corrupt.{reason}") from error


def to_dict(replay: Replay) -> dict[str, Any]:
    """A replay as plain data, for JSON: what describes the game, and the actions in base 64.

    Raises:
        FormatError: It has no digest and can't be played back.
    """
    about = replay._about() | {"digest": replay.digest or digest(final(replay))}
    return about | {"actions": base64.b64encode(replay.actions.tobytes()).decode()}


def from_dict(data: Mapping[str, Any]) -> Replay:
    """The inverse of `to_dict`. The game is not played back here.

    Raises:
        FormatError: It is not what `to_dict` returns, or it was recorded with another board.
    """
    try:
        actions = base64.b64decode(data["actions"], validate=True)
        if len(actions) != data["decisions"]:
            raise FormatError(f"It claims {shortened(data['decisions'])} decisions and has {len(actions)}.")
        return _replay(data, actions)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
        reason = f" {error}" if isinstance(error, MonopolyError) else ""
        raise FormatError(f"This is no recorded game.{reason}") from error


def versions() -> dict[str, Any]:
    """The versions that a file must have: with others, its actions would lead to other games."""
    return {
        "format": FORMAT,
        "format_version": REPLAYS_VERSION,
        "rules_version": RULES_VERSION,
        "record_version": FORMAT_VERSION,
        "heads": {name: head.size for name, head in HEADS.items()},
    }


def _most(packed: int) -> int:
    """The bytes that a block of so many compressed bytes may have."""
    return min(_MOST_BYTES, _MOST_RATIO * packed + _MOST_HEADER)


def _unpacked(header: dict[str, Any], packed: bytes) -> list[Replay]:
    """The replays of a file's block."""
    size, count = header["bytes"], header["games"]
    if not 0 < size <= _most(len(packed)) or not 0 <= count <= _MOST_GAMES:
        raise FormatError(f"It claims {size} bytes and {count} games.")
    engine = zlib.decompressobj()
    text, _, actions = engine.decompress(packed, size + 1).partition(b"\n")
    replays: list[Replay] = []
    end = 0
    for about in _descriptions(text.decode()):
        start, end = end, end + about["decisions"]
        if not start <= end <= len(actions) or len(replays) == count:
            break
        replays.append(_replay(about, actions[start:end]))
    if not engine.eof or engine.unused_data or len(replays) != count or end != len(actions):
        raise FormatError("Its content does not match its header.")
    return replays


def _descriptions(text: str) -> Iterator[Any]:
    """The items of a JSON list, read one at a time: nonsense is refused at its first item, before it fills the memory."""
    if not (text.startswith("[") and text.endswith("]")):
        raise FormatError("It describes no games.")
    at = 1
    while at < len(text) - 1:
        about, length = _description(text, at)
        yield about
        at = _BETWEEN.match(text, at + length).end()  # type: ignore[union-attr]  # it matches everywhere


def _description(text: str, at: int) -> tuple[Any, int]:
    """The item that begins there, and its length. The window grows for games in which much was said."""
    window = _MOST_ABOUT
    while True:
        try:
            return _DECODER.raw_decode(text[at : at + window])
        except json.JSONDecodeError:
            if window > _MOST_TALK:
                raise
            window *= 4


@lru_cache(maxsize=1024)
def _rules(options: str) -> Rules:
    """Rules from JSON: the games of a file have few different ones."""
    return Rules.from_dict(json.loads(options))


def _replay(about: Mapping[str, Any], actions: bytes) -> Replay:
    """One replay from its description and its actions."""
    rules = _rules(json.dumps(about["rules"]))
    if about["tables"] != core.table_hash(core.board_number(rules)):
        raise FormatError(f"It was recorded with another version of the board {rules.board!r}.")
    if not all(isinstance(name, str) for name in [*about["names"], about["digest"]]):
        raise FormatError("A name is not a string.")
    names = tuple(about["names"])
    talk = talk_of(about.get("talk", ()))
    return Replay(rules, about["seed"], len(names), names, np.frombuffer(actions, np.uint8), about["turn_limit"], about["digest"], talk)


def talk_data(talk: Sequence[tuple[int, Message]]) -> list[dict[str, Any]]:
    """What was said in a game, as JSON values."""
    return [{"at": at, **message.data()} for at, message in talk]


def talk_of(data: Sequence[Mapping[str, Any]]) -> tuple[tuple[int, Message], ...]:
    """The inverse of `talk_data`.

    Raises:
        FormatError: A message is too long, not clean, or of another form.
    """
    return tuple((_place(one["at"]), Message.from_data(one)) for one in data[: MOST_MESSAGES + 1])


def _place(at: object) -> int:
    if not isinstance(at, int) or isinstance(at, bool):
        raise FormatError(f"A message stands with action {shortened(at)}, which is no whole number.")
    return at
