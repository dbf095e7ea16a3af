"""The files of the library for browsers: which functions are in it, and how they are called."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import actions, events, offers
from monopoly_env.analyse import playouts, values
from monopoly_env.derived import DERIVED
from monopoly_env.engine.invariants import VIOLATIONS
from monopoly_env.errors import ConfigurationError
from monopoly_env.facts.board import SQUARE_NAME
from monopoly_env.files import write_atomically
from monopoly_env.game import ENDINGS, GAME, MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.kernels import library, name_of
from monopoly_env.kernels.layout import layout
from monopoly_env.kernels.signatures import ArgumentType, Signature
from monopoly_env.kernels.sources import cache_root, code_hash
from monopoly_env.policy import loop, names, protocol
from monopoly_env.rules import PRESETS, RULES, RULES_VERSION, Rules

_SCRIPTS: Final = ("monopoly.js", "library.js")
# modules and packages whose functions are in the library, beside those of policies and values
MODULES: Final = (
    "monopoly_env.analyse.playouts", "monopoly_env.analyse.values", "monopoly_env.core",
    "monopoly_env.derived", "monopoly_env.events", "monopoly_env.offers", "monopoly_env.policy",
    "monopoly_env.positions", "monopoly_env.render", "monopoly_env.replays",
)  # fmt: skip
_RUNTIME: Final = Path(library.__file__).with_name("runtime.c")
_LEVEL: Final = "any"  # there is one kind of processor
_FLAGS: Final = (
    "-O2", "-s", "-mexec-model=reactor", "-Wl,--export-table", "-Wl,-z,stack-size=1048576",
    "-Wl,--export=malloc,--export=free",
    f"-Wl,--export=monopoly_calls_{_LEVEL},--export=monopoly_functions_{_LEVEL}",
)  # fmt: skip
_MOST_NUMBERS: Final = 2000  # in the manifest; more are a file of their own


def chosen(exports: Iterable[str]) -> list[str]:
    """Those of the exports that are in the library, in their order."""
    tables = (*_policies({}).values(), *_values({}).values())
    needed = {about[which] for about in tables for which in ("kernel", "observe")}
    inside = tuple(f"{module}." for module in MODULES)
    return [name for name in exports if name.startswith(inside) or name in needed]


def compiled(code: Any, names: Sequence[str], compiler: Sequence[str]) -> bytes:
    """The functions as WebAssembly; kept, since it is made in a minute and seldom changes.

    Args:
        code: All compiled code (`kernels.export.Code`).
        names: The exports, in the order of their numbers.
        compiler: The command of the C compiler.

    Raises:
        ConfigurationError: The compiler fails.
    """
    from monopoly_env.kernels import export

    code = code._replace(types={name: code.types[name] for name in names})
    makers = [code_hash(Path(str(path))).hex() for path in (__file__, export.__file__, _RUNTIME)]
    words = [version("llvmlite"), version("ziglang"), *makers, json.dumps(code.types)]
    made_of = hashlib.sha256("\n".join(words).encode() + code.bitcode)
    file = cache_root() / made_of.hexdigest()[:16] / "monopoly.wasm"
    with suppress(OSError):
        return file.read_bytes()
    wasm = _linked(export.optimized(code, export.TARGETS["wasm32"], _LEVEL), compiler)
    with suppress(ConfigurationError):  # a full disk: it is made again next time
        write_atomically(file, wasm)
    return wasm


def _linked(exports: bytes, compiler: Sequence[str]) -> bytes:
    """An object file with the runtime."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "exports.o"), Path(folder, "monopoly.wasm")
        given.write_bytes(exports)
        line = [*compiler, *_FLAGS, str(_RUNTIME), str(given), "-o", str(made), "-lm"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ConfigurationError(f"The library cannot be linked: {done.stderr.strip()}")
        return made.read_bytes()


def files(wasm: bytes, signatures: dict[str, Signature]) -> dict[str, bytes]:
    """The files of the library, by path.

    Args:
        wasm: The compiled functions.
        signatures: Their types, in the order of their numbers.
    """
    weights: dict[str, bytes] = {}
    manifest = {
        "version": version("monopoly-env"),
        "rules_version": RULES_VERSION,
        "exports": {
            name: {
                "arguments": [_type(kind) for kind in signature.arguments],
                "result": library.letter(signature.result),
            }
            for name, signature in signatures.items()
        },
        "record": {"size": GAME.itemsize, "fields": layout(GAME)},
        "derived": {"size": DERIVED.itemsize, "fields": layout(DERIVED)},
        "progress": {"size": loop.PROGRESS.itemsize, "fields": layout(loop.PROGRESS)},
        "constants": {
            "actions": actions.NUM_ACTIONS,
            "memory": protocol.MEMORY,
            "players": [MIN_PLAYERS, MAX_PLAYERS],
            "outside": loop.OUTSIDE,
            "stops": {"illegal": loop.ILLEGAL, "stuck": loop.STUCK, "broken": loop.BROKEN},
            "no_limit": int(loop.NO_LIMIT),
            "turn_limit": playouts.TURN_LIMIT,
            "no_action": playouts.NO_ACTION,
            "rows": events.MOST_ROWS,
            "columns": events.COLUMNS,
            "picks": offers.MOST_PICKS,
        },
        "decisions": actions.DECISION_NAMES,
        "texts": [actions.describe(action) for action in range(actions.NUM_ACTIONS)],
        "endings": ENDINGS,
        "violations": VIOLATIONS,
        "squares": SQUARE_NAME,
        "presets": {name: _rules(Rules.preset(name)) for name in PRESETS},
        "policies": _policies(weights),
        "values": _values(weights),
    }
    text = json.dumps(manifest, separators=(",", ":")).encode()
    scripts = {name: Path(__file__).with_name(name).read_bytes() for name in _SCRIPTS}
    return {**scripts, "monopoly.json": text, "monopoly.wasm": wasm, **weights}


def _type(kind: ArgumentType) -> Any:
    """A type for `monopoly.js`: a letter, `[dimensions, bytes of an item]`, or `{parts}`."""
    if kind.parts:
        return {"parts": [_type(part) for part in kind.parts]}
    if kind.dtype is not None and (kind.ndim or kind.dtype.fields):
        return [kind.ndim, kind.dtype.itemsize]
    return library.letter(kind)


def _rules(rules: Rules) -> str:
    """Rules as the bytes of a record, in base64."""
    return base64.b64encode(np.array(rules.to_record(), RULES).tobytes()).decode()


def _policies(weights: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    """The compiled policies by name."""
    found = {}
    for name in names.names():
        policy = names.make(name)
        if isinstance(policy, protocol.CompiledPolicy):
            found[name] = {
                "kernel": name_of(policy.kernel.function),
                "observe": policy.observer and name_of(policy.observer.function),
                "reads_mask": policy.reads_mask,
                "tables": [n for n in range(MIN_PLAYERS, MAX_PLAYERS + 1) if policy.plays_at(n)],
                "params": _numbers(name, policy.params, weights),
            }
    return found


def _values(weights: dict[str, bytes]) -> dict[str, dict[str, Any]]:
    """The values of states by name."""
    made = {name: values.resolve(name) for name in values.names()}
    return {
        name: {
            "kernel": name_of(value.kernel.function),
            "observe": None,
            "most_players": value.most_players,
            "params": _numbers(f"value/{name}", value.params, weights),
        }
        for name, value in made.items()
    }


def _numbers(name: str, row: NDArray[Any], weights: dict[str, bytes]) -> Any:
    """A row of numbers, or the path of the file that holds it: little-endian, as wide as needed."""
    if len(row) <= _MOST_NUMBERS:
        return row.tolist()
    narrow = row.astype("<f4")
    exact = bool((narrow == row).all())
    path = f"weights/{name.replace('/', '-')}.{'f4' if exact else 'f8'}"
    weights[path] = (narrow if exact else row.astype("<f8")).tobytes()
    return path
