"""Runs moto's server with the arguments of `moto_server`, but executes one request at a time.

moto checks the condition of a put in one step and stores the object in another. With a thread for each
connection, two of several simultaneous puts with `If-None-Match: *` can both be accepted, which S3 excludes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import moto.server  # pyright: ignore[reportMissingImports]

_one_request = threading.Lock()


class _OneAtATime(moto.server.DomainDispatcherApplication):  # type: ignore[misc]
    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with _one_request:
            # The list executes a response that is made while it is sent.
            return list(super().__call__(environ, start_response))


if __name__ == "__main__":
    moto.server.DomainDispatcherApplication = _OneAtATime
    moto.server.main()
