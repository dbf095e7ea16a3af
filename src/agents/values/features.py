"""The features of a state that the value network sees, in the tables `SHARED` and `EACH`.

Players come in turn order from the player on turn. Players out of the game are omitted, so a table
of four with two players left looks like a table of two. Features show the open state only: no
hidden cards, dice or sealed bids.

Rents are ordinary rents of an average throw, weighted by the odds of `agents.players.expert.odds`.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, TypeAlias

import numpy as np

from agents.players.expert import odds
from agents.players.vocabulary.reading import AVERAGE_THROW, owned_lots
from monopoly_env.actions import DECISION_NAMES
from monopoly_env.encoding.table import places
from monopoly_env.engine import agenda
from monopoly_env.engine.liquidation import raisable
from monopoly_env.engine.players import total_worth
from monopoly_env.engine.rent import ORDINARY, is_free, ordinary_rent
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.facts.board import (
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUP_START,
    GROUPS,
    HOTEL,
    HOUSE_PRICE,
    NUM_GROUPS,
    NUM_LOTS,
    PRICE,
    RAILROADS,
)
from monopoly_env.game import ALL_OTHERS, CHANCE_GOOD, Game
from monopoly_env.kernels import borrowed, kernel, on_stack
from monopoly_env.rules import number

MOST_PLAYERS: Final = 4  # left in the game

VERSION: Final = 1  # raised when a feature of the same name means something else
_ONE: Final = ("",)
# Adjacent features: names, meaning; "n to s" is n / (n + s)
Blocks: TypeAlias = dict[str, tuple[tuple[str, ...], str]]

SHARED: Final[Blocks] = {
    "decision": (DECISION_NAMES, "one-hot: the open decision"),
    "window": (("before a throw", "after the last throw", "out of turn"),
        "one-hot: which window of the turn is open"),
    "to throw": (_ONE, "flag: the player on turn has a throw to come this turn"),
    "doubles": (_ONE, "thrown in a row this turn / 3"),
    "players": (("2", "3", "4"), "one-hot: left in the game"),
    "rounds": (("to 20", "to 100"), "completed"),
    "cap": (("far", "near"),
        "turns left until the cap of the rules / 1,000, at most 1; 1 less those / 60; 0 "
        "without a cap"),
    "rules": (("auctions", "unlimited buildings", "bankruptcy ends the game", "trades"),
        "flags: options that change the play most"),
    "bank": (("houses", "hotels"), "left in the bank / the supply"),
    "unowned": (("all", *GROUPS), "share of lots without an owner"),
    "at stake": (GROUPS,
        "one-hot: group of the lot for sale, under auction, won but not yet paid for, or "
        "taken over"),
    "price": (("printed", "bid", "ratio"),
        "of the lot at stake / 400; the standing bid / 1,000; the bid as a multiple of the "
        "price / 4"),
}  # fmt: skip
EACH: Final[Blocks] = {
    "in the game": (_ONE, "flag"),
    "decides": (_ONE, "flag"),
    "cash": (("by 200", "by 1000", "by 5000", "to 500"), "dollars, clipped where they are divided"),
    "raisable": (("by 1000", "by 5000", "to 1500"),
        "dollars: cash and all that selling and mortgaging would bring"),
    "worth": (("share", "to 3000"), "share of everybody's worth; dollars"),
    "jail": (("in", "failed throws", "cards"), "flag; failed throws / 3; cards to leave it / 2"),
    "income": (("by 100", "root", "share"),
        "dollars of rent from a turn of one opponent in the long run; its root / 10; share "
        "of all"),
    "prospects": (("by 100", "root", "share"),
        "income if the player's cash were in houses of its complete groups"),
    "next rent": (("by 200", "of cash", "above cash", "above all"),
        "dollars expected in its next turn; as a share of its cash; the odds of a rent that "
        "it can't pay at once, and of one that it can't pay at all"),
    "later rent": (("by 200", "of cash", "above cash", "above all"),
        "the same for a turn in the long run"),
    "collects": (_ONE, "dollars that the others' next turns are expected to bring / 200"),
    "debt": (("to 300", "of all", "gets"),
        "dollars of the open debt; as a share of what can be raised; flag: is paid"),
    "offer": (("cash", "lots", "groups"),
        "what the open offer would bring: dollars / 1,000, list prices / 500, complete "
        "groups"),
    "bids": (("in", "leads", "share", "completes"),
        "flags: has not folded, leads; owned share of the group; flag: lacks only that lot"),
    "owns": (GROUPS, "share of the group"),
    "mortgaged": (GROUPS, "share of the group: its own mortgaged lots"),
    "complete": (GROUPS[:RAILROADS], "flag: owns the whole group, with no lot mortgaged"),
    "level": (GROUPS[:RAILROADS], "mean level of the group / 5"),
}  # fmt: skip


def _names(blocks: Blocks) -> list[str]:
    return [
        f"{block}: {name}" if name else block
        for block, (features, _) in blocks.items()
        for name in features
    ]


NAMES: Final = (
    *_names(SHARED),
    *(f"{place}: {name}" for place in range(MOST_PLAYERS) for name in _names(EACH)),
)
FEATURES: Final = len(NAMES)
SHARED_SIZE: Final = len(_names(SHARED))
EACH_SIZE: Final = len(_names(EACH))
# Identifies the features in a saved network
DIGEST: Final = hashlib.sha256("\n".join((str(VERSION), *NAMES)).encode()).hexdigest()[:16]

_S: Final = places((name, len(labels)) for name, (labels, _) in SHARED.items())
_E: Final = places((name, len(labels)) for name, (labels, _) in EACH.items())

_NO_AUCTION: Final = number("auction", "none")
_UNLIMITED: Final = number("building_limit", "unlimited")
_GAME_OVER: Final = number("bank_bankruptcy", "game_over")
_NO_TRADE: Final = number("trade", "none")
_SETTLED_BY_THROW: Final = np.isin(
    np.arange(agenda.LAST_TASK + 1), [agenda.BEFORE_THROW_TASK, agenda.THROW, agenda.LEAVE_JAIL]
)
_KEEP: Final = 100.0  # dollars that are not put into houses


@kernel
def write(game: Game, out: Any, seats: Any) -> int:
    """Write the features of a running game.

    Args:
        game: The game.
        out: (FEATURES,) float32, filled.
        seats: (4,) int64, filled: the seat of each place; -1 for places without a player.

    Returns:
        The number of players left.
    """
    out, seats = borrowed(out), borrowed(seats)
    out[:] = 0.0
    count = order(game, seats)
    rents, owners = on_stack(NUM_LOTS, np.float64), on_stack(NUM_LOTS, np.int64)
    rents[:], owners[:] = 0.0, -1
    for place in range(count):
        lots = int(game.lots[seats[place]])
        while lots:
            lot = lowest(lots)
            lots &= lots - 1
            owners[lot] = place
            if not (has(game.mortgaged, lot) or is_free(game, int(seats[place]), lot, ORDINARY)):
                rents[lot] = ordinary_rent(game, int(seats[place]), lot, AVERAGE_THROW)
    _write_shared(game, count, out)
    worth, income, prospects = 0.0, 0.0, 0.0
    for place in range(count):
        row = out[SHARED_SIZE + place * EACH_SIZE : SHARED_SIZE + (place + 1) * EACH_SIZE]
        seat = int(seats[place])
        funds = float(raisable(game, seat))
        _write_money(game, seat, funds, row)
        _write_rents(game, seat, place, rents, owners, funds, out, row)
        _write_groups(game, seat, row)
        worth += float(row[_E.worth])
        income += float(row[_E.income])
        prospects += float(row[_E.prospects])
    for place in range(count):
        row = out[SHARED_SIZE + place * EACH_SIZE : SHARED_SIZE + (place + 1) * EACH_SIZE]
        row[_E.worth] = float(row[_E.worth]) / max(worth, 1.0)
        row[_E.income + 2] = float(row[_E.income]) / max(income, 1e-6)
        row[_E.prospects + 2] = float(row[_E.prospects]) / max(prospects, 1e-6)
    _write_stake(game, count, seats, out)
    _write_debt(game, count, seats, out)
    _write_offer(game, count, seats, out)
    return count


@kernel
def order(game: Game, seats: Any) -> int:
    """Write the seats still in the game, at most four, in turn order; return their number.

    The seat on turn comes first. Free places are -1.
    """
    count = 0
    for place in range(MOST_PLAYERS):
        seats[place] = -1
    for offset in range(game.num_players):
        seat = (int(game.turn) + offset) % int(game.num_players)
        if game.place[seat] == 0 and count < MOST_PLAYERS:
            seats[count] = seat
            count += 1
    return count


# --- shared facts


@kernel
def _write_shared(game: Game, count: int, out: Any) -> None:
    decision, depth = int(game.decision), int(game.depth)
    out[_S.decision + decision] = 1.0
    if decision == agenda.WINDOW and depth > 0:
        out[_S.window + int(game.agenda[depth - 1, 2])] = 1.0
    out[_S.to_throw] = game.again
    for task in range(depth):
        if _SETTLED_BY_THROW[game.agenda[task, 0]]:
            out[_S.to_throw] = 1.0
    out[_S.doubles] = game.streak / 3.0
    if count >= 2:
        out[_S.players + count - 2] = 1.0
    rounds, turns = int(game.rounds), int(game.turns)
    out[_S.rounds] = rounds / (rounds + 20.0)
    out[_S.rounds + 1] = rounds / (rounds + 100.0)
    if game.rules.max_turns > 0:
        left = max(0, int(game.rules.max_turns) - turns)
        out[_S.cap] = min(1.0, left / 1000.0)
        out[_S.cap + 1] = max(0.0, 1.0 - left / 60.0)
    rules = game.rules
    out[_S.rules] = rules.auction != _NO_AUCTION
    out[_S.rules + 1] = rules.building_limit == _UNLIMITED
    out[_S.rules + 2] = rules.bank_bankruptcy == _GAME_OVER
    out[_S.rules + 3] = rules.trade != _NO_TRADE
    out[_S.bank] = int(game.houses) / max(1, int(rules.houses))
    out[_S.bank + 1] = int(game.hotels) / max(1, int(rules.hotels))
    lots = ~owned_lots(game)
    out[_S.unowned] = size(lots & ((1 << NUM_LOTS) - 1)) / NUM_LOTS
    for group in range(NUM_GROUPS):
        out[_S.unowned + 1 + group] = size(lots & int(GROUP_LOTS[group])) / GROUP_SIZE[group]


# --- facts of each player


@kernel
def _write_money(game: Game, seat: int, funds: float, row: Any) -> None:
    cash = float(game.cash[seat])
    row[_E.in_the_game] = 1.0
    row[_E.decides] = game.player == seat
    row[_E.cash] = min(max(cash, 0.0), 200.0) / 200.0
    row[_E.cash + 1] = min(max(cash, 0.0), 1000.0) / 1000.0
    row[_E.cash + 2] = min(max(cash, -1000.0), 5000.0) / 5000.0
    row[_E.cash + 3] = max(cash, 0.0) / (max(cash, 0.0) + 500.0)
    row[_E.raisable] = min(max(funds, 0.0), 1000.0) / 1000.0
    row[_E.raisable + 1] = min(max(funds, 0.0), 5000.0) / 5000.0
    row[_E.raisable + 2] = max(funds, 0.0) / (max(funds, 0.0) + 1500.0)
    worth = max(0.0, float(total_worth(game, seat)))
    row[_E.worth] = worth  # divided by the sum of all later
    row[_E.worth + 1] = worth / (worth + 3000.0)
    if game.jail[seat] > 0:
        row[_E.jail] = 1.0
        row[_E.jail + 1] = (int(game.jail[seat]) - 1) / 3.0
    row[_E.jail + 2] = size(int(game.jail_cards[seat])) / 2.0


@kernel
def _write_rents(
    game: Game, seat: int, place: int, rents: Any, owners: Any, funds: float, out: Any, row: Any
) -> None:
    """Write a player's income, and the rents that it pays in its next turn and in later ones."""
    edition = int(game.rules.board)
    square = odds.IN_JAIL if game.jail[seat] > 0 else int(game.position[seat])
    cash, income = max(1.0, float(game.cash[seat])), 0.0
    for lot in range(NUM_LOTS):
        rent = rents[lot]
        if rent == 0.0:
            continue
        soon, later = odds.NEXT_LOT[edition, square, lot], odds.LATER_LOT[edition, lot]
        if owners[lot] == place:
            income += later * rent
        else:
            _add_rent(row, _E.next_rent, soon, rent, cash, funds)
            _add_rent(row, _E.later_rent, later, rent, cash, funds)
            out[SHARED_SIZE + owners[lot] * EACH_SIZE + _E.collects] += soon * rent / 200.0
    row[_E.next_rent + 1] = min(1.0, float(row[_E.next_rent]) * 200.0 / cash)
    row[_E.later_rent + 1] = min(1.0, float(row[_E.later_rent]) * 200.0 / cash)
    row[_E.income] = income / 100.0
    row[_E.income + 1] = np.sqrt(income) / 10.0
    hoped = income + _growth(game, seat)
    row[_E.prospects] = hoped / 100.0
    row[_E.prospects + 1] = np.sqrt(hoped) / 10.0


@kernel
def _add_rent(row: Any, at: int, chance: float, rent: float, cash: float, funds: float) -> None:
    row[at] += chance * rent / 200.0
    if rent > cash:
        row[at + 2] += chance
    if rent > funds:
        row[at + 3] += chance


@kernel
def _growth(game: Game, seat: int) -> float:
    """The growth of long-run rent if a player put its cash into its complete groups, equally."""
    edition, complete, grown = int(game.rules.board), 0, 0.0
    for group in range(RAILROADS):
        complete += _may_build(game, seat, group)
    if complete == 0:
        return 0.0
    funds = max(0.0, float(game.cash[seat]) - _KEEP) / complete
    for group in range(RAILROADS):
        if _may_build(game, seat, group):
            level = _level(game, group)
            price = float(HOUSE_PRICE[edition, GROUP_START[group]]) * GROUP_SIZE[group]
            grown += _income(edition, group, min(float(HOTEL), level + funds / price)) - _income(
                edition, group, level
            )
    return grown


@kernel
def _income(edition: int, group: int, level: float) -> float:
    """Rent per turn of one opponent from a complete group, between whole levels."""
    lower = min(int(level), HOTEL - 1)
    part = level - lower
    return (1.0 - part) * odds.SET_INCOME[edition, group, lower] + part * odds.SET_INCOME[
        edition, group, lower + 1
    ]


@kernel
def _level(game: Game, group: int) -> float:
    """The mean level of a colour's streets."""
    levels = 0
    for lot in range(int(GROUP_START[group]), int(GROUP_START[group] + GROUP_SIZE[group])):
        levels += int(game.level[lot])
    return levels / GROUP_SIZE[group]


@kernel
def _may_build(game: Game, seat: int, group: int) -> bool:
    """Whether a player owns a whole colour, with no lot mortgaged."""
    lots = int(GROUP_LOTS[group])
    return int(game.lots[seat]) & lots == lots and int(game.mortgaged) & lots == 0


@kernel
def _write_groups(game: Game, seat: int, row: Any) -> None:
    lots = int(game.lots[seat])
    for group in range(NUM_GROUPS):
        owned = lots & int(GROUP_LOTS[group])
        if owned == 0:
            continue
        row[_E.owns + group] = size(owned) / GROUP_SIZE[group]
        row[_E.mortgaged + group] = size(owned & int(game.mortgaged)) / GROUP_SIZE[group]
        if group < RAILROADS and owned == GROUP_LOTS[group]:
            row[_E.complete + group] = _may_build(game, seat, group)
            row[_E.level + group] = _level(game, group) / HOTEL


# --- the open decision


@kernel
def _write_stake(game: Game, count: int, seats: Any, out: Any) -> None:
    """Write the lot at stake (for sale, auctioned, won, taken over) and each player's part."""
    lot, top = int(game.auction_lot), int(game.depth) - 1
    auction = lot >= 0
    if top >= 0 and (game.decision == agenda.BUY or game.decision == agenda.TAKEOVER):
        lot = int(game.agenda[top, 2])
    elif top > 0 and game.decision == agenda.DEBT and game.agenda[top - 1, 0] == agenda.SOLD:
        lot = int(game.agenda[top - 1, 2])
    bid = float(game.auction_bid)
    out[_S.price + 1] = min(bid, 4000.0) / 1000.0
    for place in range(count):
        row = out[SHARED_SIZE + place * EACH_SIZE : SHARED_SIZE + (place + 1) * EACH_SIZE]
        if auction:
            row[_E.bids] = has(game.auction_bidders, int(seats[place]))
            row[_E.bids + 1] = game.auction_leader == seats[place]
        if 0 <= lot < NUM_LOTS:
            group = int(GROUP_OF[lot])
            owned = int(game.lots[seats[place]]) & int(GROUP_LOTS[group]) & ~(1 << lot)
            row[_E.bids + 2] = size(owned) / GROUP_SIZE[group]
            row[_E.bids + 3] = size(owned) == GROUP_SIZE[group] - 1
    if 0 <= lot < NUM_LOTS:
        price = float(PRICE[game.rules.board, lot])
        out[_S.at_stake + int(GROUP_OF[lot])] = 1.0
        out[_S.price] = price / 400.0
        out[_S.price + 2] = min(bid / price, 8.0) / 4.0


@kernel
def _write_debt(game: Game, count: int, seats: Any, out: Any) -> None:
    if game.decision != agenda.DEBT:
        return
    due = float(game.agenda[int(game.depth) - 1, 2])
    creditor = int(game.agenda[int(game.depth) - 1, 3])
    for place in range(count):
        at, seat = SHARED_SIZE + place * EACH_SIZE + _E.debt, int(seats[place])
        if seat == game.player:
            out[at] = due / (due + 300.0)
            out[at + 1] = min(2.0, due / max(1.0, float(raisable(game, seat))))
        elif creditor == seat or creditor == ALL_OTHERS:
            out[at + 2] = 1.0


@kernel
def _write_offer(game: Game, count: int, seats: Any, out: Any) -> None:
    ask, give, cash = int(game.offer_ask), int(game.offer_give), int(game.offer_cash)
    if ask == 0 and give == 0 and cash == 0:
        return
    for place in range(count):
        at, seat = SHARED_SIZE + place * EACH_SIZE + _E.offer, int(seats[place])
        if seat == game.offer_from:
            _write_change(game, seat, ask, give, -cash, out[at : at + 3])
        elif seat == game.offer_to:
            _write_change(game, seat, give, ask, cash, out[at : at + 3])


@kernel
def _write_change(game: Game, seat: int, gets: int, gives: int, cash: int, out: Any) -> None:
    """Write the effect of a trade on a player."""
    board, lots = int(game.rules.board), (1 << CHANCE_GOOD) - 1
    gets, gives = gets & lots, gives & lots
    out[0] = min(max(cash / 1000.0, -2.0), 2.0)
    for lot in range(NUM_LOTS):
        won = int(has(gets, lot)) - int(has(gives, lot))
        out[1] = float(out[1]) + won * float(PRICE[board, lot]) / 500.0
    before = int(game.lots[seat])
    after = (before | gets) & ~gives
    for group in range(NUM_GROUPS):
        members = int(GROUP_LOTS[group])
        out[2] += int(after & members == members) - int(before & members == members)
