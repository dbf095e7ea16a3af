"""Refusals and limits: hosts and origins, headers, sizes, rates, slow connections, tokens.

The server is meant for one machine or a local network. A page of another site in the same browser
must not reach it: such a page can't send our `Host` (names that it controls are refused), can't
hide its `Origin`, and does not know the token.
"""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    MonopolyError,
    PositionError,
    RulesError,
)

WRONG, NO_TOKEN, NOT_YOURS, UNKNOWN, MOVED_ON = 400, 401, 403, 404, 409  # statuses of HTTP
TOO_SLOW, TOO_LARGE, IMPOSSIBLE, TOO_MANY, BUSY = 408, 413, 422, 429, 503

MOST_UPLOAD: Final = 8 << 20  # bytes of an uploaded file
MOST_BODY: Final = 256 << 10  # of any other request
MOST_MESSAGE: Final = 64 << 10  # of a message of a socket
UPLOADS: Final = "/api/replays"
_CLIENTS: Final = 1024  # addresses with a rate limit
_DIGITS: Final = 20  # of a length
HEAD_SECONDS: Final = 10.0  # limit for the head of a request
BODY_SECONDS: Final = 30.0  # limit for its body
MOST_CONNECTIONS: Final = 128  # besides sockets

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
        " connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",
}


class RefusedError(ConfigurationError):
    """A refused request, as a sentence with a remedy.

    Attributes:
        status: The status of HTTP.
    """

    def __init__(self, message: str, status: int = MOVED_ON) -> None:
        super().__init__(message)
        self.status = status


def status_of(error: MonopolyError) -> int:
    """The status of HTTP for an error of this library."""
    if isinstance(error, RefusedError):
        return error.status
    return IMPOSSIBLE if isinstance(error, PositionError | RulesError | FormatError) else WRONG


class Bucket:
    """A token bucket: a limit of the average and of the burst rate of events."""

    def __init__(self, rate: float, burst: int) -> None:
        self.rate, self.burst = rate, burst
        self.left, self.since = float(burst), time.monotonic()

    def take(self) -> bool:
        """Whether one more event is allowed now."""
        now = time.monotonic()
        self.left, self.since = min(self.burst, self.left + (now - self.since) * self.rate), now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Guard:
    """Outermost middleware: headers, and refusals of foreign hosts, floods and large bodies."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], rate: float, burst: int) -> None:
        """Guard an application. `hosts` are names of the server besides its addresses."""
        self.app, self.hosts = app, {"localhost", *hosts}
        self.rate, self.burst = rate, burst
        self.buckets: OrderedDict[str, Bucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        kind = scope["type"]
        if kind in ("http", "websocket") and (refusal := self._refusal(scope)) is not None:
            await _refuse(scope, receive, send, refusal)
        elif kind == "http":
            await self.app(scope, _bounded(receive, _most(scope)), _with_headers(send))
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> RefusedError | None:
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_ours(host):
            return RefusedError(
                f"This server is not called {host[:80]!r}. Name it by --host-name, or use its"
                " address.",
                NOT_YOURS,
            )
        if origin is not None and _address(origin) != host:
            return RefusedError(
                f"Requests from {origin[:80]!r} are refused: open the page of this server.",
                NOT_YOURS,
            )
        if not self._is_allowed((scope.get("client") or ("",))[0]):
            return RefusedError("Too many requests: wait a second.", TOO_MANY)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > _DIGITS or int(length) > _most(scope):
            return RefusedError(
                f"The request is too large: {_most(scope) >> 10:,} KiB at most.", TOO_LARGE
            )
        return None

    def _is_ours(self, host: str) -> bool:
        """Whether a `Host` is an address or one of our names; other names may resolve to us."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self.hosts
        return True

    def _is_allowed(self, address: str) -> bool:
        bucket = self.buckets.setdefault(address, Bucket(self.rate, self.burst))
        self.buckets.move_to_end(address)
        while len(self.buckets) > _CLIENTS:
            self.buckets.popitem(last=False)
        return bucket.take()


def _address(origin: str) -> str:
    """Host and port of an `Origin`; empty if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _most(scope: Scope) -> int:
    return MOST_UPLOAD if scope["path"] == UPLOADS else MOST_BODY


def _bounded(receive: Receive, most: int) -> Receive:
    """The same body, with an error if it is too large or too slow."""
    seen, more = 0, True
    end = asyncio.get_running_loop().time() + BODY_SECONDS

    async def bounded() -> Message:
        nonlocal seen, more
        try:
            # After the body, wait for the client to leave
            async with asyncio.timeout_at(end if more else None):
                message = await receive()
        except TimeoutError as error:
            raise HTTPException(
                TOO_SLOW, f"The request was not complete within {BODY_SECONDS:.0f} seconds."
            ) from error
        seen, more = seen + len(message.get("body", b"")), message.get("more_body", False)
        if seen > most:
            raise HTTPException(TOO_LARGE, f"The request is too large: {most >> 10:,} KiB at most.")
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, refusal: RefusedError) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": str(refusal)[:120]})
        return
    answer = JSONResponse({"error": str(refusal)}, refusal.status)
    await answer(scope, receive, _with_headers(send))


class Connection(H11Protocol):
    """HTTP of uvicorn, with a time limit for the head of each request.

    With too many connections, the one that has waited longest for its head is closed.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a request."""
        super().connection_made(transport)
        self._await_head()
        every = [each for each in self.connections if isinstance(each, Connection)]
        here = [each for each in every if not each.transport.is_closing()]
        if len(here) > MOST_CONNECTIONS:
            waiting = {each._late.when(): each for each in here if each._late}
            waiting[min(waiting)].transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()
        else:
            self._stop_waiting()

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Become a socket."""
        super().handle_websocket_upgrade(event)
        self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._late is None and self in self.connections:
            self._late = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


# --- tokens


class Rights(NamedTuple):
    """The rights of a token in a game.

    Attributes:
        host: Whether it is the host's.
        seats: The seats that it may play.
    """

    host: bool
    seats: tuple[int, ...]


def same(token: str, secret: str | None) -> bool:
    """Whether a token is this secret, compared in constant time."""
    return bool(secret) and secrets.compare_digest(token.encode(), (secret or "").encode())


def rights(token: str, host: str, about: dict[str, Any]) -> Rights:
    """The rights of a token in a game.

    Args:
        token: The token that the client sent.
        host: The host's token.
        about: `Stored.about` of the game.

    Raises:
        RefusedError: The token is not of this game.
    """
    seats = list(enumerate(about["seats"]))
    if same(token, host):
        return Rights(True, tuple(number for number, seat in seats if seat["kind"] == "person"))
    own = tuple(number for number, seat in seats if same(token, seat["token"]))
    if not own and not same(token, about["watch"]):
        raise RefusedError(
            "The token in your link does not fit this game: ask the host for a new link.", NO_TOKEN
        )
    return Rights(False, own)
