"""Offers worth a look, from the function that the package of players registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES
from monopoly_env.analyse import values
from monopoly_env.analyse.moves import TRADES, Move
from monopoly_env.game import Game
from monopoly_env.policy.names import load_packages

_FINDERS: Final[list[Callable[..., list[Move]]]] = []


def register(find: Callable[..., list[Move]]) -> None:
    """Add the finder: `find(game, policies, value=...)` returns no offer, then offers, as moves."""
    _FINDERS[:] = [find]


def may_offer(game: Game) -> bool:
    """Whether the player to move decides in its turn, and may begin an offer."""
    offers = core.action_mask(game)[list(TRADES)]
    return bool(offers.any()) and DECISION_NAMES[game.decision] == "turn"


def offers_of(game: Game, policies: Any) -> list[Move]:
    """The moves of `agents.compare_offers`; none without a finder, or if no offer is allowed."""
    load_packages()
    if not _FINDERS or not may_offer(game):
        return []
    fits = game.num_players <= values.resolve("best").most_players
    return _FINDERS[0](game, policies, value="best" if fits else "worth")
