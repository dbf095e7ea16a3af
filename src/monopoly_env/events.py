"""The events of a step as rows of numbers.

The engine logs nothing: the agenda is settled task by task, and the records before and after each
task are compared. Terminal, replays, language models and pages put the rows into words.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import A_BID, A_BUY, A_CHOICE, A_JAIL, H_REPLY, HEAD_OF
from monopoly_env.core import check_step, in_range
from monopoly_env.engine import agenda, setup
from monopoly_env.engine.players import owner_of, owns_group
from monopoly_env.engine.sets import each, size
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.facts.board import NUM_GROUPS, NUM_LOTS, NUM_STREETS
from monopoly_env.facts.cards import DECK_SIZE, DECKS
from monopoly_env.game import BY_BANKRUPTCY, NOBODY, ONE_LEFT, Game, Games, empty_games
from monopoly_env.kernels import entry, kernel
from monopoly_env.kernels.signatures import Array2

# Each kind of event with its numbers. A row is: kind, seat (or -1), four numbers, task.
# Events of one task have the same number of the task: 0 is the action, 1 what it did at once.
EVENTS: Final = {
    "chose": ("action", "decision", "seat that made the offer, or -1"),
    "turn": ("turn",),
    "throw": ("first die", "second die"),
    "utility_throw": ("first die", "second die"),
    "card": ("deck", "card"),
    "go_to_jail": (),
    "stay_in_jail": (),
    "leave_jail": (),
    "move": ("to square", "from square"),
    "owe": ("dollars", "creditor"),
    "offer": ("to seat", "goods given", "goods asked for", "dollars given; negative: asked for"),
    "auction": ("lot",),
    "bid": ("dollars",),
    "sold": (),
    "unsold": (),
    "get": ("lots",),
    "mortgage": ("lots",),
    "lift": ("lots",),
    "return": ("lot",),
    "complete": ("group",),
    "jail_card": ("deck",),
    "build": ("lot", "level"),
    "sell": ("lot", "level"),
    "pay": ("dollars", "to seat, or -1"),
    "receive": ("dollars",),
    "more": ("dollars",),
    "less": ("dollars",),
    "bankrupt": (),
    "over": ("ending", "seats that won, one bit each"),
}
KINDS: Final = tuple(EVENTS)
(
    CHOSE, TURN, THROW, UTILITY_THROW, CARD, GO_TO_JAIL, STAY_IN_JAIL, LEAVE_JAIL, MOVE, OWE,
    OFFER, AUCTION, BID, SOLD, UNSOLD, GET, MORTGAGE, LIFT, RETURN, COMPLETE, JAIL_CARD, BUILD,
    SELL, PAY, RECEIVE, MORE, LESS, BANKRUPT, OVER,
) = range(len(KINDS))  # fmt: skip

Row: TypeAlias = list[int]
Rows: TypeAlias = NDArray[np.int32]

COLUMNS: Final = 7
_TASK: Final = COLUMNS - 1
MOST_ROWS: Final = 1024  # of one call
_ROOM: Final = 192  # rows that one task may need


def play(game: Game, action: int) -> list[Row]:
    """Carry out an action, as `monopoly_env.step` does, and return its events.

    Args:
        game: A game that is not over; it changes in place.
        action: A legal action.

    Returns:
        Rows of `EVENTS`, in order.

    Raises:
        IllegalActionError: The action is not legal here. The game is unchanged.
        PositionError: The record is invalid. It is unchanged.
    """
    return _told(*check_step(game, action), [])


def _told(batch: Games, action: int, found: list[Row]) -> list[Row]:
    """Carry out an action, unless it is negative, and settle; its events, after those found."""
    before, rows, count = batch.copy(), np.empty((MOST_ROWS, COLUMNS), np.int32), -1
    while count < 0:  # the rows were full
        count = _play(batch, before, action, found[-1][_TASK] if found else 0, rows)
        found, action = found + rows[: abs(count)].tolist(), -1
    return found


def between(before: Game, after: Game) -> list[Row]:
    """The events that lead from one record to another, one task apart."""
    return follow([], before, after)


def follow(rows: list[Row], before: Game, after: Game) -> list[Row]:
    """Events, then those that lead from one record to another, one task apart."""
    more, task = np.empty((MOST_ROWS, COLUMNS), np.int32), rows[-1][_TASK] + 1 if rows else 1
    count = _between(in_range(before), in_range(after), task, more)
    return rows + more[:count].tolist()  # type: ignore[no-any-return]


def opening(game: Game) -> list[Row]:
    """The events before the first decision of a game with the rules, players and seed of this one.

    They begin with the throws for the first turn, if the rules have them.
    """
    given, rows = in_range(game), np.empty((MOST_ROWS, COLUMNS), np.int32)
    batch = empty_games(1)
    batch["rules"] = given["rules"]
    count = _begin(batch, batch.copy(), int(given["num_players"][0]), given["seed"].copy(), rows)
    return _told(batch, -1, rows[:count].tolist())


def differences(before: Game, after: Game) -> list[Row]:
    """The differences of places, goods and cash between two records many decisions apart."""
    rows = np.empty((MOST_ROWS, COLUMNS), np.int32)
    count = _differences(in_range(before), in_range(after), rows)
    return rows[:count].tolist()  # type: ignore[no-any-return]


@entry
def _play(games: Games, before: Games, action: int, task: int, rows: Array2[np.int32]) -> int:
    """Carry out an action, unless it is negative, and settle; the number of rows.

    A negative number: as many rows, and there is more to settle.
    """
    count = 0
    if action >= 0:
        if _is_told(action):
            decision, maker = int(games[0].decision), int(games[0].offer_from)
            count = _add(rows, 0, CHOSE, int(games[0].player), action, decision)
            rows[0, 4], rows[0, _TASK] = maker, task
        before[0] = games[0]
        answer(games[0], action)
        task += 1
        count = _compare(before[0], games[0], rows, count, task)
    while count <= len(rows) - _ROOM:
        before[0] = games[0]
        running = settle_one(games[0])
        task += 1
        count = _compare(before[0], games[0], rows, count, task)
        if not running:
            return count
    return -count


@entry
def _begin(
    games: Games, before: Games, num_players: int, seeds: Array2[np.int64], rows: Array2[np.int32]
) -> int:
    """Start a game up to its first turn; the number of rows. `before` is overwritten."""
    setup.begin(games[0], num_players, seeds[0, 0], seeds[0, 1])
    if games[0].rules.first_player != setup.BY_THROW:
        return 0
    game, count, task, contenders = before[0], 0, 0, (1 << num_players) - 1
    setup.prepare(game, num_players, seeds[0, 0], seeds[0, 1])
    while size(contenders) > 1:
        draw, task = int(game.start_draws), task + 1
        leaders = setup.throw_off(game, contenders)
        for seat in each(contenders):
            first, second = setup.drawn(game, draw, 6) + 1, setup.drawn(game, draw + 1, 6) + 1
            count, draw = _add(rows, count, THROW, seat, first, second), draw + 2
            rows[count - 1, _TASK] = task
        contenders = leaders
    return count


@entry
def _between(before: Games, after: Games, task: int, rows: Array2[np.int32]) -> int:
    return _compare(before[0], after[0], rows, 0, task)


@entry
def _differences(before: Games, after: Games, rows: Array2[np.int32]) -> int:
    was, now = before[0], after[0]
    count = _moves(was, now, rows, 0)
    count = _lots(was, now, rows, count)
    count = _jail_cards(was, now, rows, count)
    count = _buildings(was, now, rows, count)
    for seat in range(now.num_players):
        change = int(now.cash[seat]) - int(was.cash[seat])
        if change != 0:
            count = _add(rows, count, MORE if change > 0 else LESS, seat, abs(change), 0)
    count = _ends(was, now, rows, count)
    for i in range(count):
        rows[i, _TASK] = 0
    return count


@kernel
def _is_told(action: int) -> bool:
    """Whether an action is an event; others are visible by their effects."""
    head = HEAD_OF[action]
    quiet = action in (A_BUY, A_BID, A_JAIL + 1)  # decline, fold or done, use a jail card
    return quiet or head == H_REPLY or action >= A_CHOICE


@kernel
def _add(rows: Array2[np.int32], count: int, kind: int, seat: int, first: int, second: int) -> int:
    rows[count, 0] = kind
    rows[count, 1] = seat
    rows[count, 2] = first
    rows[count, 3] = second
    rows[count, 4] = 0
    rows[count, 5] = 0
    return count + 1


@kernel
def _compare(before: Game, after: Game, rows: Array2[np.int32], count: int, task: int) -> int:
    """Add the changes of one task, in the order in which they read best."""
    start = count
    if after.turns > before.turns:
        count = _add(rows, count, TURN, int(after.turn), int(after.turns), 0)
    count = _throws(before, after, rows, count)
    count = _card(before, after, rows, count)
    count = _moves(before, after, rows, count)
    count = _questions(before, after, rows, count)
    count = _auctions(before, after, rows, count)
    count = _lots(before, after, rows, count)
    count = _groups(before, after, rows, count)
    count = _jail_cards(before, after, rows, count)
    count = _buildings(before, after, rows, count)
    count = _money(before, after, rows, count)
    count = _ends(before, after, rows, count)
    for i in range(start, count):
        rows[i, _TASK] = task
    return count


@kernel
def _throws(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    first, second = int(after.dice[0]), int(after.dice[1])
    for seat in range(after.num_players):
        if after.throws[seat] > before.throws[seat]:
            count = _add(rows, count, THROW, seat, first, second)
    if after.utility_throws > before.utility_throws:
        count = _add(rows, count, UTILITY_THROW, NOBODY, first, second)
    return count


@kernel
def _card(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    top = int(before.depth) - 1
    if top < 0 or before.agenda[top, 0] != agenda.CARD:
        return count
    seat, deck = int(before.agenda[top, 1]), int(before.agenda[top, 2])
    if before.place[seat] != 0:
        return count
    return _add(rows, count, CARD, seat, deck, _drawn(before, after, deck))


@kernel
def _drawn(before: Game, after: Game, deck: int) -> int:
    """The card that was drawn: the one now missing, or the one before the next."""
    if after.deck_size[deck] == before.deck_size[deck]:
        return int(after.deck[deck, int(after.deck_next[deck]) - 1])
    left = 0
    for i in range(after.deck_size[deck]):
        left |= 1 << int(after.deck[deck, i])
    for card in range(DECK_SIZE):
        for i in range(before.deck_size[deck]):
            if before.deck[deck, i] == card and left >> card & 1 == 0:
                return card
    return 0


@kernel
def _moves(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    for seat in range(after.num_players):
        was, now = int(before.jail[seat]), int(after.jail[seat])
        if now > 0 and was == 0:
            count = _add(rows, count, GO_TO_JAIL, seat, 0, 0)
        elif now > was:
            count = _add(rows, count, STAY_IN_JAIL, seat, 0, 0)
        elif was > 0 and now == 0 and after.place[seat] == 0:
            count = _add(rows, count, LEAVE_JAIL, seat, 0, 0)
        if after.position[seat] != before.position[seat] and now == 0:
            to, start = int(after.position[seat]), int(before.position[seat])
            count = _add(rows, count, MOVE, seat, to, start)
    return count


@kernel
def _questions(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    """A debt that must be raised, and an offer that was made."""
    if after.decision == agenda.DEBT and before.decision != agenda.DEBT:
        top = int(after.depth) - 1
        dollars, creditor = int(after.agenda[top, 2]), int(after.agenda[top, 3])
        count = _add(rows, count, OWE, int(after.player), dollars, creditor)
    if after.decision == agenda.REPLY and before.decision != agenda.REPLY:
        give, ask = int(after.offer_give), int(after.offer_ask)
        count = _add(rows, count, OFFER, int(after.offer_from), int(after.offer_to), give)
        rows[count - 1, 4], rows[count - 1, 5] = ask, after.offer_cash
    return count


@kernel
def _auctions(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    was, lot = int(before.auction_lot), int(after.auction_lot)
    if lot != was and lot >= 0:
        count = _add(rows, count, AUCTION, NOBODY, lot, 0)
    if lot >= 0 and after.auction_bid > before.auction_bid and after.auction_leader >= 0:
        leader, dollars = int(after.auction_leader), int(after.auction_bid)
        count = _add(rows, count, BID, leader, dollars, 0)
    if was >= 0 and lot < 0:
        # in a closed auction the winner's payment replaces the bidding round on the agenda
        closed = after.depth >= before.depth
        count = _add(rows, count, SOLD if closed else UNSOLD, NOBODY, 0, 0)
    return count


@kernel
def _lots(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    owned, were = 0, 0
    for seat in range(after.num_players):
        had, mine = int(before.lots[seat]), int(after.lots[seat])
        pledged, still = int(before.mortgaged), int(after.mortgaged)
        owned |= mine
        were |= had
        if mine & ~had:
            count = _add(rows, count, GET, seat, mine & ~had, 0)
        if mine & still & ~pledged:
            count = _add(rows, count, MORTGAGE, seat, mine & still & ~pledged, 0)
        if mine & pledged & ~still:
            count = _add(rows, count, LIFT, seat, mine & pledged & ~still, 0)
    for lot in range(NUM_LOTS):
        if (were & ~owned) >> lot & 1:
            count = _add(rows, count, RETURN, NOBODY, lot, 0)
    return count


@kernel
def _groups(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    for seat in range(after.num_players):
        if int(after.lots[seat]) & ~int(before.lots[seat]):
            for group in range(NUM_GROUPS):
                if owns_group(after, seat, group) and not owns_group(before, seat, group):
                    count = _add(rows, count, COMPLETE, seat, group, 0)
    return count


@kernel
def _jail_cards(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    for seat in range(after.num_players):
        new = int(after.jail_cards[seat]) & ~int(before.jail_cards[seat])
        for deck in range(len(DECKS)):
            if new >> deck & 1:
                count = _add(rows, count, JAIL_CARD, seat, deck, 0)
    return count


@kernel
def _buildings(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    for lot in range(NUM_STREETS):
        was, now = int(before.level[lot]), int(after.level[lot])
        if was != now:
            owner = owner_of(before, lot)
            if owner == NOBODY:
                owner = owner_of(after, lot)
            count = _add(rows, count, BUILD if now > was else SELL, owner, lot, now)
    return count


@kernel
def _money(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    """Payments: from one player to another, or all that paid, then all that received."""
    payers, takers, payer, taker, total = 0, 0, 0, 0, 0
    for seat in range(after.num_players):
        change = int(after.cash[seat]) - int(before.cash[seat])
        total += change
        if change < 0:
            payers, payer = payers + 1, seat
        elif change > 0:
            takers, taker = takers + 1, seat
    if payers == 1 and takers == 1 and total == 0:
        dollars = int(after.cash[taker]) - int(before.cash[taker])
        return _add(rows, count, PAY, payer, dollars, taker)
    for seat in range(after.num_players):
        paid = int(before.cash[seat]) - int(after.cash[seat])
        if paid > 0:
            count = _add(rows, count, PAY, seat, paid, NOBODY)
    for seat in range(after.num_players):
        received = int(after.cash[seat]) - int(before.cash[seat])
        if received > 0:
            count = _add(rows, count, RECEIVE, seat, received, 0)
    return count


@kernel
def _ends(before: Game, after: Game, rows: Array2[np.int32], count: int) -> int:
    """Bankruptcies, and the end of the game."""
    over = after.decision == agenda.OVER and before.decision != agenda.OVER
    solvent, winners = 0, 0
    for seat in range(after.num_players):
        solvent |= (1 if before.place[seat] == 0 else 0) << seat
        winners |= (1 if after.place[seat] == 1 else 0) << seat
    for seat in range(after.num_players):
        if before.place[seat] == 0 and after.place[seat] > 1:
            # at the end all get places: the last one is that of the bankrupt, if there is one
            by_bankruptcy = after.ending in (ONE_LEFT, BY_BANKRUPTCY)
            if after.decision != agenda.OVER or (
                by_bankruptcy and after.place[seat] == size(solvent)
            ):
                count = _add(rows, count, BANKRUPT, seat, 0, 0)
    if over:
        count = _add(rows, count, OVER, NOBODY, int(after.ending), winners)
    return count
