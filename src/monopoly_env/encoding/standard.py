"""The encoding `standard`: everything that a player may know, for any number of players.

The features in `SHARED` occur once, those in `EACH` once per player: the observing player first,
then the others in turn order. Players come last, so the observation of a small table equals that of
a larger one whose last players are absent (all zeros).

It is complete: `HIDDEN` lists the fields of the record that it leaves out, with reasons, and a test
checks all other fields.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from monopoly_env.actions import DECISION_NAMES
from monopoly_env.encoding.table import (
    COLOURS,
    GOODS,
    LOTS,
    MONEY,
    SQUARES,
    STREETS,
    Block,
    places,
    seat_names,
    total,
)
from monopoly_env.engine import agenda
from monopoly_env.engine.sets import size
from monopoly_env.facts.board import (
    GROUP_LOTS,
    GROUP_SIZE,
    GROUPS,
    NUM_GROUPS,
    NUM_LOTS,
    NUM_STREETS,
    PRICE,
    RAILROADS,
)
from monopoly_env.facts.cards import CARD_ID, DECK_SIZE, DECKS
from monopoly_env.game import AGENDA_DEPTH, ALL_OTHERS, BANK, MAX_PLAYERS, MAX_REFUSED, POT, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

# tasks, from the top; random play reached 14, with eight players and a window for each of them
AGENDA_SHOWN: Final = 16
_TASK_FACTS: Final = ("task", "player", "first number", "rest of a set", "second number")
_REFUSED_FACTS: Final = (
    "from and to", "asked, lots 0-14", "asked, the rest", "given, lots 0-14", "given, the rest",
    "cash",
)  # fmt: skip

SHARED: Final = (
    # The decision.
    Block("decision", DECISION_NAMES, "one-hot", "the open decision (docs/actions.md); `to "
        "decide` says whose it is"),
    Block("at stake", (*LOTS, "a house", "a hotel"), "one-hot",
        "the lot for sale, under auction, won but not yet paid for, or taken over; or the scarce "
        "building under auction or won"),
    Block("price", ("",), "count", "printed price of the lot at stake / 400"),
    Block("amount due", MONEY, "dollars", "the debt, the fine on the card, or the price paid for "
        "the scarce building to be placed"),
    Block("creditor", ("bank", "Free Parking"), "flag",
        "who receives the amount due, if not a player"),
    Block("window", ("before a throw", "after the last throw", "out of turn"), "one-hot",
        "which window of the turn is open"),
    Block("failed throw", ("sum", "must leave"), "count", "at the decision `jail`: the failed "
        "throw / 12; 1 if it was the last"),
    # Auction.
    Block("standing bid", MONEY, "dollars", "the highest bid in the auction"),
    Block("under auction", ("",), "count", "(index in `at stake` of what is under auction + 1) / "
        "30; 0: no auction"),
    Block("own maximum", MONEY, "dollars", "own sealed bid so far; the others' bids are hidden"),
    # Trading.
    Block("asked for", GOODS, "flag", "the offer being composed or answered: what its maker asks "
        "for"),
    Block("given", GOODS, "flag", "the same offer: what its maker gives"),
    Block("offered cash", MONEY, "dollars", "the same offer: cash that its maker gives; negative "
        "if asked for"),
    Block("last pick", ("",), "growing",
        "n = the last pick + 1, a = 8; picks come in a fixed order"),
    Block("counter-offer", ("",), "flag", "the offer is a counter-offer"),
    Block("traded", GOODS, "flag", "goods moved by a trade this turn: they may not be traded "
        "again before it ends"),
    Block("refused offers", ("",), "count", f"offers refused this turn / {MAX_REFUSED}"),
    Block("refused",
        tuple(f"{slot} {fact}" for slot in range(1, MAX_REFUSED + 1) for fact in _REFUSED_FACTS),
        "packed", "each refused offer: (maker + 8 x receiver + 1) / 64, with seats counted from "
        "the observing player; the goods, 15 bits per feature; cash / (|cash| + 1000), negative "
        "if asked for"),
    # The board and the bank.
    Block("mortgaged", LOTS, "flag", "whoever owns the lot"),
    Block("buildings", STREETS, "count", "houses / 5; a hotel counts 5"),
    Block("mortgaged this turn", ("lots 0-13", "lots 14-27"), "packed",
        "may not be lifted this turn where that would create money"),
    Block("sold this turn", ("streets 0-13", "streets 14-21"), "packed",
        "no building this turn where that would create money"),
    Block("in the bank", ("houses", "hotels"), "count", "divided by the supply under the rules"),
    Block("pot", MONEY, "dollars", "on Free Parking"),
    Block("card to come",
        tuple(f"{deck} {card}" for d, deck in enumerate(DECKS) for card in CARD_ID[0][d]), "flag",
        "to be drawn before the deck starts over, which a player can count; the order is hidden. "
        "Cards are indexed as in the edition's deck and named after the US cards"),
    # The turn.
    Block("dice", ("first", "second"), "count", "the last throw / 6"),
    Block("doubles", ("",), "count", "thrown in a row this turn / 3"),
    Block("throws again", ("",), "flag", "the turn goes on with another throw"),
    Block("turns", ("",), "growing", "n = turns begun, a = 200"),
    Block("rounds", ("",), "growing", "n = rounds completed, a = 50"),
    Block("turn cap", ("",), "share", "turns begun / the cap of the rules; 0 without a cap"),
    Block("round cap", ("",), "share", "rounds completed / the cap of the rules; 0 without a cap"),
    # What is still to be settled.
    Block("tasks", ("",), "count", f"number of tasks still to be settled / {AGENDA_DEPTH}"),
    Block("task", tuple(f"{place} {fact}" for place in range(AGENDA_SHOWN) for fact in _TASK_FACTS),
        "packed",
        f"from the top: (kind of the task + 1) / {len(agenda.TASK_NAMES) + 1}; its player, as a "
        "seat; its two arguments (see below)"),
)  # fmt: skip

EACH: Final = (
    Block("cash", MONEY, "dollars", "in hand"),
    Block("in the game", ("",), "flag", "not bankrupt and not absent"),
    Block("place", ("",), "count", f"final rank / {MAX_PLAYERS}; 0 while in the game"),
    Block("on turn", ("",), "flag", ""),
    Block("to decide", ("",), "flag", "the open decision is this player's"),
    Block("began", ("",), "flag", "had the first turn of the game: a round ends before this "
        "player's next turn"),
    Block("in jail", ("",), "flag", ""),
    Block("failed throws", ("",), "count", "in jail, / 10"),
    Block("jail card", DECKS, "flag", "holds the Get Out of Jail Free card of the deck"),
    Block("offers made", ("",), "count", "this turn / 10"),
    Block("is creditor", ("",), "flag", "gets the amount due"),
    Block("leads", ("",), "flag", "made the standing bid"),
    Block("bids", ("",), "flag", "has not folded"),
    Block("bids next", ("",), "flag", "is asked first for the next bid"),
    Block("makes the offer", ("",), "flag", ""),
    Block("gets the offer", ("",), "flag", ""),
    Block("position", SQUARES, "one-hot",
        "the token's square; a player in jail is on the jail square"),
    Block("owns", LOTS, "flag", ""),
    Block("share of group", GROUPS, "share", "owned lots of the group / its size"),
    Block("may be built", COLOURS, "flag", "owns the whole group, with no lot mortgaged"),
)  # fmt: skip

# Fields of the record that the observation leaves out, and why.
HIDDEN: Final = {
    "legal": "follows from the rest; it is the action mask, which is given beside the observation",
    "seed": "decides the dice and cards to come",
    "rules": "constant in an environment; train a network for one set of rules",
    "throws": "a counter of the random stream: dice to come",
    "policy_draws": "a counter of the random stream of policies",
    "utility_throws": "a counter of the random stream: dice to come",
    "start_draws": "a counter of the random stream",
    "deck_draws": "a counter of the random stream: cards to come",
    "forced_throws": "dice to come",
    "num_forced": "dice to come",
    "num_players": "constant in an environment; absent players are zeros",
    "fault": "not 0 only if the engine is broken",
    "ending": "set when the game is over",
    "spare": "never used",
}

# Tasks whose first argument is a set of lots, and those whose second one is a seat (or the bank, or
# Free Parking).
_TASKS_BY_NUMBER: Final = np.arange(len(agenda.TASK_NAMES))
_SETS: Final = np.isin(_TASKS_BY_NUMBER, [agenda.ESTATE, agenda.TAKEOVERS])
_SEATS: Final = np.isin(_TASKS_BY_NUMBER, [agenda.DEBT, agenda.CHARGE, agenda.TAKE])
TASK_NUMBERS: Final = (
    "The two arguments of a task (`engine/agenda.py` explains them). A set of lots takes two"
    " features, lots 0-13 and lots 14-27, as binary fractions. A seat is (distance + 1) / 8, where"
    " distance counts seats from the observing player; the bank is -1/8, Free Parking -2/8. Any"
    " other number n is n / (|n| + 32)."
)

SHARED_SIZE: Final = total(SHARED)
EACH_SIZE: Final = total(EACH)
_S: Final = places((block.name, block.size) for block in SHARED)
_E: Final = places((block.name, block.size) for block in EACH)
_NUM_GOODS: Final = len(GOODS)
_PIECES: Final = NUM_LOTS + 2
_HALF: Final = 1.0 / (1 << 14)  # half of a set of 28 lots as a binary fraction
_GOODS_HALF: Final = 1.0 / (1 << 15)
_RESHUFFLED: Final = number("deck", "reshuffle_each_draw")


def names(num_players: int) -> tuple[str, ...]:
    """The name of each feature."""
    shared = [name for block in SHARED for name in block.names]
    each = [name for block in EACH for name in block.names]
    return (*shared, *(f"{seat}: {name}" for seat in seat_names(num_players) for name in each))


@kernel
def write(game: Game, seat: int, out: Any) -> None:
    """Write a seat's observation into a float32 row, long enough for the players; the rest is 0."""
    out[:] = 0.0
    seat = int(seat)
    _write_decision(game, seat, out)
    _write_auction(game, seat, out)
    _write_offer(game, seat, out)
    _write_board(game, out)
    _write_turn(game, out)
    _write_agenda(game, seat, out)
    for offset in range(game.num_players):
        start = SHARED_SIZE + offset * EACH_SIZE
        _write_player(game, (seat + offset) % int(game.num_players), out[start : start + EACH_SIZE])
    _write_roles(game, seat, out)


@kernel
def write_dollars(out: Any, at: int, amount: int) -> None:
    """Write dollars on a linear scale, which is clipped, and on one that never saturates."""
    out[at] = min(max(amount * (1.0 / 5000.0), -1.0), 1.0)
    out[at + 1] = amount / (abs(amount) + 1000.0)


@kernel
def write_bits(out: Any, at: int, bits: int, count: int) -> None:
    """Write the lowest bits of a number, a feature each."""
    for i in range(count):
        out[at + i] = (bits >> i) & 1


@kernel
def _seats_on(game: Game, seat: int, other: int) -> int:
    """How many seats `other` sits after `seat`; values that are not seats are unchanged."""
    if other < 0 or other >= seat:
        return other if other < 0 else other - seat
    return other - seat + int(game.num_players)


@kernel
def _flag(game: Game, seat: int, other: int, feature: int, out: Any) -> None:
    """Set a flag of player `other`, unless it is not a seat."""
    if other >= 0:
        out[SHARED_SIZE + _seats_on(game, seat, other) * EACH_SIZE + feature] = 1.0


# --- shared facts


@kernel
def _write_decision(game: Game, seat: int, out: Any) -> None:
    decision, top = int(game.decision), int(game.depth) - 1
    out[_S.decision + decision] = 1.0
    stake = int(game.auction_lot)
    if top >= 0:
        first, second = int(game.agenda[top, 2]), int(game.agenda[top, 3])
        if decision in (agenda.BUY, agenda.TAKEOVER):
            stake = first
        elif decision == agenda.WINDOW:
            out[_S.window + first] = 1.0
        elif decision == agenda.PLACE:
            stake = first
            write_dollars(out, _S.amount_due, second)
        elif decision == agenda.DEBT:
            write_dollars(out, _S.amount_due, first)
            _write_creditor(game, seat, second, out)
            if agenda.below(game) in (agenda.SOLD, agenda.PLACE):
                stake = int(game.agenda[top - 1, 2])
        elif decision == agenda.FINE_OR_CHANCE:
            write_dollars(out, _S.amount_due, first)
            out[_S.creditor + 1] = 1.0
        elif decision == agenda.JAIL:
            out[_S.failed_throw] = first * (1.0 / 12.0)
            out[_S.failed_throw + 1] = second
    if stake >= 0:
        out[_S.at_stake + stake] = 1.0
        if stake < NUM_LOTS:
            out[_S.price] = min(PRICE[game.rules.board, stake] * (1.0 / 400.0), 1.0)


@kernel
def _write_creditor(game: Game, seat: int, creditor: int, out: Any) -> None:
    if creditor == BANK:
        out[_S.creditor] = 1.0
    elif creditor == POT:
        out[_S.creditor + 1] = 1.0
    for other in range(game.num_players):
        if other == creditor or (
            creditor == ALL_OTHERS and other != game.player and game.place[other] == 0
        ):
            _flag(game, seat, other, _E.is_creditor, out)


@kernel
def _write_auction(game: Game, seat: int, out: Any) -> None:
    out[_S.under_auction] = (int(game.auction_lot) + 1) * (1.0 / _PIECES)
    if game.auction_bid != 0:
        write_dollars(out, _S.standing_bid, int(game.auction_bid))
    if game.sealed[seat] != 0:
        write_dollars(out, _S.own_maximum, int(game.sealed[seat]))


@kernel
def _write_offer(game: Game, seat: int, out: Any) -> None:
    write_goods(int(game.offer_ask), int(game.offer_give), int(game.offer_cash), out)
    pick = int(game.offer_last) + 1
    out[_S.last_pick] = pick / (pick + 8.0)
    out[_S.counter_offer] = game.offer_counter
    if game.traded != 0:
        write_bits(out, _S.traded, int(game.traded), _NUM_GOODS)
    out[_S.refused_offers] = game.num_refused * (1.0 / MAX_REFUSED)
    for i in range(game.num_refused):
        _write_refused(game, seat, i, out)


@kernel
def write_goods(ask: int, give: int, cash: int, out: Any) -> None:
    """Write an offer: the goods asked for and given, one bit each, and the dollars given."""
    if ask != 0:
        write_bits(out, _S.asked_for, ask, _NUM_GOODS)
    if give != 0:
        write_bits(out, _S.given, give, _NUM_GOODS)
    if cash != 0:
        write_dollars(out, _S.offered_cash, cash)


@kernel
def _write_refused(game: Game, seat: int, i: int, out: Any) -> None:
    at = _S.refused + i * len(_REFUSED_FACTS)
    maker = _seats_on(game, seat, int(game.refused_from[i]))
    receiver = _seats_on(game, seat, int(game.refused_to[i]))
    ask, give, cash = int(game.refused_ask[i]), int(game.refused_give[i]), int(game.refused_cash[i])
    out[at] = (maker + 8 * receiver + 1) * (1.0 / 64.0)
    out[at + 1] = (ask & 0x7FFF) * _GOODS_HALF
    out[at + 2] = (ask >> 15) * _GOODS_HALF
    out[at + 3] = (give & 0x7FFF) * _GOODS_HALF
    out[at + 4] = (give >> 15) * _GOODS_HALF
    out[at + 5] = cash / (abs(cash) + 1000.0)


@kernel
def _write_board(game: Game, out: Any) -> None:
    if game.mortgaged != 0:
        write_bits(out, _S.mortgaged, int(game.mortgaged), NUM_LOTS)
    for lot in range(NUM_STREETS):
        out[_S.buildings + lot] = np.float32(game.level[lot]) * np.float32(0.2)
    if game.fresh_mortgages != 0:
        out[_S.mortgaged_this_turn] = (int(game.fresh_mortgages) & 0x3FFF) * _HALF
        out[_S.mortgaged_this_turn + 1] = (int(game.fresh_mortgages) >> 14) * _HALF
    if game.fresh_sales != 0:
        out[_S.sold_this_turn] = (int(game.fresh_sales) & 0x3FFF) * _HALF
        out[_S.sold_this_turn + 1] = (int(game.fresh_sales) >> 14) * _HALF
    out[_S.in_the_bank] = int(game.houses) / max(1, int(game.rules.houses))
    out[_S.in_the_bank + 1] = int(game.hotels) / max(1, int(game.rules.hotels))
    if game.pot != 0:
        write_dollars(out, _S.pot, int(game.pot))
    for deck in range(2):
        start = 0 if game.rules.deck == _RESHUFFLED else int(game.deck_next[deck])
        for i in range(start, game.deck_size[deck]):
            out[_S.card_to_come + deck * DECK_SIZE + int(game.deck[deck, i])] = 1.0


@kernel
def _write_turn(game: Game, out: Any) -> None:
    turns, rounds = int(game.turns), int(game.rounds)
    out[_S.dice] = game.dice[0] * (1.0 / 6.0)
    out[_S.dice + 1] = game.dice[1] * (1.0 / 6.0)
    out[_S.doubles] = game.streak * (1.0 / 3.0)
    out[_S.throws_again] = game.again
    out[_S.turns] = turns / (turns + 200.0)
    out[_S.rounds] = rounds / (rounds + 50.0)
    if game.rules.max_turns > 0:
        out[_S.turn_cap] = min(1.0, turns / int(game.rules.max_turns))
    if game.rules.max_rounds > 0:
        out[_S.round_cap] = min(1.0, rounds / int(game.rules.max_rounds))


@kernel
def _write_agenda(game: Game, seat: int, out: Any) -> None:
    depth = int(game.depth)
    out[_S.tasks] = depth * (1.0 / AGENDA_DEPTH)
    for i in range(min(depth, AGENDA_SHOWN)):
        at, row = _S.task + i * len(_TASK_FACTS), depth - 1 - i
        task, first = int(game.agenda[row, 0]), int(game.agenda[row, 2])
        second = int(game.agenda[row, 3])
        out[at] = (task + 1) * (1.0 / (len(agenda.TASK_NAMES) + 1))
        out[at + 1] = (_seats_on(game, seat, int(game.agenda[row, 1])) + 1) * (1.0 / MAX_PLAYERS)
        if _SETS[task]:
            out[at + 2] = (first & 0x3FFF) * _HALF
            out[at + 3] = (first >> 14) * _HALF
        else:
            out[at + 2] = first / (abs(first) + 32.0)
        if _SEATS[task]:
            on = _seats_on(game, seat, second)
            out[at + 4] = (on + 1 if on >= 0 else on) * (1.0 / MAX_PLAYERS)
        else:
            out[at + 4] = second / (abs(second) + 32.0)


# --- facts of each player


@kernel
def _write_player(game: Game, player: int, row: Any) -> None:
    write_dollars(row, _E.cash, int(game.cash[player]))
    place, jail = int(game.place[player]), int(game.jail[player])
    cards = int(game.jail_cards[player])
    row[_E.in_the_game] = 1.0 if place == 0 else 0.0
    row[_E.place] = place * (1.0 / MAX_PLAYERS)
    if jail > 0:
        row[_E.in_jail] = 1.0
        row[_E.failed_throws] = (jail - 1) * 0.1
    row[_E.jail_card] = cards & 1
    row[_E.jail_card + 1] = cards >> 1
    row[_E.offers_made] = game.offers[player] * 0.1
    row[_E.bids] = (int(game.auction_bidders) >> player) & 1
    row[_E.position + int(game.position[player])] = 1.0
    lots = int(game.lots[player])
    if lots != 0:
        write_bits(row, _E.owns, lots, NUM_LOTS)
        _write_groups(lots, int(game.mortgaged), row)


@kernel
def _write_groups(lots: int, mortgaged: int, row: Any) -> None:
    for group in range(NUM_GROUPS):
        owned = lots & GROUP_LOTS[group]
        if owned != 0:
            row[_E.share_of_group + group] = size(owned) / GROUP_SIZE[group]
            if group < RAILROADS and owned == GROUP_LOTS[group] and mortgaged & owned == 0:
                row[_E.may_be_built + group] = 1.0


@kernel
def _write_roles(game: Game, seat: int, out: Any) -> None:
    """Write the flags that at most one player has."""
    _flag(game, seat, int(game.turn), _E.on_turn, out)
    _flag(game, seat, int(game.player), _E.to_decide, out)
    _flag(game, seat, int(game.first), _E.began, out)
    _flag(game, seat, int(game.auction_leader), _E.leads, out)
    _flag(game, seat, int(game.auction_asked), _E.bids_next, out)
    _flag(game, seat, int(game.offer_from), _E.makes_the_offer, out)
    _flag(game, seat, int(game.offer_to), _E.gets_the_offer, out)
