"""A server that refuses every request and counts connections."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Store clients send their requests to this server, unless an option overrides it.
ENVIRONMENT = {
    "AWS_ALLOW_HTTP": "true",
    "AWS_ENDPOINT_URL": "{}",
    "AZURE_ALLOW_HTTP": "true",
    "AZURE_STORAGE_ENDPOINT": "{}",
    "GOOGLE_ALLOW_HTTP": "true",
    "GOOGLE_BASE_URL": "{}",
    "GOOGLE_SKIP_SIGNATURE": "true",
}


class _Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_error(403)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (named in the base class)
        pass


class Listener(ThreadingHTTPServer):
    """The server; every connection counts, whatever it sends."""

    connections = 0

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables that direct the store clients to this server."""
        address = f"http://127.0.0.1:{self.server_port}"
        return {name: value.replace("{}", address) for name, value in ENVIRONMENT.items()}

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accepts a connection."""
        self.connections += 1
        return super().get_request()


@contextmanager
def listener() -> Iterator[Listener]:
    """Runs a listener on a free local port."""
    with Listener(("127.0.0.1", 0), _Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
