"""The wheel as a user gets it.

Built, installed with the extra web into a fresh environment, served, and a move played.

It takes minutes, so it is no test of the suite: make check-wheel.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

from benchmarks import table

ROOT = Path(__file__).parents[1]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "wheel",
                "--quiet",
                "--no-deps",
                "--wheel-dir",
                here,
                ROOT,
            ],
            check=True,
        )
        (wheel,) = here.glob("monopoly_env-*.whl")
        venv.create(here / "venv", with_pip=True)
        python = str(here / "venv" / "bin" / "python")
        subprocess.run(
            [
                python,
                "-m",
                "pip",
                "install",
                "--quiet",
                "-c",
                ROOT / "constraints.txt",
                f"{wheel}[web]",
            ],
            check=True,
        )
        os.environ.pop("PYTHONPATH", None)
        os.chdir(here)  # nothing of the repository is found from here
        server = table.Server.start(here / "games", python)
        try:
            with urllib.request.urlopen(
                f"http://{server.address}/modules/main.js", timeout=60
            ) as module:
                assert module.status == 200
            client = asyncio.run(played(server))
        finally:
            server.stop()
    assert client.view["version"] == 3
    print(f"{wheel.name}: the page is served and {client.view['version']} moves were played.")
    return 0


async def played(server: table.Server) -> table.Client:
    client = table.Client(server, server.begin(table.PEOPLE, 1))
    await client.connect()
    await client.play(3)
    await client.socket.close()
    return client


if __name__ == "__main__":
    sys.exit(main())
