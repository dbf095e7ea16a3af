"""Pente as a reinforcement-learning environment.

It is a second, small game in the shape of `monopoly_env`.

docs/pente.md is a tour. Importing compiles nothing. It registers the environment with Gymnasium and
PettingZoo.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from monopoly_env.kernels import register_package

register_package(__name__)  # before its kernels are imported

import gymnasium
import pettingzoo

from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    GameOverError,
    IllegalActionError,
    MonopolyError,
    PositionError,
    RenderModeError,
    RulesError,
)
from pente_env.core import (
    action_mask,
    clone,
    digest,
    ending,
    is_over,
    legal_actions,
    name_of,
    new_game,
    new_games,
    parse,
    points,
    position,
    step,
    stones,
    takes,
    winner,
)
from pente_env.game import GAME
from pente_env.rules import Rules

if TYPE_CHECKING:
    from pente_env import fitness, matches, pente_v0
    from pente_env.player import Player, player_kernel
    from pente_env.render import draw, to_text
    from pente_env.scripted import make, names
    from pente_env.vector import VectorPente

__all__ = [
    "GAME",
    "ConfigurationError",
    "FormatError",
    "GameOverError",
    "IllegalActionError",
    "MonopolyError",
    "Player",
    "PositionError",
    "RenderModeError",
    "Rules",
    "RulesError",
    "VectorPente",
    "action_mask",
    "clone",
    "digest",
    "draw",
    "ending",
    "fitness",
    "is_over",
    "legal_actions",
    "make",
    "matches",
    "name_of",
    "names",
    "new_game",
    "new_games",
    "parse",
    "pente_v0",
    "player_kernel",
    "points",
    "position",
    "step",
    "stones",
    "takes",
    "to_text",
    "winner",
]

PETTINGZOO_ID = "pente-v0"
GYMNASIUM_ID = "pente_env/Pente-v0"
if GYMNASIUM_ID not in gymnasium.registry:
    gymnasium.register(GYMNASIUM_ID, "pente_env.gym:PenteEnv")
if PETTINGZOO_ID not in pettingzoo.aec_registry:
    pettingzoo.register("aec", PETTINGZOO_ID, "pente_env.pente_v0:env")

# Loaded on first use, so that `import pente_env` stays quick: name -> (module, attribute). None
# stands for the module itself.
_LAZY: dict[str, tuple[str, str | None]] = {
    "Player": ("pente_env.player", "Player"),
    "VectorPente": ("pente_env.vector", "VectorPente"),
    "draw": ("pente_env.render", "draw"),
    "fitness": ("pente_env.fitness", None),
    "make": ("pente_env.scripted", "make"),
    "matches": ("pente_env.matches", None),
    "names": ("pente_env.scripted", "names"),
    "pente_v0": ("pente_env.pente_v0", None),
    "player_kernel": ("pente_env.player", "player_kernel"),
    "to_text": ("pente_env.render", "to_text"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'pente_env' has no attribute {name!r}")
    module, attribute = _LAZY[name]
    value = import_module(module)
    value = value if attribute is None else getattr(value, attribute)
    globals()[name] = value
    return value
