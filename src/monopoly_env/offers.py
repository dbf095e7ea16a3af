"""Whole offers: the picks that make one, the reason why it can't be made, what it changes."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from monopoly_env.actions import A_ASK, A_CASH, A_GIVE, A_REPLY, A_TRADE, GOODS_DONE, NOTES
from monopoly_env.core import in_range
from monopoly_env.engine import agenda, trade
from monopoly_env.engine.building import built_groups
from monopoly_env.engine.legal import is_legal
from monopoly_env.engine.players import seat_after
from monopoly_env.engine.sets import has
from monopoly_env.engine.step import apply
from monopoly_env.game import CHANCE_GOOD, CHEST_GOOD, NOBODY, Game, Games
from monopoly_env.kernels import entry, kernel
from monopoly_env.kernels.signatures import Array1

# Why an offer can't be made; a seat and a good are named with the reason.
REFUSALS: Final = {
    "none": "it can be made",
    "partner": "no offer to this seat can be made now",
    "not_owned": "the seat does not own the good",
    "buildings": "the group of the lot has buildings",
    "traded": "the good has been traded in this turn",
    "cash": "the seat has too little cash",
    "too_much": "the sum has too many notes",
    "empty": "there is no lot or card in it, or the rules want one on each side",
    "repeated": "it was refused in this turn, or a side lacks the cash for the mortgage fees",
    "sum": "the rules do not allow this sum of cash",
    "rules": "the rules do not allow this combination",
}
(
    NONE, PARTNER, NOT_OWNED, BUILDINGS, TRADED, CASH, TOO_MUCH, EMPTY, REPEATED, SUM, RULES,
) = range(len(REFUSALS))  # fmt: skip

_NUM_GOODS: Final = CHEST_GOOD + 1
MOST_NOTES: Final = 1000  # of the largest kind
MOST_PICKS: Final = MOST_NOTES + 2 * _NUM_GOODS + 32


class Composed(NamedTuple):
    """An offer as single actions.

    Attributes:
        picks: The actions that make it; empty if it can't be made.
        reason: Why it can't be made, by its place in `REFUSALS`; 0: it can.
        seat: The seat that the reason names, or -1.
        good: The lot or jail card (28, 29) that the reason names, or -1.
    """

    picks: list[int]
    reason: int = NONE
    seat: int = NOBODY
    good: int = NOBODY


def compose(game: Game, to: int, give: int, ask: int, dollars: int) -> Composed:
    """The actions that make an offer of the player to move.

    Args:
        game: A sound game.
        to: The seat that gets the offer.
        give: The goods given, one bit each: lots, then the two jail cards.
        ask: The goods asked for.
        dollars: The dollars given; negative: asked for.
    """
    batch, picks = in_range(game), np.zeros(MOST_PICKS, np.int32)
    count = write_offer(batch, batch.copy(), to, give, ask, dollars, picks)
    if count > 0:
        return Composed(picks[:count].tolist())
    return Composed([], -count, int(picks[0]), int(picks[1]))


def exchanged(game: Game, to: int, give: int, ask: int, dollars: int) -> Game:
    """A copy in which only goods and cash have changed hands, as far as they are there to give.

    It is to be looked at, not to be continued.
    """
    batch = in_range(game).copy()
    exchange(batch, to, give, ask, dollars)
    return batch[0]


@entry
def write_offer(  # noqa: PLR0917 - compiled
    games: Games, scratch: Games, to: int, give: int, ask: int, dollars: int,
    picks: Array1[np.int32],
) -> int:  # fmt: skip
    """Write the actions of an offer, and return their number; or 0 less the reason.

    With a reason, the first two picks are the seat and the good that it names.
    """
    game, seat = games[0], int(games[0].player)
    picks[0], picks[1] = to, NOBODY
    opening = _opening(game, seat, to)
    if opening < 0:
        return -PARTNER
    reason = _no_goods(game, seat, give, picks)
    if reason == NONE:
        reason = _no_goods(game, to, ask, picks)
    if reason != NONE:
        return -reason
    payer = seat if dollars > 0 else to
    picks[0], picks[1] = payer, NOBODY
    if abs(dollars) > game.cash[payer]:
        return -CASH
    if abs(dollars) // NOTES[0] > MOST_NOTES:
        return -TOO_MUCH
    count = _write_picks(opening, give, ask, dollars, picks)
    scratch[0] = game
    for number in range(count):
        action = int(picks[number])
        if not is_legal(scratch[0], action):
            reason = _no_pick(scratch[0], action)
            picks[0], picks[1] = NOBODY, NOBODY
            return -reason
        apply(scratch[0], action)
    return count


@entry
def exchange(games: Games, to: int, give: int, ask: int, dollars: int) -> None:
    """Let goods and cash change hands, as far as they are there to give."""
    game, seat = games[0], int(games[0].player)
    _hand_over(game, seat, to, give)
    _hand_over(game, to, seat, ask)
    paid = max(-int(game.cash[to]), min(dollars, int(game.cash[seat])))
    game.cash[seat] -= paid
    game.cash[to] += paid


@kernel
def _hand_over(game: Game, giver: int, taker: int, goods: int) -> None:
    lots = goods & int(game.lots[giver])
    cards = (goods >> CHANCE_GOOD) & int(game.jail_cards[giver])
    game.lots[giver] = int(game.lots[giver]) & ~lots
    game.lots[taker] = int(game.lots[taker]) | lots
    game.jail_cards[giver] = int(game.jail_cards[giver]) & ~cards
    game.jail_cards[taker] = int(game.jail_cards[taker]) | cards


@kernel
def _opening(game: Game, seat: int, to: int) -> int:
    """The action that begins an offer to a seat; -1 if there is none now."""
    if not 0 <= to < game.num_players or to == seat:
        return -1
    if game.decision == agenda.REPLY:
        action = A_REPLY + trade.COUNTER
        return action if to == game.offer_from and is_legal(game, action) else -1
    for offset in range(1, int(game.num_players)):
        if seat_after(game, seat, offset) == to and is_legal(game, A_TRADE + offset - 1):
            return A_TRADE + offset - 1
    return -1


@kernel
def _no_goods(game: Game, seat: int, goods: int, about: Array1[np.int32]) -> int:
    """Why a seat can't give these goods, and which."""
    owned = int(game.lots[seat]) | int(game.jail_cards[seat]) << CHANCE_GOOD
    built = built_groups(game)
    for good in range(_NUM_GOODS):
        if has(goods, good):
            about[0], about[1] = seat, good
            if not has(owned, good):
                return NOT_OWNED
            if has(built, good):
                return BUILDINGS
            if has(game.traded, good):
                return TRADED
    return NONE


@kernel
def _write_picks(opening: int, give: int, ask: int, dollars: int, picks: Array1[np.int32]) -> int:
    """Goods in ascending order, notes in descending order."""
    picks[0] = opening
    count = _write_goods(A_ASK, ask, picks, 1)
    count = _write_goods(A_GIVE, give, picks, count)
    left = abs(dollars)
    for note in range(len(NOTES)):
        while left >= NOTES[note]:
            picks[count] = A_CASH + 1 + note + (0 if dollars > 0 else len(NOTES))
            count += 1
            left -= NOTES[note]
    picks[count] = A_CASH
    return count + 1


@kernel
def _write_goods(head: int, goods: int, picks: Array1[np.int32], count: int) -> int:
    for good in range(_NUM_GOODS):
        if has(goods, good):
            picks[count] = head + good
            count += 1
    picks[count] = head + GOODS_DONE
    return count + 1


@kernel
def _no_pick(game: Game, action: int) -> int:
    """Why a pick is illegal, as a reason against the whole offer."""
    if action == A_CASH:
        return REPEATED
    if action in (A_ASK + GOODS_DONE, A_GIVE + GOODS_DONE):
        return EMPTY
    return SUM if game.decision == agenda.CASH else RULES
