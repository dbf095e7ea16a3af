"""The library for browsers, built once for these sources."""

from __future__ import annotations

import hashlib
from pathlib import Path

from monopoly_env.kernels.sources import cache_root
from tests.programs import python

SOURCES = Path(__file__).parents[1] / "src"


def folder() -> Path:
    """The folder of its files; building it takes a minute or two."""
    made_of = hashlib.sha256()
    for path in sorted(SOURCES.rglob("*")):
        if path.suffix in {".py", ".c", ".js", ".json", ".toml", ".safetensors"}:
            made_of.update(path.read_bytes())
    made = cache_root() / made_of.hexdigest()[:16] / "browser"
    if not (made / "monopoly.wasm").is_file():
        python("-m", "monopoly_env.compiled", "--target", "wasm32", "--out", made)
    return made
