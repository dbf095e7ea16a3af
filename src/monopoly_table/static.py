"""The page as a folder for any static host: the rules run in the browser, no server is needed.

python -m monopoly_env.compiled --target wasm32 --out site/play/library
python -m monopoly_table.static site/play
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

from monopoly_table import public

_PAGE: Final = Path(__file__).parent / "page"
_MODULES: Final = '<script type="module"'
# the local back end stands in the server's place
_MAP: Final = (
    '<script type="importmap">{"imports":{"./modules/server.js":"./modules/local.js"}}</script>'
)


def write(folder: Path) -> None:
    """Write the page and its constants; the library for browsers belongs into `library/`."""
    shutil.copytree(
        _PAGE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.d.ts", "js*.json")
    )
    index = folder / "index.html"
    text = index.read_text(encoding="utf-8")
    index.write_text(text.replace(_MODULES, f"{_MAP}\n  {_MODULES}", 1), encoding="utf-8")
    (folder / "about.json").write_text(json.dumps(public.constants()), encoding="utf-8")
