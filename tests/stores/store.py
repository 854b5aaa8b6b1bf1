"""A store under test: paths of tables, options, and access to its objects without deltaic."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.client
import itertools
import threading
import urllib.parse
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from .emulators import AZURE_ACCOUNT, AZURE_KEY

BUCKET = "tables"
S3_SIGNATURE = (
    "AWS4-HMAC-SHA256 Credential=planted-key-id/20261121/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=none"
)
"""moto requires signed requests but does not check the signature."""
PATIENT = {"allow_http": "true", "max_retries": "2", "read_timeout": "300s"}
"""Options of every store: only one that hangs takes so long."""
_numbers = itertools.count()


@dataclass(frozen=True)
class Store:
    """A store that listens on a local port."""

    name: str
    scheme: str
    port: int
    options: dict[str, str]
    """The options that deltaic needs to access it."""
    prefix: str = f"/{BUCKET}"
    """Prefix of a key in a request's path."""
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def fresh(self) -> str:
        """Returns the URI of an unused path."""
        return f"{self.scheme}://{BUCKET}/t{next(_numbers)}"

    def key(self, uri: str) -> str:
        """Returns the key of a URI in the store."""
        return uri.removeprefix(f"{self.scheme}://{BUCKET}/").rstrip("/")

    def make_bucket(self) -> None:
        """Creates the bucket or container of all tables."""
        query = f"?restype=container&{self.query}" if self.name == "azure" else ""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            _ask(connection, "PUT", self.prefix + query, b"", self.headers)

    def get(self, key: str) -> bytes | None:
        """Returns the bytes of a key; None if it does not exist."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            path = f"{self.prefix}/{urllib.parse.quote(key)}"
            path += f"?{self.query}" if self.query else ""
            connection.request("GET", path, headers=self.headers)
            answer = connection.getresponse()
            said = answer.read()
        assert answer.status in {200, 404}, (key, answer.status, said)
        return said if answer.status == 200 else None

    def put_all(self, objects: Iterable[tuple[str, bytes]], threads: int = 8) -> None:
        """Puts bytes under keys, with persistent connections."""
        local = threading.local()
        opened: list[http.client.HTTPConnection] = []

        def put(item: tuple[str, bytes]) -> None:
            if not hasattr(local, "connection"):
                local.connection = http.client.HTTPConnection("127.0.0.1", self.port)
                opened.append(local.connection)
            path = f"{self.prefix}/{urllib.parse.quote(item[0])}"
            path += f"?{self.query}" if self.query else ""
            _ask(local.connection, "PUT", path, item[1], self.headers)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(put, objects))
        for connection in opened:
            connection.close()


def _ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: bytes, headers: dict[str, str]
) -> None:
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    said = answer.read()
    assert answer.status < 300, (method, path, answer.status, said)


def s3(port: int) -> Store:
    """S3, simulated by moto."""
    options = {
        "aws_access_key_id": "planted-key-id",
        "aws_secret_access_key": "planted-secret-key",
        "aws_region": "us-east-1",
        "aws_endpoint": f"http://127.0.0.1:{port}",
        **PATIENT,
    }
    return Store("s3", "s3", port, options, headers={"Authorization": S3_SIGNATURE})


def azure(port: int) -> Store:
    """Azure, simulated by Azurite."""
    options = {
        "account_name": AZURE_ACCOUNT,
        "account_key": AZURE_KEY,
        "azure_storage_endpoint": f"http://127.0.0.1:{port}/{AZURE_ACCOUNT}",
        **PATIENT,
    }
    headers = {"x-ms-blob-type": "BlockBlob", "x-ms-version": "2019-12-12"}
    prefix = f"/{AZURE_ACCOUNT}/{BUCKET}"
    return Store("azure", "az", port, options, prefix=prefix, query=azure_sas(), headers=headers)


def azure_sas() -> str:
    """Returns a shared access signature for the whole account."""
    fields = {
        "sp": "rwdlac",
        "ss": "b",
        "srt": "sco",
        "st": "2020-01-01T00:00:00Z",
        "se": "2099-01-01T00:00:00Z",
        "sip": "",
        "spr": "https,http",
        "sv": "2019-12-12",
    }
    to_sign = "".join(f"{line}\n" for line in (AZURE_ACCOUNT, *fields.values()))
    digest = hmac.new(base64.b64decode(AZURE_KEY), to_sign.encode(), hashlib.sha256).digest()
    query = {name: value for name, value in fields.items() if value}
    return urllib.parse.urlencode({**query, "sig": base64.b64encode(digest).decode()})


def google(port: int) -> Store:
    """Google's store, simulated by the strict store."""
    options = {
        "google_base_url": f"http://127.0.0.1:{port}",
        "google_bearer_token": "planted-bearer-token",
        **PATIENT,
    }
    return Store("google", "gs", port, options)


def strict_s3(port: int, **options: str) -> Store:
    """S3, simulated by the strict store."""
    return Store("strict", "s3", port, {**s3(port).options, **options})
