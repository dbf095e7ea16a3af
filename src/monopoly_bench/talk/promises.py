"""Promises: three kinds, which the records and actions of a game show to be kept or broken.

A promise is written and read as one sentence: `no bid on railroad for 5 rounds`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from monopoly_env import actions
from monopoly_env.errors import ConfigurationError, FormatError, nearest, shortened
from monopoly_env.facts.board import GROUP_OF, GROUPS, LOT_NAME, NUM_EDITIONS, NUM_LOTS, NUM_STREETS
from monopoly_env.game import Game

NO_BID: Final = "no bid"
NO_BUILDING: Final = "no building"
SELL: Final = "sell"
ACCEPT: Final = actions.HEADS["reply"].labels.index("accept")
FORMS: Final = (
    "no bid on GROUP for N rounds",
    "no building on GROUP for N rounds",
    "sell LOT to player P for $X within N rounds",
)
MOST_ROUNDS: Final = 20
MOST_DOLLARS: Final = 100_000
_MOST_SEATS: Final = 8
_ABSTAIN: Final = re.compile(
    r"(no bid|no building) on (.{1,40}) for (\d{1,3}) rounds?\.?", re.IGNORECASE | re.ASCII
)
_SALE: Final = re.compile(
    r"sell (.{1,40}) to player (\d) for \$?([\d,]{1,9}) within (\d{1,3}) rounds?\.?",
    re.IGNORECASE | re.ASCII,
)
_LOTS: Final = {
    name.casefold(): lot
    for edition in range(NUM_EDITIONS)
    for lot, name in enumerate(LOT_NAME[edition])
}


@dataclass(frozen=True)
class Promise:
    """What a player says that it will do, or not do.

    Attributes:
        kind: `no bid`: no raise in an auction of a lot of the group. `no building`: no house or
            hotel on it. `sell`: an offer of the lot alone to the player, for the price or less,
            whether it is accepted or not; any other deal that hands the lot over will do, too.
        rounds: For how many rounds after the current one it holds.
        group: The number of the group; -1: none.
        lot: The lot to be sold; -1: none.
        player: The seat that it is sold to; -1: none.
        dollars: The highest price.

    Raises:
        ConfigurationError: A value is out of range, or no promise of this kind has it.
    """

    kind: str
    rounds: int
    group: int = -1
    lot: int = -1
    player: int = -1
    dollars: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise ConfigurationError(
                f"A promise holds for 1 to {MOST_ROUNDS} rounds, not {self.rounds}."
            )
        if self.kind == SELL:
            fits = (
                self.group == -1
                and 0 <= self.lot < NUM_LOTS
                and 0 <= self.player < _MOST_SEATS
                and 0 <= self.dollars <= MOST_DOLLARS
            )
        else:
            fits = self.kind in (NO_BID, NO_BUILDING) and 0 <= self.group < len(GROUPS)
            fits = fits and (self.lot, self.player, self.dollars) == (-1, -1, 0)
        if not fits:
            raise ConfigurationError(
                f"{shortened(self, 200)} is none of: {'; '.join(FORMS)}. A price is"
                f" ${MOST_DOLLARS:,} at most."
            )

    @classmethod
    def read(cls, text: str) -> Promise:
        """The promise of a sentence.

        Letter case does not matter, and the lot names of any edition are accepted.

        Raises:
            FormatError: It has another form.
            ConfigurationError: There is no such group, lot or player, or a number is out of range.
        """
        plain = " ".join(text.split())
        if found := _ABSTAIN.fullmatch(plain):
            kind, group, rounds = found.groups()
            return cls(kind.lower(), int(rounds), group=_group(group))
        if found := _SALE.fullmatch(plain):
            lot, player, dollars, rounds = found.groups()
            return cls(
                SELL,
                int(rounds),
                lot=_lot(lot),
                player=int(player),
                dollars=int(dollars.replace(",", "") or 0),
            )
        raise FormatError(
            f"A promise must have one of the forms: {'; '.join(FORMS)}. This has another:"
            f" {shortened(text)}."
        )

    def __str__(self) -> str:
        return self.worded()

    def worded(self, edition: int = 0) -> str:
        """The sentence that `read` understands, with the lot names of an edition of the board."""
        rounds = f"{self.rounds} round{'s' if self.rounds > 1 else ''}"
        if self.kind == SELL:
            return (
                f"sell {LOT_NAME[edition][self.lot]} to player {self.player} for ${self.dollars}"
                f" within {rounds}"
            )
        return f"{self.kind} on {GROUPS[self.group]} for {rounds}"

    def is_like(self, other: Promise) -> bool:
        """Whether both promise the same, if perhaps for another time."""
        return replace(self, rounds=other.rounds) == other

    def broken_by(self, seat: int, game: Game, action: int) -> bool:
        """Whether an action that is about to be carried out breaks it: a raise, or a building.

        A sale is broken by its date alone.

        Args:
            seat: Who gave the promise.
            game: The game before the action.
            action: A legal action.
        """
        if game.player != seat:
            return False
        if self.kind == NO_BID:
            return actions.A_BID < action < actions.A_TURN and self._covers(int(game.auction_lot))
        if self.kind == NO_BUILDING:
            lot = action - actions.A_BUILD
            return (
                0 <= lot < NUM_STREETS
                and actions.HEAD_OF[action] == actions.H_BUILD
                and self._covers(lot)
            )
        return False

    def kept_by(self, seat: int, game: Game, action: int) -> bool:
        """Whether an action that is about to be carried out keeps it at once.

        Such are an offer of the lot, and a deal that hands it over.

        Args:
            seat: Who gave the promise.
            game: The game before the action.
            action: A legal action.
        """
        if self.kind != SELL:
            return False
        lot, ours = 1 << self.lot, (game.offer_from, game.offer_to) == (seat, self.player)
        if action == actions.A_CASH:  # the offer is complete
            return (
                ours
                and (game.offer_give, game.offer_ask) == (lot, 0)
                and -int(game.offer_cash) <= self.dollars
            )
        if action == actions.A_REPLY + ACCEPT:
            theirs = (game.offer_from, game.offer_to) == (self.player, seat)
            return (ours and int(game.offer_give) & lot != 0) or (
                theirs and int(game.offer_ask) & lot != 0
            )
        return False

    def _covers(self, lot: int) -> bool:
        return 0 <= lot < NUM_LOTS and GROUP_OF[lot] == self.group


def _group(name: str) -> int:
    # The railroads; no group ends in s
    wanted = name.casefold().replace(" ", "_").removesuffix("s")
    plain = {"utilitie": "utility"}.get(wanted, wanted)
    if plain not in GROUPS:
        raise ConfigurationError(f"There is no group {shortened(name)}. {nearest(plain, GROUPS)}")
    return GROUPS.index(plain)


def _lot(name: str) -> int:
    if name.casefold() not in _LOTS:
        raise ConfigurationError(f"There is no lot {shortened(name)}. {nearest(name, LOT_NAME[0])}")
    return _LOTS[name.casefold()]
