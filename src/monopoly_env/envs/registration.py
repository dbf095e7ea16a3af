"""The ids of the environments in Gymnasium and PettingZoo; `import monopoly_env` registers them."""

from __future__ import annotations

from typing import Final

import gymnasium
import pettingzoo

GYMNASIUM_ID: Final = "monopoly_env/Monopoly-v0"
PETTINGZOO_ID: Final = "monopoly-v0"


def register() -> None:
    """Register the ids of the environments; repeated calls are harmless.

    A module is imported when its first environment is made.
    """
    if GYMNASIUM_ID not in gymnasium.registry:
        gymnasium.register(
            GYMNASIUM_ID,
            "monopoly_env.envs.gym:MonopolyEnv",
            vector_entry_point="monopoly_env.envs.gym:MonopolyVectorEnv",
        )
    if PETTINGZOO_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", PETTINGZOO_ID, "monopoly_env.monopoly_v0:env")
