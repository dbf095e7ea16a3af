"""Composing an offer that a policy has planned as a whole and keeps in memory.

A plan is three numbers: the goods asked for and the goods given (lots and jail cards, a bit each),
and the dollars given (negative: asked for).
"""

from __future__ import annotations

from typing import Final

from agents.players.vocabulary.memory import OFFER, memory_slots
from agents.players.vocabulary.reading import legal
from monopoly_env import actions
from monopoly_env.engine import agenda, trade
from monopoly_env.engine.sets import lowest
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import MEMORY, Row
from monopoly_env.rules import number

# What `game.rules.trade` may be.
OFFICIAL = number("trade", "official")
ONE_FOR_ONE = number("trade", "one_for_one")
ONE_FOR_ONE_CASH = number("trade", "one_for_one_cash")
NO_TRADES = number("trade", "none")

_SLOT: Final = memory_slots("ask", "give", "cash", start=OFFER, limit=MEMORY)


@kernel
def may_offer_to(game: Game, seat: int, partner: int) -> bool:
    """Whether a seat may begin an offer to a partner now."""
    return legal(game, actions.A_TRADE + (partner - seat) % int(game.num_players) - 1, 1) != 0


@kernel
def was_refused(
    game: Game, seat: int, partner: int, ask: int, give: int, least: float, most: float
) -> bool:
    """Whether a partner has refused these goods in this turn for dollars from `least` to `most`."""
    for i in range(game.num_refused):
        between = game.refused_from[i] == seat and game.refused_to[i] == partner
        same = game.refused_ask[i] == ask and game.refused_give[i] == give
        if between and same and least <= game.refused_cash[i] <= most:
            return True
    return False


@kernel
def begin(game: Game, partner: int, ask: int, give: int, cash: int, memory: Row) -> int:
    """Plan an offer to a partner that `may_offer_to` allows; returns the action that begins it.

    `ask` and `give` are goods, a bit each; `cash` are the dollars given, negative: asked for.
    """
    plan(ask, give, cash, memory)
    return actions.A_TRADE + (partner - int(game.player)) % int(game.num_players) - 1


@kernel
def exchange(game: Game, partner: int, ask: int, give: int, dollars: int) -> None:
    """Carry out an exchange of the player to move on a copy of a game, to judge it."""
    game.offer_from, game.offer_to = game.player, partner
    game.offer_ask, game.offer_give, game.offer_cash = ask, give, dollars
    trade.exchange(game)


@kernel
def plan(ask: int, give: int, cash: int, memory: Row) -> None:
    """Plan an offer without beginning it, as for a counter-offer."""
    memory[_SLOT.ask] = ask
    memory[_SLOT.give] = give
    memory[_SLOT.cash] = cash


@kernel
def planned(memory: Row) -> tuple[int, int, int]:
    """The planned offer: goods asked for, goods given, dollars given."""
    return int(memory[_SLOT.ask]), int(memory[_SLOT.give]), int(memory[_SLOT.cash])


@kernel
def compose(game: Game, memory: Row) -> int:
    """The next step of composing the planned offer; cancel if the rules do not allow it."""
    ask, give, cash = planned(memory)
    if game.decision == agenda.ASK:
        return _pick(game, actions.A_ASK, ask & ~int(game.offer_ask))
    if game.decision == agenda.GIVE:
        return _pick(game, actions.A_GIVE, give & ~int(game.offer_give))
    return _pick_cash(game, cash - int(game.offer_cash))


@kernel
def _pick(game: Game, start: int, missing: int) -> int:
    """The next good in rising order, then done."""
    action = lowest(missing) if missing else actions.GOODS_DONE
    return start + (action if legal(game, start + action, 1) else actions.GOODS_CANCEL)


@kernel
def _pick_cash(game: Game, missing: int) -> int:
    """The largest note that is still missing, then done."""
    first = actions.A_CASH + 1 if missing > 0 else actions.A_CASH + 1 + len(actions.NOTES)
    for i in range(len(actions.NOTES)):
        if actions.NOTES[i] <= abs(missing) and legal(game, first + i, 1):
            return first + i
    if missing == 0 and legal(game, actions.A_CASH, 1):
        return actions.A_CASH
    return actions.A_CASH + actions.CASH_CANCEL
