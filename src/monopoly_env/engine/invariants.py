"""The invariants that hold after every step, for `step`, `position`, `load` and the fuzzer.

Kernels of the rulebook do not check indices, so they may run only on records that pass.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.engine import agenda
from monopoly_env.engine.building import (
    BREAKDOWN_UNLIMITED,
    COLOURS,
    EVEN,
    HOTEL_LOT,
    HOUSE_LOT,
    UNLIMITED,
    WHOLE_GROUP,
    built_groups,
    highest_level,
    houses_at,
    lowest_level,
    steps_of,
)
from monopoly_env.engine.legal import WORDS, ask, count_legal
from monopoly_env.engine.sets import has, size
from monopoly_env.facts.board import (
    ALL_LOTS,
    GROUP_LOTS,
    GROUP_OF,
    HOTEL,
    JAIL_SQUARE,
    NUM_EDITIONS,
    NUM_LOTS,
    NUM_SQUARES,
    NUM_STREETS,
)
from monopoly_env.facts.cards import DECK_SIZE, JAIL_CARD_NUMBER
from monopoly_env.game import (
    AGENDA_DEPTH,
    ALL_OTHERS,
    CHEST_GOOD,
    ENDINGS,
    GAME,
    MAX_FORCED,
    MAX_PLAYERS,
    MAX_REFUSED,
    MIN_PLAYERS,
    NOBODY,
    Game,
)
from monopoly_env.kernels import kernel

MOST_DOLLARS: Final = 2_000_000_000  # fits in 32 bits
_MOST_COUNTED: Final = 30_000  # fits in 16 bits
_WORD: Final = 0xFFFFFFFF
_LAST_WORD: Final = (1 << (NUM_ACTIONS & 31)) - 1  # of legal actions
_ALL_GOODS: Final = (1 << (CHEST_GOOD + 1)) - 1
_ALL_STREETS: Final = (1 << NUM_STREETS) - 1

VIOLATIONS: Final = (
    "none",
    "the engine reported a fault",
    "a lot has two owners",
    "a player who left the game owns something",
    "a lot of the bank is mortgaged",
    "a group is mortgaged and built at once",
    "a building stands on a group that nobody owns whole",
    "a group is built unevenly",
    "houses are not conserved",
    "hotels are not conserved",
    "a player's cash is negative",
    "a jail card is in two places",
    "a deck does not hold its cards once each",
    "a jailed player is not on the jail square",
    "a decision has no legal action",
    "a player who left the game is asked",
    "the game is over but a player has no place",
    "an absent seat has belongings",
    "a seat, lot, die or counter is out of range",
    "the agenda holds an impossible task",
    "nobody is left in the game",
    "the legal actions are not those of the rules",
)
(
    NONE, FAULT, TWO_OWNERS, GHOST_OWNER, BANK_MORTGAGE, BUILT_MORTGAGE, BUILT_UNOWNED, UNEVEN,
    HOUSES, HOTELS, NEGATIVE_CASH,
    CARD_TWICE, DECK, JAIL_SQUARE_LEFT, EMPTY_MASK, GHOST_ASKED, NO_PLACE, ABSENT, RANGE, AGENDA,
    ALL_OUT, STALE,
) = range(len(VIOLATIONS))  # fmt: skip


@kernel
def violation(game: Game) -> int:
    """The first broken invariant, as an index into `VIOLATIONS`; 0 if all hold.

    It does not check for stale legal actions; `step_violation` does.
    """
    broken = unsettled_violation(game)
    return _question(game) if broken == NONE else broken


@kernel
def step_violation(game: Game) -> int:
    """The first broken invariant, STALE legal actions included; 0 if all hold."""
    broken = violation(game)
    return STALE if broken == NONE and _is_stale(game) else broken


@kernel
def unsettled_violation(game: Game) -> int:
    """The first broken invariant of a game whose agenda need not have a question on top."""
    if game.fault != 0:
        return FAULT
    broken = ranges(game)
    if broken == NONE:
        broken = _agenda(game)
    if broken == NONE:
        broken = _ownership(game)
    if broken == NONE:
        broken = _buildings(game)
    if broken == NONE:
        broken = _players(game)
    if broken == NONE:
        broken = _decks(game)
    return broken


@kernel
def out_of_range(game: Game) -> int:
    """The first number of a record that would be an index beyond a table; 0 if there is none."""
    broken = ranges(game)
    if broken == NONE:
        broken = _agenda(game)
    if broken == NONE and game.decision != agenda.OVER and not _is_on_top(game):
        return AGENDA
    return broken


@kernel
def _within(value: int, low: int, high: int) -> bool:
    return low <= value <= high


@kernel
def _all_within(values: Any, low: int, high: int) -> bool:
    sound = True
    for i in range(len(values)):
        sound = sound and _within(values[i], low, high)
    return sound


@kernel
def ranges(game: Game) -> int:
    """Check the range of every number: a record from a file could hold anything."""
    sound = _game_in_range(game) and _seats_in_range(game) and _bank_in_range(game)
    return NONE if sound and _auction_in_range(game) and _offers_in_range(game) else RANGE


@kernel
def _game_in_range(game: Game) -> bool:
    last = int(game.num_players) - 1
    return (
        _within(game.num_players, MIN_PLAYERS, MAX_PLAYERS)
        and _within(game.depth, 0, AGENDA_DEPTH)
        and _within(game.rules.board, 0, NUM_EDITIONS - 1)
        and _within(game.decision, 0, agenda.FIRST_PROCEDURE - 1)
        and _within(game.fault, 0, len(agenda.FAULTS) - 1)
        and _within(game.ending, 0, len(ENDINGS) - 1)
        and _within(game.first, 0, last)
        and _within(game.turn, 0, last)
        and _within(game.player, 0, last)
        and _within(game.turns, 0, MOST_DOLLARS)
        and _within(game.rounds, 0, MOST_DOLLARS)
        and _within(game.streak, 0, _MOST_COUNTED)
        and _within(game.again, 0, 1)
        and _all_within(game.dice[:], 0, 9)
        and _within(game.utility_throws, 0, MOST_DOLLARS)
        and _within(game.start_draws, 0, MOST_DOLLARS)
        and _all_within(game.seed[:], 0, _WORD)
        and _within(game.legal[WORDS - 1], 0, _LAST_WORD)
        and _all_within(game.legal[:], 0, _WORD)
        and _within(game.num_forced, 0, MAX_FORCED)
        and _all_within(game.forced_throws[:], 0, 66)
    )


@kernel
def _seats_in_range(game: Game) -> bool:
    sound = True
    for seat in range(MAX_PLAYERS):
        sound = (
            sound
            and _within(game.position[seat], 0, NUM_SQUARES - 1)
            and _within(game.place[seat], 0, MAX_PLAYERS)
            and _within(game.cash[seat], -MOST_DOLLARS, MOST_DOLLARS)
            and _within(game.sealed[seat], 0, MOST_DOLLARS)
            and _within(game.lots[seat], 0, ALL_LOTS)
            and _within(game.jail_cards[seat], 0, 3)
            and _within(game.throws[seat], 0, MOST_DOLLARS)
            and game.policy_draws[seat] >= 0
            and _within(game.jail[seat], 0, _MOST_COUNTED)
            and _within(game.offers[seat], 0, _MOST_COUNTED)
        )
    return sound


@kernel
def _bank_in_range(game: Game) -> bool:
    sound = (
        _within(game.mortgaged, 0, ALL_LOTS)
        and _within(game.fresh_mortgages, 0, ALL_LOTS)
        and _within(game.fresh_sales, 0, _ALL_STREETS)
        and _all_within(game.level[:], 0, HOTEL)
        and _within(game.houses, -_MOST_COUNTED, _MOST_COUNTED)
        and _within(game.hotels, -_MOST_COUNTED, _MOST_COUNTED)
        and _within(game.pot, 0, MOST_DOLLARS)
    )
    for deck in range(2):
        sound = (
            sound
            and _within(game.deck_size[deck], 0, DECK_SIZE)
            and _within(game.deck_next[deck], 0, game.deck_size[deck])
            and _all_within(game.deck[deck], 0, DECK_SIZE - 1)
            and _within(game.deck_draws[deck], 0, MOST_DOLLARS)
        )
    return sound


@kernel
def _auction_in_range(game: Game) -> bool:
    last = int(game.num_players) - 1
    return (
        _within(game.auction_lot, NOBODY, HOTEL_LOT)
        and _within(game.auction_asked, NOBODY, last)
        and _within(game.auction_leader, NOBODY, last)
        and _within(game.auction_bidders, 0, (2 << last) - 1)
        and _within(game.auction_bid, 0, MOST_DOLLARS)
    )


@kernel
def _offers_in_range(game: Game) -> bool:
    last = int(game.num_players) - 1
    return (
        _within(game.offer_from, NOBODY, last)
        and _within(game.offer_to, NOBODY, last)
        and _within(game.offer_last, NOBODY, CHEST_GOOD)
        and _within(game.offer_counter, 0, 1)
        and _within(game.offer_ask, 0, _ALL_GOODS)
        and _within(game.offer_give, 0, _ALL_GOODS)
        and _within(game.offer_cash, -MOST_DOLLARS, MOST_DOLLARS)
        and _within(game.traded, 0, _ALL_GOODS)
        and _within(game.num_refused, 0, MAX_REFUSED)
        and _all_within(game.refused_from[:], 0, last)
        and _all_within(game.refused_to[:], 0, last)
        and _all_within(game.refused_ask[:], 0, _ALL_GOODS)
        and _all_within(game.refused_give[:], 0, _ALL_GOODS)
        and _all_within(game.refused_cash[:], -MOST_DOLLARS, MOST_DOLLARS)
    )


@kernel
def _agenda(game: Game) -> int:
    """Check that every task names a seat of this game and has valid arguments."""
    last = int(game.num_players) - 1
    for i in range(int(game.depth)):
        task, seat = int(game.agenda[i, 0]), int(game.agenda[i, 1])
        first, second = int(game.agenda[i, 2]), int(game.agenda[i, 3])
        sound = _within(task, 1, agenda.LAST_TASK)
        if task == agenda.AUCTION_ROUND:
            sound = sound and seat == NOBODY
        else:
            sound = sound and _within(seat, 0, last)
        of_lot = task == agenda.BUY or task == agenda.TAKEOVER
        if of_lot or task == agenda.SOLD or task == agenda.AUCTION:
            sound = sound and _within(first, 0, NUM_LOTS - 1)
        elif task == agenda.PLACE:
            sound = sound and _within(first, HOUSE_LOT, HOTEL_LOT)
        elif task == agenda.CARD:
            sound = sound and _within(first, 0, 1)
        elif task == agenda.WINDOW:
            sound = sound and _within(first, agenda.BEFORE_THROW, agenda.OUT_OF_TURN)
        elif task == agenda.BEFORE_THROW_TASK:
            passes = int(game.rules.window_passes)
            sound = sound and _within(first, 0, passes - 1) and _within(second, 0, 1)
        elif task == agenda.CHARGE or task == agenda.DEBT or task == agenda.TAKE:
            sound = sound and _within(second, ALL_OTHERS, last)
        elif task == agenda.PAY_EACH or task == agenda.COLLECT_EACH:
            sound = sound and _within(second, 1, MAX_PLAYERS)
        elif task == agenda.ESTATE or task == agenda.TAKEOVERS:
            sound = sound and _within(first, 0, ALL_LOTS)
        elif task == agenda.LEAVE_JAIL or task == agenda.JAIL:
            sound = sound and _within(first, 2 if task == agenda.LEAVE_JAIL else 0, 12)
        if not sound:
            return AGENDA
        auctioning = task == agenda.BID or task == agenda.SEALED_BID or task == agenda.AUCTION_ROUND
        nobody_offers = game.offer_from < 0 or game.offer_to < 0
        if _within(task, agenda.ASK, agenda.REPLY) and nobody_offers:
            return AGENDA
        if auctioning and game.auction_lot < 0:
            return AGENDA
    return NONE


@kernel
def _ownership(game: Game) -> int:
    owned, cards = 0, 0
    for seat in range(MAX_PLAYERS):
        lots, held = int(game.lots[seat]), int(game.jail_cards[seat])
        if owned & lots:
            return TWO_OWNERS
        if cards & held:
            return CARD_TWICE
        gone = seat < game.num_players and game.place[seat] != 0 and game.decision != agenda.OVER
        if gone and (lots or held or game.cash[seat]):
            return GHOST_OWNER
        owned |= lots
        cards |= held
    if int(game.mortgaged) & ~(owned | _changing_hands(game)):
        return BANK_MORTGAGE
    return BUILT_MORTGAGE if int(game.mortgaged) & built_groups(game) else NONE


@kernel
def _changing_hands(game: Game) -> int:
    """The lots that are passing from an estate to a buyer, possibly mortgaged (57, option)."""
    lots = 1 << int(game.auction_lot) if game.auction_lot >= 0 else 0
    for i in range(int(game.depth)):
        task, first = int(game.agenda[i, 0]), int(game.agenda[i, 2])
        if task == agenda.ESTATE:
            lots |= first
        elif task == agenda.AUCTION or task == agenda.SOLD:
            lots |= 1 << first
    return lots


@kernel
def _one_owns(game: Game, lots: int) -> bool:
    for seat in range(game.num_players):
        if int(game.lots[seat]) & lots == lots:
            return True
    return False


@kernel
def _buildings(game: Game) -> int:
    houses, hotels = int(game.houses), int(game.hotels)
    for lot in range(NUM_STREETS):
        level = int(game.level[lot])
        if level == HOTEL - 1 and game.rules.hotel_after < level:
            return UNEVEN
        if level > 0 and not _one_owns(game, int(GROUP_LOTS[GROUP_OF[lot]])):
            return BUILT_UNOWNED
        houses += houses_at(game, level)
        hotels += 1 if level == HOTEL else 0
    for group in range(COLOURS):
        lowest = steps_of(game, lowest_level(game, group))
        spread = steps_of(game, highest_level(game, group)) - lowest
        if game.rules.even_build == EVEN and spread > 1:
            return UNEVEN
        if game.rules.even_build == WHOLE_GROUP and spread > 0:
            return UNEVEN
    if game.rules.building_limit == UNLIMITED:
        return NONE
    owed = game.houses < 0 and game.rules.hotel_breakdown != BREAKDOWN_UNLIMITED
    if houses != game.rules.houses or owed:
        return HOUSES
    return HOTELS if hotels != game.rules.hotels or game.hotels < 0 else NONE


@kernel
def _players(game: Game) -> int:
    remaining = 0
    for seat in range(MAX_PLAYERS):
        if seat >= game.num_players:
            owns = game.cash[seat] or game.lots[seat] or game.jail_cards[seat]
            if owns or game.position[seat] or game.jail[seat]:
                return ABSENT
            continue
        remaining += 1 if game.place[seat] == 0 else 0
        if game.cash[seat] < 0 and not game.rules.ocnaru_quirks:
            return NEGATIVE_CASH
        if game.jail[seat] > 0 and game.position[seat] != JAIL_SQUARE:
            return JAIL_SQUARE_LEFT
    return ALL_OUT if remaining == 0 and game.depth > 0 else NONE


@kernel
def _decks(game: Game) -> int:
    for deck in range(2):
        held = 0
        for seat in range(MAX_PLAYERS):
            held |= (int(game.jail_cards[seat]) >> deck) & 1
        cards = held << int(JAIL_CARD_NUMBER[game.rules.board, deck])
        if game.deck_size[deck] != DECK_SIZE - held:
            return DECK
        for i in range(int(game.deck_size[deck])):
            card = int(game.deck[deck, i])
            if has(cards, card):
                return DECK
            cards |= 1 << card
        if size(cards) != DECK_SIZE:
            return DECK
    return NONE


@kernel
def _question(game: Game) -> int:
    if game.decision == agenda.OVER:
        for seat in range(game.num_players):
            if game.place[seat] == 0:
                return NO_PLACE
        return NONE if game.ending > 0 else RANGE
    if game.ending != 0:
        return RANGE
    if not _is_on_top(game):
        return AGENDA
    if game.place[game.player] != 0:
        return GHOST_ASKED
    return EMPTY_MASK if count_legal(game) < 2 else NONE


@kernel
def _is_on_top(game: Game) -> bool:
    """Whether the open decision is the top task of the agenda."""
    top = int(game.depth) - 1
    return top >= 0 and game.agenda[top, 0] == game.decision and game.agenda[top, 1] == game.player


@kernel
def _is_stale(game: Game) -> bool:
    """Whether the legal actions differ from those of the same question asked on a copy."""
    if game.decision == agenda.OVER:
        return count_legal(game) != 0
    top, copy, stale = int(game.depth) - 1, np.empty(1, GAME), False
    copy[0] = game
    first, second = int(game.agenda[top, 2]), int(game.agenda[top, 3])
    ask(copy[0], int(game.decision), int(game.player), first, second)
    for word in range(WORDS):
        stale = stale or copy[0].legal[word] != game.legal[word]
    return stale
