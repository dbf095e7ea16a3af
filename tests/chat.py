"""A server of this machine in place of one with a language model."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Stub:
    """A server that gives the next of its answers; it keeps what it was sent.

    An answer is a text, a status with a body and perhaps headers, or a function of the handler.
    """

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                stub.keys.append(self.headers.get("Authorization"))
                stub.requests.append(
                    json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                )
                answer = stub.answers.pop(0)
                if callable(answer):
                    answer(self)
                    return
                status, body, *headers = (
                    answer if isinstance(answer, tuple) else (200, reply(answer))
                )
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self) -> None:
                stub.keys.append(self.headers.get("Authorization"))

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


def reply(text: str) -> bytes:
    return json.dumps(
        {
            "choices": [{"message": {"content": text}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        }
    ).encode()


@contextmanager
def served() -> Iterator[Stub]:
    """A stub that answers while the block runs."""
    stub = Stub()
    thread = threading.Thread(target=stub.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        stub.server.shutdown()
        thread.join()
        stub.server.server_close()
