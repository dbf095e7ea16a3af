"""How the players of Mukhar and Kalita play: their genes say yes or no by chance, everything else is scripted.

The row that a kernel reads holds the genes as probabilities, then the numbers of `Scripted`:

- gene 40 r + s, for r from 0 to 3 and s the square of a lot: the chance to buy it, and in an auction to want it, in situation r
  (`SITUATIONS`);
- from gene 160 on, the chances to leave jail: 64 x 64 for `WIDE`, 4 x 4 for `NARROW`, the number of the West side first.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from agents.players import yasumura
from agents.players.vocabulary import habits, offers
from agents.players.vocabulary.memory import memory_slots
from agents.players.vocabulary.parameters import SHARE, parameter, switch
from agents.players.vocabulary.reading import NO_LOT, asked_lot, legal, of_opponents, price
from monopoly_env.actions import A_BUY, A_JAIL, A_MORTGAGE, A_SELL, A_TURN
from monopoly_env.board import GROUP_LOTS, GROUP_OF, GROUP_SIZE, HOTEL, LOT_SQUARE, NUM_LOTS, NUM_SQUARES, NUM_STREETS
from monopoly_env.engine import agenda, building, liquidation, players, randomness
from monopoly_env.engine.sets import each, has, lowest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

SITUATIONS: Final = (
    "nobody owns in the group",
    "only I own in it",
    "one opponent owns in it",
    "two or more opponents own in it",
)  # fmt: skip
BUY_GENES: Final = len(SITUATIONS) * NUM_SQUARES
GENE_OF: Final = NUM_SQUARES * np.arange(len(SITUATIONS))[:, None] + np.array(LOT_SQUARE[0])  # (4, 28), the gene of a situation and a lot
# (4, 28), whether a situation can occur: two opponents cannot both own in a group of two of which a lot is for sale.
OCCURS: Final = (np.arange(len(SITUATIONS)) < len(SITUATIONS) - 1)[:, None] | (np.array(GROUP_SIZE)[np.array(GROUP_OF)] > 2)
WIDE: Final = 64  # states of a side: which of its six streets opponents own
NARROW: Final = 4  # states of a side: which of its two colour groups one opponent owns whole
WIDE_GENES: Final = BUY_GENES + WIDE * WIDE
NARROW_GENES: Final = BUY_GENES + NARROW * NARROW


@dataclass(frozen=True)
class Scripted(yasumura.Yasumura):
    """What is not in the genes: building, mortgages and trades by Yasumura's player, with the numbers of Mukhar's program of 2012."""

    of_buildings: float = parameter(0.05, 0, 1, SHARE)
    """of the price of the opponents' buildings, added to the minimum cash (thesis: 0.1)"""
    built: float = parameter(1, 0, 5, SHARE)
    """of the minimum cash, left when building"""
    thesis: bool = switch(False)
    """bids as in the thesis of 2013; otherwise as in the paper of 2012"""


AT: Final = Scripted.columns()
# Draws that are made once but asked for several times, each with what it was made for.
SLOT: Final = memory_slots(
    "sale",  # the lot for sale, and the turn
    "wanted",  # whether it is wanted
    "auction",  # the lot of the auction, and the turn
    "bid_limit",  # the highest bid in it (dollars)
    "jail_turn",  # the turn in which leaving jail was drawn, plus 1
    start=yasumura.SLOT.end,
)

_FINE: Final = 1 << 30  # steps of a chance, a multiple of 64: a gene of k / 64 says yes exactly when a 6-bit draw is below k
_QUANTILES: Final = 1024
_HALF_NORMAL: Final = np.array([NormalDist().inv_cdf(0.5 + (i + 0.5) / (2 * _QUANTILES)) for i in range(_QUANTILES)])
_POOR: Final = 50  # dollars, below which a player bids nothing
_WEST, _NORTH = 5, 11  # the first streets of the sides: pink and orange, red and yellow
_GROUPS_WEST, _GROUPS_NORTH = 2, 4


# --- chance -------------------------------------------------------------------------------------------------------------


@kernel
def _says_yes(game: Game, seat: int, gene: float) -> bool:
    return randomness.policy_draw(game, seat, _FINE) < gene * _FINE


@kernel
def _half_normal(game: Game, seat: int) -> float:
    """|N(0, 1)|, as one of 1,024 quantiles: the same number compiled or not."""
    return _HALF_NORMAL[randomness.policy_draw(game, seat, _QUANTILES)]


# --- situations ---------------------------------------------------------------------------------------------------------


@kernel
def situation(game: Game, seat: int, lot: int) -> int:
    """The row of genes that speaks for a lot: an index of `SITUATIONS`."""
    members, opponents = int(GROUP_LOTS[GROUP_OF[lot]]), 0
    for other in range(game.num_players):
        if other != seat and int(game.lots[other]) & members:
            opponents += 1
    if opponents > 0:
        return 2 if opponents == 1 else 3
    return 1 if int(game.lots[seat]) & members else 0


@kernel
def buy_gene(game: Game, seat: int, lot: int) -> int:
    """The gene of a lot in the current situation."""
    return situation(game, seat, lot) * NUM_SQUARES + int(LOT_SQUARE[game.rules.board, lot])


@kernel
def _is_an_opponents(game: Game, seat: int, group: int) -> bool:
    """Whether one opponent owns a whole group."""
    for other in range(game.num_players):
        if other != seat and players.owns_group(game, other, group):
            return True
    return False


@kernel
def jail_gene(game: Game, seat: int, states: int) -> int:
    """The gene for leaving jail at the current board; `states` is WIDE or NARROW."""
    if states == WIDE:
        lots = of_opponents(game, seat) & ~int(game.mortgaged)
        west, north = (lots >> _WEST) & (WIDE - 1), (lots >> _NORTH) & (WIDE - 1)
    else:
        west = (1 if _is_an_opponents(game, seat, _GROUPS_WEST) else 0) + (2 if _is_an_opponents(game, seat, _GROUPS_WEST + 1) else 0)
        north = (1 if _is_an_opponents(game, seat, _GROUPS_NORTH) else 0) + (2 if _is_an_opponents(game, seat, _GROUPS_NORTH + 1) else 0)
    return BUY_GENES + states * west + north


# --- decisions ----------------------------------------------------------------------------------------------------------


@kernel
def _buy(game: Game, seat: int, params: Row, memory: Row) -> int:
    """Buy if the gene says yes, also with cash that is still to be raised if the rules let a buyer raise it."""
    lot = asked_lot(game)
    sale = int(game.turns) * NUM_LOTS + lot + 1
    if memory[SLOT.sale] != sale:  # the same question comes back after each mortgage
        memory[SLOT.sale] = sale
        memory[SLOT.wanted] = _says_yes(game, seat, params[buy_gene(game, seat, lot)])
    if memory[SLOT.wanted] == 0:
        return A_BUY
    if legal(game, A_BUY + 1, 1):
        return A_BUY + 1
    raised = _raise_cash(game, seat)
    return A_BUY if raised == A_TURN else raised


@kernel
def _raise_cash(game: Game, seat: int) -> int:
    """Mortgage single streets, a single utility, railroads, utilities; then sell hotels, houses; then mortgage the rest in board order."""
    spare, edition = _first_spare(game, seat), int(game.rules.board)
    if spare != NO_LOT:
        return A_MORTGAGE + spare
    streets = legal(game, A_SELL, NUM_STREETS)
    if streets:
        for street in range(NUM_STREETS):
            if has(streets, street) and game.level[street] == HOTEL:
                return A_SELL + street
        return A_SELL + lowest(streets)
    lots = legal(game, A_MORTGAGE, NUM_LOTS)
    if lots == 0:
        return A_TURN
    best = lowest(lots)
    for lot in each(lots):
        if LOT_SQUARE[edition, lot] < LOT_SQUARE[edition, best]:
            best = lot
    return A_MORTGAGE + best


@kernel
def _first_spare(game: Game, seat: int) -> int:
    """The lot that is mortgaged before any building is sold, or NO_LOT."""
    best, best_rank = NO_LOT, 1 << 30
    lots = legal(game, A_MORTGAGE, NUM_LOTS)
    for lot in each(lots):
        rank = liquidation.spare_rank(game, seat, lot)
        if rank < best_rank:
            best, best_rank = lot, rank
    return best


@kernel
def _bid_limit(game: Game, seat: int, params: Row, scripted: Row, memory: Row) -> float:
    """The highest bid, drawn once per auction, in dollars."""
    lot = int(game.auction_lot)
    if lot >= building.HOUSE_LOT:
        return yasumura.piece_limit(game, seat, scripted)
    auction = int(game.turns) * NUM_LOTS + lot + 1
    if memory[SLOT.auction] != auction:
        memory[SLOT.auction] = auction
        gene = params[buy_gene(game, seat, lot)]
        if scripted[AT.thesis]:
            memory[SLOT.bid_limit] = _thesis_bid(game, seat, lot, gene, scripted)
        else:
            memory[SLOT.bid_limit] = _paper_bid(game, seat, lot, gene)
    return memory[SLOT.bid_limit]


@kernel
def _paper_bid(game: Game, seat: int, lot: int, gene: float) -> float:
    """The bid of 2012, in dollars; never more than the cash in hand."""
    cost, cash = price(game, lot), int(game.cash[seat])
    if cash < _POOR:
        return 0.0
    if _says_yes(game, seat, gene) and liquidation.raisable(game, seat) >= cost:
        bid = cost + _half_normal(game, seat) * cost / 10
    elif seat == game.turn:  # the player that declined the lot; in the auctions of an estate, the player on turn is the bankrupt one
        bid = cost / (2 + randomness.policy_draw(game, seat, 3))
    else:
        bid = cost / 2 + _half_normal(game, seat) * cost / 6
    return min(bid, float(cash))


@kernel
def _thesis_bid(game: Game, seat: int, lot: int, gene: float, scripted: Row) -> float:
    """The bid of 2013, in dollars; never more than liquidation brings. dU is counted in dollars, as in `yasumura`'s trades."""
    cost = price(game, lot)
    if _says_yes(game, seat, gene):
        gain = yasumura.utility_gain(game, seat, 1 << lot, 0, scripted) / scripted[AT.w1]
        bid = min(cost + abs(gain), cost * (1.1 if gain < 0 else 1.5))
    else:
        bid = cost / 2 + _half_normal(game, seat) * cost / 6
    return min(bid, float(liquidation.raisable(game, seat)))


@kernel
def _turn(game: Game, seat: int, params: Row, scripted: Row, states: int, memory: Row) -> int:
    """Act in a window of the turn; whether to leave jail is drawn once per turn."""
    if legal(game, A_JAIL, 2) and memory[SLOT.jail_turn] != game.turns + 1:
        memory[SLOT.jail_turn] = game.turns + 1
        if _says_yes(game, seat, params[jail_gene(game, seat, states)]):
            return habits.leave_jail(game)
    return yasumura.manage(game, seat, scripted, memory)


@kernel
def _answer(game: Game, params: Row, genes: int, states: int, memory: Row) -> int:
    seat, decision, scripted = int(game.player), int(game.decision), params[genes:]
    if decision == agenda.WINDOW:
        return _turn(game, seat, params, scripted, states, memory)
    if decision == agenda.BUY:
        return _buy(game, seat, params, memory)
    if decision == agenda.BID or decision == agenda.SEALED_BID:
        return habits.bid_up_to(game, _bid_limit(game, seat, params, scripted, memory), 1.0)
    if decision == agenda.JAIL:
        return habits.answer_jail(game, legal(game, A_TURN, 1) != 0 and _says_yes(game, seat, params[jail_gene(game, seat, states)]))
    if agenda.ASK <= decision <= agenda.CASH:
        return offers.compose(game, memory)
    if decision == agenda.REPLY:
        return yasumura.reply(game, seat, scripted)
    if decision == agenda.DEBT:
        return _raise_cash(game, seat)
    if decision == agenda.TAKEOVER:
        return yasumura.take_mortgaged(game, seat, scripted)
    return habits.routine(game)


@policy_kernel
def wide(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play with 64 x 64 jail genes."""
    return _answer(game, params, WIDE_GENES, WIDE, memory)


@policy_kernel
def narrow(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play with 4 x 4 jail genes."""
    return _answer(game, params, NARROW_GENES, NARROW, memory)
