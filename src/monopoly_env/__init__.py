"""Monopoly as a reinforcement-learning environment: one rules engine behind several interfaces.

README.md is a tour; docs/ lists rules, options, actions and observations. Importing compiles
nothing. It registers the environments with Gymnasium and PettingZoo.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from monopoly_env import actions
from monopoly_env.core import (
    action_mask,
    check,
    clone,
    digest,
    is_over,
    legal_actions,
    new_game,
    new_games,
    reseed,
    step,
    winner,
    worth,
)
from monopoly_env.envs.registration import register
from monopoly_env.errors import (
    ConfigurationError,
    EngineError,
    FormatError,
    GameOverError,
    IllegalActionError,
    MonopolyError,
    PolicyError,
    PositionError,
    RenderModeError,
    RulesError,
)
from monopoly_env.game import GAME
from monopoly_env.rules import Rules
from monopoly_env.saves import load, save

if TYPE_CHECKING:
    from monopoly_env import encoding, monopoly_v0, replays, rewards
    from monopoly_env.analyse import compare_actions, rollout
    from monopoly_env.envs.vector import VectorMonopoly
    from monopoly_env.positions import force, position
    from monopoly_env.render.description import to_text
    from monopoly_env.render.svg import draw

__version__ = "0.1.0"

__all__ = [
    "GAME",
    "ConfigurationError",
    "EngineError",
    "FormatError",
    "GameOverError",
    "IllegalActionError",
    "MonopolyError",
    "PolicyError",
    "PositionError",
    "RenderModeError",
    "Rules",
    "RulesError",
    "VectorMonopoly",
    "action_mask",
    "actions",
    "check",
    "clone",
    "compare_actions",
    "digest",
    "draw",
    "encoding",
    "force",
    "is_over",
    "legal_actions",
    "load",
    "monopoly_v0",
    "new_game",
    "new_games",
    "position",
    "replays",
    "reseed",
    "rewards",
    "rollout",
    "save",
    "step",
    "to_text",
    "winner",
    "worth",
]

register()

# Loaded on first use, so that `import monopoly_env` stays quick: name -> (module, attribute). None
# stands for the module itself.
_LAZY: dict[str, tuple[str, str | None]] = {
    "VectorMonopoly": ("monopoly_env.envs.vector", "VectorMonopoly"),
    "compare_actions": ("monopoly_env.analyse", "compare_actions"),
    "draw": ("monopoly_env.render.svg", "draw"),
    "encoding": ("monopoly_env.encoding", None),
    "force": ("monopoly_env.positions", "force"),
    "monopoly_v0": ("monopoly_env.monopoly_v0", None),
    "position": ("monopoly_env.positions", "position"),
    "replays": ("monopoly_env.replays", None),
    "rewards": ("monopoly_env.rewards", None),
    "rollout": ("monopoly_env.analyse", "rollout"),
    "to_text": ("monopoly_env.render.description", "to_text"),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'monopoly_env' has no attribute {name!r}")
    module, attribute = _LAZY[name]
    value = import_module(module)
    value = value if attribute is None else getattr(value, attribute)
    globals()[name] = value
    return value
