"""The location of a race: a folder, or S3 emulated by moto; its files are read without any peer."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

MOTO = Path(__file__).resolve().parents[2] / "tests" / "stores" / "moto_server.py"
BUCKET = "tables"
SIGNED = (
    "AWS4-HMAC-SHA256 Credential=planted/20261121/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=none"
)
"""moto requires a signature but does not verify it."""


class Place(Protocol):
    """A location for tables."""

    name: str
    options: dict[str, str]

    def fresh(self, name: str) -> str:
        """Returns the URI of a table that does not exist yet."""
        ...

    def read(self, uri: str, path: str) -> bytes | None:
        """Reads a file of a table; None if it does not exist."""
        ...


class OnDisk:
    """A local folder."""

    def __init__(self, folder: Path) -> None:
        self.name, self.folder = "on the local disk", folder
        self.options: dict[str, str] = {}

    def fresh(self, name: str) -> str:
        """Returns the folder of a table."""
        return str(self.folder / name)

    def read(self, uri: str, path: str) -> bytes | None:
        """Reads a file in the folder."""
        file = Path(uri) / path
        return file.read_bytes() if file.exists() else None


class OnS3:
    """A bucket at a local port."""

    def __init__(self, port: int) -> None:
        self.name, self.port = "on S3 (moto)", port
        self.options = {
            "aws_access_key_id": "planted",
            "aws_secret_access_key": "planted",
            "aws_region": "us-east-1",
            "aws_endpoint": f"http://127.0.0.1:{port}",
            "allow_http": "true",
            "aws_conditional_put": "etag",
        }
        self._ask("PUT", f"/{BUCKET}")

    def fresh(self, name: str) -> str:
        """Returns a table in the bucket."""
        return f"s3://{BUCKET}/{name}"

    def read(self, uri: str, path: str) -> bytes | None:
        """Reads an object of the table."""
        key = urllib.parse.quote(f"{uri.removeprefix('s3:/')}/{path}")
        return self._ask("GET", key)

    def _ask(self, method: str, path: str) -> bytes | None:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.request(method, path, headers={"Authorization": SIGNED})
            answer = connection.getresponse()
            said = answer.read()
        if answer.status == 404:
            return None
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {said!r}")
        return said


@contextlib.contextmanager
def moto(python: Path, folder: Path) -> Iterator[int]:
    """Runs the server of the tests with the Python that has moto; yields its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    with (folder / "moto.log").open("wb") as log:
        command = [str(python.absolute()), str(MOTO), "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        else:
            raise RuntimeError("moto did not start")
        yield port
    finally:
        process.terminate()
        process.wait()
