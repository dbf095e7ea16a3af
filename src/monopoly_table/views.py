"""A position as clients read it.

It is everything on the table, the open question and its answers, in JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from monopoly_env import actions, core
from monopoly_env.engine import agenda
from monopoly_env.engine.building import HOUSE_LOT
from monopoly_env.facts import board
from monopoly_env.facts.cards import DECKS
from monopoly_env.game import CHANCE_GOOD, ENDINGS, NOBODY, Game
from monopoly_env.render import words
from monopoly_env.render.svg import PLAYER_COLOURS, draw
from monopoly_env.render.text import PLAYERS
from monopoly_env.rules import Rules
from monopoly_table import choices, facts

_OFFERING: Final = ("trade_ask", "trade_give", "trade_cash", "reply")


def view(
    game: Game, names: Sequence[str], version: int, game_id: str = "", digest: str = ""
) -> dict[str, Any]:
    """A position in JSON, as docs/protocol.md describes it.

    What depends on the client or on the table is empty.
    """
    rules = Rules.from_record(game.rules)
    over = core.is_over(game)
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
        "actions": choices.legal(game, names),
        "refusals": choices.refusals(game, names),
        "offer": _offer(game),
        "auction": _auction(game),
        "over": over,
        "ending": ENDINGS[game.ending] if over else None,
        "winners": [seat for seat in range(game.num_players) if over and game.place[seat] == 1],
        "you": [],
        "undo": False,
        "may_offer": may_offer(game),
        "speed": 0.0,
        "paused": False,
        "stalled": None,
        "chosen": None,
    }


def picture(game: Game) -> str:
    """The board as SVG."""
    return draw(game).svg


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
            "cash": int(game.cash[seat]),
            "worth": int(worth[seat]),
            "square": int(game.position[seat]),
            "where": _where(game, seat),
            "jail": int(game.jail[seat]) - 1 if game.jail[seat] else None,
            "jail_cards": [
                deck
                for number, deck in enumerate(DECKS)
                if int(game.jail_cards[seat]) >> number & 1
            ],
            "lots": board.lots_of(game.lots[seat]),
            "place": int(game.place[seat]),
            "out": bool(game.place[seat] > 1),
        }
        for seat in range(game.num_players)
    ]


def _where(game: Game, seat: int) -> str:
    failed = int(game.jail[seat]) - 1
    if failed < 0:
        return str(board.SQUARE_NAME[int(game.rules.board)][game.position[seat]])
    return f"in jail, {failed} failed throw{'' if failed == 1 else 's'}"


def _lots(game: Game) -> list[dict[str, Any]]:
    edition, owed = int(game.rules.board), facts.rents(game)
    return [
        {
            "lot": lot,
            "name": board.LOT_NAME[edition][lot],
            "square": int(board.LOT_SQUARE[edition, lot]),
            "group": int(board.GROUP_OF[lot]),
            "owner": choices.owner_of(game, lot),
            "level": int(game.level[lot]) if lot < board.NUM_STREETS else 0,
            "mortgaged": bool(int(game.mortgaged) >> lot & 1),
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
        "give": goods(int(game.offer_give), max(0, cash)),
        "ask": goods(int(game.offer_ask), max(0, -cash)),
        "counter": bool(game.offer_counter),
    }


def goods(bits: int, dollars: int) -> dict[str, Any]:
    """One side of an offer."""
    return {
        "lots": board.lots_of(bits & board.ALL_LOTS),
        "cards": [deck for number, deck in enumerate(DECKS) if bits >> CHANCE_GOOD + number & 1],
        "dollars": dollars,
    }


def _auction(game: Game) -> dict[str, Any] | None:
    if game.decision not in (agenda.BID, agenda.SEALED_BID):
        return None
    lot = int(game.auction_lot)
    return {
        "lot": lot if lot < HOUSE_LOT else None,
        "name": words.lot_name(game, lot),
        "bid": int(game.auction_bid),
        "leader": None if game.auction_leader == NOBODY else int(game.auction_leader),
        "bidders": [
            seat for seat in range(game.num_players) if int(game.auction_bidders) >> seat & 1
        ],
        "sealed": bool(game.decision == agenda.SEALED_BID),
        "most": facts.bid_limit(game),
    }


def may_offer(game: Game) -> list[int]:
    """The seats to which the player to move may make an offer now.

    In a reply, the counter-offer goes to the one who offered.
    """
    if game.decision == agenda.REPLY:
        return (
            [int(game.offer_from)] if int(game.legal[_COUNTER >> 5]) >> (_COUNTER & 31) & 1 else []
        )
    return [
        (int(game.player) + offset) % int(game.num_players)
        for offset in range(1, int(game.num_players))
        if int(game.legal[(actions.A_TRADE + offset - 1) >> 5])
        >> ((actions.A_TRADE + offset - 1) & 31)
        & 1
    ]


_COUNTER: Final = actions.A_REPLY + 2
