"""The open question as a person meets it.

It holds each legal action with its square and its dollars, and why the others are not legal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from monopoly_env import actions, core
from monopoly_env.actions import (
    A_BUILD,
    A_BUY,
    A_JAIL,
    A_MORTGAGE,
    A_SELL,
    A_UNMORTGAGE,
    HEAD_NAMES,
    HEAD_OF,
    HEADS,
    NOTES,
    RAISES,
)
from monopoly_env.engine import agenda
from monopoly_env.facts import board
from monopoly_env.game import Game
from monopoly_env.render.words import Names
from monopoly_table import facts

_ON_LOTS: Final = ("build", "sell", "mortgage", "unmortgage", "trade_ask", "trade_give")
_PRICED: Final = ("build", "mortgage", "unmortgage")
_LEVELS: Final = ("none yet", "only 1 house", "only 2 houses", "only 3 houses", "only 4 houses")


def legal(game: Game, names: Names) -> list[dict[str, Any]]:
    """The legal actions; empty once the game is over."""
    costs = facts.costs(game)
    return [
        _action(game, int(action), int(costs[action]), names) for action in core.legal_actions(game)
    ]


def _action(game: Game, action: int, cost: int, names: Names) -> dict[str, Any]:
    kind = HEAD_NAMES[HEAD_OF[action]]
    index = action - HEADS[kind].start
    lot = index if kind in _ON_LOTS and index < board.NUM_LOTS else None
    if kind == "buy":
        lot = int(game.agenda[game.depth - 1, 2])
    return {
        "action": action,
        "kind": kind,
        "text": _text(game, action, kind, index, names),
        "lot": lot,
        "square": None if lot is None else int(board.LOT_SQUARE[game.rules.board, lot]),
        "dollars": _dollars(game, action, kind, index, cost),
        "to": (int(game.player) + index + 1) % int(game.num_players) if kind == "trade" else None,
    }


def _dollars(game: Game, action: int, kind: str, index: int, cost: int) -> int | None:
    if kind in _PRICED and game.decision != agenda.PLACE:
        return cost
    if action == A_JAIL:
        return cost
    if action == A_BUY + 1:
        return facts.price_for_sale(game)
    if kind == "sell":
        return facts.sale(game, action)
    if kind == "bid" and index:
        base = (
            int(game.sealed[game.player])
            if game.decision == agenda.SEALED_BID
            else facts.bid_base(game)
        )
        return base + RAISES[index - 1]
    if kind == "trade_cash" and 0 < index <= 2 * len(NOTES):
        return NOTES[(index - 1) % len(NOTES)]
    return None


def _text(game: Game, action: int, kind: str, index: int, names: Names) -> str:
    """The action in words; going on and trading say what that is here."""
    if kind == "trade":
        return f"trade with {names[(int(game.player) + index + 1) % int(game.num_players)]}"
    return going_on(game) if kind == "turn" else actions.describe(action, game)


def going_on(game: Game) -> str:
    """What the action `go on` does here."""
    if game.decision == agenda.DEBT:
        return "give up"
    if game.decision == agenda.JAIL:
        return "stay in jail" if game.agenda[game.depth - 1, 2] else "throw the dice"
    when = int(game.agenda[game.depth - 1, 2])
    return {agenda.BEFORE_THROW: "throw the dice", agenda.AFTER_THROW: "end the turn"}.get(
        when, "go on"
    )


# --- what is not legal, and why


def refusals(game: Game, names: Names) -> list[dict[str, Any]]:
    """Typical actions on the board that are not legal now, each with the reason."""
    if not game.decision:
        return []
    found = [*_purchase(game), *_lots(game, names)]
    return [{"kind": kind, "square": square, "text": text} for kind, square, text in found]


def _purchase(game: Game) -> Iterator[tuple[str, int, str]]:
    if game.decision == agenda.BUY and not _is_legal(game, A_BUY + 1):
        lot = int(game.agenda[game.depth - 1, 2])
        told = (
            f"{_name(game, lot)} costs ${facts.price_for_sale(game):,}, and you have"
            f" ${game.cash[game.player]:,}."
        )
        yield "buy", _square(game, lot), told


def _lots(game: Game, names: Names) -> Iterator[tuple[str, int, str]]:
    """The lots of the player to move, and those of the others."""
    seat, costs = int(game.player), facts.costs(game)
    for lot in range(board.NUM_LOTS):
        owner = owner_of(game, lot)
        if owner is None:
            continue
        if owner != seat:
            if lot < board.NUM_STREETS and game.decision == agenda.WINDOW:
                yield "build", _square(game, lot), f"{_name(game, lot)} belongs to {names[owner]}."
            continue
        if lot < board.NUM_STREETS and not _is_legal(game, A_BUILD + lot):
            yield (
                "build",
                _square(game, lot),
                f"{_name(game, lot)}: {_no_building(game, lot, int(costs[A_BUILD + lot]))}",
            )
        if lot < board.NUM_STREETS and game.level[lot] and not _is_legal(game, A_SELL + lot):
            yield "sell", _square(game, lot), f"{_name(game, lot)}: {_no_sale(game, lot)}"
        mortgaged = bool(int(game.mortgaged) >> lot & 1)
        if not mortgaged and not _is_legal(game, A_MORTGAGE + lot):
            yield "mortgage", _square(game, lot), f"{_name(game, lot)}: {_no_mortgage(game, lot)}"
        if mortgaged and not _is_legal(game, A_UNMORTGAGE + lot):
            yield (
                "unmortgage",
                _square(game, lot),
                f"{_name(game, lot)}: {_no_lifting(game, int(costs[A_UNMORTGAGE + lot]))}",
            )


_ANOTHER_TIME: Final = "only in a window of the turn."


def _no_building(game: Game, lot: int, cost: int) -> str:
    seat, group = int(game.player), _group(lot)
    missing = [other for other in group if not int(game.lots[seat]) >> other & 1]
    lowest = min(int(game.level[other]) for other in group)
    if game.decision not in (agenda.WINDOW, agenda.PLACE):
        return _ANOTHER_TIME
    if missing:
        return f"you need the whole group; {_name(game, missing[0])} is missing."
    if any(int(game.mortgaged) >> other & 1 for other in group):
        return "a lot of the group is mortgaged."
    if game.level[lot] == board.HOTEL:
        return "it has a hotel."
    if game.level[lot] > lowest:
        return f"build evenly: another street of the group has {_LEVELS[lowest]}."
    if cost > game.cash[seat]:
        return f"it costs ${cost:,}, and you have ${game.cash[seat]:,}."
    return _no_piece(game, lot)


def _no_piece(game: Game, lot: int) -> str:
    hotel = game.level[lot] >= game.rules.hotel_after
    if not (game.hotels if hotel else game.houses):
        return f"the bank has no {'hotel' if hotel else 'house'}."
    return "the rules do not allow it now."


def _no_sale(game: Game, lot: int) -> str:
    if game.decision not in (agenda.WINDOW, agenda.DEBT, agenda.BUY, agenda.TAKEOVER):
        return _ANOTHER_TIME
    if game.level[lot] < max(int(game.level[other]) for other in _group(lot)):
        return "sell evenly: another street of the group has more."
    return "the bank has no houses to break the hotel into, or the rules do not allow it now."


def _no_mortgage(game: Game, lot: int) -> str:
    if game.decision not in (agenda.WINDOW, agenda.DEBT, agenda.BUY, agenda.TAKEOVER):
        return _ANOTHER_TIME
    if lot < board.NUM_STREETS and any(game.level[other] for other in _group(lot)):
        return "sell the buildings of the group first."
    return "the rules do not allow it now."


def _no_lifting(game: Game, cost: int) -> str:
    if game.decision != agenda.WINDOW:
        return _ANOTHER_TIME
    return f"it costs ${cost:,}, and you have ${game.cash[game.player]:,}."


def owner_of(game: Game, lot: int) -> int | None:
    """The seat that owns a lot; None for the bank."""
    return next((seat for seat in range(game.num_players) if int(game.lots[seat]) >> lot & 1), None)


def _group(lot: int) -> range:
    group = board.GROUP_OF[lot]
    start = int(board.GROUP_START[group])
    return range(start, start + int(board.GROUP_SIZE[group]))


def _name(game: Game, lot: int) -> str:
    return str(board.LOT_NAME[int(game.rules.board)][lot])


def _square(game: Game, lot: int) -> int:
    return int(board.LOT_SQUARE[game.rules.board, lot])


def _is_legal(game: Game, action: int) -> bool:
    return bool(int(game.legal[action >> 5]) >> (action & 31) & 1)
