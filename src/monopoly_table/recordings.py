"""Stored games, frame by frame: the position after each decision, and the events of a game."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from monopoly_env import core, replays
from monopoly_env.errors import FormatError
from monopoly_env.events import Row
from monopoly_env.files import write_atomically
from monopoly_env.game import Game
from monopoly_env.replays import Replay
from monopoly_env.rules import Rules
from monopoly_table import public
from monopoly_table.games import VERSIONS, data_of, opening, record, status
from monopoly_table.safety import UNKNOWN, RefusedError
from monopoly_table.storage import Step, Storage, Stored

_EVERY: Final = 256  # frames between two in memory
_MOST_INDEXED: Final = 50_000  # frames of an index


class StoredGame:
    """A stored game as a sequence of frames."""

    def __init__(self, row: Stored, storage: Storage) -> None:
        """Read a game's actions.

        Raises:
            RefusedError: It was played under another version of the rules.
        """
        if row.about["versions"] != VERSIONS:
            raise RefusedError(
                "This game was played by another version of monopoly-env: it can't be replayed"
                " here."
            )
        played = storage.actions(row) if row.actions is None else row.actions
        count = len(played)
        if row.kind == "live":
            played = played[: public.opened(played, record(row.record))]
        self._unopened = count - len(played)
        self.row, self.names = row, tuple(row.status["names"])
        reseeds = tuple((at, seed) for at, seed in row.about["reseeds"] if at <= len(played))
        self.replay = Replay(
            Rules.from_dict(row.about["rules"]), row.about["seed"], len(self.names), self.names,
            np.frombuffer(played, np.uint8),
            row.about["turn_limit"], talk=replays.talk_of(row.about.get("talk", ())),
            reseeds=reseeds,
        )  # fmt: skip
        if row.start is None:
            first = replays.start(self.replay)
        else:
            first = record(row.start)
            replays.redraw(self.replay, first, 0)
        first.policy_draws[:] = 0
        self._checkpoints = [first]  # frames 0, _EVERY, 2 * _EVERY ...

    @property
    def version(self) -> int:
        """The number of the last frame."""
        return len(self.replay.actions)

    def game(self, number: int) -> Game:
        """The game after so many decisions, without hidden information.

        Raises:
            RefusedError: It has fewer decisions.
        """
        return public.seen(self._at(number))

    def frame(self, number: int) -> dict[str, Any]:
        """The facts after so many decisions."""
        seats = self.row.about["seats"] or [{}] * len(self.names)
        players = [
            public.player(name, seat.get("kind", "policy"), seat.get("policy"))
            for name, seat in zip(self.names, seats, strict=True)
        ]
        game = self._at(number)
        digest = public.keyed_digest(game, self.row.about["key"])
        chosen = int(self.replay.actions[number]) if number < self.version else None
        facts = public.frame(game, players, number, digest)
        return facts | {"game": self.row.id, "chosen": chosen}

    def _at(self, number: int) -> Game:
        if not 0 <= number <= self.version:
            why = (
                " The bids after it are sealed until all of them are opened."
                if self._unopened
                else ""
            )
            raise RefusedError(
                f"The game has the frames 0 to {self.version}, not {number}.{why}", UNKNOWN
            )
        while len(self._checkpoints) <= number // _EVERY:
            self._checkpoints.append(
                self._play(
                    core.clone(self._checkpoints[-1]), (len(self._checkpoints) - 1) * _EVERY, _EVERY
                )
            )
        start = number - number % _EVERY
        return self._play(core.clone(self._checkpoints[number // _EVERY]), start, number - start)

    def _play(self, game: Game, start: int, count: int) -> Game:
        for number in range(start, start + count):
            replays.step(self.replay, game, number)
        return game

    def frames(self) -> Iterator[Game]:
        """All frames, one after another."""
        game = core.clone(self._checkpoints[0])
        yield public.seen(game)
        for number in range(self.version):
            replays.step(self.replay, game, number)
            yield public.seen(game)

    def step_to(self, number: int) -> dict[str, Any] | None:
        """The decision before a frame; None for the first."""
        if number == 0:
            return None
        game, action = self._at(number - 1), int(self.replay.actions[number - 1])
        seat, turn = int(game.player), int(game.turns)
        spoken = replays.message(self.replay, number - 1)
        rows = replays.play(self.replay, game, number - 1)
        digest = public.keyed_digest(game, self.row.about["key"])
        step = Step(number, seat, action, rows, digest, turn, number - 1).as_json()
        return step | ({"said": spoken.data()} if spoken else {})

    def file(self) -> bytes:
        """The game as a file of recorded games, which reveals the seed.

        Raises:
            RefusedError: The game is not over, or it began at a position.
        """
        if self.row.kind == "live" and not self.row.status["over"]:
            raise RefusedError("The game is not over: its file would tell what is to come.")
        if self.row.start is not None:
            raise RefusedError(
                "This game began at a position: a replay file holds games from their start only."
            )
        with tempfile.TemporaryDirectory() as folder:
            return replays.save(Path(folder) / f"game{replays.SUFFIX}", [self.replay]).read_bytes()

    def index(self) -> dict[str, Any]:
        """Turn, seat and decision of every frame, and the actions and events between them.

        Raises:
            RefusedError: The game is too long.
        """
        if self.version > _MOST_INDEXED:
            raise RefusedError(
                f"The game has {self.version:,} decisions: an index is made of {_MOST_INDEXED:,} at"
                " most."
            )
        game = core.clone(self._checkpoints[0])
        turns, seats, decisions, told = [], [], [], list[list[Row]]()
        for number in range(self.version + 1):
            turns.append(int(game.turns))
            seats.append(int(game.player) if game.decision else -1)
            decisions.append(int(game.decision))
            if number < self.version:
                told.append(replays.play(self.replay, game, number))
        return {
            "version": self.version,
            "turns": turns,
            "seats": seats,
            "decisions": decisions,
            "opening": opening(self.row),
            "actions": self.replay.actions.tolist(),
            "events": told,
        }


# --- uploads


def read_file(data: bytes, most: int) -> tuple[list[Replay], int]:
    """The games of an uploaded file, and the number of games left out.

    Raises:
        FormatError: It holds no games of this version.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = write_atomically(Path(folder) / "The file", data)
        try:
            found = replays.load(path)
        except FormatError as error:
            raise FormatError(str(error).replace(repr(str(path)), "The file")) from None
    if not found:
        raise FormatError("The file holds no recorded game.")
    return found[:most], len(found) - len(found[:most])


def row_of(replay: Replay, game_id: str) -> Stored:
    """The row of an uploaded game.

    Raises:
        FormatError: It can't be played back.
    """
    end = replays.final(replay)
    about = {
        "rules": replay.rules.changed(), "seed": replay.seed, "turn_limit": replay.turn_limit,
        "versions": VERSIONS,
        "title": "", "seats": [], "watch": "", "key": public.new_key(), "speed": 0.0,
        "paused": True,
        "talk": replays.talk_data(replay.talk), "reseeds": replay.reseeds,
    }  # fmt: skip
    names = [_readable(name) or f"Player {seat + 1}" for seat, name in enumerate(replay.names)]
    return Stored(
        game_id,
        "replay",
        about,
        status(end, names),
        len(replay.actions),
        None,
        data_of(end),
        b"",
        actions=replay.actions.tobytes(),
    )


def _readable(name: str) -> str:
    """A player's name from an untrusted file, cleaned."""
    return "".join(letter for letter in name if letter.isprintable())[:40]
