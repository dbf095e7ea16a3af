"""The players of Mukhar and Kalita: genes are chances to say yes, the rest is scripted.

The row that a kernel reads holds the genes as probabilities, then the numbers of `Scripted`:

- gene 40 r + s, for r from 0 to 3 and s the square of a lot: the chance to buy it, and in an
  auction to want it, in situation r (`SITUATIONS`);
- from gene 160 on, the chances to leave jail: 64 x 64 for `WIDE`, 4 x 4 for `NARROW`, the number of
  the West side first.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from agents.players import yasumura
from agents.players.vocabulary import habits, reading
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import parameter, switch
from agents.players.vocabulary.reading import NO_LOT, asked_lot, of_opponents, price
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUY, A_MORTGAGE, A_SELL, A_TURN
from monopoly_env.engine import agenda, building, liquidation, players, randomness
from monopoly_env.engine.sets import each, lowest
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.kernels import inlined, kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

SITUATIONS: Final = (
    "nobody owns in the group",
    "only I own in it",
    "one opponent owns in it",
    "two or more opponents own in it",
)  # fmt: skip
BUY_GENES: Final = len(SITUATIONS) * board.NUM_SQUARES
GENE_OF: Final = board.NUM_SQUARES * np.arange(len(SITUATIONS))[:, None] + np.array(
    board.LOT_SQUARE[0]
)  # (4, 28), the gene of a situation and a lot
# (4, 28), whether a situation can occur: of a pair with a lot for sale, only one opponent owns.
OCCURS: Final = (np.arange(len(SITUATIONS)) < len(SITUATIONS) - 1)[:, None] | (
    np.array(board.GROUP_SIZE)[np.array(board.GROUP_OF)] > 2
)
WIDE: Final = 64  # states of a side: which of its six streets opponents own
NARROW: Final = 4  # states of a side: which of its two colour groups one opponent owns whole
WIDE_GENES: Final = BUY_GENES + WIDE * WIDE


@dataclass(frozen=True)
class Scripted(yasumura.Yasumura):
    """Parameters that are no genes: `yasumura` with the numbers of Mukhar's program of 2012."""

    of_buildings: float = parameter(0.05, 0, 1, "share")
    """of the price of the opponents' buildings, added to the minimum cash (thesis: 0.1)"""
    built: float = parameter(1, 0, 5, "share")
    """of the minimum cash, left when building"""
    thesis: bool = switch(False)
    """bids as in the thesis of 2013; otherwise as in the paper of 2012"""
    unmortgaged: bool = switch(True)
    """jail genes of `rga` count unmortgaged streets, as the program does; otherwise all that are
    owned, as the papers say"""


AT: Final = Scripted.columns()
# Draws that are made once but asked for several times, each with the question that it answers.
SLOT: Final = memory_slots(
    # The lot and turn of a sale, and whether it is wanted; of an auction, and the highest bid
    # (dollars); the turn in which leaving jail was drawn, plus 1.
    "sale", "wanted", "auction", "bid_limit", "jail_turn", start=yasumura.SLOT.end
)  # fmt: skip

_FINE: Final = 1 << 30  # steps of a chance, a multiple of 64: genes of k / 64 are exact
_QUANTILES: Final = 1024
_HALF_NORMAL: Final = np.array(
    [NormalDist().inv_cdf(0.5 + (i + 0.5) / (2 * _QUANTILES)) for i in range(_QUANTILES)]
)
_POOR: Final = 50  # dollars, below which a player bids nothing
_WEST, _NORTH = 5, 11  # the first streets of the sides: pink and orange, red and yellow
_GROUPS_WEST, _GROUPS_NORTH = 2, 4


# --- chance ---------------------------------------------------------------------------------------


@kernel
def says_yes(game: Game, seat: int, gene: float) -> bool:
    """A draw that is True with the chance of a gene."""
    return randomness.policy_draw(game, seat, _FINE) < gene * _FINE


@kernel
def _half_normal(game: Game, seat: int) -> float:
    """|N(0, 1)|, as one of 1,024 quantiles: the same number compiled or not."""
    return _HALF_NORMAL[randomness.policy_draw(game, seat, _QUANTILES)]


# --- situations -----------------------------------------------------------------------------------


@kernel
def buy_gene(game: Game, seat: int, lot: int) -> int:
    """The gene of a lot in the current situation, one of `SITUATIONS`."""
    members, opponents = board.GROUP_LOTS[board.GROUP_OF[lot]], 0
    for other in range(game.num_players):
        if other != seat and int(game.lots[other]) & members:
            opponents += 1
    situation = min(opponents, 2) + 1 if opponents else int(game.lots[seat]) & members != 0
    return situation * board.NUM_SQUARES + board.LOT_SQUARE[game.rules.board, lot]


@kernel
def _states(params: Row) -> int:
    """The states of a side in a row of this length: WIDE or NARROW."""
    return WIDE if len(params) > WIDE_GENES else NARROW


@inlined
def _scripted(params: Row) -> Row:
    """The numbers of a row that are not genes."""
    return params[BUY_GENES + _states(params) ** 2 :]


@kernel
def _whole(game: Game, seat: int, group: int) -> int:
    """The groups, of this one and the next, that one opponent owns whole, a bit each."""
    found = 0
    for other in range(game.num_players):
        if other != seat:
            found |= int(players.owns_group(game, other, group))
            found |= int(players.owns_group(game, other, group + 1)) << 1
    return found


@kernel
def jail_gene(game: Game, seat: int, states: int, unmortgaged: float = 1.0) -> int:
    """The gene for leaving jail at the current board; `states` is WIDE or NARROW."""
    if states == WIDE:
        lots = of_opponents(game, seat) & ~(int(game.mortgaged) if unmortgaged else 0)
        west, north = (lots >> _WEST) & (WIDE - 1), (lots >> _NORTH) & (WIDE - 1)
    else:
        west, north = _whole(game, seat, _GROUPS_WEST), _whole(game, seat, _GROUPS_NORTH)
    return BUY_GENES + states * west + north


# --- decisions ------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Buy if the gene says yes, if need be with cash that can still be raised."""
    lot = asked_lot(game)
    sale = int(game.turns) * board.NUM_LOTS + lot + 1
    if memory[SLOT.sale] != sale:  # the same question comes back after each mortgage
        memory[SLOT.sale] = sale
        memory[SLOT.wanted] = says_yes(game, seat, params[buy_gene(game, seat, lot)])
    if memory[SLOT.wanted] == 0:
        return A_BUY
    if reading.may_buy(game):
        return A_BUY + 1
    raised = _raise_cash(game, seat, params, memory)
    return A_BUY if raised == A_TURN else raised


@kernel
def _raise_cash(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Mortgage single streets, utilities, railroads; sell hotels, houses; mortgage the rest."""
    lots, streets, edition = reading.mortgageable(game), reading.sellable(game), game.rules.board
    best, least = NO_LOT, 1 << 30
    for lot in each(lots):
        rank = liquidation.spare_rank(game, seat, lot)
        if rank < least:
            best, least = lot, rank
    if best != NO_LOT:
        return A_MORTGAGE + best
    for street in each(streets):
        if game.level[street] == board.HOTEL:
            return A_SELL + street
    if streets:
        return A_SELL + lowest(streets)
    for lot in each(lots):
        if best == NO_LOT or board.LOT_SQUARE[edition, lot] < board.LOT_SQUARE[edition, best]:
            best = lot
    return A_TURN if best == NO_LOT else A_MORTGAGE + best


@kernel
def _bid(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Bid up to a limit that is drawn once per auction."""
    lot, scripted = int(game.auction_lot), _scripted(params)
    if lot >= building.HOUSE_LOT:
        return habits.bid_up_to(game, yasumura.piece_limit(game, seat, scripted), 1.0)
    auction = int(game.turns) * board.NUM_LOTS + lot + 1
    if memory[SLOT.auction] != auction:
        memory[SLOT.auction] = auction
        memory[SLOT.bid_limit] = _limit(
            game, seat, lot, params[buy_gene(game, seat, lot)], scripted
        )
    return habits.bid_up_to(game, memory[SLOT.bid_limit], 1.0)


@kernel
def _limit(game: Game, seat: int, lot: int, gene: float, scripted: Row) -> float:
    """The bid of 2012, at most the cash in hand, or that of 2013, at most what liquidation brings.

    In 2013, dU is counted in dollars. In auctions of an estate, the bankrupt player is on turn.
    """
    cost, cash = price(game, lot), int(game.cash[seat])
    if scripted[AT.thesis]:
        if says_yes(game, seat, gene):
            gain = yasumura.utility_gain(game, seat, 1 << lot, 0, scripted) / scripted[AT.w1]
            bid = min(cost + abs(gain), cost * (1.1 if gain < 0 else 1.5))
        else:
            bid = cost / 2 + _half_normal(game, seat) * cost / 6
        return min(bid, float(liquidation.raisable(game, seat)))
    if cash < _POOR:
        return 0.0
    if says_yes(game, seat, gene) and liquidation.raisable(game, seat) >= cost:
        bid = cost + _half_normal(game, seat) * cost / 10
    elif seat == game.turn:  # it declined the lot
        bid = cost / (2 + randomness.policy_draw(game, seat, 3))
    else:
        bid = cost / 2 + _half_normal(game, seat) * cost / 6
    return min(bid, float(cash))


@kernel
def _window(game: Game, seat: int, params: Row, memory: Row) -> int:
    return yasumura.manage(game, seat, _scripted(params), memory)


@kernel
def _leaves(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether to leave jail: in the windows of a turn, drawn once."""
    if game.decision == agenda.WINDOW:
        if memory[SLOT.jail_turn] == game.turns + 1:
            return False
        memory[SLOT.jail_turn] = game.turns + 1
    gene = jail_gene(game, seat, _states(params), _scripted(params)[AT.unmortgaged])
    return says_yes(game, seat, params[gene])


@kernel
def _accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return yasumura.accepts(game, seat, _scripted(params), memory)


@kernel
def _lifts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    return yasumura.lifts(game, seat, _scripted(params), memory)


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play by genes, with 64 x 64 or 4 x 4 of them for leaving jail."""
    return decide(game, params, memory, _window, _buy, _bid, _leaves, _accepts, _raise_cash, _lifts)
