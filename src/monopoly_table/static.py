"""The page as a folder for any static host: the rules run in the browser, no server is needed.

python -m monopoly_env.compiled --target wasm32 --out site/play/library
python -m monopoly_table --static site/play
"""

from __future__ import annotations

import base64
import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any, Final

from monopoly_bench import puzzles
from monopoly_env import core, replays
from monopoly_env.facts.board import JAIL_SQUARE
from monopoly_env.facts.editions import EDITION_NAMES
from monopoly_env.offers import REFUSALS
from monopoly_env.rules import CONTRADICTIONS, RULES_VERSION, Rules
from monopoly_env.saves import table_hash
from monopoly_table import public, reports, server

_PAGE: Final = Path(__file__).parent / "page"
_LIBRARY: Final = "../../../monopoly_env/browser/"  # seen from the page's sources


def write(folder: Path) -> None:
    """Write the page and its constants; the library for browsers belongs into `library/`."""
    left_out = shutil.ignore_patterns("*.d.ts", "js*.json", "vendored.json")
    shutil.copytree(_PAGE, folder, dirs_exist_ok=True, ignore=left_out)
    shutil.copy(_PAGE / "local" / "transport.js", folder / "modules")
    for path in (folder / "local").iterdir():
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(_LIBRARY, "../library/"), encoding="utf-8")
    asked = {"puzzles": [_puzzle(number) for number in range(len(puzzles.load()))]}
    for name, data in (("about", about()), ("puzzles", asked)):
        text = json.dumps(data, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


def about() -> dict[str, Any]:
    """The answer to `GET /api/about` but for the policies, with what the page needs beside it."""
    return public.constants() | {
        "ready": True,
        "host": True,
        "local": True,
        "origin": None,
        "public": public.PUBLIC,
        "board": Rules().board,
        "jail": JAIL_SQUARE,
        "contradictions": CONTRADICTIONS,
        "accuracy": reports.ACCURACY,
        "formula": reports.FORMULA,
        "shares": [one.name for one in dataclasses.fields(Rules) if isinstance(one.default, float)],
        "offer_refusals": list(REFUSALS.values()),
        "rules_version": RULES_VERSION,
        "tables": {name: table_hash(name) for name in EDITION_NAMES},
        "replays": replays.versions(),
    }


def _puzzle(number: int) -> dict[str, Any]:
    """A puzzle with its solution, and the record to analyse."""
    one = server.puzzle(number)
    answer = server.guessed(number, one.best.action)
    return {
        "listed": server.puzzle_list()[number],
        "asked": server.asked(number),
        "record": base64.b64encode(core.batch_of(public.seen(one.game)).tobytes()).decode(),
        "best": answer["best"],
        "candidates": answer["candidates"],
    }
