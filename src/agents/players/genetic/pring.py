"""Pring's players: a preference K for each of the 28 lots, or four by use (see `genetic`)."""

from __future__ import annotations

from typing import Final, NamedTuple

from agents.players.vocabulary import groups, habits, offers, reading
from agents.players.vocabulary.reading import NO_LOT, asked_lot, price, window_kind
from agents.players.vocabulary.skeleton import decide
from monopoly_env.actions import A_BUILD, A_BUY, A_MORTGAGE, A_SELL, A_TURN, A_UNMORTGAGE
from monopoly_env.engine import agenda, building, mortgage, randomness, trade, turn
from monopoly_env.engine.sets import each, size
from monopoly_env.facts.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, NUM_LOTS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

USES: Final = ("buying", "building", "mortgages", "trading")
SUPPOSED: Final = 0.5  # a stranger's preference for any lot, the mean of random ones
_LOTS_LEFT: Final = 8.0  # leaving jail early is worth the fine while this many lots are unowned
_RESERVE: Final = 200.0  # dollars that leaving jail early takes


class Genes(NamedTuple):
    """Preferences (28,) by use, and what the others at the table prefer in trades.

    Attributes:
        buying: For purchases and bids.
        building: For houses and hotels.
        mortgages: For what is mortgaged and lifted first.
        trading: For the values of an exchange.
        others: ((P - 1) * 28,) trading genes of the next seats in turn; empty: strangers play.
    """

    buying: Row
    building: Row
    mortgages: Row
    trading: Row
    others: Row


@kernel
def _affords(game: Game, seat: int, lot: int, cost: int, preferences: Row) -> bool:
    """The paper's test of a purchase: cash x K > cost."""
    return int(game.cash[seat]) * preferences[lot] > cost


@kernel
def _worth(game: Game, seat: int, lot: int, holding: int, genes: Genes) -> float:
    """K x price in dollars to a seat, doubled if its holding, with the lot, has the whole group."""
    members, place = GROUP_LOTS[GROUP_OF[lot]], (seat - int(game.player)) % int(game.num_players)
    if place == 0:
        preference = genes.trading[lot]
    elif len(genes.others):
        preference = genes.others[(place - 1) * NUM_LOTS + lot]
    else:
        preference = SUPPOSED
    return preference * price(game, lot) * (2 if holding & members == members else 1)


@kernel
def _keenest(game: Game, seat: int, lots: int, builds: bool, preferences: Row) -> int:
    """The lot of the highest K that passes the test of building or lifting there, or NO_LOT."""
    best = NO_LOT
    for lot in each(lots):
        cost = building.building_cost(game, lot) if builds else mortgage.lifting_cost(game, lot)
        better = best == NO_LOT or preferences[lot] > preferences[best]
        if better and _affords(game, seat, lot, cost, preferences):
            best = lot
    return best


@kernel
def _leaves(game: Game, seat: int, genes: Genes, memory: Row) -> bool:
    return habits.leaves_early(game, _LOTS_LEFT, _RESERVE)


@kernel
def _window(game: Game, seat: int, genes: Genes, memory: Row) -> int:
    lot = _keenest(game, seat, reading.liftable(game), False, genes.mortgages)
    if lot != NO_LOT:
        return A_UNMORTGAGE + lot
    moved = window_kind(game) == agenda.AFTER_THROW or game.rules.build_window == turn.EVERY_PLAYER
    if moved and game.offers[seat] == 0 and reading.may_trade(game):
        action = _offer(game, seat, genes, memory)
        if action != A_TURN:
            return action
    street = _keenest(game, seat, reading.buildable(game), True, genes.building)
    return A_TURN if street == NO_LOT else A_BUILD + street


@kernel
def _wanted(game: Game, seat: int, other: int, own: int, theirs: int, genes: Genes) -> int:
    """The lots of a partner that the paper exchanges for one's own.

    Each of the two is worth more to its new owner than to the old one, and the proposer gains.
    """
    mine, his, found = int(game.lots[seat]), int(game.lots[other]), 0
    given = _worth(game, seat, own, mine, genes)
    for lot in each(theirs):
        after = mine & ~(1 << own) | (1 << lot), his & ~(1 << lot) | (1 << own)
        got = _worth(game, seat, lot, after[0], genes)
        if (
            got > given
            and got > _worth(game, other, lot, his, genes)
            and _worth(game, other, own, after[1], genes) > given
        ):
            found |= 1 << lot
    return found


@kernel
def _offer(game: Game, seat: int, genes: Genes, memory: Row) -> int:
    """Offer one of the exchanges of the paper, all equally likely, or go on."""
    chosen, goods = -1, trade.tradable(game, seat) & ALL_LOTS
    for attempt in range(2):  # count, then find the one that was drawn
        seen = 0
        for other in range(game.num_players):
            if other == seat or not offers.may_offer_to(game, seat, other):
                continue
            own, theirs = goods, trade.tradable(game, other) & ALL_LOTS
            for lot in each(own):
                wanted = _wanted(game, seat, other, lot, theirs, genes)
                if attempt == 1 and seen <= chosen < seen + size(wanted):
                    for _ in range(chosen - seen):
                        wanted &= wanted - 1
                    return offers.begin(game, other, wanted & -wanted, 1 << lot, 0, memory)
                seen += size(wanted)
        if seen == 0:
            return A_TURN
        chosen = randomness.policy_draw(game, seat, seen)
    return A_TURN


@kernel
def _accepts(game: Game, seat: int, genes: Genes, memory: Row) -> bool:
    """Whether a stranger's offer gains; the paper does not ask the partner of an exchange.

    Cash counts at its face value and a jail card as the fine.
    """
    if len(genes.others):
        return True
    mine, fine = int(game.lots[seat]), int(game.rules.jail_fine)
    came, went = int(game.offer_give), int(game.offer_ask)
    after = (mine & ~went & ALL_LOTS) | (came & ALL_LOTS)
    gain = float(int(game.offer_cash) + fine * (size(came & ~ALL_LOTS) - size(went & ~ALL_LOTS)))
    for lot in each(came & ALL_LOTS):
        gain += _worth(game, seat, lot, after, genes)
    for lot in each(went & ALL_LOTS):
        gain -= _worth(game, seat, lot, mine, genes)
    return gain > 0


@kernel
def _raise_cash(game: Game, seat: int, genes: Genes, memory: Row) -> int:
    """Sell buildings by the rent they bring, then mortgage, the least preferred lot first."""
    streets = reading.sellable(game)
    if streets:
        return A_SELL + habits.least_built(game, streets)
    lots = reading.mortgageable(game)
    return A_MORTGAGE + reading.least(lots, genes.mortgages) if lots else A_TURN


@kernel
def _bid(game: Game, seat: int, genes: Genes, memory: Row) -> int:
    """Bid up to the list price and the limit of the test of a purchase."""
    lot, limit = int(game.auction_lot), float(game.cash[seat])
    if lot >= building.HOUSE_LOT:
        return habits.bid_up_to(game, min(groups.dearest_house(game, seat), limit), 1.0)
    return habits.bid_up_to(game, min(limit * genes.buying[lot], price(game, lot)), 1.0)


@kernel
def _buy(game: Game, seat: int, genes: Genes, memory: Row) -> int:
    lot = asked_lot(game)
    affordable = _affords(game, seat, lot, price(game, lot), genes.buying)
    return A_BUY + 1 if affordable and reading.may_buy(game) else A_BUY


@kernel
def _lifts(game: Game, seat: int, genes: Genes, memory: Row) -> bool:
    lot = asked_lot(game)
    return _affords(game, seat, lot, mortgage.principal(game, lot), genes.mortgages)


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play by 28 preferences."""
    own, others = params[:NUM_LOTS], params[NUM_LOTS:]
    genes = Genes(own, own, own, own, others)
    return decide(game, genes, memory, _window, _buy, _bid, _leaves, _accepts, _raise_cash, _lifts)


@policy_kernel
def play_by_use(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play by 28 preferences for each of `USES`."""
    genes = Genes(
        params[:NUM_LOTS], params[NUM_LOTS : 2 * NUM_LOTS], params[2 * NUM_LOTS : 3 * NUM_LOTS],
        params[3 * NUM_LOTS : 4 * NUM_LOTS], params[4 * NUM_LOTS :],
    )  # fmt: skip
    return decide(game, genes, memory, _window, _buy, _bid, _leaves, _accepts, _raise_cash, _lifts)
