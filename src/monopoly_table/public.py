"""What clients may see of a game: facts without hidden information, as docs/protocol.md has them.

Hidden are seeds, dice to come, the order of unseen cards, and sealed bids. A sealed bid is composed
note by note, and each note is a decision: clients can count the notes, but can't see their values.
"""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import numpy as np

from monopoly_env import actions, core, events, replays
from monopoly_env.actions import A_BID, HEADS, NOTES, RAISES
from monopoly_env.derived import DERIVED, REASONS, derive
from monopoly_env.engine import agenda
from monopoly_env.facts import board, cards
from monopoly_env.facts.cards import DECKS
from monopoly_env.facts.editions import EDITION_NAMES
from monopoly_env.game import ENDINGS, NOBODY, Game
from monopoly_env.offers import REFUSALS
from monopoly_env.render.svg import GROUP_COLOURS, PLAYER_COLOURS
from monopoly_env.render.text import PLAYERS
from monopoly_env.rules import PRESETS, Rules
from monopoly_table import safety
from monopoly_table.safety import Rights
from monopoly_table.storage import Step

# The fields of a record that clients get; a field that is not named here stays on the server.
PUBLIC: Final = (
    "legal", "cash", "lots", "sealed", "mortgaged", "pot", "turns", "rounds", "auction_bid",
    "offer_ask", "offer_give", "offer_cash", "traded", "num_players", "turn", "decision", "player",
    "streak", "again", "dice", "houses", "hotels", "position", "jail", "jail_cards", "place",
    "offers", "level", "auction_lot", "auction_leader", "auction_bidders", "offer_from", "offer_to",
    "offer_counter", "ending",
)  # fmt: skip


def frame(
    game: Game,
    players: Sequence[Mapping[str, Any]],
    version: int,
    digest: str = "",
    own: int = NOBODY,
) -> dict[str, Any]:
    """A position as facts. Fields that depend on the client or on the running game are empty.

    Args:
        game: The game, hidden information included.
        players: Name, kind and policy of each seat.
        version: The number of decisions so far.
        digest: The keyed hash of the position.
        own: The seat whose sealed bid is shown.
    """
    known, rules = seen(game, own), Rules.from_record(game.rules)
    if sealed_lot(game) is not None and int(game.player) != own:
        known.legal[:] = 0  # the raises that are left tell the bid
    derived = derive(known)
    return {
        "version": version,
        "digest": digest,
        "record": {name: known[name].tolist() for name in PUBLIC},
        "derived": {name: derived[name].tolist() for name in DERIVED.names or ()},
        "rules": {"board": rules.board, "changed": rules.changed()},
        "players": list(players),
        "you": [],
        "undo": False,
        "speed": 0.0,
        "paused": False,
        "stalled": None,
        "chosen": None,
    }


def player(name: str, kind: str = "policy", policy: str | None = None) -> dict[str, Any]:
    """A player of a frame."""
    return {"name": name, "kind": kind, "policy": policy, "connected": False}


def unnamed(game: Game) -> dict[str, Any]:
    """A position outside any game, as facts."""
    return frame(game, [player(name) for name in default_names(game)], 0)


def opening_step(rows: Sequence[events.Row]) -> dict[str, Any]:
    """The events before the first decision, as a step."""
    step = {"version": 0, "seat": rows[0][1], "action": None, "events": rows}
    return step | {"digest": "", "turn": 1}


def changes(known: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a frame that differs from the one that a client has."""
    changed = {name: value for name, value in now.items() if known.get(name) != value}
    for part in {"record", "derived"} & changed.keys() & known.keys():
        changed[part] = {
            name: value for name, value in now[part].items() if known[part][name] != value
        }
    return changed


def default_names(game: Game) -> list[str]:
    """Default names of players."""
    return [f"Player {letter}" for letter in PLAYERS[: int(game.num_players)]]


def winners(game: Game) -> list[int]:
    """The seats of the winners; empty before the end."""
    over = core.is_over(game)
    return [seat for seat in range(game.num_players) if over and game.place[seat] == 1]


# --- hidden information


def seen(game: Game, own: int = NOBODY) -> Game:
    """The game without hidden information: a copy to show or to analyse, not to continue.

    Games that differ only in hidden information give equal copies.

    Args:
        game: The game.
        own: The seat whose sealed bid is shown.
    """
    batch = core.batch_of(game, write=False).copy()
    for name in ("seed", "policy_draws", "forced_throws", "num_forced"):
        batch[name] = 0
    for deck in range(len(DECKS)):
        first, size = batch["deck_next"][0, deck], batch["deck_size"][0, deck]
        batch["deck"][0, deck, first:size].sort()
    if sealed_lot(game) is not None:
        bids = batch["sealed"][0]
        bids[[seat for seat in range(len(bids)) if seat != own]] = 0
    return batch[0]


def new_seed() -> int:
    """A seed from the system's randomness."""
    return secrets.randbits(64)


def new_key() -> str:
    """A key for the digests of a game."""
    return secrets.token_hex(16)


def without_seed(text: str, game: Game) -> str:
    """An error's text without the seed of the game."""
    return text.replace(str(int(game.seed[0]) | int(game.seed[1]) << 32), "(hidden)")


def keyed_digest(game: Game, key: str) -> str:
    """A keyed hash of a record, so that guesses at hidden information can't be verified."""
    known = replays.digest(game).encode()
    return hashlib.blake2b(known, key=key.encode(), digest_size=8).hexdigest()


def sealed_lot(game: Game) -> int | None:
    """The lot under a sealed auction, or None."""
    return int(game.auction_lot) if game.decision == agenda.SEALED_BID else None


def opened(actions: Sequence[int], game: Game) -> int:
    """The number of public decisions: those before the first unopened bid.

    Args:
        actions: The last actions, or all.
        game: The game after them.
    """
    count = len(actions)
    if sealed_lot(game) is not None:
        while count and A_BID <= actions[count - 1] <= A_BID + len(RAISES):
            count -= 1
    return count


def steps_for(
    steps: Sequence[Step], log: Sequence[Step], game: Game, rights: Rights
) -> list[dict[str, Any]]:
    """Steps in JSON, without bids hidden from a client.

    Args:
        steps: Some of the last steps.
        log: The last steps.
        game: The game after them.
        rights: The rights of the client.
    """
    unopened = log[opened([step.action for step in log], game) :]
    secret = {step.version for step in unopened if step.seat not in rights.seats}
    return [step.as_json() | ({"action": None} if step.version in secret else {}) for step in steps]


def stalled_for(stalled: dict[str, Any] | None, game: Game, rights: Rights) -> Any:
    """The failure of a policy, whose error may tell a bid."""
    if stalled is None or (rights.host and sealed_lot(game) is None):
        return stalled
    error = "The policy failed: the host gives the seat to another player."
    return stalled | {"error": error}


# --- positions


def setup_of(game: Game) -> dict[str, Any]:
    """The board of a position as a `PositionSetup`, before the throw of the seat on turn."""
    owned = int(np.bitwise_or.reduce(game.lots))
    return {
        "rules": {"preset": "official", "options": Rules.from_record(game.rules).changed()},
        "seed": 0,
        "turn": int(game.turn),
        "streak": 0,
        "pot": int(game.pot),
        "players": [_holdings(game, seat) for seat in range(game.num_players)],
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


def _holdings(game: Game, seat: int) -> dict[str, Any]:
    held = int(game.jail_cards[seat])
    return {
        "cash": max(0, int(game.cash[seat])),
        "square": int(game.position[seat]),
        "jail": int(game.jail[seat]) - 1 if game.jail[seat] else None,
        "jail_cards": [deck for number, deck in enumerate(DECKS) if held >> number & 1],
        "lots": board.lots_of(game.lots[seat]),
        "bankrupt": bool(game.place[seat]),
    }


# --- constants


@cache
def constants() -> dict[str, Any]:
    """Rules, actions, events, boards, cards, colours and limits."""
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
        "heads": [{"name": head.name, "start": head.start} for head in HEADS.values()],
        "notes": list(NOTES),
        "decisions": list(actions.DECISION_NAMES),
        "windows": list(_WINDOWS),
        "events": {kind: list(numbers) for kind, numbers in events.EVENTS.items()},
        "reasons": list(REASONS),
        "offer_reasons": list(REFUSALS),
        "endings": list(ENDINGS),
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
        "cards": {
            name: dict(zip(DECKS, cards.CARD_LABEL[edition], strict=True))
            for edition, name in enumerate(EDITION_NAMES)
        },
        "limits": {"upload": safety.MOST_UPLOAD, "players": [2, 8], "speed": [0, 10]},
    }


_WINDOWS: Final = ("before_throw", "after_throw", "out_of_turn")  # the first number of a window


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
