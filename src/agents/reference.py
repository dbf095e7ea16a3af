"""Generated pages: docs/agents.md (policies) and docs/compact.md (the encoding of learned agents).

`python -m agents.reference` writes them; `--check` exits with status 1 if a page is out of date.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any, Final

from agents.learned import compact
from agents.learned.menus import NUM_PACKAGES
from agents.learned.prices import NUM_PRICES, describe
from agents.players.vocabulary.parameters import Parameters
from agents.registry import BUILT_IN, SEARCHING
from monopoly_env.policy.protocol import Factory
from monopoly_env.reference import blocks_table, main, page, table

_FOLDERS: Final = (
    "agents",
    "agents.players",
)  # a module of these is a family; elsewhere a package is


def agents_page() -> str:
    """The text of docs/agents.md."""
    families: dict[str, list[str]] = {}
    for name, factory in (BUILT_IN | SEARCHING).items():
        families.setdefault(_home(factory), []).append(name)
    return page(
        "Agents",
        "Policies by name: `agents.make(name, **parameters)`, and wherever a player is asked for."
        " Scripted ones are compiled: each is a kernel and a row of numbers, so every number below"
        " can be set, tuned and saved.",
        *(part for home, names in families.items() for part in _family(home, names)),
    )


def _family(home: str, names: list[str]) -> list[str]:
    parts = [
        f"## {', '.join(f'`{name}`' for name in names)}",
        inspect.getdoc(sys.modules[home]) or "",
    ]
    tuned = [(name, BUILT_IN[name]) for name in names if isinstance(BUILT_IN.get(name), partial)]
    kinds = dict.fromkeys(factory.args[2] for _, factory in tuned)  # type: ignore[attr-defined]
    for kind in kinds:
        parts.append(_parameters(kind))
        presets = [
            (name, factory.args[3])  # type: ignore[attr-defined]
            for name, factory in tuned
            if factory.args[2] is kind and factory.args[3]  # type: ignore[attr-defined]
        ]
        if presets:
            parts.append(
                table(
                    ("policy", "differs in"),
                    ((f"`{name}`", _values(preset)) for name, preset in presets),
                )
            )
    return parts


def _parameters(kind: type[Parameters]) -> str:
    rows, meanings = [], kind.meanings()
    for option in fields(kind):
        low, high = option.metadata.get("range", (False, True))
        default = option.default if option.metadata["unit"] == "switch" else f"{option.default:g}"
        rows.append(
            (
                f"`{option.name}`",
                default,
                f"{low:g} to {high:g}" if "range" in option.metadata else "",
                option.metadata["unit"],
                meanings[option.name],
            )
        )
    return table(("parameter", "default", "range", "unit", "meaning"), rows)


def _values(preset: dict[str, Any]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in preset.items())


def _home(factory: Factory) -> str:
    """The module or package whose docstring describes the policies of a factory."""
    function = factory.args[1].function if isinstance(factory, partial) else factory
    module = str(function.__module__)
    parent = module.rpartition(".")[0]
    return module if parent in _FOLDERS else parent


def compact_page() -> str:
    """The text of docs/compact.md."""
    shared, each = compact.SHARED_SIZE, compact.EACH_SIZE
    ends = (compact.OFFER, compact.PRICES, compact.PACKAGES)
    return page(
        "The encoding `compact`",
        inspect.getdoc(compact) or "",
        f"A table of P players has {shared} shared features, {each} for each player, and"
        f" {compact.length(2) - shared - 2 * each} at the end:"
        f" {', '.join(f'{compact.length(n)} for {n} players' for n in (2, 3, 4))}. Scales are those"
        " of [the other encodings](observation.md).",
        "## Shared features",
        blocks_table(compact.SHARED, 0),
        "## Features of each player",
        f"The features of the player k seats after the owner begin at {shared} + {each} k; add the"
        " number given here.",
        blocks_table(compact.EACH, 0),
        "## While an offer is answered, a price or a package is chosen",
        f"They begin at {shared} + {each} P; add the number given here.",
        blocks_table([block for blocks in ends for block in blocks], 0),
        f"There are {NUM_PACKAGES} places for packages and {NUM_PRICES} prices:"
        f" {', '.join(describe(level) for level in range(NUM_PRICES))}.",
    )


PAGES: Final[dict[str, Callable[[], str]]] = {"agents.md": agents_page, "compact.md": compact_page}

if __name__ == "__main__":
    sys.exit(main(PAGES, "agents.reference"))
