"""Running games: each is a match between people and policies, and a row in the database.

Every change is saved before any client is notified.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from monopoly_env import actions, core, events, offers
from monopoly_env.actions import A_BID, A_TRADE, NOTES, RAISES
from monopoly_env.derived import derive
from monopoly_env.engine import agenda
from monopoly_env.errors import ConfigurationError, MonopolyError, nearest
from monopoly_env.game import FORMAT_VERSION, GAME, NOBODY, Game
from monopoly_env.policy.loop import NO_LIMIT
from monopoly_env.policy.match import Match
from monopoly_env.policy.protocol import MEMORY, Policy
from monopoly_env.render import words
from monopoly_env.render.text import PLAYERS
from monopoly_env.render.words import Names
from monopoly_env.rules import RULES_VERSION, Rules
from monopoly_table import public
from monopoly_table.messages import Exchange
from monopoly_table.safety import NOT_YOURS, RefusedError
from monopoly_table.storage import Snapshot, Step, Storage, Stored

LOG: Final = 200  # steps of a game in memory; the file has all
PERSON, GUEST, POLICY = "person", "guest", "policy"
_TRADED: Final = ("cash", "lots", "jail_cards")  # fields of a record that an exchange changes
VERSIONS: Final = [RULES_VERSION, FORMAT_VERSION]


@dataclass
class Seat:
    """A seat and its player.

    Attributes:
        kind: `person` plays with the host's token, `guest` with the token of the seat; or `policy`.
        name: The given name; may be empty.
        policy: The name of the policy.
        token: The token of a guest.
        taken: Whether a guest has joined.
    """

    kind: str
    name: str = ""
    policy: str | None = None
    token: str | None = None
    taken: bool = False

    def called(self, seat: int) -> str:
        """The name shown to all."""
        return self.name or (
            f"{self.policy} {PLAYERS[seat]}" if self.kind == POLICY else f"Player {PLAYERS[seat]}"
        )


def record(data: bytes) -> Game:
    """A record from its bytes, checked.

    Raises:
        PositionError: The record is invalid.
    """
    games = np.frombuffer(data, GAME).copy()
    core.check_sound(games)
    return games[0]


def data_of(game: Game) -> bytes:
    """The bytes of a record."""
    return core.batch_of(game).tobytes()


def status(game: Game, names: Sequence[str]) -> dict[str, Any]:
    """The fields of a game in the list of games."""
    return {
        "names": list(names),
        "turns": int(game.turns),
        "over": core.is_over(game),
        "winners": public.winners(game),
    }


def opened(
    seats: Sequence[Seat], start: Game, about: dict[str, Any], from_position: bool
) -> Stored:
    """The row of a new game."""
    key, data = public.new_key(), data_of(start)
    kept = about | {
        "seats": [asdict(seat) for seat in seats],
        "watch": secrets.token_urlsafe(16),
        "versions": VERSIONS,
        "key": key,
        "reseeds": [],
        "digest": public.keyed_digest(start, key),
    }
    return Stored(
        "g" + secrets.token_hex(6),
        "live",
        kept,
        status(start, [seat.called(number) for number, seat in enumerate(seats)]),
        0,
        data if from_position else None,
        data,
        np.zeros((len(seats), MEMORY)).tobytes(),
    )


def opening(row: Stored) -> list[events.Row]:
    """The events before the first decision; none if the game began at a position."""
    if row.start is not None:
        return []
    rules = Rules.from_dict(row.about["rules"])
    return events.opening(core.new_game(len(row.status["names"]), rules, row.about["seed"]))


class LiveGame:
    """Authoritative state of one running game. Its methods are for one thread at a time.

    Attributes:
        row: Its row in the database.
        seats: The players.
        game: The record.
        log: The last steps.
        stalled: The seat of a policy that failed, and the error, or None.
        opening: The events before the first decision; none if the game began at a position.
    """

    def __init__(self, row: Stored, storage: Storage, make: Callable[[str], Policy]) -> None:
        """Continue a stored game.

        Args:
            row: The game.
            storage: The database.
            make: Makes a policy by name.

        Raises:
            RefusedError: It was played under another version of the rules.
        """
        if row.about["versions"] != VERSIONS:
            raise RefusedError(
                "This game was played by another version of monopoly-env: it can't go on here."
            )
        self._storage, self._make = storage, make
        self.seats = _seats(row)
        self.stalled: dict[str, Any] | None = None
        self.opening = opening(row)
        self._policies: dict[str, Policy] = {}
        self._go_to(row, storage.steps(row.id, LOG), list(storage.actions(row)))

    def _go_to(self, row: Stored, log: Sequence[Step], played: Sequence[int]) -> None:
        """Continue from a row of this game, its last steps and all its actions."""
        self.row, self.stalled = row, None
        self.log = deque(log, LOG)
        self._resume(Snapshot(row.record, row.memory), played)

    def _resume(self, position: Snapshot, played: Sequence[int]) -> None:
        """Continue from a position after these actions."""
        about, self.row.version = self.row.about, len(played)
        drawn = self.row.start or about["reseeds"]  # the actions don't lead to this position
        self.game = record(position.record)
        policies: list[Policy | None] = [None] * len(self.seats)
        for number in range(len(self.seats)):
            with suppress(MonopolyError):  # a missing policy stalls the game at its next decision
                policies[number] = self._policy(number)
        self._played = list(played)
        self.match = Match(
            self.game,
            policies,
            turn_limit=about["turn_limit"] * len(self.seats) or NO_LIMIT,
            actions=None if drawn else played,
        )
        if played:
            self.match.memory[:] = np.frombuffer(position.memory).reshape(-1, MEMORY)
            self.match.observed = int(self.game.turns)

    def _policy(self, seat: int) -> Policy | None:
        """The policy that plays a seat, if one does."""
        name = self.seats[seat].policy
        if name is not None and name not in self._policies:
            made = self._make(name)
            made.check_table(len(self.seats))
            self._policies[name] = made
        return None if name is None else self._policies[name]

    @property
    def names(self) -> list[str]:
        """The players' names."""
        return [seat.called(number) for number, seat in enumerate(self.seats)]

    @property
    def digest(self) -> str:
        """The hash of the position."""
        return public.keyed_digest(self.game, self.row.about["key"])

    @property
    def waits_for_policy(self) -> bool:
        """Whether a policy is to move and can."""
        moving = not core.is_over(self.game) and self.seats[self.game.player].kind == POLICY
        return moving and self.stalled is None

    def frame(self, own: int = NOBODY) -> dict[str, Any]:
        """The position as facts; fields that depend on the client are empty.

        Args:
            own: The seat whose sealed bid is shown.
        """
        players = [
            public.player(seat.called(number), seat.kind, seat.policy)
            for number, seat in enumerate(self.seats)
        ]
        about = self.row.about
        return public.frame(self.game, players, self.row.version, self.digest, own) | {
            "game": self.row.id,
            "speed": about["speed"],
            "paused": about["paused"],
            "undo": self.undo_to is not None,
        }

    def since(self, version: int, digest: str) -> list[Step] | None:
        """The steps since a position known to a client; None if it is unknown or too old."""
        if version == self.row.version and digest == self.digest:
            return []
        known = list(self.log)
        if version == 0 and digest == self.row.about["digest"] and known and known[0].version == 1:
            return known
        for number, step in enumerate(known):
            if step.version == version and step.digest == digest:
                return known[number + 1 :]
        return None

    # --- people

    def check(self, version: int, digest: str, seats: Sequence[int] | None = None) -> None:
        """Raise unless a message is about the current position and one of these seats decides.

        Raises:
            RefusedError: The game has moved on or is over, or another seat decides.
        """
        if (version, digest) != (self.row.version, self.digest):
            raise RefusedError(
                f"The game has moved on: it is at decision {self.row.version}, not {version}."
                " Nothing was done."
            )
        if seats is None:
            return
        if core.is_over(self.game):
            raise RefusedError("The game is over.")
        if int(self.game.player) not in seats:
            raise RefusedError(
                f"It is {self.names[self.game.player]}'s decision, not yours.", NOT_YOURS
            )

    def carry_out(self, chosen: Iterable[int], by_policies: bool = False) -> list[Step]:
        """Carry out and save actions, all or none; a person's are one unit of undo.

        Raises:
            IllegalActionError: One is not legal.
            RefusedError: They can't be saved.
        """
        before = Snapshot(data_of(self.game), self.match.memory.tobytes())
        first, steps = self.row.version, list[Step]()
        try:
            for action in chosen:
                steps.append(self._step(action, self.row.version if by_policies else first))
            self.save(steps, None if by_policies else before)
        except BaseException:
            while self.log and self.log[-1].version > first:
                self.log.pop()
            self._resume(before, self._played[:first])
            raise
        return steps

    def _step(self, action: int, first: int) -> Step:
        """Carry out one action."""
        game = self.game
        seat, turn, lot = int(game.player), int(game.turns), public.sealed_lot(game)
        rows = self.match.play(action)
        if not core.is_over(game):
            self.match.observe()
        self._played.append(action)
        self.row.version += 1
        if lot not in (None, public.sealed_lot(game)):
            first = self.row.version  # opened bids can't be undone
        step = Step(self.row.version, seat, action, rows, self.digest, turn, first)
        self.log.append(step)
        return step

    @property
    def undo_to(self) -> int | None:
        """The version before the last decision of a person; None if it can't be undone."""
        for step in reversed(self.log):
            if step.is_final or self.seats[step.seat].kind != POLICY:
                return None if step.is_final else step.first
        return None

    def undo(self) -> None:
        """Undo the last decision of a person, and redraw hidden cards and dice.

        Raises:
            RefusedError: There is none, or sealed bids have been opened since.
        """
        version = self.undo_to
        snapshot = None if version is None else self._storage.snapshot(self.row.id, version)
        if version is None or snapshot is None:
            raise RefusedError(
                "There is no decision to take back: no person has decided yet, or sealed bids have"
                " been opened since."
            )
        game, seed = record(snapshot.record), public.new_seed()
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
        log = self._storage.steps(row.id, LOG, version)  # before anything is written: it may fail
        self._storage.take_back(row)
        self._go_to(row, log, self._played[:version])

    # --- policies

    def play(self, seconds: float, until_event: bool) -> list[Step]:
        """Let policies decide until a person is to move or the time is over.

        A policy that fails stalls the game until its seat is given to another player.

        Args:
            seconds: The time.
            until_event: Whether to stop after a step with events, too.
        """
        return self.carry_out(self._decisions(seconds, until_event), by_policies=True)

    def _decisions(self, seconds: float, until_event: bool) -> Iterator[int]:
        end = time.monotonic() + seconds
        while self.waits_for_policy:
            seat = int(self.game.player)
            try:
                self.match.policies[seat] = self._policy(seat)
                action = self.match.ask()
            except MonopolyError as error:
                self.stall(error)
                return
            yield action
            if time.monotonic() >= end or (until_event and self.log[-1].events):
                return

    def stall(self, error: Exception) -> None:
        """Stop the game: the policy to move failed."""
        text = public.without_seed(str(error), self.game)[:500]
        remedy = "The game is saved: give the seat to another player."
        self.stalled = {"seat": int(self.game.player), "error": f"{text} {remedy}"}

    # --- seats and pace

    def give(self, seat: int, kind: str, policy: str | None) -> None:
        """Give a seat to a policy or to a person.

        Raises:
            RefusedError: There is no such seat, or a person would see another player's sealed bid.
            ConfigurationError: There is no such policy, or it does not play at tables of this size.
        """
        if not 0 <= seat < len(self.seats):
            raise RefusedError(
                f"There is no seat {seat}: the seats are 0 to {len(self.seats) - 1}."
            )
        old = self.seats[seat]
        if kind == PERSON and public.sealed_lot(self.game) is not None:
            raise RefusedError("Sealed bids are being made: take the seat when they are open.")
        if kind == POLICY:
            given = self._make(policy or "")
            given.check_table(len(self.seats))
            self._policies[policy or ""] = given
        before, stalled = Snapshot(data_of(self.game), self.match.memory.tobytes()), self.stalled
        name = old.name if kind == PERSON and old.kind != POLICY else ""
        self.seats[seat] = Seat(kind, name, policy if kind == POLICY else None)
        self.match.memory[seat] = 0
        self.stalled = None
        self._resume(Snapshot(data_of(self.game), self.match.memory.tobytes()), self._played)
        try:
            self.save()
        except BaseException:
            self._resume(before, self._played)
            self.stalled = stalled
            raise

    def take(self, seat: int, name: str) -> str:
        """Seat a guest; returns the token of the seat.

        Raises:
            RefusedError: The seat is taken, or not for guests.
        """
        free = [
            number
            for number, each in enumerate(self.seats)
            if each.kind == GUEST and not each.taken
        ]
        if seat not in free:
            letters = ", ".join(PLAYERS[number] for number in free)
            hint = f"Free: {letters}." if free else "No seat is free: you can watch."
            raise RefusedError(f"Seat {PLAYERS[seat]} is taken or not for guests. {hint}")
        chosen, token = self.seats[seat], secrets.token_urlsafe(16)
        chosen.taken, chosen.name, chosen.token = True, name or chosen.name, token
        self.save()
        return token

    def save(
        self,
        steps: Sequence[Step] = (),
        before: Snapshot | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        """Save the game. If that fails, its seats are as they were saved last.

        Args:
            steps: The steps since it was last saved.
            before: The position before them, if they may be undone.
            about: Changes of `Stored.about`.
        """
        row = replace(
            self.row,
            about={
                **self.row.about,
                **(about or {}),
                "seats": [asdict(seat) for seat in self.seats],
            },
            status=status(self.game, self.names),
            record=data_of(self.game),
            memory=self.match.memory.tobytes(),
        )
        try:
            self._storage.save(row, steps, before)
        except BaseException:
            self.seats = _seats(self.row)
            raise
        self.row = row


def _seats(row: Stored) -> list[Seat]:
    return [Seat(**seat) for seat in row.about["seats"]]


# --- whole offers, bids and typed texts as the engine's single actions


def picks(game: Game, offer: Exchange, names: Names) -> list[int]:
    """The successive legal actions that make an offer.

    Raises:
        RefusedError: The offer can't be made now; the message explains it.
    """
    composed = offers.compose(game, *_terms(offer))
    if composed.reason:
        raise RefusedError(_why_not(game, composed, names))
    return composed.picks


def preview(game: Game, offer: Exchange) -> dict[str, Any]:
    """Why an offer can't be made, if it can't, and the possessions and rents after it."""
    terms = _terms(offer)
    _, reason, seat, good = offers.compose(game, *terms)
    answer: dict[str, Any] = {"reason": reason, "seat": seat, "good": good}
    if offer.to >= game.num_players or offer.to == game.player:
        return answer | {"record": None, "derived": None}
    after = offers.exchanged(game, *terms)
    rent = derive(after).rent.tolist()
    record = {name: after[name].tolist() for name in _TRADED}
    return answer | {"record": record, "derived": {"rent": rent}}


def _terms(offer: Exchange) -> tuple[int, int, int, int]:
    """Partner, goods given and asked for, dollars given."""
    give, ask = offer.give, offer.ask
    return offer.to, give.bits, ask.bits, give.dollars - ask.dollars


def _why_not(game: Game, composed: offers.Composed, names: Names) -> str:
    """The reason why an offer can't be made, as a sentence."""
    reason, seat, good = composed.reason, composed.seat, composed.good
    if reason == offers.PARTNER:
        return _no_partner(game, seat, names)
    name = words.goods(game, 1 << good) if good >= 0 else ""
    sentences = {
        offers.NOT_OWNED: f"{names[seat]} does not own {name}.",
        offers.BUILDINGS: f"{name} can't be traded while its group has buildings: sell them first.",
        offers.TRADED: f"{name} has been traded in this turn already.",
        offers.CASH: f"{names[seat]} has ${game.cash[seat]:,}: the offer needs more.",
        offers.TOO_MUCH: f"An offer holds ${offers.MOST_NOTES * NOTES[0]:,} at most.",
        offers.EMPTY: "An offer needs a lot or a card, and by some rules one of each side.",
        offers.REPEATED: (
            "This offer can't be made: it was refused in this turn already, or a side lacks the"
            " cash for it and for the mortgage fees."
        ),
        offers.SUM: "These rules don't allow this sum of cash in an offer.",
        offers.RULES: "These rules don't allow this combination in an offer.",
    }
    return sentences[reason]


def _no_partner(game: Game, to: int, names: Names) -> str:
    if not 0 <= to < game.num_players or to == game.player:
        return "An offer goes to another player of the game."
    partners = _partners(game)
    hint = (
        f"An offer can now go to {' and '.join(names[seat] for seat in partners)}."
        if partners
        else "No offer can be made now: wait for your turn, or its limit is reached."
    )
    return f"No offer to {names[to]}. {hint}"


def _partners(game: Game) -> list[int]:
    """The seats to which the player to move may make an offer."""
    players = int(game.num_players)
    return [
        (int(game.player) + offset) % players
        for offset in range(1, players)
        if _allows(game, A_TRADE + offset - 1)
    ]


def _allows(game: Game, action: int) -> bool:
    return bool(int(game.legal[action >> 5]) >> (action & 31) & 1)


def bids(game: Game, dollars: int) -> list[int]:
    """The actions of a bid: one raise in an open auction; notes and done in a sealed one.

    Raises:
        RefusedError: No auction is running, or the bid is impossible; the message names possible
            ones.
    """
    if game.decision == agenda.BID:
        totals = _open_bids(game)
        if dollars not in totals:
            raise RefusedError(
                f"A bid of ${dollars:,} can't be made now. {_nearest(dollars, list(totals))}"
            )
        return [totals[dollars]]
    if game.decision != agenda.SEALED_BID:
        raise RefusedError("There is no auction now.")
    so_far, most = int(game.sealed[game.player]), int(derive(game).bid_limit)
    if not so_far <= dollars <= most or dollars // NOTES[0] > offers.MOST_NOTES:
        raise RefusedError(
            f"Your maximum can be ${so_far:,} to ${max(so_far, most):,}, not ${dollars:,}."
        )
    made, left = [], dollars - so_far
    for number, note in enumerate(NOTES):
        count, left = divmod(left, note)
        made += [A_BID + len(RAISES) - number] * count
    return [*made, A_BID]


def _nearest(dollars: int, totals: list[int]) -> str:
    """The nearest possible bids, and all of them."""
    if not totals:
        return "You can only fold."
    sums = [f"${total:,}" for total in totals]
    place = sum(total < dollars for total in totals)
    near = sums[max(0, place - 1) : place + 1]
    return (
        f"The nearest {'is' if len(near) == 1 else 'are'} {' and '.join(near)}; possible:"
        f" {', '.join(sums)}."
    )


def _open_bids(game: Game) -> dict[int, int]:
    """The possible bids in an open auction: total in dollars -> action."""
    costs, raises = derive(game).cost, range(A_BID + 1, A_BID + 1 + len(RAISES))
    return {int(costs[action]): action for action in raises if _allows(game, action)}


def typed(game: Game, text: str) -> int:
    """The action of a typed text, in the words of `monopoly_env.actions`.

    Raises:
        ConfigurationError: The text is unknown.
    """
    try:
        return actions.parse(text, game)
    except ConfigurationError as error:
        texts = [actions.describe(action, game) for action in core.legal_actions(game)]
        raise ConfigurationError(f"Unknown action {text!r}. {nearest(text, texts)}") from error
