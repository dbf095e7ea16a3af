"""A position in JSON: the table, the question, legal actions, and reasons for illegal ones.

Also the constants that a page needs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from monopoly_env import actions, core
from monopoly_env.actions import (
    A_BUILD,
    A_BUY,
    A_JAIL,
    A_MORTGAGE,
    A_SELL,
    A_TRADE,
    A_UNMORTGAGE,
    HEAD_NAMES,
    HEAD_OF,
    HEADS,
    NOTES,
    RAISES,
)
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT
from monopoly_env.engine.trade import COUNTER
from monopoly_env.facts import board, cards
from monopoly_env.facts.editions import EDITION_NAMES
from monopoly_env.game import CHANCE_GOOD, ENDINGS, NOBODY, Game
from monopoly_env.render import words
from monopoly_env.render.svg import GROUP_COLOURS, PLAYER_COLOURS, draw
from monopoly_env.render.text import PLAYERS
from monopoly_env.render.words import Names
from monopoly_env.rules import PRESETS, Rules
from monopoly_table import prices, safety

_OFFERING: Final = ("trade_ask", "trade_give", "trade_cash", "reply")
_ON_LOTS: Final = ("build", "sell", "mortgage", "unmortgage", "trade_ask", "trade_give")
_PRICED: Final = ("build", "mortgage", "unmortgage")
_LEVELS: Final = ("none yet", "only 1 house", "only 2 houses", "only 3 houses", "only 4 houses")


def view(
    game: Game, names: Sequence[str], version: int, game_id: str = "", digest: str = ""
) -> dict[str, Any]:
    """A position in JSON, as docs/protocol.md describes it.

    Fields that depend on the client or on the running game are empty.
    """
    rules, over = Rules.from_record(game.rules), core.is_over(game)
    return {
        "game": game_id,
        "version": version,
        "digest": digest,
        "turn": int(game.turns),
        "round": int(game.rounds) + 1,
        "on_turn": int(game.turn),
        "dice": [int(die) for die in game.dice],
        "rules": {"board": rules.board, "changed": rules.changed()},
        "players": _players(game, names),
        "lots": _lots(game),
        "bank": {"houses": int(game.houses), "hotels": int(game.hotels), "pot": int(game.pot)},
        "question": None if over else _question(game, names),
        "actions": legal(game, names),
        "refusals": _refusals(game, names),
        "offer": _offer(game),
        "auction": _auction(game),
        "over": over,
        "ending": ENDINGS[game.ending] if over else None,
        "winners": winners(game),
        "you": [],
        "undo": False,
        "may_offer": may_offer(game),
        "speed": 0.0,
        "paused": False,
        "stalled": None,
        "chosen": None,
    }


def board_svg(game: Game) -> str:
    """The drawn board."""
    return draw(game).svg


def shown(game: Game) -> dict[str, Any]:
    """A position outside any game: its view and its board."""
    return {"view": view(game, default_names(game), 0), "board": board_svg(game)}


def default_names(game: Game) -> list[str]:
    """Default names of players."""
    return [f"Player {letter}" for letter in PLAYERS[: int(game.num_players)]]


def winners(game: Game) -> list[int]:
    """The seats of the winners; empty before the end."""
    over = core.is_over(game)
    return [seat for seat in range(game.num_players) if over and game.place[seat] == 1]


def allows(game: Game, action: int) -> bool:
    """Whether an action is legal now."""
    return bool(int(game.legal[action >> 5]) >> (action & 31) & 1)


def square_of(game: Game, lot: int) -> int:
    """The square of a lot."""
    return int(board.LOT_SQUARE[game.rules.board, lot])


def _players(game: Game, names: Sequence[str]) -> list[dict[str, Any]]:
    worth = core.worth(game)
    return [
        {
            "seat": seat,
            "letter": PLAYERS[seat],
            "name": names[seat],
            "kind": "policy",
            "policy": None,
            "connected": False,
            "colour": PLAYER_COLOURS[seat],
            "worth": int(worth[seat]),
            "where": _where(game, seat),
            "place": int(game.place[seat]),
            "out": bool(game.place[seat] > 1),
            **_holdings(game, seat),
        }
        for seat in range(game.num_players)
    ]


def _holdings(game: Game, seat: int) -> dict[str, Any]:
    return {
        "cash": int(game.cash[seat]),
        "square": int(game.position[seat]),
        "jail": int(game.jail[seat]) - 1 if game.jail[seat] else None,
        "jail_cards": _decks(int(game.jail_cards[seat])),
        "lots": board.lots_of(game.lots[seat]),
    }


def _decks(bits: int) -> list[str]:
    return [deck for number, deck in enumerate(cards.DECKS) if bits >> number & 1]


def _where(game: Game, seat: int) -> str:
    failed = int(game.jail[seat]) - 1
    if failed < 0:
        return str(board.SQUARE_NAME[int(game.rules.board)][game.position[seat]])
    return f"in jail, {failed} failed throw{'' if failed == 1 else 's'}"


def _lots(game: Game) -> list[dict[str, Any]]:
    edition, owed, owners = int(game.rules.board), prices.rents(game), _owners(game)
    mortgaged, levels = int(game.mortgaged), game.level.tolist()
    return [
        {
            "lot": lot,
            "name": board.LOT_NAME[edition][lot],
            "square": int(board.LOT_SQUARE[edition, lot]),
            "group": int(board.GROUP_OF[lot]),
            "owner": owners[lot],
            "level": levels[lot] if lot < board.NUM_STREETS else 0,
            "mortgaged": _has(mortgaged, lot),
            "rent": owed[lot],
        }
        for lot in range(board.NUM_LOTS)
    ]


def _question(game: Game, names: Sequence[str]) -> dict[str, Any]:
    decision = actions.DECISION_NAMES[game.decision]
    return {
        "seat": int(game.player),
        "decision": decision,
        "text": actions.DECISIONS[decision],
        "subject": words.subject(game, names),
    }


def _offer(game: Game) -> dict[str, Any] | None:
    if actions.DECISION_NAMES[game.decision] not in _OFFERING:
        return None
    cash = int(game.offer_cash)
    return {
        "from": int(game.offer_from),
        "to": int(game.offer_to),
        "give": _goods(int(game.offer_give), max(0, cash)),
        "ask": _goods(int(game.offer_ask), max(0, -cash)),
        "counter": bool(game.offer_counter),
    }


def _goods(bits: int, dollars: int) -> dict[str, Any]:
    """One side of an offer."""
    lots = board.lots_of(bits & board.ALL_LOTS)
    return {"lots": lots, "cards": _decks(bits >> CHANCE_GOOD), "dollars": dollars}


def _auction(game: Game) -> dict[str, Any] | None:
    if game.decision not in (agenda.BID, agenda.SEALED_BID):
        return None
    lot = int(game.auction_lot)
    return {
        "lot": lot if lot < HOUSE_LOT else None,
        "name": words.lot_name(game, lot),
        "bid": int(game.auction_bid),
        "leader": None if game.auction_leader == NOBODY else int(game.auction_leader),
        "bidders": [seat for seat in range(game.num_players) if _has(game.auction_bidders, seat)],
        "sealed": bool(game.decision == agenda.SEALED_BID),
        "most": prices.bid_limit(game),
    }


def may_offer(game: Game) -> list[int]:
    """The seats to which the player to move may make an offer or a counter-offer now."""
    if game.decision == agenda.REPLY:
        return [int(game.offer_from)] if allows(game, actions.A_REPLY + COUNTER) else []
    players = int(game.num_players)
    return [
        (int(game.player) + offset) % players
        for offset in range(1, players)
        if allows(game, A_TRADE + offset - 1)
    ]


def setup_of(game: Game) -> dict[str, Any]:
    """The board of a position as a `PositionSetup`, before the throw of the seat on turn."""
    owned = sum(int(lots) for lots in game.lots)  # sets of lots are disjoint
    return {
        "rules": {"preset": "official", "options": Rules.from_record(game.rules).changed()},
        "seed": 0,
        "turn": int(game.turn),
        "streak": 0,
        "pot": int(game.pot),
        "players": [
            _holdings(game, seat)
            | {"cash": max(0, int(game.cash[seat])), "bankrupt": bool(game.place[seat])}
            for seat in range(game.num_players)
        ],
        "buildings": [
            {"lot": lot, "level": int(game.level[lot])}
            for lot in range(board.NUM_STREETS)
            if game.level[lot]
        ],
        "mortgaged": board.lots_of(int(game.mortgaged) & owned),
        "throws": [],
        "chance": [],
        "community_chest": [],
    }


# --- legal actions


def legal(game: Game, names: Names) -> list[dict[str, Any]]:
    """The legal actions; empty once the game is over."""
    costs = prices.costs(game)
    return [
        _action(game, int(action), int(costs[action]), names) for action in core.legal_actions(game)
    ]


def _action(game: Game, action: int, cost: int, names: Names) -> dict[str, Any]:
    kind = HEAD_NAMES[HEAD_OF[action]]
    index = action - HEADS[kind].start
    lot = index if kind in _ON_LOTS and index < board.NUM_LOTS else None
    if kind == "buy":
        lot = int(game.agenda[game.depth - 1, 2])
    to = (int(game.player) + index + 1) % int(game.num_players) if kind == "trade" else None
    text = going_on(game) if kind == "turn" else actions.describe(action, game)
    return {
        "action": action,
        "kind": kind,
        "text": text if to is None else f"trade with {names[to]}",
        "lot": lot,
        "square": None if lot is None else square_of(game, lot),
        "dollars": _dollars(game, action, kind, index, cost),
        "to": to,
    }


def _dollars(game: Game, action: int, kind: str, index: int, cost: int) -> int | None:
    if (kind in _PRICED and game.decision != agenda.PLACE) or action == A_JAIL:
        return cost
    if action == A_BUY + 1:
        return prices.price_for_sale(game)
    if kind == "sell":
        return prices.sale(game, action)
    if kind == "bid" and index:
        sealed = game.decision == agenda.SEALED_BID
        base = int(game.sealed[game.player]) if sealed else prices.bid_base(game)
        return base + RAISES[index - 1]
    if kind == "trade_cash" and 0 < index <= 2 * len(NOTES):
        return NOTES[(index - 1) % len(NOTES)]
    return None


def going_on(game: Game) -> str:
    """The meaning of the action `go on` here."""
    if game.decision == agenda.DEBT:
        return "give up"
    when = int(game.agenda[game.depth - 1, 2])
    if game.decision == agenda.JAIL:
        return "stay in jail" if when else "throw the dice"
    names = {agenda.BEFORE_THROW: "throw the dice", agenda.AFTER_THROW: "end the turn"}
    return names.get(when, "go on")


# --- reasons why actions are not legal


def _refusals(game: Game, names: Names) -> list[dict[str, Any]]:
    """Typical actions on the board that are illegal now, each with the reason."""
    if not game.decision:
        return []
    name = board.LOT_NAME[int(game.rules.board)]
    return [
        {"kind": kind, "square": square_of(game, lot), "text": name[lot] + reason}
        for kind, lot, reason in (*_purchase(game), *_lot_actions(game, names))
    ]


def _purchase(game: Game) -> Iterator[tuple[str, int, str]]:
    if game.decision == agenda.BUY and not allows(game, A_BUY + 1):
        price, cash = prices.price_for_sale(game), game.cash[game.player]
        yield (
            "buy",
            int(game.agenda[game.depth - 1, 2]),
            f" costs ${price:,}, and you have ${cash:,}.",
        )


def _lot_actions(game: Game, names: Names) -> Iterator[tuple[str, int, str]]:
    """Actions on the lots of the player to move, and on those of other players."""
    seat, costs = int(game.player), prices.costs(game)
    for lot, owner in enumerate(_owners(game)):
        if owner is None:
            continue
        is_street = lot < board.NUM_STREETS
        if owner != seat:
            if is_street and game.decision == agenda.WINDOW:
                yield "build", lot, f" belongs to {names[owner]}."
            continue
        if is_street and not allows(game, A_BUILD + lot):
            yield "build", lot, ": " + _no_building(game, lot, int(costs[A_BUILD + lot]))
        if is_street and game.level[lot] and not allows(game, A_SELL + lot):
            yield "sell", lot, ": " + _no_sale(game, lot)
        if _has(game.mortgaged, lot):
            if not allows(game, A_UNMORTGAGE + lot):
                yield "unmortgage", lot, ": " + _no_lifting(game, int(costs[A_UNMORTGAGE + lot]))
        elif not allows(game, A_MORTGAGE + lot):
            yield "mortgage", lot, ": " + _no_mortgage(game, lot)


_ANOTHER_TIME: Final = "only in a window of the turn."
_RAISING_CASH: Final = (agenda.WINDOW, agenda.DEBT, agenda.BUY, agenda.TAKEOVER)


def _no_building(game: Game, lot: int, cost: int) -> str:
    seat, group = int(game.player), _group(lot)
    missing = [other for other in group if not _has(game.lots[seat], other)]
    lowest = min(int(game.level[other]) for other in group)
    if game.decision not in (agenda.WINDOW, agenda.PLACE):
        return _ANOTHER_TIME
    if missing:
        return f"you need the whole group; {words.lot_name(game, missing[0])} is missing."
    if any(_has(game.mortgaged, other) for other in group):
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
    if game.decision not in _RAISING_CASH:
        return _ANOTHER_TIME
    if game.level[lot] < max(int(game.level[other]) for other in _group(lot)):
        return "sell evenly: another street of the group has more."
    return "the bank has no houses to break the hotel into, or the rules do not allow it now."


def _no_mortgage(game: Game, lot: int) -> str:
    if game.decision not in _RAISING_CASH:
        return _ANOTHER_TIME
    if lot < board.NUM_STREETS and any(game.level[other] for other in _group(lot)):
        return "sell the buildings of the group first."
    return "the rules do not allow it now."


def _no_lifting(game: Game, cost: int) -> str:
    if game.decision != agenda.WINDOW:
        return _ANOTHER_TIME
    return f"it costs ${cost:,}, and you have ${game.cash[game.player]:,}."


def _owners(game: Game) -> list[int | None]:
    """The owner of each lot; None for the bank."""
    owners: list[int | None] = [None] * board.NUM_LOTS
    for seat in range(game.num_players):
        for lot in board.lots_of(game.lots[seat]):
            owners[lot] = seat
    return owners


def _group(lot: int) -> list[int]:
    return board.lots_of(int(board.GROUP_LOTS[board.GROUP_OF[lot]]))


def _has(bits: Any, number: int) -> bool:
    return bool(int(bits) >> number & 1)


# --- constants


@cache
def constants() -> dict[str, Any]:
    """Rules, boards, cards, colours and limits."""
    try:
        ours = version("monopoly-env")
    except PackageNotFoundError:  # run from a folder
        ours = "unknown"
    options = dataclasses.fields(Rules)
    return {
        "version": ours,
        "rules": {
            "presets": PRESETS,
            "options": [
                {"name": one.name, "default": one.default, **one.metadata} for one in options
            ],
        },
        "colours": list(PLAYER_COLOURS),
        "letters": list(PLAYERS),
        "groups": [
            {"name": name, "colour": colour, "lots": board.lots_of(int(lots))}
            for name, colour, lots in zip(
                board.GROUPS, GROUP_COLOURS, board.GROUP_LOTS, strict=False
            )
        ],
        "boards": {
            name: [_square(edition, square) for square in range(board.NUM_SQUARES)]
            for edition, name in enumerate(EDITION_NAMES)
        },
        "cards": {name: _cards(edition) for edition, name in enumerate(EDITION_NAMES)},
        "limits": {"upload": safety.MOST_UPLOAD, "players": [2, 8], "speed": [0, 10]},
    }


def _square(edition: int, square: int) -> dict[str, Any]:
    lot = int(board.SQUARE_LOT[edition, square])
    facts = {
        "square": square,
        "name": board.SQUARE_NAME[edition][square],
        "kind": board.KINDS[board.SQUARE_KIND[edition, square]],
        "lot": lot if lot >= 0 else None,
    }
    if lot < 0:
        return facts
    return facts | {
        "group": int(board.GROUP_OF[lot]),
        "price": int(board.PRICE[edition, lot]),
        "mortgage": int(board.MORTGAGE[edition, lot]),
        "house_price": int(board.HOUSE_PRICE[edition, lot]),
        "rent": [int(dollars) for dollars in board.RENT[edition, lot] if dollars],
    }


def _cards(edition: int) -> dict[str, Any]:
    return {
        deck: [
            {"id": card, "label": label}
            for card, label in zip(
                cards.CARD_ID[edition][number], cards.CARD_LABEL[edition][number], strict=True
            )
        ]
        for number, deck in enumerate(cards.DECKS)
    }
