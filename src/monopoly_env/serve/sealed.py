"""Sealed bids: until all of them are opened, nobody sees another player's.

A bid is made note by note, and every note is a decision: how many notes a bid took can be counted, what they were can't be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monopoly_env import core
from monopoly_env.actions import A_BID, RAISES
from monopoly_env.engine import agenda
from monopoly_env.game import Game


def are_running(game: Game) -> bool:
    """Whether sealed bids are being made."""
    return bool(game.decision == agenda.SEALED_BID)


def public(actions: Sequence[int], game: Game) -> int:
    """How many decisions of a game everybody may see: those up to the first bid that is not opened.

    Args:
        actions: The last actions, or all.
        game: The game after them.
    """
    count = len(actions)
    while are_running(game) and count and A_BID <= actions[count - 1] <= A_BID + len(RAISES):
        count -= 1
    return count


def without_bids(game: Game) -> Game:
    """The game as others see it: a copy in which nobody has written a bid. To look at, not to play on."""
    if not are_running(game):
        return game
    seen = core.clone(game)
    seen.sealed[:] = 0
    return seen


def hidden_step(told: dict[str, Any]) -> dict[str, Any]:
    """A step of another player's bid."""
    return told | {"action": None, "text": "a sealed bid"}


def hidden_view(view: dict[str, Any], subject: str) -> dict[str, Any]:
    """A view for those who are not asked for a bid."""
    return view | {"question": view["question"] | {"subject": subject}, "actions": []}
