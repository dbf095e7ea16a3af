"""`monopoly`: the commands of all installed packages, by name.

A package names its commands in the entry points `monopoly_env.commands`: name = module.
"""

from __future__ import annotations

import ast
import runpy
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from monopoly_env.cli import command
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.files import read_file

GROUP: Final = "monopoly_env.commands"


def commands() -> dict[str, str]:
    """The modules of the commands by name."""
    return {entry.name: entry.value for entry in sorted(entry_points(group=GROUP))}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first argument names, or list all; returns the exit status."""
    return command.guarded(_run)(arguments)


def _run(arguments: Sequence[str] | None) -> int:
    words, known = list(sys.argv[1:] if arguments is None else arguments), commands()
    if not words or words[0] in ("-h", "--help"):
        print(overview(known))
        return 0
    name, *rest = words
    if name not in known:
        raise ConfigurationError(f"Unknown command {name!r}. {nearest(name, known)}")
    command.LINES[known[name]] = f"monopoly {name}"
    sys.argv = [name, *rest]
    runpy.run_module(known[name], run_name="__main__", alter_sys=True)
    return 0


def overview(known: Mapping[str, str]) -> str:
    """The help: a line for each command."""
    width = max(map(len, known), default=0)
    lines = (f"  {name:{width}}  {about(module)}" for name, module in known.items())
    return "\n".join(
        ["usage: monopoly COMMAND [OPTIONS]", "", *lines, "", "monopoly COMMAND --help says more."]
    )


def about(module: str) -> str:
    """The first line of a module's docstring, without running the module."""
    spec = find_spec(module)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = find_spec(f"{module}.__main__")
    if spec is None or spec.origin is None:
        return ""
    text = ast.get_docstring(ast.parse(read_file(Path(spec.origin)))) or ""
    return text.partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main())
