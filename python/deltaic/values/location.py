"""The location of a table, opened in the core."""

from __future__ import annotations

import os
from collections.abc import Mapping

from deltaic import _rust
from deltaic.values.arguments import bounded_int, place
from deltaic.values.arguments import options as text_options

__all__ = ["MAX_LINE_BYTES", "open_location"]

MAX_LINE_BYTES = 1 << 28
"""The longest line accepted in a commit file by default, in bytes."""


def open_location(
    uri: str | os.PathLike[str],
    storage_options: Mapping[str, str] | None,
    *,
    allowed_roots: list[str] | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> _rust.Table:
    """Opens a location. This does no I/O.

    Raises:
        ValueError: The URI or a storage option is not known.

    >>> open_location("rides", None).exists()
    False
    """
    return _rust.Table(
        place("uri", uri),
        storage_options=text_options("storage_options", storage_options),
        allowed_roots=allowed_roots or [],
        max_line_bytes=bounded_int("max_line_bytes", max_line_bytes, minimum=1),
    )
