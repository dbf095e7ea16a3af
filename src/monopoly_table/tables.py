"""A table: one game that is being played, the only truth about it.

What happens is kept in the file before anybody hears of it.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from monopoly_env import actions, core, replays
from monopoly_env.errors import MonopolyError
from monopoly_env.game import FORMAT_VERSION, GAME, Game
from monopoly_env.policy.loop import PATIENCE, answers
from monopoly_env.policy.protocol import MEMORY, Decisions, Policy
from monopoly_env.render import narrate
from monopoly_env.render.text import PLAYERS
from monopoly_env.replays import Replay
from monopoly_env.rules import RULES_VERSION, Rules
from monopoly_table import hidden, views
from monopoly_table.players import Catalogue
from monopoly_table.refusals import MOVED_ON, NOT_YOURS, RefusedError
from monopoly_table.storage import Snapshot, Step, Storage, Stored

LOG: Final = 200  # steps that a table remembers; the file has all
PERSON, GUEST, POLICY = "person", "guest", "policy"
VERSIONS: Final = [RULES_VERSION, FORMAT_VERSION]


@dataclass
class Seat:
    """Who sits where.

    Attributes:
        kind: `person` plays with the host's token, `guest` with the token of the seat; or `policy`.
        name: The name that was given; may be empty.
        policy: The name of the policy.
        token: Of a guest.
        taken: Whether a guest has come.
    """

    kind: str
    name: str = ""
    policy: str | None = None
    token: str | None = None
    taken: bool = False

    def called(self, seat: int) -> str:
        """The name that everybody sees."""
        return self.name or (
            f"{self.policy} {PLAYERS[seat]}" if self.kind == POLICY else f"Player {PLAYERS[seat]}"
        )


def record(data: bytes) -> Game:
    """A record from its bytes, checked.

    Raises:
        PositionError: No game can reach it.
    """
    games = np.frombuffer(data, GAME).copy()
    core.check_sound(games)
    return games[0]


def data_of(game: Game) -> bytes:
    """The bytes of a record."""
    return core.batch_of(game).tobytes()


def opened(
    seats: Sequence[Seat], start: Game, about: dict[str, Any], from_position: bool
) -> Stored:
    """A new game, to be kept."""
    key = hidden.new_key()
    kept = about | {
        "seats": [asdict(seat) for seat in seats],
        "watch": secrets.token_urlsafe(16),
        "versions": VERSIONS,
        "key": key,
        "reseeds": [],
        "digest": hidden.digest(start, key),
    }
    memory = np.zeros((len(seats), 1, MEMORY)).tobytes()
    data = data_of(start)
    names = [seat.called(number) for number, seat in enumerate(seats)]
    return Stored(
        "g" + secrets.token_hex(6),
        "live",
        kept,
        status(start, names),
        0,
        data,
        memory,
        data if from_position else None,
    )


def status(game: Game, names: Sequence[str]) -> dict[str, Any]:
    """What the list of games shows of one."""
    winners = [
        seat for seat in range(game.num_players) if core.is_over(game) and game.place[seat] == 1
    ]
    return {
        "names": list(names),
        "turns": int(game.turns),
        "over": core.is_over(game),
        "winners": winners,
    }


def empty_replay(about: dict[str, Any], players: int) -> Replay:
    """The rules of a game, its seed and its turn limit."""
    return Replay(
        Rules.from_dict(about["rules"]),
        about["seed"],
        players,
        ("",) * players,
        np.zeros(0, np.uint8),
        about["turn_limit"],
    )


class Table:
    """One game. Its methods are for one thread at a time."""

    def __init__(self, row: Stored, storage: Storage, catalogue: Catalogue) -> None:
        """Go on with a stored game.

        Raises:
            RefusedError: It was played by other rules.
        """
        if row.about["versions"] != VERSIONS:
            raise RefusedError(
                MOVED_ON,
                "This game was played by another version of monopoly-env: it can't go on here.",
            )
        self.row, self.storage, self.catalogue = row, storage, catalogue
        self.game = record(row.record)
        self.seats = [Seat(**seat) for seat in row.about["seats"]]
        self.memory = np.frombuffer(row.memory).copy().reshape(len(self.seats), 1, MEMORY)
        self.log = deque(storage.steps(row.id, LOG), LOG)
        self._actions = list(storage.actions(row))
        self.stalled: dict[str, Any] | None = None
        self._settings = empty_replay(row.about, len(self.seats))
        self._policies: dict[str, Policy] = {}
        self._patience = (0, 0)  # a turn, and how often policies decided in it

    # --- what it is

    @property
    def version(self) -> int:
        """Decisions so far."""
        return self.row.version

    @property
    def names(self) -> list[str]:
        """What the players are called."""
        return [seat.called(number) for number, seat in enumerate(self.seats)]

    @property
    def digest(self) -> str:
        """The hash of the position."""
        return hidden.digest(self.game, self.row.about["key"])

    @property
    def waits_for_policy(self) -> bool:
        """Whether a policy is to move and can."""
        return (
            not core.is_over(self.game)
            and self.seats[self.game.player].kind == POLICY
            and self.stalled is None
        )

    @property
    def secret(self) -> set[int]:
        """The versions to which sealed bids led that are not opened yet."""
        steps = list(self.log)
        public = hidden.public([step.action for step in steps], self.game)
        return {step.version for step in steps[public:]}

    def view(self) -> dict[str, Any]:
        """The position and who plays; what depends on the client is empty."""
        seen = hidden.seen(self.game, int(self.game.player))
        told = views.view(seen, self.names, self.version, self.row.id, self.digest)
        for player, seat in zip(told["players"], self.seats, strict=True):
            player["kind"], player["policy"] = seat.kind, seat.policy
        told["speed"], told["paused"], told["stalled"] = (
            self.row.about["speed"],
            self.row.about["paused"],
            self.stalled,
        )
        return told

    def since(self, version: int, digest: str) -> list[Step] | None:
        """The steps since a position that a client has seen.

        None if it is not one of this game, or too old.
        """
        if version == self.version and digest == self.digest:
            return []
        known = list(self.log)
        if version == 0 and digest == self.row.about["digest"] and known and known[0].version == 1:
            return known
        for number, step in enumerate(known):
            if step.version == version and step.digest == digest:
                return known[number + 1 :]
        return None

    # --- people

    def check(self, version: int, digest: str) -> None:
        """Raise unless a message is about the position as it is.

        Raises:
            RefusedError: The game has moved on.
        """
        if (version, digest) != (self.version, self.digest):
            raise RefusedError(
                MOVED_ON,
                f"The game has moved on: it is at decision {self.version}, not {version}. Nothing"
                " was done.",
            )

    def check_turn(self, seats: Sequence[int]) -> None:
        """Raise unless one of these seats is asked.

        Raises:
            RefusedError: Another one is, or the game is over.
        """
        if core.is_over(self.game):
            raise RefusedError(MOVED_ON, "The game is over.")
        if int(self.game.player) not in seats:
            raise RefusedError(
                NOT_YOURS, f"It is {self.names[self.game.player]}'s decision, not yours."
            )

    def carry_out(self, chosen: Sequence[int]) -> list[Step]:
        """Carry out a person's actions, all or none.

        Raises:
            IllegalActionError: One is not legal.
            RefusedError: They can't be kept.
        """
        before, first = self._snapshot(), self.version
        try:
            steps = [self._step(action, first) for action in chosen]
            self._keep(steps, before)
        except BaseException:
            self._restore(before, first)
            raise
        return steps

    @property
    def undo_to(self) -> int | None:
        """The version before the last decision of a person; None if none can be taken back."""
        for step in reversed(self.log):
            if step.is_final or self.seats[step.seat].kind != POLICY:
                return None if step.is_final else step.first
        return None

    def undo(self) -> None:
        """Take back the last decision of a person, and draw anew what nobody can know.

        Raises:
            RefusedError: There is none, or sealed bids have been opened since.
        """
        version = self.undo_to
        snapshot = None if version is None else self.storage.snapshot(self.row.id, version)
        if version is None or snapshot is None:
            raise RefusedError(
                MOVED_ON,
                "There is no decision to take back: no person has decided yet, or sealed bids have"
                " been opened since.",
            )
        game, seed = record(snapshot.record), hidden.new_seed()
        core.reseed(game, seed, shuffle=True)
        kept = [one for one in self.row.about["reseeds"] if one[0] <= version]
        row = replace(
            self.row,
            about=self.row.about | {"reseeds": [*kept, (version, seed)]},
            status=status(game, self.names),
            version=version,
            record=data_of(game),
            memory=snapshot.memory,
        )
        self.storage.take_back(row)
        self.row = row
        self._restore(Snapshot(row.record, row.memory), version)
        self.log = deque(self.storage.steps(self.row.id, LOG), LOG)
        self.stalled = None

    # --- policies

    def play(self, seconds: float, until_event: bool) -> list[Step]:
        """Let policies decide until a person is asked or the time is over.

        If that is wanted, they also stop when something happens that is told.

        A policy that fails stalls the game: it stays as it is until the seat is given to another
        player.
        """
        end, before, first = time.monotonic() + seconds, self._snapshot(), self.version
        steps: list[Step] = []
        try:
            while self.waits_for_policy and (not steps or time.monotonic() < end):
                action = self._ask()
                if action is None:
                    break
                steps.append(self._step(action, self.version))
                if until_event and steps[-1].sentences:
                    break
            self._keep(steps, None)
        except BaseException:
            self._restore(before, first)
            raise
        return steps

    def _ask(self) -> int | None:
        """The action of the policy to move; None if it failed."""
        seat = int(self.game.player)
        turn, decided = self._patience
        self._patience = (int(self.game.turns), decided + 1 if turn == self.game.turns else 0)
        try:
            asked, memory = core.batch_of(self.game).copy(), self.memory[seat].copy()
            drawn = self.row.start or self.row.about["reseeds"]  # actions don't lead here
            history = None if drawn else [self._actions]
            action = int(answers(self._policy(seat), Decisions(asked, memory, history=history))[0])
            core.check_step(self.game, action)
            if self._patience[1] > PATIENCE:
                raise RefusedError(
                    MOVED_ON,
                    f"{self.names[seat]} made {PATIENCE:,} decisions in one turn and never came to"
                    " an end of it.",
                )
        except MonopolyError as error:
            self.stall(error)
            return None
        self.game.policy_draws[seat] = asked["policy_draws"][0, seat]
        self.memory[seat] = memory
        return action

    def stall(self, error: Exception) -> None:
        """Stop the game: the policy to move failed."""
        seat, told = int(self.game.player), hidden.without_seed(str(error), self.game)
        self.stalled = {
            "seat": seat,
            "error": f"{told[:500]} The game is kept: give the seat to another player.",
        }

    def _policy(self, seat: int) -> Policy:
        """The policy that plays a seat."""
        name = self.seats[seat].policy or ""
        if name not in self._policies:
            self._policies[name] = self.catalogue.make(name)
        return self._policies[name]

    def _let_watch(self) -> None:
        """Let policies look at the turn that has begun.

        One that can't be made stalls the game when it is asked, not here.
        """
        for number, seat in enumerate(self.seats):
            if seat.kind == POLICY and self.game.place[number] == 0:
                with suppress(MonopolyError):
                    self._policy(number).watch(
                        core.batch_of(self.game).copy(), np.array([number]), self.memory[number]
                    )

    # --- who plays, how fast

    def pace(self, speed: float | None, paused: bool | None) -> None:
        """Change the seconds between moves of policies, or hold them."""
        if speed is not None:
            self.row.about["speed"] = speed
        if paused is not None:
            self.row.about["paused"] = paused
        self.keep_seats()

    def give(self, seat: int, kind: str, policy: str | None) -> None:
        """Give a seat to a policy or to a person.

        Raises:
            RefusedError: There is no such seat, or a person would see another's sealed bid.
            ConfigurationError: There is no such policy, or it does not play at tables of this size.
        """
        if not 0 <= seat < len(self.seats):
            raise RefusedError(
                MOVED_ON, f"There is no seat {seat}: the seats are 0 to {len(self.seats) - 1}."
            )
        old = self.seats[seat]
        if kind == PERSON and hidden.sealed_lot(self.game) is not None:
            raise RefusedError(
                MOVED_ON, "Sealed bids are being made: take the seat when they are open."
            )
        if kind == POLICY:
            given = self.catalogue.make(policy or "")
            given.check_table(len(self.seats))
            self._policies[policy or ""] = given
        name = old.name if kind == PERSON and old.kind != POLICY else ""
        self.seats[seat] = Seat(kind, name, policy if kind == POLICY else None)
        self.memory[seat] = 0
        self.stalled, self._patience = None, (0, 0)
        self.row.memory = self.memory.tobytes()
        self.keep_seats()

    def keep_seats(self) -> None:
        """Keep who plays and how fast."""
        self.row.about["seats"] = [asdict(seat) for seat in self.seats]
        self._note()
        self._keep([], None)

    # --- one step, and the file

    def _step(self, action: int, first: int) -> Step:
        """Carry out one action."""
        if self.version == 0:
            self._let_watch()
        seat, turn, text = (
            int(self.game.player),
            int(self.game.turns),
            actions.describe(action, self.game),
        )
        lot = hidden.sealed_lot(self.game)
        sentences = narrate.step(self.game, action, self.names)
        before = core.clone(self.game)
        replays.settle(self._settings, self.game, 0)  # the turn limit
        if core.is_over(self.game) and not core.is_over(before):
            sentences += narrate.compare(before, self.game, self.names)
        if self.game.turns != turn and not core.is_over(self.game):
            self._let_watch()
        self.row.version += 1
        self._actions.append(action)
        opened = lot not in (None, hidden.sealed_lot(self.game))
        first = self.version if opened else first  # opened bids are not taken back
        step = Step(self.version, seat, action, text, tuple(sentences), self.digest, turn, first)
        self.log.append(step)
        return step

    def _snapshot(self) -> Snapshot:
        return Snapshot(data_of(self.game), self.memory.tobytes())

    def _restore(self, snapshot: Snapshot, version: int) -> None:
        self.game = record(snapshot.record)
        self.memory = np.frombuffer(snapshot.memory).copy().reshape(self.memory.shape)
        self.row.version = version
        del self._actions[version:]
        while self.log and self.log[-1].version > version:
            self.log.pop()

    def _note(self) -> None:
        """Bring the row up to the game."""
        self.row.record, self.row.memory = data_of(self.game), self.memory.tobytes()
        self.row.status = status(self.game, self.names)

    def _keep(self, steps: Sequence[Step], before: Snapshot | None) -> None:
        self._note()
        self.storage.save(self.row, steps, before)
