"""Composing an offer: a policy plans it whole and keeps it in memory, then `compose` answers step by step.

The plan lies in the last three of the 64 numbers of memory: goods asked for, goods given (lots and jail cards, a bit each) and
dollars given (negative: asked for).
"""

from __future__ import annotations

from agents.players.vocabulary.reading import legal
from monopoly_env.actions import A_ASK, A_CASH, A_GIVE, A_TRADE, CASH_CANCEL, GOODS_CANCEL, GOODS_DONE, NOTES
from monopoly_env.engine import agenda
from monopoly_env.engine.sets import lowest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import MEMORY, Row

_ASK, _GIVE, _CASH = range(MEMORY - 3, MEMORY)


@kernel
def begin_offer(game: Game, partner: int, ask: int, give: int, cash: int, memory: Row) -> int:
    """Keep a planned offer and return the action that begins it; the caller has seen that it is legal.

    Args:
        game: Asks `game.player` what he does in a window, or as a debtor.
        partner: Who gets the offer.
        ask: Goods asked for, a bit each.
        give: Goods given.
        cash: Dollars given; negative: asked for.
        memory: Of the proposer.
    """
    plan(ask, give, cash, memory)
    return A_TRADE + (partner - int(game.player)) % int(game.num_players) - 1


@kernel
def plan(ask: int, give: int, cash: int, memory: Row) -> None:
    """Keep an offer without beginning it, as before a counter-offer."""
    memory[_ASK] = ask
    memory[_GIVE] = give
    memory[_CASH] = cash


@kernel
def planned(memory: Row) -> tuple[int, int, int]:
    """The planned offer: goods asked for, goods given, dollars given."""
    return int(memory[_ASK]), int(memory[_GIVE]), int(memory[_CASH])


@kernel
def compose(game: Game, memory: Row) -> int:
    """The next step of composing the planned offer; cancel where the rules do not allow it."""
    if game.decision == agenda.ASK:
        return _pick(game, A_ASK, int(memory[_ASK]) & ~int(game.offer_ask))
    if game.decision == agenda.GIVE:
        return _pick(game, A_GIVE, int(memory[_GIVE]) & ~int(game.offer_give))
    return _pick_cash(game, int(memory[_CASH]) - int(game.offer_cash))


@kernel
def _pick(game: Game, start: int, missing: int) -> int:
    """The next good in rising order, then done."""
    action = lowest(missing) if missing else GOODS_DONE
    return start + (action if legal(game, start + action, 1) else GOODS_CANCEL)


@kernel
def _pick_cash(game: Game, missing: int) -> int:
    """The largest note that is still missing, then done."""
    first = A_CASH + 1 if missing > 0 else A_CASH + 1 + len(NOTES)
    for i in range(len(NOTES)):
        if NOTES[i] <= abs(missing) and legal(game, first + i, 1):
            return first + i
    return A_CASH if missing == 0 and legal(game, A_CASH, 1) else A_CASH + CASH_CANCEL
