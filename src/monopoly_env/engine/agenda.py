"""The agenda: a stack in the record, with the tasks still to be settled.

A task is four numbers: its kind, a player, and two arguments. Questions are numbered first, like
their decisions (`actions.DECISIONS`). The loop stops at a question with more than one legal answer.
All other tasks need no answer.
"""

from __future__ import annotations

from typing import Final

from monopoly_env.actions import DECISION_NAMES
from monopoly_env.game import AGENDA_DEPTH, Game
from monopoly_env.kernels import kernel

# Questions, with their two arguments:
(
    OVER,
    BUY,  # lot
    BID,
    SEALED_BID,
    PLACE,  # piece (HOUSE_LOT, HOTEL_LOT), dollars paid
    WINDOW,  # BEFORE_THROW, AFTER_THROW or OUT_OF_TURN
    JAIL,  # steps of the failed throw (0: before the throw); 1: must leave
    ASK,
    GIVE,
    CASH,
    REPLY,
    DEBT,  # dollars, creditor
    TAX,
    FINE_OR_CHANCE,  # dollars
    TAKEOVER,  # lot
) = range(15)

# Tasks that need no answer.
PROCEDURES: Final = (
    "begin_turn",
    "before_throw",  # passes of windows done; 1: somebody acted in the last one
    "throw",
    "after_throw",
    "end_turn",
    "leave_jail",  # steps
    "settle",  # how: ORDINARY, CARD_RENT ...; multiplier of the card
    "card",  # deck; 1: the second draw of a quirk
    "charge",  # dollars, creditor
    "take",  # dollars, creditor: taken even if cash falls below zero (a quirk)
    "pay_each",  # dollars, offset of the next creditor
    "collect_each",  # dollars, offset of the next payer
    "auction",  # lot, seat that bids first
    "auction_round",
    "sold",  # lot
    "estate",  # lots still to be auctioned
    "takeovers",  # mortgaged lots still to be asked about
)
(
    BEGIN_TURN, BEFORE_THROW_TASK, THROW, AFTER_THROW_TASK, END_TURN, LEAVE_JAIL, SETTLE, CARD,
    CHARGE, TAKE,
    PAY_EACH, COLLECT_EACH, AUCTION, AUCTION_ROUND, SOLD, ESTATE, TAKEOVERS,
) = range(15, 15 + len(PROCEDURES))  # fmt: skip
TASK_NAMES: Final = (*DECISION_NAMES, *PROCEDURES)
FIRST_PROCEDURE: Final = len(DECISION_NAMES)
LAST_TASK: Final = len(TASK_NAMES) - 1

BEFORE_THROW, AFTER_THROW, OUT_OF_TURN = range(3)

# Faults: the meaning of `Game.fault`.
FAULTS: Final = (
    "none",
    "the agenda overflowed",
    "a question had no legal answer",
    "an unknown task",
)
AGENDA_OVERFLOW, NO_ANSWER, UNKNOWN_TASK = 1, 2, 3


@kernel
def push(game: Game, task: int, player: int, first: int, second: int) -> None:
    """Push a task."""
    depth = int(game.depth)
    if depth >= AGENDA_DEPTH:
        game.fault = AGENDA_OVERFLOW
        return
    game.agenda[depth, 0] = task
    game.agenda[depth, 1] = player
    game.agenda[depth, 2] = first
    game.agenda[depth, 3] = second
    game.depth = depth + 1


@kernel
def pop(game: Game) -> None:
    """Remove the top task. Its place is zeroed, so that equal games have equal bytes."""
    depth = int(game.depth) - 1
    game.agenda[depth, 0] = 0
    game.agenda[depth, 1] = 0
    game.agenda[depth, 2] = 0
    game.agenda[depth, 3] = 0
    game.depth = depth


@kernel
def below(game: Game) -> int:
    """The kind of the task under the top one, or OVER if there is none."""
    return int(game.agenda[int(game.depth) - 2, 0]) if game.depth > 1 else OVER


@kernel
def clear(game: Game) -> None:
    """Remove all tasks."""
    while game.depth > 0:
        pop(game)
