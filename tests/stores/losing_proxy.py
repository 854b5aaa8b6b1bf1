"""A proxy for a store that loses the response to every successful put of a commit."""

from __future__ import annotations

import contextlib
import http.client
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = re.compile(r"/_delta_log/\d{20}\.json$")
INSTEAD = (500, 503, None, 429, 502)
"""What the client gets instead of the response, in turn: a status, or a closed connection."""


@dataclass
class LosingProxy:
    """The store's port, and the lost responses so far."""

    behind: int
    port: int = 0
    lost: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    proxy: LosingProxy

    def log_message(self, *_: object) -> None:
        """Prints nothing."""

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.proxy.behind)) as store:
            store.request(self.command, self.path, body, headers)
            answer = store.getresponse()
            said = answer.read()
        if self.command == "PUT" and COMMIT.search(self.path) and answer.status == 200:
            with self.proxy.lock:
                instead = INSTEAD[len(self.proxy.lost) % len(INSTEAD)]
                self.proxy.lost.append(self.path)
            if instead is None:
                self.close_connection = True
            else:
                self._send(instead, b"", [])
            return
        self._send(answer.status, said, answer.getheaders())

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _handle  # noqa: N815 (the names are the library's)

    def _send(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
        with contextlib.suppress(OSError):
            self.send_response_only(status)
            length = str(len(body))
            for name, value in headers:
                if name.lower() == "content-length":
                    length = value  # for a HEAD it is the length of a body that is not sent
                elif name.lower() not in ("transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", length)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # More than a test has connections, so that none is dropped while the server is slow.
    request_queue_size = 128


@contextlib.contextmanager
def losing_proxy(behind: int) -> Iterator[LosingProxy]:
    """Runs a proxy for the store on a port, on a free local port."""
    proxy = LosingProxy(behind)
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    server = _Server(("127.0.0.1", 0), handler)
    proxy.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
