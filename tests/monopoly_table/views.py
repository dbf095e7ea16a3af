"""A frame of the protocol as tests read it: names in place of numbers, sets in place of bits."""

from __future__ import annotations

from typing import Any

from monopoly_env import actions
from monopoly_env.actions import A_REPLY, A_TRADE, HEAD_NAMES, HEAD_OF, HEADS
from monopoly_env.engine.trade import COUNTER
from monopoly_env.facts import board
from monopoly_env.facts.cards import DECKS
from monopoly_env.facts.editions import EDITION_NAMES
from monopoly_env.game import CHANCE_GOOD, ENDINGS

OFFERING = ("trade_ask", "trade_give", "trade_cash", "reply")
ON_LOTS = ("build", "sell", "mortgage", "unmortgage", "trade_ask", "trade_give")


def merged(known: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """A frame with its changes, as the page merges them."""
    parts = {
        part: known.get(part, {}) | change[part] for part in ("record", "derived") if part in change
    }
    return known | change | parts


def view_of(frame: dict[str, Any]) -> dict[str, Any]:
    record, over = frame["record"], frame["record"]["ending"] != 0
    edition, decision = EDITION_NAMES.index(frame["rules"]["board"]), record["decision"]
    name = actions.DECISION_NAMES[decision]
    view = frame | {
        "over": over,
        "turn": record["turns"],
        "dice": record["dice"],
        "ending": ENDINGS[record["ending"]] if over else None,
        "winners": [seat for seat, place in enumerate(record["place"]) if over and place == 1],
        "question": None if not decision else {"seat": record["player"], "decision": name},
        "players": [
            player | holdings(record, seat) for seat, player in enumerate(frame["players"])
        ],
        "lots": [lot_of(frame, edition, lot) for lot in range(board.NUM_LOTS)],
    }
    view["actions"] = [
        action_of(frame, edition, name, action)
        for action in range(actions.NUM_ACTIONS)
        if record["legal"][action >> 5] >> (action & 31) & 1
    ]
    view["may_offer"] = [one["to"] for one in view["actions"] if one["kind"] == "trade"]
    if any(one["action"] == A_REPLY + COUNTER for one in view["actions"]):
        view["may_offer"] = [record["offer_from"]]
    cash = record["offer_cash"]
    view["offer"] = name in OFFERING and {
        "from": record["offer_from"],
        "to": record["offer_to"],
        "give": goods(record["offer_give"], max(0, cash)),
        "ask": goods(record["offer_ask"], max(0, -cash)),
        "counter": bool(record["offer_counter"]),
    }
    view["auction"] = (
        {
            "bid": record["auction_bid"],
            "most": frame["derived"]["bid_limit"],
            "sealed": name == "sealed_bid",
        }
        if name in ("bid", "sealed_bid")
        else None
    )
    return view


def holdings(record: dict[str, Any], seat: int) -> dict[str, Any]:
    return {
        "cash": record["cash"][seat],
        "lots": board.lots_of(record["lots"][seat]),
        "jail": record["jail"][seat] - 1 if record["jail"][seat] else None,
        "out": record["place"][seat] > 1,
    }


def lot_of(frame: dict[str, Any], edition: int, lot: int) -> dict[str, Any]:
    record, rent = frame["record"], frame["derived"]["rent"][lot]
    owners = [seat for seat, lots in enumerate(record["lots"]) if lots >> lot & 1]
    return {
        "lot": lot,
        "name": board.LOT_NAME[edition][lot],
        "owner": owners[0] if owners else None,
        "level": record["level"][lot] if lot < board.NUM_STREETS else 0,
        "mortgaged": bool(record["mortgaged"] >> lot & 1),
        "rent": None if rent < 0 else rent,
    }


def action_of(frame: dict[str, Any], edition: int, decision: str, action: int) -> dict[str, Any]:
    kind = HEAD_NAMES[HEAD_OF[action]]
    index, seats = action - HEADS[kind].start, frame["record"]["num_players"]
    on_lot = kind in ON_LOTS and index < board.NUM_LOTS
    return {
        "action": action,
        "kind": kind,
        "text": actions.text_of(action, decision, edition),
        "square": int(board.LOT_SQUARE[edition, index]) if on_lot else None,
        "dollars": frame["derived"]["cost"][action] or None,
        "to": (frame["record"]["player"] + action - A_TRADE + 1) % seats
        if kind == "trade"
        else None,
    }


def goods(bits: int, dollars: int) -> dict[str, Any]:
    held = [deck for number, deck in enumerate(DECKS) if bits >> CHANCE_GOOD + number & 1]
    return {"lots": board.lots_of(bits & board.ALL_LOTS), "cards": held, "dollars": dollars}
