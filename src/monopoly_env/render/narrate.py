"""The events of a step in words.

The engine logs nothing: the agenda is settled task by task, and the records before and after each
task are compared. An event is a subject and a phrase; events of one subject form one sentence.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from monopoly_env import actions
from monopoly_env.core import check_step
from monopoly_env.engine import agenda
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.facts.board import NUM_STREETS, SQUARE_NAME, lots_of
from monopoly_env.facts.cards import CARD_LABEL, DECKS
from monopoly_env.game import CHANCE_GOOD, Game, Games
from monopoly_env.kernels import entry
from monopoly_env.render import words
from monopoly_env.render.text import PLAYERS
from monopoly_env.render.words import Names

Event: TypeAlias = tuple[str, str]
Teller: TypeAlias = Callable[[Game, Game, Names], list[Event]]

_LEVELS: Final = ("no house", "1 house", "2 houses", "3 houses", "4 houses", "a hotel")
# Choices that are reported; others are visible by their effects.
_TOLD: Final = ("decline", "fold", "done", "reject", "accept", "counter", "use a jail card")


@entry
def _answer(games: Games, action: int) -> None:
    answer(games[0], action)


@entry
def _settle_one(games: Games) -> bool:
    return settle_one(games[0])


def step(game: Game, action: int, names: Names = PLAYERS) -> list[str]:
    """Carry out an action, as `monopoly_env.step` does, and describe its events.

    Args:
        game: A game that is not over; it changes in place.
        action: A legal action.
        names: The players' names by seat.

    Returns:
        The events, one sentence each, in order.

    Raises:
        IllegalActionError: The action is not legal here. The game is unchanged.
        PositionError: The record is invalid. It is unchanged.
    """
    batch, number = check_step(game, action)
    text = actions.describe(number, game)
    told = [f"{names[game.player]}: {text}."] if text in _TOLD or number >= actions.A_CHOICE else []
    before = batch.copy()
    _answer(batch, number)
    told += compare(before[0], game, names)
    running = True
    while running:
        before = batch.copy()
        running = _settle_one(batch)
        told += compare(before[0], game, names)
    return told


def compare(before: Game, after: Game, names: Names = PLAYERS) -> list[str]:
    """Describe the differences of two records one task apart, a sentence for each subject."""
    events = [event for teller in TELLERS for event in teller(before, after, names)]
    groups = itertools.groupby(events, key=lambda event: event[0])
    return [f"{subject} {words.joined([said for _, said in group])}." for subject, group in groups]


def differences(before: Game, after: Game, names: Names = PLAYERS) -> list[Event]:
    """The differences of places, goods and cash between two records many decisions apart."""
    tellers = (_moves, _lots, _jail_cards, _buildings)
    told = [event for teller in tellers for event in teller(before, after, names)]
    for seat in _seats(after):
        if change := int(after.cash[seat]) - int(before.cash[seat]):
            more = "more" if change > 0 else "less"
            told.append((names[seat], f"has ${abs(change):,} {more} than before"))
    return told + _ends(before, after, names)


def _seats(game: Game) -> range:
    return range(game.num_players)


def _turn(before: Game, after: Game, names: Names) -> list[Event]:
    return [(f"Turn {after.turns}:", names[after.turn])] if after.turns > before.turns else []


def _throws(before: Game, after: Game, names: Names) -> list[Event]:
    dice = f"{after.dice[0]} + {after.dice[1]}"
    thrown = (seat for seat in _seats(after) if after.throws[seat] > before.throws[seat])
    told = [(names[seat], f"throws {dice}") for seat in thrown]
    if after.utility_throws > before.utility_throws:
        told.append(("A throw for the utility:", dice))
    return told


def _cards(before: Game, after: Game, names: Names) -> list[Event]:
    if before.depth == 0 or before.agenda[before.depth - 1, 0] != agenda.CARD:
        return []
    seat, deck = int(before.agenda[before.depth - 1, 1]), int(before.agenda[before.depth - 1, 2])
    label = CARD_LABEL[int(after.rules.board)][deck][_card_drawn(before, after, deck)]
    return [(names[seat], f'draws from {DECKS[deck].replace("_", " ").title()} "{label}"')]


def _card_drawn(before: Game, after: Game, deck: int) -> int:
    """The card that was drawn: the one now missing, or the one before the next, in its place."""
    were, left = (game.deck[deck][: game.deck_size[deck]].tolist() for game in (before, after))
    if len(left) < len(were):
        return int(next(card for card in were if card not in left))
    return int(left[after.deck_next[deck] - 1])


def _moves(before: Game, after: Game, names: Names) -> list[Event]:
    told = []
    for seat in _seats(after):
        was, now = int(before.jail[seat]), int(after.jail[seat])
        if now and not was:
            told.append((names[seat], "goes to jail"))
        elif now > was:
            told.append((names[seat], "stays in jail"))
        elif was and not now and after.place[seat] == 0:
            told.append((names[seat], "leaves jail"))
        if after.position[seat] != before.position[seat] and not now:
            square = SQUARE_NAME[int(after.rules.board)][after.position[seat]]
            told.append((names[seat], f"moves to {square}"))
    return told


def _debts(before: Game, after: Game, names: Names) -> list[Event]:
    if after.decision != agenda.DEBT or before.decision == agenda.DEBT:
        return []
    amount, creditor = (int(number) for number in after.agenda[after.depth - 1, 2:])
    payee = words.payee(after, creditor, names)
    return [(names[after.player], f"owes {payee} ${amount:,} and must raise cash")]


def _offers(before: Game, after: Game, names: Names) -> list[Event]:
    if after.decision != agenda.REPLY or before.decision == agenda.REPLY:
        return []
    cash = int(after.offer_cash)
    given = words.goods(after, after.offer_give, cash)
    asked = words.goods(after, after.offer_ask, -cash)
    return [(names[after.offer_from], f"offers {names[after.offer_to]} {given} for {asked}")]


def _auctions(before: Game, after: Game, names: Names) -> list[Event]:
    was, lot = int(before.auction_lot), int(after.auction_lot)
    told = []
    if lot != was and lot >= 0:
        told.append(("Auction:", words.lot_name(after, lot)))
    if lot >= 0 and after.auction_bid > before.auction_bid and after.auction_leader >= 0:
        told.append((names[after.auction_leader], f"bids ${after.auction_bid:,}"))
    if was >= 0 and lot < 0:
        # in a closed auction the winner's payment replaces the bidding round on the agenda
        closed = after.depth >= before.depth
        told.append(("The auction", "is closed" if closed else "ends without a bid"))
    return told


def _lots(before: Game, after: Game, names: Names) -> list[Event]:
    told = []
    owned = 0
    for seat in _seats(after):
        mine = int(after.lots[seat])
        owned |= mine
        for verb, lots in (
            ("gets", mine & ~int(before.lots[seat])),
            ("mortgages", mine & int(after.mortgaged) & ~int(before.mortgaged)),
            ("lifts the mortgage on", mine & int(before.mortgaged) & ~int(after.mortgaged)),
        ):
            if lots:
                named = words.joined([words.lot_name(after, lot) for lot in lots_of(lots)])
                told.append((names[seat], f"{verb} {named}"))
    returned = lots_of(int(np.bitwise_or.reduce(before.lots)) & ~owned)
    return told + [(words.lot_name(after, lot), "goes back to the bank") for lot in returned]


def _buildings(before: Game, after: Game, names: Names) -> list[Event]:
    told = []
    for lot in range(NUM_STREETS):
        was, now = int(before.level[lot]), int(after.level[lot])
        if was != now:
            owner = next(
                names[seat]
                for game in (before, after)
                for seat in _seats(game)
                if int(game.lots[seat]) >> lot & 1
            )
            done = "builds" if now > was else "sells"
            told.append((owner, f"{done}: {words.lot_name(after, lot)} now has {_LEVELS[now]}"))
    return told


def _jail_cards(before: Game, after: Game, names: Names) -> list[Event]:
    return [
        (names[seat], f"gets {words.JAIL_CARDS[CHANCE_GOOD + deck]}")
        for seat in _seats(after)
        for deck in range(len(DECKS))
        if (int(after.jail_cards[seat]) & ~int(before.jail_cards[seat])) >> deck & 1
    ]


def _money(before: Game, after: Game, names: Names) -> list[Event]:
    change = after.cash.astype(int) - before.cash
    payers = [seat for seat in _seats(after) if change[seat] < 0]
    takers = [seat for seat in _seats(after) if change[seat] > 0]
    if len(payers) == len(takers) == 1 and change.sum() == 0:
        return [(names[payers[0]], f"pays {names[takers[0]]} ${change[takers[0]]:,}")]
    told = [(names[seat], f"pays ${-change[seat]:,}") for seat in payers]
    return told + [(names[seat], f"gets ${change[seat]:,}") for seat in takers]


def _ends(before: Game, after: Game, names: Names) -> list[Event]:
    ruined = [seat for seat in _seats(after) if after.place[seat] > 1 and before.place[seat] == 0]
    if after.decision != agenda.OVER:
        return [(names[seat], "is bankrupt") for seat in ruined]
    if before.decision == agenda.OVER:
        return []
    winners = [names[seat] for seat in _seats(after) if after.place[seat] == 1]
    return [
        ("The game", "is over"),
        (words.joined(winners), "wins" if len(winners) == 1 else "share the win"),
    ]


# In the order in which the changes of one task read best.
TELLERS: Final[tuple[Teller, ...]] = (
    _turn, _throws, _cards, _moves, _debts, _offers, _auctions, _lots, _jail_cards, _buildings,
    _money, _ends,
)  # fmt: skip
