"""Build hooks of hatchling: a wheel holds the library that is compiled ahead of time.

`MONOPOLY_ENV_SITE`, the address of the documentation, makes the links of the description absolute.
`MONOPOLY_ENV_WHEEL` names another target than this system (`python -m monopoly_env.compiled
--help`), or `pure`: a wheel without the library, which needs the extra `jit`. An editable install
compiles nothing.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

TAGS = {
    "linux-x86_64": "manylinux2014_x86_64.manylinux_2_17_x86_64",
    "linux-aarch64": "manylinux2014_aarch64.manylinux_2_17_aarch64",
    "darwin-aarch64": "macosx_11_0_arm64",
    "darwin-x86_64": "macosx_11_0_x86_64",
    "win32-x86_64": "win_amd64",
}


class Hook(BuildHookInterface):  # type: ignore[type-arg]  # the options have no class
    """Compiles the library and puts it beside the kernels."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files are packed; a wheel without the library if that fails."""
        wanted = os.environ.get("MONOPOLY_ENV_WHEEL", "")
        if version == "editable" or wanted == "pure":
            return
        source = Path(self.root, "src")
        self._folder = tempfile.TemporaryDirectory(prefix="monopoly-env-")
        line = [sys.executable, "-m", "monopoly_env.compiled", "--json"]
        line += ["--out", self._folder.name, *(["--target", wanted] if wanted else [])]
        paths = filter(None, (str(source), os.environ.get("PYTHONPATH")))  # pip has its own there
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "MONOPOLY_ENV_COMPILED": "0",
        }
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
        made = {path.suffix: path for path in Path(self._folder.name).iterdir()}
        if done.returncode or ".manifest" not in made:
            reason = " ".join(done.stderr.split())[-400:]
            text = f"The library is not compiled, so games need the extra jit: {reason}"
            if wanted:
                raise RuntimeError(text)
            self.app.display_warning(text)
            return
        target = wanted or self._target(made[".manifest"])
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{TAGS[target]}"
        for path in made.values():
            build_data["force_include"][str(path)] = f"monopoly_env/kernels/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()

    @staticmethod
    def _target(manifest: Path) -> str:
        return str(json.loads(manifest.read_bytes())["system"])


class Metadata(MetadataHookInterface):
    """Gives the package README.md as its description, and the address of its documentation."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in `readme` and `urls`."""
        text, site = Path(self.root, "README.md").read_text("utf-8"), site_address()
        if site:
            text = absolute(text, site)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = {"Documentation": site} if site else {}


def site_address() -> str:
    """The address of the documentation without a slash at its end; empty if none is known."""
    return os.environ.get("MONOPOLY_ENV_SITE", "").rstrip("/")


def absolute(text: str, site: str) -> str:
    """README.md with links to the site, where docs/outside.py puts what lies outside docs/."""

    def page(match: re.Match[str]) -> str:
        path = match[1].removeprefix("docs/")
        path = path if path != match[1] else f"repository/{path}"
        return f"]({site}/{re.sub(r'[.]md(?=#|$)', '.html', path)}"

    return re.sub(r"\]\((?!https?:)([^)\s]+)", page, text)
