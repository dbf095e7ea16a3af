"""Connections over which requests come: half-sent ones end, and never keep others out."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 128  # besides sockets
PATIENCE: Final = 10.0  # seconds in which the head of a request must have come


class Connection(H11Protocol):
    """HTTP as uvicorn speaks it, with a limit of time for the head of each request.

    If there are too many connections, the one that has waited longest for its head is let go.
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
            self._late = self.loop.call_later(PATIENCE, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
