"""Offers worth a look: exchanges and prices that a value of states likes.

The value judges the state after the exchange. An offer is kept if both sides gain by it: at a table
of three or more, at the others' cost; at a table of two there is none. Its price leaves the partner
a part of the surplus. Where it is known who answers, a second price is the least at which that
policy accepts; else one that leaves the partner next to nothing. Packages are of lots and money: a
jail card is worth $50 at most, for which the price can make up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.players.vocabulary import offers
from agents.players.vocabulary.parts import PART_GROUPS, lots_of
from monopoly_env.actions import HEADS, NUM_ACTIONS
from monopoly_env.analyse.values import Value, write_shares
from monopoly_env.engine import agenda, trade
from monopoly_env.engine.sets import has
from monopoly_env.engine.step import apply
from monopoly_env.facts.board import GROUP_LOTS, NUM_GROUPS
from monopoly_env.game import Game, Games, empty_games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.signatures import Array1, Array2
from monopoly_env.policy.loop import Players
from monopoly_env.policy.loop import ask as ask_policy
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy

_SURPLUS: Final = 0.004  # least gain of both sides together, in shares of the win
# Shares of the surplus for the partner, an offer each; the first at its limit
_KEPT: Final = (0.0, 0.4)
_LEAST: Final = 0.002  # and no less than that
_STEP: Final = 10  # dollars
_HALVINGS: Final = 9  # so many find the price to a step within 5,120 dollars
_PARTNER, _ASK, _GIVE, _DOLLARS, _GAIN, _COLUMNS = range(6)
_NOBODY: Final = -1  # in place of the number of a policy: it is not known who answers
_REFUSED: Final = 1 << 20  # in place of a price: there is none
_ACCEPT: Final = HEADS["reply"].start + 1


class Offer(NamedTuple):
    """An offer by the player to move."""

    partner: int  # the seat that gets it
    ask: int  # the lots asked for, a bit each
    give: int  # the lots given, a bit each
    dollars: int  # the dollars given; negative: asked for


class _Replies(NamedTuple):
    """The policies that answer offers, as the kernels read it."""

    players: Players
    numbers: Array1[np.int64]  # (P,) the policy of each seat, or _NOBODY
    laid: Games  # (1,) a buffer
    memory: Array1[np.float64]  # (64,) a buffer
    mask: Array1[np.bool_]  # (NUM_ACTIONS,) a buffer


class _Judge(NamedTuple):
    """A value of states, as the kernels read it."""

    value: Any  # its kernel
    params: NDArray[np.float32]
    games: Games  # (1,) the present state
    scratch: Games  # (1,) a buffer
    shares: NDArray[np.float64]  # (2, P) the shares now and after an exchange


class _Deal(NamedTuple):
    """Lots that the player to move may exchange, a bit each."""

    partner: int
    ask: int
    give: int


def propose(
    game: Games, value: Value, most: int, replies: Sequence[CompiledPolicy] | None = None
) -> list[Offer]:
    """The packages that bring the player to move most by a value, each at its prices.

    Args:
        game: (1,) a record in which the player may make an offer; it is not changed.
        value: The value of states.
        most: How many packages at most.
        replies: Who answers, by seat; None: it is not known.

    Returns:
        The offers, the best package first.
    """
    table = np.zeros((most * len(_KEPT), _COLUMNS))
    shares = np.zeros((2, int(game["num_players"][0])))
    policies = list(dict.fromkeys(replies or ()))
    numbers = [policies.index(policy) for policy in replies or ()] or [_NOBODY] * shares.shape[1]
    answer = _Replies(
        Players.of(policies), np.array(numbers), empty_games(1), np.zeros(MEMORY),
        np.zeros(NUM_ACTIONS, np.bool_),
    )  # fmt: skip
    found = _propose(game, value.kernel.handle, value.params, empty_games(1), shares, table, answer)
    return [Offer(*(int(number) for number in row[:_GAIN])) for row in table[:found]]


def begin(game: Games, offer: Offer, memory: NDArray[np.float64]) -> int:
    """The action that begins an offer; what follows is kept in the proposer's memory, (64,)."""
    return int(_begin(game, *offer, memory))


def compose(game: Games, memory: NDArray[np.float64]) -> int:
    """The next step of the offer that was begun."""
    return int(_compose(game, memory))


def lay(game: Games, offer: Offer) -> Games | None:
    """(1,) a copy of the game in which the offer waits for its answer; None if it can't be made."""
    laid = game.copy()
    return laid if _lay(laid, *offer, np.zeros(MEMORY)) else None


@entry
def _propose(
    games: Games, value: int, params: Array1[np.float32], scratch: Games,
    shares: Array2[np.float64], table: Array2[np.float64],
    replies: _Replies,
) -> int:  # fmt: skip
    table, replies = borrowed(table), borrowed(replies)
    judge = _Judge(value, borrowed(params), games, scratch, borrowed(shares))
    game, found = games[0], 0
    seat, willing = int(game.player), trade.partners(game, int(game.player))
    write_shares(value, game, judge.params, judge.shares[0])
    parts = len(PART_GROUPS) if game.rules.trade == offers.OFFICIAL else 0
    for offset in range(1, int(game.num_players)):
        partner = (seat + offset) % int(game.num_players)
        if not has(willing, offset - 1):
            continue
        asks, gives = _parts_of(game, partner, seat), _parts_of(game, seat, partner)
        for i in range(parts):
            for j in range(parts):
                ask, give = int(asks[i]), int(gives[j])
                if ask | give == 0 or ask < 0 or give < 0 or PART_GROUPS[i] & PART_GROUPS[j]:
                    continue
                deal = _Deal(partner, ask, give)
                _value_after(judge, deal, 0)
                now, then = judge.shares[0], judge.shares[1]
                surplus = then[seat] + then[partner] - now[seat] - now[partner]
                if surplus > _SURPLUS or replies.numbers[partner] >= 0:
                    found = _price(judge, deal, surplus, table, found, replies)
    return found


@kernel
def _parts_of(game: Game, giver: int, taker: int) -> Any:
    """(parts,) the lots of each part; -1 where the giver lacks one of its groups."""
    lots = np.zeros(len(PART_GROUPS), np.int64)
    for part in range(1, len(lots)):
        lots[part] = lots_of(game, giver, taker, part)
        for group in range(NUM_GROUPS):
            if PART_GROUPS[part] >> group & 1 and lots[part] & GROUP_LOTS[group] == 0:
                lots[part] = -1
                break
    return lots


@kernel
def _value_after(judge: _Judge, deal: _Deal, dollars: int) -> None:
    """Write the shares after an exchange."""
    judge.scratch[0] = judge.games[0]
    offers.exchange(judge.scratch[0], deal.partner, deal.ask, deal.give, dollars)
    write_shares(judge.value, judge.scratch[0], judge.params, judge.shares[1])


@kernel
def _price(
    judge: _Judge, deal: _Deal, surplus: float, table: Any, found: int, replies: _Replies
) -> int:
    """Price a package and put its offers into the table, sorted by the gain at the limit."""
    seat, partner, kept = int(judge.games[0].player), deal.partner, len(_KEPT)
    shares, first = judge.shares, -1
    for k in range(kept):
        wanted = shares[0, partner] + max(_KEPT[k] * surplus, _LEAST)
        known = k == 0 and replies.numbers[partner] >= 0
        dollars = _limit(judge, deal, wanted)
        if known:
            dollars = _accepted(judge.games, deal, dollars, replies)
            if dollars == _REFUSED:
                return found
        _value_after(judge, deal, dollars)
        gain = shares[1, seat] - shares[0, seat]
        if k == 0:
            if gain < _LEAST or not (known or shares[1, partner] >= wanted):
                return found
            first = found
            while first > 0 and table[first - kept, _GAIN] < gain:
                first -= kept
            if first >= len(table):
                return found
            found = min(found + kept, len(table))
            for row in range(found - 1, first + kept - 1, -1):
                table[row] = table[row - kept]
        row = table[first + k]
        row[_PARTNER], row[_ASK], row[_GIVE] = partner, deal.ask, deal.give
        row[_DOLLARS], row[_GAIN] = dollars, gain
    return found


@kernel
def _limit(judge: _Judge, deal: _Deal, wanted: float) -> int:
    """The least dollars given (most asked) that leave the partner the wanted share."""
    game, cash = judge.games[0], int(judge.games[0].cash[deal.partner])
    low, high = -cash // _STEP, int(game.cash[int(game.player)]) // _STEP
    for _ in range(_HALVINGS):
        if low >= high:
            break
        middle = (low + high) // 2
        _value_after(judge, deal, middle * _STEP)
        if judge.shares[1, deal.partner] >= wanted:
            high = middle
        else:
            low = middle + 1
    return max(high * _STEP, -cash)


@kernel
def _accepted(games: Games, deal: _Deal, dollars: int, replies: _Replies) -> int:
    """The least dollars given at which the partner's policy accepts, or _REFUSED."""
    replies.laid[0] = games[0]
    game, number = replies.laid[0], int(replies.numbers[deal.partner])
    replies.memory[:] = 0.0
    if not _laid(game, deal.partner, deal.ask, deal.give, dollars, replies.memory):
        return _REFUSED
    low = -(int(games[0].cash[deal.partner]) // _STEP)
    high, best = int(games[0].cash[int(games[0].player)]) // _STEP, _REFUSED
    for _ in range(_HALVINGS):
        if low > high:
            break
        middle = (low + high) // 2
        game.offer_cash = middle * _STEP
        replies.memory[:] = 0.0
        if ask_policy(game, replies.players, number, replies.memory, replies.mask) == _ACCEPT:
            best, high = middle * _STEP, middle - 1
        else:
            low = middle + 1
    return best


@entry
def _begin(
    games: Games, partner: int, ask: int, give: int, dollars: int, memory: Array1[np.float64]
) -> int:
    return offers.begin(games[0], partner, ask, give, dollars, borrowed(memory))


@entry
def _compose(games: Games, memory: Array1[np.float64]) -> int:
    return offers.compose(games[0], borrowed(memory))


@entry
def _lay(
    games: Games, partner: int, ask: int, give: int, dollars: int, memory: Array1[np.float64]
) -> bool:
    return _laid(games[0], partner, ask, give, dollars, borrowed(memory))


@kernel
def _laid(game: Game, partner: int, ask: int, give: int, dollars: int, memory: Any) -> bool:
    """Make an offer in place; whether it waits for its answer."""
    if not offers.may_offer_to(game, int(game.player), partner):
        return False
    apply(game, offers.begin(game, partner, ask, give, dollars, memory))
    while game.decision in {agenda.ASK, agenda.GIVE, agenda.CASH}:
        apply(game, offers.compose(game, memory))
    return bool(game.decision == agenda.REPLY)
