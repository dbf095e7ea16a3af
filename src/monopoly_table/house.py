"""The house: what all routes and sockets of one server share, and what they do in it."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from monopoly_bench import puzzles
from monopoly_env import core
from monopoly_env.errors import MonopolyError
from monopoly_env.game import Game
from monopoly_env.policy.protocol import Policy
from monopoly_env.render.text import PLAYERS
from monopoly_table import analysis, hidden, messages, offers, recordings, reports, setups, views
from monopoly_table.players import Catalogue
from monopoly_table.recordings import Recording
from monopoly_table.refusals import MOVED_ON, NO_TOKEN, TOO_MANY, UNKNOWN, RefusedError
from monopoly_table.rooms import Rooms
from monopoly_table.safety import Rights, rights, same
from monopoly_table.storage import Storage, Stored
from monopoly_table.tables import GUEST, POLICY, Seat, opened
from monopoly_table.threads import FairRunner, Runner

_MOST_FROM_A_FILE: Final = 50  # games that are taken from an uploaded file
_MOST_LISTED: Final = 200
_MOST_REPORTED: Final = 10_000  # decisions of a game in a report
_RECORDINGS: Final = 8  # stored games in memory


@dataclass(frozen=True)
class Settings:
    """What a server needs to know.

    Attributes:
        data: The folder of the games.
        agents: A folder of saved policies, or None.
        hosts: Names of the server besides its addresses.
        rate: Requests a second and address.
        burst: Requests at once.
        sockets: Connections at once.
        games: Games in the file.
    """

    data: Path
    agents: Path | None = None
    hosts: tuple[str, ...] = ()
    rate: float = 50.0
    burst: int = 300
    sockets: int = 256
    games: int = 10_000


class House:
    """One server's games, players and threads."""

    def __init__(self, settings: Settings) -> None:
        """Open the file of games.

        Raises:
            ConfigurationError: A folder can't be used.
        """
        self.settings = settings
        self.catalogue = Catalogue(settings.agents)
        self.storage = Storage(settings.data)
        self.token = self.storage.secret("host")
        self.run, self.think = Runner(8), FairRunner(2)  # moves don't wait for analyses
        self.rooms = Rooms(self.storage, self.catalogue, self.run)
        self.ready = False
        self.sockets = 0
        self._recordings: OrderedDict[tuple[str, int, float], Recording] = OrderedDict()
        self._puzzles: tuple[puzzles.Puzzle, ...] | None = None

    def close(self) -> None:
        """Close the file."""
        self.rooms.close()
        self.storage.close()

    def warm_up(self) -> None:
        """Compile what a game and an analysis need, so that nobody waits for it later."""
        game = core.new_game(2)
        views.view(game, ("A", "B"), 0)
        views.picture(game)
        policy = self.catalogue.make("expert")
        next(analysis.analyse(game, [policy, policy], True, 100))
        self.catalogue.listed()
        self.ready = True

    # --- who may what

    def is_host(self, token: str) -> bool:
        """Whether a token is the host's."""
        return same(token, self.token)

    def check_host(self, token: str) -> None:
        """Raise unless a token is the host's."""
        if not self.is_host(token):
            raise RefusedError(
                NO_TOKEN, "Only the host may do this: open the link that the server printed."
            )

    def row(self, game: str) -> Stored:
        """A stored game.

        Raises:
            RefusedError: There is none.
        """
        row = self.storage.find(game)
        if row is None:
            raise RefusedError(
                UNKNOWN, f"There is no game {game!r}: it was removed, or the link is wrong."
            )
        return row

    def rights(self, token: str, row: Stored) -> Rights:
        """What a token allows in a game."""
        return rights(token, self.token, row, [Seat(**seat) for seat in row.about["seats"]])

    # --- new games

    def begin(self, new: messages.NewGame) -> Stored:
        """Begin a game.

        Raises:
            MonopolyError: The rules, a policy or the position are wrong.
        """
        self._check_room(1)
        seats = [self._seat(choice, len(new.seats)) for choice in new.seats]
        start, seed = self._start(new, len(seats))
        if int(start.num_players) != len(seats):
            raise RefusedError(
                MOVED_ON,
                f"The position has {start.num_players} players, and {len(seats)} seats are given.",
            )
        if core.is_over(start):
            raise RefusedError(
                MOVED_ON, "The game is over at this position: there is nothing to play."
            )
        rules = setups.rules_in(start)
        about = {
            "rules": rules.changed(),
            "seed": seed,
            "turn_limit": new.turn_limit,
            "speed": new.speed,
            "paused": new.paused,
            "title": "",
        }
        row = opened(seats, start, about, new.position is not None or new.start is not None)
        self.storage.add([row])
        return row

    def _seat(self, choice: messages.SeatChoice, players: int) -> Seat:
        if choice.kind == POLICY:
            self.catalogue.make(choice.policy or "").check_table(players)
        elif choice.policy is not None:
            raise RefusedError(MOVED_ON, f"A seat of kind {choice.kind!r} has no policy.")
        return Seat(
            choice.kind,
            choice.name,
            choice.policy,
            secrets.token_urlsafe(16) if choice.kind == GUEST else None,
        )

    def _start(self, new: messages.NewGame, players: int) -> tuple[Game, int]:
        seed = hidden.new_seed() if new.seed is None else new.seed
        if new.position is not None:
            forced = bool(new.position.chance or new.position.community_chest)
            return core.reseed(setups.build(new.position), seed, shuffle=not forced), seed
        if new.start is not None:
            return (
                core.reseed(
                    self.recording(self.row(new.start.game)).frame(new.start.version),
                    seed,
                    shuffle=True,
                ),
                seed,
            )
        return core.new_game(players, setups.rules_of(new.rules), seed), seed

    def _check_room(self, more: int) -> None:
        if self.storage.count() + more > self.settings.games:
            raise RefusedError(
                TOO_MANY, f"The server keeps {self.settings.games:,} games at most: remove some."
            )

    def upload(self, data: bytes) -> dict[str, Any]:
        """Keep the games of a file.

        Raises:
            FormatError: It is none of ours.
        """
        found, left_out = recordings.uploaded(data, _MOST_FROM_A_FILE)
        self._check_room(len(found))
        rows = [recordings.kept(replay, "r" + secrets.token_hex(6)) for replay in found]
        self.storage.add(rows)
        return {"games": [listed(row) for row in rows], "left_out": left_out}

    def games(self) -> list[dict[str, Any]]:
        """The games that changed last."""
        return [listed(row) for row in self.storage.newest(_MOST_LISTED)]

    # --- frames

    def recording(self, row: Stored) -> Recording:
        """A stored game, frame by frame."""
        key = (row.id, row.version, row.updated)
        if key not in self._recordings:
            self._recordings[key] = Recording(row, self.storage)
            while len(self._recordings) > _RECORDINGS:
                self._recordings.popitem(last=False)
        return self._recordings[key]

    def frame(self, row: Stored, number: int) -> dict[str, Any]:
        """A frame as clients read it."""
        recording = self.recording(row)
        game, step = recording.frame(number), recording.step_to(number)
        told = views.view(game, recording.names, number, row.id, recording.digest(number))
        for player, seat in zip(told["players"], row.about["seats"], strict=False):
            player["kind"], player["policy"] = seat["kind"], seat["policy"]
        told["chosen"] = recording.chosen(number)
        return {
            "view": told,
            "board": views.picture(game),
            "step": None if step is None else step.told(),
        }

    def last(self, row: Stored) -> dict[str, Any]:
        """The end of an uploaded game, in the form of a table's state."""
        told = self.frame(row, row.version)
        return {
            "view": told["view"],
            "board": told["board"],
            "log": [told["step"]] if told["step"] else [],
        }

    # --- puzzles

    def all_puzzles(self) -> tuple[puzzles.Puzzle, ...]:
        """The puzzles that come with the library; none if there are none."""
        if self._puzzles is None:
            try:
                self._puzzles = puzzles.load()
            except MonopolyError:
                self._puzzles = ()
        return self._puzzles

    def puzzle(self, number: int) -> puzzles.Puzzle:
        """A puzzle.

        Raises:
            RefusedError: There is none of this number.
        """
        if not 0 <= number < len(self.all_puzzles()):
            raise RefusedError(
                UNKNOWN,
                f"There is no puzzle {number}: there are {len(self.all_puzzles())}, from 0.",
            )
        return self.all_puzzles()[number]

    def asked(self, number: int) -> dict[str, Any]:
        """A puzzle without its solution."""
        puzzle = self.puzzle(number)
        game = puzzle.game
        told = views.view(game, puzzle.replay.names, len(puzzle.replay.actions))
        answers = {candidate.action for candidate in puzzle.candidates}
        told["actions"] = [action for action in told["actions"] if action["action"] in answers]
        return {
            "puzzle": number,
            "title": title(puzzle),
            "view": told,
            "board": views.picture(game),
        }

    def guessed(self, number: int, action: int) -> dict[str, Any]:
        """Whether an answer is right, and the solution."""
        puzzle = self.puzzle(number)
        puzzle.of(action)
        rows = [analysis.told(candidate) for candidate in puzzle.candidates]
        return {
            "right": action == puzzle.best.action,
            "best": puzzle.best.action,
            "candidates": rows,
        }

    # --- analyses

    def job(self, token: str, message: Any) -> Iterator[dict[str, Any]]:
        """The analysis that a client asks for.

        The first step may take longer, since it finds the position.

        Raises:
            MonopolyError: It can't be made.
        """
        if isinstance(message, messages.Analyse):
            game = self._target(token, message.target)
            seated = self._who(message.policies, game)
            yield from analysis.analyse(game, seated, message.actions, message.most, message.turns)
        elif isinstance(message, messages.Weigh):
            game = self._target(token, message.target)
            names = [f"Player {letter}" for letter in PLAYERS[: int(game.num_players)]]
            picks = offers.picks(game, message.to, message.give, message.ask, names)
            yield from analysis.weigh(game, picks, self._who(message.policies, game), message.most)
        else:
            recording = self._seen(token, message.game)
            seated = self._who(message.policies, recording.frame(0))
            if isinstance(message, messages.Curve):
                yield from analysis.curve(
                    recording.frame, recording.version, message.points, message.playouts, seated
                )
            else:
                yield from self._report(recording, message.playouts, seated)

    def _report(
        self, recording: Recording, playouts: int, seated: Sequence[Policy]
    ) -> Iterator[dict[str, Any]]:
        if not 0 < recording.version <= _MOST_REPORTED:
            raise RefusedError(
                MOVED_ON,
                f"A report needs a game of 1 to {_MOST_REPORTED:,} decisions; this one has"
                f" {recording.version:,}.",
            )
        games = np.concatenate([core.batch_of(game) for game in recording.frames()])
        yield from reports.report(
            games[:-1],
            recording.replay.actions.astype(np.int64),
            games[-1],
            recording.names,
            playouts,
            seated,
        )

    def _seen(self, token: str, game: str) -> Recording:
        row = self.row(game)
        self.rights(token, row)
        return self.recording(row)

    def _target(self, token: str, target: messages.Target) -> Game:
        """The position that is to be analysed."""
        if sum(given is not None for given in (target.game, target.position, target.puzzle)) != 1:
            raise RefusedError(MOVED_ON, "A target is one of: a game, a position, a puzzle.")
        if target.position is not None:
            return setups.build(target.position)
        if target.puzzle is not None:
            return self.puzzle(target.puzzle).game
        return self._seen(token, target.game or "").frame(target.version)

    def _who(self, chosen: str | list[str], game: Game) -> list[Policy]:
        named = [chosen] if isinstance(chosen, str) else chosen
        made = {name: self.catalogue.make(name) for name in named}  # one object a name
        return analysis.playable([made[name] for name in named], int(game.num_players))


def listed(row: Stored) -> dict[str, Any]:
    """A game in the list of games."""
    updated = datetime.fromtimestamp(row.updated, UTC).isoformat(timespec="seconds")
    told = {
        "game": row.id,
        "kind": row.kind,
        "version": row.version,
        "updated": updated,
        "title": row.about["title"],
    }
    return told | {name: row.status[name] for name in ("names", "turns", "over", "winners")}


def links(row: Stored) -> dict[str, Any]:
    """The tokens of a game, for its host."""
    seats = [
        {"seat": number, "token": seat["token"], "taken": seat["taken"]}
        for number, seat in enumerate(row.about["seats"])
    ]
    return {"watch": row.about["watch"], "seats": [seat for seat in seats if seat["token"]]}


def title(puzzle: puzzles.Puzzle) -> str:
    """What a puzzle asks."""
    return puzzles.KINDS[puzzle.kind].capitalize()
