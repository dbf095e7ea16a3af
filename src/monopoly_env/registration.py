"""The ids under which Gymnasium and PettingZoo make the environments.

Both libraries know only what has been registered in their running process. So that `import monopoly_env` does not have to
import them, each is told when it is there: at once if it has been imported already, else at the end of its own import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Final

GYMNASIUM_ID: Final = "monopoly_env/Monopoly-v0"
PETTINGZOO_ID: Final = "monopoly-v0"


def register() -> None:
    """Make the ids known: `gymnasium.make("monopoly_env/Monopoly-v0")`, `pettingzoo.make("aec", "monopoly-v0")`.

    May be called any number of times; `import monopoly_env` does it.
    """
    for library, tell in _TELL.items():
        if library in sys.modules:
            tell(sys.modules[library])
    if not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport())


def _tell_gymnasium(gymnasium: ModuleType) -> None:
    if hasattr(gymnasium, "register") and GYMNASIUM_ID not in gymnasium.registry:
        # The environment checks its actions itself; gymnasium's passive checker stays on for its first steps.
        gymnasium.register(
            GYMNASIUM_ID, "monopoly_env.gym:MonopolyEnv", vector_entry_point="monopoly_env.gym:MonopolyVectorEnv"
        )  # fmt: skip


def _tell_pettingzoo(pettingzoo: ModuleType) -> None:
    # Versions before 1.27 have no registry.
    if hasattr(pettingzoo, "register") and PETTINGZOO_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", PETTINGZOO_ID, "monopoly_env.monopoly_v0:env")


_TELL: Final[dict[str, Callable[[ModuleType], None]]] = {"gymnasium": _tell_gymnasium, "pettingzoo": _tell_pettingzoo}


class _AfterImport(MetaPathFinder):
    """Finds the two libraries as usual, and tells them of the environments once they are loaded."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _TELL:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, _TELL[name])
        return spec


class _Telling(Loader):
    def __init__(self, loader: Loader, tell: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._tell = tell

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._tell(module)
