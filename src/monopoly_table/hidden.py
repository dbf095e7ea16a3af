"""Hidden information: seeds, future dice, the order of unseen cards and sealed bids.

All answers to clients are made from a record without it. A sealed bid is composed note by note, and
each note is a decision: clients can count the notes, but can't see their values.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from typing import Any

from monopoly_env import core, replays
from monopoly_env.actions import A_BID, RAISES
from monopoly_env.engine import agenda
from monopoly_env.facts.cards import DECKS
from monopoly_env.game import NOBODY, Game
from monopoly_env.render import words
from monopoly_env.render.words import Names
from monopoly_table.safety import Rights
from monopoly_table.storage import Step


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


def digest(game: Game, key: str) -> str:
    """A keyed hash of a record, so that guesses at hidden information can't be verified."""
    known = replays.digest(game).encode()
    return hashlib.blake2b(known, key=key.encode(), digest_size=8).hexdigest()


# --- sealed bids


def sealed_lot(game: Game) -> int | None:
    """The lot under a sealed auction, or None."""
    return int(game.auction_lot) if game.decision == agenda.SEALED_BID else None


def public(actions: Sequence[int], game: Game) -> int:
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
    unopened = log[public([step.action for step in log], game) :]
    secret = {step.version for step in unopened if step.seat not in rights.seats}
    bid = {"action": None, "text": "a sealed bid"}
    return [step.as_json() | (bid if step.version in secret else {}) for step in steps]


def view_for(view: dict[str, Any], game: Game, names: Names, rights: Rights) -> dict[str, Any]:
    """A view without another player's bid."""
    bidding = sealed_lot(game) is not None
    if bidding and int(game.player) not in rights.seats:
        subject = words.subject(seen(game), names)
        view = view | {"question": view["question"] | {"subject": subject}, "actions": []}
    if view["stalled"] and (bidding or not rights.host):  # its error may reveal the bid
        error = "The policy failed: the host gives the seat to another player."
        view = view | {"stalled": view["stalled"] | {"error": error}}
    return view
