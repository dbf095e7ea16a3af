"""Generated pages: docs/agents.md (policies) and docs/compact.md (the encoding of learned agents).

`python -m agents.reference` writes them; `--check` exits with status 1 if a page is out of date.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import partial
from typing import Any, Final

from agents.learned import compact
from agents.learned.menus import NUM_PACKAGES
from agents.learned.prices import BARGAINERS_MARGINS, MARGINS, NUM_PRICES, PREMIUMS
from agents.players.vocabulary.parameters import Parameters
from agents.registry import BUILT_IN, SEARCHING
from monopoly_env.policy.protocol import Factory
from monopoly_env.reference import blocks_table, main, page, table

_FOLDERS: Final = (
    "agents",
    "agents.players",
)  # a module of these is a family; elsewhere a package is
_EXPLAINED: Final = ("algorithmic", "expert", "strategic")  # families that others build on
_UNITS: Final = ("dollars", "rounds")  # other units follow from the meaning
_MOST_SHOWN: Final = 10  # options of a preset


def agents_page() -> str:
    """The text of docs/agents.md."""
    families: dict[str, list[str]] = {}
    for name, factory in (BUILT_IN | SEARCHING).items():
        families.setdefault(_home(factory), []).append(name)
    return page(
        "Agents",
        "Policies by name: `agents.make(name, **parameters)`, and wherever a player is asked for."
        " [Scripted](results/agents.md) and [learned](results/learned.md) agents: their strength."
        " Every number below can be set, tuned and saved; `repr` of a policy shows those that"
        " differ. The file of a family, in parentheses, has its rules in full, and the unit, range"
        " and meaning of every parameter; those of the three families on which others build are"
        " shown here, too.",
        *(part for home, names in families.items() for part in _family(home, names)),
    )


def _family(home: str, names: list[str]) -> list[str]:
    described = (inspect.getdoc(sys.modules[home]) or "").split("\n\n")
    parts = [
        f"## {names[0].split('/')[0] if '/esp/' not in names[0] else 'genetic/esp'}",
        f"{', '.join(f'`{name}`' for name in names)} (`{home.replace('.', '/')}`)",
        *described[:2],
    ]
    tuned = [(name, BUILT_IN[name]) for name in names if isinstance(BUILT_IN.get(name), partial)]
    kinds = dict.fromkeys(factory.args[2] for _, factory in tuned)  # type: ignore[attr-defined]
    explained = _parameters if names[0] in _EXPLAINED else _defaults
    parts += [explained(kind) for kind in kinds if not _is_part(kind, kinds)]
    presets = [(name, factory.args[3]) for name, factory in tuned if factory.args[3]]  # type: ignore[attr-defined]
    if presets:
        rows = ((f"`{name}`", _values(preset)) for name, preset in presets)
        parts.append(table(("policy", "differs in"), rows))
    return parts


def _is_part(kind: type[Parameters], kinds: Iterable[type[Parameters]]) -> bool:
    """Whether another kind has all parameters of this one, and more."""
    names = {option.name for option in fields(kind)}
    return any(names < {option.name for option in fields(other)} for other in kinds)


def _parameters(kind: type[Parameters]) -> str:
    rows, meanings = [], kind.meanings()
    for option in fields(kind):
        about = option.metadata
        limits = " [{:g}, {:g}]".format(*about["range"]) if "range" in about else ""
        default = option.default if about["unit"] == "switch" else f"{option.default:g}"
        unit = f" {about['unit']}" if about["unit"] in _UNITS else ""
        # after a colon comes the reason for the default
        meaning = re.split(r": (?![^(]*\))", meanings[option.name])[0]
        if about["unit"] == "share" and meaning.startswith("of "):
            meaning = f"share {meaning}"
        rows.append((f"`{option.name}`", f"{default}{unit}{limits}", meaning))
    return table(("parameter", "default [range]", "meaning"), rows)


def _defaults(kind: type[Parameters]) -> str:
    values = ((option.name, option.default) for option in fields(kind))
    return f"Parameters: {_values(dict(values), most=len(fields(kind)))}."


def _values(preset: dict[str, Any], most: int = _MOST_SHOWN) -> str:
    if len(preset) > most:
        return f"{len(preset)} numbers"
    shown = (
        (name, f"{value:g}" if type(value) is float else value) for name, value in preset.items()
    )
    return ", ".join(f"`{name}={value}`" for name, value in shown)


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
        f"There are {NUM_PACKAGES} places for packages and {NUM_PRICES} prices, in dollars:"
        f" premiums of {_listed(PREMIUMS)}; the partner's limit plus {_listed(MARGINS)}; the"
        f" bargainer's limit plus {_listed(BARGAINERS_MARGINS)}.",
    )


def _listed(dollars: tuple[int, ...]) -> str:
    return ", ".join(map(str, dollars))


PAGES: Final[dict[str, Callable[[], str]]] = {"agents.md": agents_page, "compact.md": compact_page}

if __name__ == "__main__":
    sys.exit(main(PAGES, "agents.reference"))
