"""The encoding `compact`, the observation of learned agents, for tables of 2 to 4.

It is easier to learn from than `standard`: it omits the cards still to come, packed tasks and
refused offers, and adds expected rents, the cash that a player could raise, and the groups that an
offer would complete. Goods are described from the observing player's side: it gets, it gives. Its
partners' answers (`agents.learned.answers`) are in its memory, not in the record of a game, so an
encoded record has none. Importing `agents.learned` makes the name known to all interfaces.

Features of `SHARED` occur once, those of `EACH` once per player: the observing player first, then
the others in turn order. At the end are `OFFER` (set while an offer is answered), `PRICES` (while a
price is chosen) and `PACKAGES` (while a package is chosen).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.learned.answers import ANSWERS, MOST_PLAYERS, nothing, write_answers
from agents.learned.menus import (
    BEST_AT_LIMIT,
    BEST_AT_LIST,
    BEST_VALUED,
    NETWORK,
    NUM_PACKAGES,
    NUM_VALUED,
    OfferMenus,
    menus_of,
)
from agents.learned.packages import ASKED, LENT, OWN_GAIN, PROMISE, RATED_AT, THEIR_GAIN, WINS
from agents.learned.prices import EXPERT, NO_PRICE, NUM_PRICES
from agents.learned.valued import write_bargains, write_rises
from agents.players.expert.odds import IN_JAIL, LATER_LOT, NEXT_LOT
from agents.players.expert.packages import COLUMNS, GIVEN, PART, TAKEN, add_gains
from agents.players.expert.values import present_strength, turns_left
from monopoly_env import encoding as encodings
from monopoly_env.actions import DECISION_NAMES
from monopoly_env.encoding import EncodingKernel
from monopoly_env.encoding.standard import write_bits, write_dollars
from monopoly_env.encoding.table import (
    COLOURS,
    GOODS,
    LOTS,
    MONEY,
    STREETS,
    Block,
    places,
    seat_names,
    total,
)
from monopoly_env.engine import agenda
from monopoly_env.engine.liquidation import raisable
from monopoly_env.engine.players import total_worth
from monopoly_env.engine.rent import ordinary_rent
from monopoly_env.engine.sets import has, size
from monopoly_env.facts.board import (
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUPS,
    NUM_GROUPS,
    NUM_LOTS,
    NUM_STREETS,
    PRICE,
    RAILROADS,
)
from monopoly_env.game import MIN_PLAYERS, Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

NAME: Final = "compact"
_WINDOWS: Final = ("before a throw", "after the last throw", "out of turn")
_AVERAGE_THROW: Final = 7

# The change of a player's worth, as `expert` counts it, by the goods of each group that change
# hands.
_GAINS: Final = (
    ("gain by", "with what the observing player gets of the group by the offer"),
    ("partner's loss by", "the partner's with the same"),
    ("partner's gain by", "the partner's with what it gets of the group"),
    ("loss by", "the observing player's with the same"),
)

SHARED: Final = (
    Block("decision", DECISION_NAMES, "one-hot", "the open decision"),
    Block("window", _WINDOWS, "one-hot", "which window of the turn is open"),
    Block("at stake", (*LOTS, "a house", "a hotel"), "one-hot",
          "the lot for sale, under auction or taken over; or the scarce building"),
    Block("price", ("",), "count", "printed price of the lot at stake / 400"),
    Block("amount due", MONEY, "dollars", "the debt, or the fine on the card"),
    Block("standing bid", MONEY, "dollars", "the highest bid in the auction"),
    Block("own maximum", MONEY, "dollars", "own sealed bid so far"),
    Block("failed throw", ("sum", "must leave"), "count",
          "at the decision `jail`: the failed throw / 12; 1 if it was the last"),
    Block("gets", GOODS, "flag", "by the offer being made or received"),
    Block("gives", GOODS, "flag", "by that offer"),
    Block("gets cash", MONEY, "dollars", "by that offer; negative if it pays"),
    Block("completes", COLOURS, "flag",
          "groups that the observing player would complete by that offer, or by the lot at stake"),
    Block("lets complete", COLOURS, "flag",
          "groups that the partner would complete by that offer, or any other by the lot at stake"),
    *(Block(name, GROUPS, "balance", doc) for name, doc in _GAINS),
    Block("mortgaged", LOTS, "flag", "whoever owns the lot"),
    Block("buildings", STREETS, "count", "houses / 5; a hotel counts 5"),
    Block("in the bank", ("houses", "hotels"), "count", "divided by the supply under the rules"),
    Block("unowned", ("",), "share", "lots of the bank / 28"),
    Block("turns", ("",), "growing", "n = turns begun, a = 200"),
    Block("caps", ("turns", "rounds"), "share",
          "turns begun and rounds completed / the cap of the rules; 0 without a cap"),
    Block("doubles", ("",), "count", "thrown in a row this turn / 3"),
)  # fmt: skip

EACH: Final = (
    Block("cash", (*MONEY, "by 500"), "dollars", "in hand; the third is dollars / 500, at most 1"),
    Block("could raise", ("saturating",), "dollars",
          "cash, half of all buildings, mortgage values"),
    Block("worth", ("",), "share", "of the total worth of all players"),
    Block("in the game", ("",), "flag", "not bankrupt and not absent"),
    Block("on turn", ("",), "flag", ""),
    Block("leads", ("",), "flag", "made the standing bid"),
    Block("bids", ("",), "flag", "has not folded"),
    Block("makes the offer", ("",), "flag", ""),
    Block("gets the offer", ("",), "flag", ""),
    Block("is creditor", ("",), "flag", "gets the amount due"),
    Block("in jail", ("",), "flag", ""),
    Block("failed throws", ("",), "count", "in jail, / 10"),
    Block("jail cards", ("",), "count", "/ 2"),
    Block("offers made", ("",), "count", "this turn / 10"),
    Block("owns", LOTS, "flag", ""),
    Block("share of group", GROUPS, "share", "owned lots of the group / its size"),
    Block("may be built", COLOURS, "flag", "owns the whole group, with no lot mortgaged"),
    Block("strength", ("",), "growing",
          "dollars, as `expert` counts worth; while an offer is being made. a = 3000"),
    Block("hits", GROUPS, "growing",
          "expected landings on the group in the next turn, x: x / (x + 0.5)"),
    Block("rent to pay", ("",), "growing", "expected in the next turn, a = 200"),
    Block("rent to come", ("",), "growing", "expected from the next turns of all others, a = 200"),
    Block("income", ("",), "growing",
          "expected from a turn of an opponent, in the long run, a = 100"),
    Block("promises", ("at the limit", "at list prices"), "growing",
          "the best package that can be offered to the player; a = 0.2"),
    Block("raises the win", ("",), "growing",
          "by how much such a package does so, by the value of states; a = 0.02"),
    *ANSWERS,
)  # fmt: skip

_SIDES: Final = ("own", "the partner's")
OFFER: Final = (
    Block("offer raises the win", _SIDES, "rise",
          "by how much the received offer does so, by the value of states; a = 0.02"),
)  # fmt: skip

_LEVELS: Final = tuple(str(1 + level) for level in range(NUM_PRICES))
PRICES: Final = (
    Block("price", _LEVELS, "balance",
          "dollars that the observing player pays at each price of `agents.learned.prices`"),
    Block("price raises the own win", _LEVELS, "rise",
          "by how much the offer does so at that price, by the value of states; a = 0.02"),
    Block("price raises the partner's win", _LEVELS, "rise", "the same; a = 0.02"),
)  # fmt: skip

_PLACES: Final = tuple(str(1 + place) for place in range(NUM_PACKAGES))
PACKAGES: Final = (
    Block("package promises", _PLACES, "growing",
          "rise of the own share of all strength, see `agents.learned.menus`; a = 0.2"),
    Block("package costs", _PLACES, "balance", "dollars paid at that"),
    Block("package gains", _PLACES, "balance",
          "what the observing player gains in strength, without money"),
    Block("package gives", _PLACES, "balance", "what the partner gains"),
    Block("package completes", _PLACES, "flag", "a group for the observing player"),
    Block("package lets complete", _PLACES, "flag", "a group for the partner"),
    Block("package wins", _PLACES[-NUM_VALUED:], "growing",
          "rise of the own share of the win, by the value of states; a = 0.02"),
    Block("package as a bargain", _PLACES, "rise",
          "the same where `expert/bargaining` just accepts it, of all packages; a = 0.02"),
)  # fmt: skip

SHARED_SIZE: Final = total(SHARED)
EACH_SIZE: Final = total(EACH)
OFFER_SIZE: Final = total(OFFER)
PRICES_SIZE: Final = total(PRICES)
PACKAGES_SIZE: Final = total(PACKAGES)

_S: Final = places((block.name, block.size) for block in SHARED)
_E: Final = places((block.name, block.size) for block in EACH)

# [edition, square or IN_JAIL, group]: expected landings in the next turn.
_NEXT_GROUP: Final = np.stack(
    [NEXT_LOT[:, :, group == GROUP_OF].sum(axis=2) for group in range(NUM_GROUPS)], axis=2
)


def names(num_players: int) -> tuple[str, ...]:
    """The name of each feature."""
    shared = [name for block in SHARED for name in block.names]
    trades = [name for block in (*OFFER, *PRICES, *PACKAGES) for name in block.names]
    return (
        *shared,
        *(
            f"{seat} {name}"
            for seat in seat_names(num_players)
            for block in EACH
            for name in block.names
        ),
        *trades,
    )


@kernel
def length(num_players: int) -> int:
    """The number of features."""
    return of_table(num_players) + OFFER_SIZE + PRICES_SIZE + PACKAGES_SIZE


@kernel
def of_table(num_players: int) -> int:
    """The number of features at the front, which are set at every decision."""
    return SHARED_SIZE + num_players * EACH_SIZE


@EncodingKernel
def _compact(game: Game, seat: int, row: Any) -> None:
    write(game, seat, menus_of(game, seat), nothing(), row)


encodings.register(NAME, names, _compact, range(MIN_PLAYERS, MOST_PLAYERS + 1))


@kernel
def write(game: Game, seat: int, menus: OfferMenus, memory: Row, row: Any) -> None:
    """Fill a row with the observation of a seat.

    Args:
        game: A game of 2 to 4 players that is not over.
        seat: The observing player.
        menus: Its menus at this decision.
        memory: Its memory.
        row: (length,) float32, of this table or of a larger one: absent players are zeros.
    """
    players, board = int(game.num_players), int(game.rules.board)
    front = len(row) - OFFER_SIZE - PRICES_SIZE - PACKAGES_SIZE
    row[:] = 0.0
    _write_board(game, row)
    _write_question(game, seat, row)
    _write_goods(game, seat, row)
    worth = 0.0
    for player in range(players):
        if game.place[player] == 0:
            worth += max(0.0, float(total_worth(game, player)))
    for offset in range(players):
        player = (seat + offset) % players
        if game.place[player] == 0:
            _write_player(
                game,
                player,
                worth,
                row[SHARED_SIZE + offset * EACH_SIZE : SHARED_SIZE + (offset + 1) * EACH_SIZE],
            )
    write_memory(game, seat, memory, row)
    _write_rents(game, seat, board, row)
    if game.decision == agenda.ASK:
        _write_packages(
            game, seat, menus.packages[int(game.offer_to)], row[front + OFFER_SIZE + PRICES_SIZE :]
        )
    elif game.decision == agenda.CASH:
        _write_prices(menus, row[front + OFFER_SIZE :])
    elif game.decision == agenda.REPLY:
        _write_offer(game, row[front:])
    elif game.decision == agenda.WINDOW or game.decision == agenda.DEBT:
        _write_promises(game, seat, menus, row)


@kernel
def write_memory(game: Game, seat: int, memory: Row, row: Any) -> None:
    """Write the memory of a seat, its partners' answers, into a row of the encoding."""
    players = int(game.num_players)
    for offset in range(1, players):
        write_answers(
            (seat + offset) % players, memory, row[SHARED_SIZE + offset * EACH_SIZE + _E.took :]
        )


@kernel
def _of_player(game: Game, seat: int, player: int) -> int:
    """The start of a player's features in a seat's observation."""
    return SHARED_SIZE + (player - seat) % int(game.num_players) * EACH_SIZE


@kernel
def _write_board(game: Game, row: Any) -> None:
    rules = game.rules
    owned = 0
    for player in range(game.num_players):
        owned |= int(game.lots[player])
    write_bits(row, _S.mortgaged, int(game.mortgaged), NUM_LOTS)
    for lot in range(NUM_STREETS):
        row[_S.buildings + lot] = game.level[lot] * 0.2
    row[_S.in_the_bank] = game.houses / max(1, int(rules.houses))
    row[_S.in_the_bank + 1] = game.hotels / max(1, int(rules.hotels))
    row[_S.unowned] = (NUM_LOTS - size(owned)) / NUM_LOTS
    row[_S.turns] = game.turns / (game.turns + 200.0)
    if rules.max_turns > 0:
        row[_S.caps] = min(1.0, game.turns / rules.max_turns)
    if rules.max_rounds > 0:
        row[_S.caps + 1] = min(1.0, game.rounds / rules.max_rounds)
    row[_S.doubles] = game.streak * (1.0 / 3.0)


@kernel
def _write_question(game: Game, seat: int, row: Any) -> None:
    decision, top = int(game.decision), int(game.depth) - 1
    first, second = int(game.agenda[top, 2]), int(game.agenda[top, 3])
    row[_S.decision + decision] = 1.0
    stake = -1
    if decision == agenda.WINDOW:
        row[_S.window + first] = 1.0
    elif decision == agenda.BUY or decision == agenda.TAKEOVER or decision == agenda.PLACE:
        stake = first
    elif decision == agenda.BID or decision == agenda.SEALED_BID:
        stake = int(game.auction_lot)
        write_dollars(row, _S.standing_bid, int(game.auction_bid))
        write_dollars(row, _S.own_maximum, int(game.sealed[seat]))
    elif decision == agenda.JAIL:
        row[_S.failed_throw] = first * (1.0 / 12.0)
        row[_S.failed_throw + 1] = second
    elif decision == agenda.DEBT or decision == agenda.FINE_OR_CHANCE:
        write_dollars(row, _S.amount_due, first)
    if stake >= 0:
        row[_S.at_stake + stake] = 1.0
        if stake < NUM_LOTS:
            row[_S.price] = PRICE[game.rules.board, stake] * (1.0 / 400.0)
            _write_completed(game, seat, -1, 1 << stake, 1 << stake, row)


@kernel
def _write_completed(game: Game, seat: int, partner: int, gets: int, gives: int, row: Any) -> None:
    """Mark the groups that a seat, and its partner (-1: any other player), would complete."""
    for group in range(RAILROADS):
        members = int(GROUP_LOTS[group])
        if gets & members and (int(game.lots[seat]) | gets) & members == members:
            row[_S.completes + group] = 1.0
        if gives & members:
            for other in range(game.num_players):
                if (
                    other != seat
                    and (partner < 0 or partner == other)
                    and (int(game.lots[other]) | gives) & members == members
                ):
                    row[_S.lets_complete + group] = 1.0


@kernel
def _write_goods(game: Game, seat: int, row: Any) -> None:
    if game.offer_from < 0:
        return
    makes = game.offer_from == seat
    gets = int(game.offer_ask) if makes else int(game.offer_give)
    gives = int(game.offer_give) if makes else int(game.offer_ask)
    write_bits(row, _S.gets, gets, len(GOODS))
    write_bits(row, _S.gives, gives, len(GOODS))
    write_dollars(row, _S.gets_cash, -int(game.offer_cash) if makes else int(game.offer_cash))
    partner = int(game.offer_to) if makes else int(game.offer_from)
    _write_completed(game, seat, partner, gets, gives, row)
    _write_gains(game, partner, seat, gets, row[_S.gain_by :])
    _write_gains(game, seat, partner, gives, row[_S.partners_gain_by :])
    players, turns = int(game.num_players), turns_left(game, EXPERT)
    for offset in range(players):
        player = (seat + offset) % players
        if game.place[player] == 0:
            strength = present_strength(game, player, turns, EXPERT)
            row[SHARED_SIZE + offset * EACH_SIZE + _E.strength] = strength / (strength + 3000.0)
    row[_of_player(game, seat, int(game.offer_from)) + _E.makes_the_offer] = 1.0
    row[_of_player(game, seat, int(game.offer_to)) + _E.gets_the_offer] = 1.0


@kernel
def _write_gains(game: Game, giver: int, taker: int, goods: int, row: Any) -> None:
    """Write the taker's gain, then the giver's, by the goods of an offer, group by group."""
    table = np.zeros(COLUMNS * NUM_GROUPS)
    for group in range(NUM_GROUPS):
        table[COLUMNS * group + PART] = goods & int(GROUP_LOTS[group])
    add_gains(game, giver, taker, EXPERT, TAKEN, table)
    for group in range(NUM_GROUPS):
        row[group] = _balance(table[COLUMNS * group + TAKEN])
        row[NUM_GROUPS + group] = _balance(table[COLUMNS * group + GIVEN])


@kernel
def _balance(dollars: float) -> float:
    return min(max(dollars * (1.0 / 2000.0), -1.0), 1.0)


@kernel
def _write_promises(game: Game, seat: int, menus: OfferMenus, row: Any) -> None:
    """Write the promise of the best package for each possible partner."""
    players = int(game.num_players)
    for offset in range(1, players):
        partner = (seat + offset) % players
        if menus.maker[partner] == seat:
            table, at = menus.packages[partner], SHARED_SIZE + offset * EACH_SIZE
            row[at + _E.promises] = _promise(table[BEST_AT_LIMIT, PROMISE])
            row[at + _E.promises + 1] = _promise(table[BEST_AT_LIST, PROMISE])
            row[at + _E.raises_the_win] = _wins(table[BEST_VALUED, WINS])


@kernel
def _promise(rise: float) -> float:
    return rise / (rise + 0.2)


@kernel
def _wins(rise: float) -> float:
    return rise / (abs(rise) + 0.02)


@kernel
def _write_offer(game: Game, row: Any) -> None:
    """Write the effect of the received offer on the shares of the win."""
    rises = np.empty((1, 2))
    write_rises(game, np.array([game.offer_cash]), NETWORK, rises)
    row[0], row[1] = _wins(rises[0, 1]), _wins(rises[0, 0])


@kernel
def _write_prices(menus: OfferMenus, row: Any) -> None:
    """Write the dollars and the effect on the shares of the win at each price of an offer."""
    for level in range(NUM_PRICES):
        if menus.prices[level] != NO_PRICE:
            row[level] = _balance(float(menus.prices[level]))
            row[NUM_PRICES + level] = _wins(menus.rises[level, 0])
            row[2 * NUM_PRICES + level] = _wins(menus.rises[level, 1])


@kernel
def _write_packages(game: Game, seat: int, table: Any, row: Any) -> None:
    """Write the packages to choose from."""
    partner, rises = int(game.offer_to), np.empty(NUM_PACKAGES)
    write_bargains(game, table, NETWORK, rises)
    for place in range(NUM_PACKAGES):
        if table[place, PROMISE] > 0.0:
            at, get, give = place, int(table[place, ASKED]), int(table[place, LENT])
            row[at] = _promise(table[place, PROMISE])
            row[at + NUM_PACKAGES] = _balance(table[place, RATED_AT])
            row[at + 2 * NUM_PACKAGES] = _balance(table[place, OWN_GAIN])
            row[at + 3 * NUM_PACKAGES] = _balance(table[place, THEIR_GAIN])
            for group in range(RAILROADS):
                members = int(GROUP_LOTS[group])
                if get & members and (int(game.lots[seat]) | get) & members == members:
                    row[at + 4 * NUM_PACKAGES] = 1.0
                if give & members and (int(game.lots[partner]) | give) & members == members:
                    row[at + 5 * NUM_PACKAGES] = 1.0
            if place >= BEST_VALUED:
                row[6 * NUM_PACKAGES + place - BEST_VALUED] = _wins(table[place, WINS])
            row[6 * NUM_PACKAGES + NUM_VALUED + place] = _wins(rises[place])


@kernel
def _write_player(game: Game, player: int, worth: float, row: Any) -> None:
    cash, lots, jail = int(game.cash[player]), int(game.lots[player]), int(game.jail[player])
    write_dollars(row, _E.cash, cash)
    row[_E.cash + 2] = min(1.0, cash * (1.0 / 500.0))
    could = raisable(game, player)
    row[_E.could_raise] = could / (abs(could) + 1000.0)
    row[_E.worth] = max(0.0, float(total_worth(game, player))) / max(1.0, worth)
    row[_E.in_the_game] = 1.0
    row[_E.on_turn] = 1.0 if game.turn == player else 0.0
    if game.decision == agenda.BID or game.decision == agenda.SEALED_BID:
        row[_E.leads] = 1.0 if game.auction_leader == player else 0.0
        row[_E.bids] = (int(game.auction_bidders) >> player) & 1
    if game.decision == agenda.DEBT:
        row[_E.is_creditor] = 1.0 if game.agenda[int(game.depth) - 1, 3] == player else 0.0
    if jail > 0:
        row[_E.in_jail] = 1.0
        row[_E.failed_throws] = (jail - 1) * 0.1
    row[_E.jail_cards] = size(int(game.jail_cards[player])) * 0.5
    row[_E.offers_made] = game.offers[player] * 0.1
    write_bits(row, _E.owns, lots, NUM_LOTS)
    for group in range(NUM_GROUPS):
        owned = lots & int(GROUP_LOTS[group])
        if owned != 0:
            row[_E.share_of_group + group] = size(owned) / GROUP_SIZE[group]
            if (
                group < RAILROADS
                and owned == GROUP_LOTS[group]
                and int(game.mortgaged) & owned == 0
            ):
                row[_E.may_be_built + group] = 1.0


@kernel
def _write_rents(game: Game, seat: int, board: int, row: Any) -> None:
    """Write the rents that each player expects at the next throw, and its long-run income."""
    players = int(game.num_players)
    for offset in range(players):
        owner = (seat + offset) % players
        lots = int(game.lots[owner]) & ~int(game.mortgaged)
        income, to_come = 0.0, 0.0
        for lot in range(NUM_LOTS):
            if has(lots, lot):
                rent = float(ordinary_rent(game, owner, lot, _AVERAGE_THROW))
                income += LATER_LOT[board, lot] * rent
                for other in range(players):
                    if other != owner and game.place[other] == 0:
                        due = NEXT_LOT[board, _stands(game, other), lot] * rent
                        to_come += due
                        row[_of_player(game, seat, other) + _E.rent_to_pay] += due
        at = SHARED_SIZE + offset * EACH_SIZE
        row[at + _E.income] = income / (income + 100.0)
        row[at + _E.rent_to_come] = to_come / (to_come + 200.0)
        if game.place[owner] == 0:
            for group in range(NUM_GROUPS):
                hits = _NEXT_GROUP[board, _stands(game, owner), group]
                row[at + _E.hits + group] = hits / (hits + 0.5)
    for offset in range(players):
        at = SHARED_SIZE + offset * EACH_SIZE + _E.rent_to_pay
        row[at] = row[at] / (row[at] + np.float32(200.0))


@kernel
def _stands(game: Game, player: int) -> int:
    """A player's square as an index of the tables of odds."""
    return IN_JAIL if game.jail[player] > 0 else int(game.position[player])
