"""A small store that strictly implements the contract of S3 and of Google's store, with scripted faults.

It supports what a Delta table needs: put, conditional put, get with a range, head, delete, list in pages.
Each response can be scripted, and each request is recorded.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

ABSENT = "<Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>"
TAKEN = "<Error><Code>PreconditionFailed</Code><Message>it exists</Message></Error>"


@dataclass
class Fault:
    """The fault of the next matching request; used `times` times."""

    method: str
    path: str
    """A regular expression that is searched for in the request's decoded path and query."""
    status: int | None = None
    """The response status; None closes the connection without one."""
    body: str = ""
    done: bool = False
    """Whether the request is executed first."""
    truncated: bool = False
    """Whether the correct response is truncated in the middle."""
    hangs: bool = False
    """Whether no response is sent until the store is stopped."""
    times: float = 1


@dataclass
class StrictStore:
    """The store's objects, its script, and the recorded requests."""

    port: int = 0
    objects: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    page: int = 1000
    ignores_conditions: bool = False
    lists_backwards: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)
    stopped: threading.Event = field(default_factory=threading.Event)

    def next_fault(self, method: str, path: str) -> Fault | None:
        """Returns the fault for this request, if any."""
        with self.lock:
            for fault in self.faults:
                if fault.method == method and re.search(fault.path, path) and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def asked(self, method: str, path: str) -> int:
        """Returns the number of matching requests."""
        return sum(1 for asked, at in self.requests if asked == method and re.search(path, at))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    store: StrictStore

    def log_message(self, *_: object) -> None:
        """Prints nothing."""

    def _handle(self) -> None:
        store = self.store
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urllib.parse.unquote(self.path)  # clients percent-encode different characters
        with store.lock:
            store.requests.append((self.command, path))
        fault = store.next_fault(self.command, path)
        if fault is not None and fault.hangs:
            store.stopped.wait()
        if fault is None or fault.done or fault.truncated:
            with store.lock:
                status, answer, headers = self._do(body)
            if fault is not None and fault.truncated:
                self._send(status, answer[: len(answer) // 2], headers, length=len(answer))
                self.close_connection = True
                return
            if fault is None:
                self._send(status, answer, headers)
                return
        if fault.status is None:
            self.close_connection = True
            return
        self._send(fault.status, fault.body.encode(), {})

    do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = _handle  # noqa: N815 (the names are the library's)

    def _send(self, status: int, body: bytes, headers: dict[str, str], length: int | None = None) -> None:
        with contextlib.suppress(OSError):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", headers.get("x-length") or str(length or len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    def _do(self, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        key = urllib.parse.unquote(url.path.lstrip("/").partition("/")[2])
        objects = self.store.objects
        tag = {"ETag": '"e"', "x-goog-generation": "1", "Last-Modified": "Sat, 21 Nov 2026 00:00:00 GMT"}
        if self.command == "PUT":
            wants_absent = (
                self.headers.get("If-None-Match") == "*"
                or self.headers.get("x-goog-if-generation-match") == "0"
            )
            if wants_absent and key in objects and not self.store.ignores_conditions:
                return 412, TAKEN.encode(), {}
            objects[key] = body
            return 200, b"", tag
        if self.command == "POST":
            for found in re.findall(r"<Key>(.*?)</Key>", body.decode()):
                objects.pop(found, None)
            return 200, b"<DeleteResult></DeleteResult>", {}
        if not key:
            return 200, self._list(query), {"Content-Type": "application/xml"}
        if key not in objects:
            return 404, ABSENT.encode(), {}
        if self.command == "DELETE":
            del objects[key]
            return 204, b"", {}
        whole = objects[key]
        if self.command == "HEAD":
            return 200, b"", {**tag, "x-length": str(len(whole))}
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range") or "")
        if asked is None:
            return 200, whole, tag
        first, last = asked[1], asked[2]
        start = int(first) if first else max(0, len(whole) - int(last))
        end = min(int(last) + 1, len(whole)) if first and last else len(whole)
        return 206, whole[start:end], {**tag, "Content-Range": f"bytes {start}-{end - 1}/{len(whole)}"}

    def _list(self, query: dict[str, str]) -> bytes:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after", "")
        keys = [key for key in sorted(self.store.objects) if key.startswith(prefix) and key > after]
        found: list[str] = []
        folders: set[str] = set()
        token = ""
        for key in keys:
            if len(found) + len(folders) >= self.store.page:
                break
            token = key
            head, inside, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            if inside:
                folders.add(prefix + head + delimiter)
            else:
                found.append(key)
        more = bool(keys) and token != keys[-1]
        now = dt.datetime(2026, 11, 21, tzinfo=dt.timezone.utc).isoformat()
        if self.store.lists_backwards:
            found.reverse()
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.store.objects[key])}</Size>"
            f"<LastModified>{now}</LastModified><ETag>e</ETag></Contents>"
            for key in found
        )
        common = "".join(
            f"<CommonPrefixes><Prefix>{escape(f)}</Prefix></CommonPrefixes>" for f in sorted(folders)
        )
        next_token = f"<NextContinuationToken>{escape(token)}</NextContinuationToken>" if more else ""
        return f"<ListBucketResult>{contents}{common}{next_token}</ListBucketResult>".encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # More than a test has connections, so that none is dropped while the server is slow.
    request_queue_size = 128


@contextlib.contextmanager
def strict_store() -> Iterator[StrictStore]:
    """Runs a store on a free local port."""
    store = StrictStore()
    handler = type("Handler", (_Handler,), {"store": store})
    server = _Server(("127.0.0.1", 0), handler)
    store.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        store.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
