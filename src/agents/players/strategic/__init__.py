"""`strategic/*`: the agent of Ocnaru's thesis (Bucharest, 2025) and its ten presets.

`parameters` has the 28 parameters and the presets, `values` what the agent believes, `trading` the
offers it accepts, `proposals` those it makes, `money` what it builds, sells and mortgages, and
`play` the order of a turn and the decisions that the thesis does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agents.players.strategic.parameters import PRESETS, Strategic
from agents.players.strategic.play import play
from agents.players.vocabulary.parameters import family
from monopoly_env.policy.protocol import CompiledPolicy

__all__ = ["POLICIES", "PRESETS", "Strategic"]

_NAMES: Final = {"strategic": "default"} | {f"strategic/{preset}": preset for preset in PRESETS}

POLICIES: Final[dict[str, Callable[..., CompiledPolicy]]] = {
    name: family(name, play, Strategic, **PRESETS[preset]) for name, preset in _NAMES.items()
}
