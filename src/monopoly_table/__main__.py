"""Play, watch, replay and analyse in a browser.

python -m monopoly_table                                  # opens the browser
python -m monopoly_table --agents runs/dqn --port 8100    # saved agents may sit at the table too
"""

from __future__ import annotations

import errno
import socket
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from rich.console import Console

from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError


@dataclass(frozen=True)
class TableOptions:
    """Play, watch, replay and analyse Monopoly in a browser.

    The server prints a link with a secret and opens it. The link makes its owner the host, who
    begins games, plays the seats of this machine, and hands out links for other seats. Games are
    saved in a file, and continue after the server is stopped with Ctrl-C and started again.
    """

    host: str = "127.0.0.1"
    """The address to listen on. The default accepts this machine only; 0.0.0.0 also accepts other
    machines of your network, by their links."""
    port: int = 8000
    """The port; 0: any free one."""
    data: Path | None = None
    """The folder of the games; by default the user's data folder."""
    agents: Path | None = None
    """A folder of saved policies (.safetensors) to play, besides those of `agents.names()`."""
    host_name: tuple[str, ...] = ()
    """Host names of this server, such as my-laptop.local, besides its addresses."""
    browser: bool = True
    """Open the page in the browser."""
    static: Path | None = None
    """Write the page to this folder, for a static host, instead of serving: the rules then run in
    the browser. The library for browsers (`python -m monopoly_env.compiled --target wasm32`)
    belongs into its folder `library`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 if the server was stopped by the user."""
    return command.main("monopoly_table", Command(TableOptions, serve), arguments)


def serve(options: TableOptions, _: Console) -> int:
    """Serve until the user stops it, or write the page to a folder."""
    if options.static:
        with extra("web"):
            from monopoly_table import static
        static.write(options.static)
        return 0
    with suppress(KeyboardInterrupt):
        run(options)
    return 0


def run(options: TableOptions) -> None:
    """Serve until the user stops it.

    Raises:
        MonopolyError: A port, a folder or a library is missing.
    """
    with extra("web"):
        import uvicorn

        from monopoly_table.app import create
        from monopoly_table.safety import Connection
        from monopoly_table.server import ServerSettings
    folder = (
        options.data or Path(platformdirs.user_data_dir("monopoly-env", appauthor=False)) / "table"
    )
    listening = listen(options.host, options.port)
    port = listening.getsockname()[1]
    origin = f"http://{_reached(options.host)}:{port}"
    link = f"http://{_shown(options.host)}:{port}"
    names = (options.host, *options.host_name)
    try:
        app = create(ServerSettings(folder, options.agents, names, origin=origin))
    except BaseException:
        listening.close()
        raise
    link += f"/#token={app.state.server.token}"
    print(
        f"The table is open: {link}\nGames are saved in {folder}. Ctrl-C stops the server.",
        flush=True,
    )
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            http=Connection,
            log_level="warning",
            ws_max_size=1 << 16,
            timeout_graceful_shutdown=2,
            server_header=False,
            lifespan="on",
        )
    )
    if options.browser:
        threading.Timer(0.5, _open_browser, [link]).start()
    server.run([listening])


def listen(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        ConfigurationError: The port is in use or not allowed, or the address is not of this
            machine.
    """
    if not 0 <= port <= 65535:
        raise ConfigurationError(f"--port {port} must be from 0 to 65535.")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigurationError(
            f"--host {host!r} is no address of this machine ({error.strerror or error})."
        ) from error
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(128)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            message = (
                f"Port {port} is in use, perhaps by this server: open the link that it printed, or"
                " choose another --port (0: any)."
            )
            raise ConfigurationError(message) from error
        raise ConfigurationError(
            f"Can't listen on {host} port {port} ({error.strerror}). Try --host 127.0.0.1 and"
            " --port 0."
        ) from error
    return made


def _shown(host: str) -> str:
    """An address that a browser on this machine can open."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{host}]" if ":" in host else host


def _reached(host: str) -> str:
    """The address at which other machines reach a server that listens on all addresses."""
    if host not in ("0.0.0.0", "::"):
        return _shown(host)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only chooses the way out
            return str(probe.getsockname()[0])
        except OSError:  # no network
            return _shown(host)


def _open_browser(link: str) -> None:
    """Open the page; without a browser, print a hint at the link."""
    try:
        opened = webbrowser.open(link)
    except (OSError, webbrowser.Error):
        opened = False
    if not opened:
        print("No browser could be opened: open the link above in one.", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
