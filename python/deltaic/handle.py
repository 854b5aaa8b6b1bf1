"""A handle on a table's location: what all methods of a table share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from deltaic import _rust
from deltaic.values.arguments import bounded_int, place
from deltaic.values.arguments import options as text_options
from deltaic.values.foreign_names import OF_TABLES, elsewhere, missing, name_methods

__all__ = ["Handle", "open_location"]

_MAX_LINE_BYTES = 1 << 28


class Handle:
    """The location of a table, and the newest snapshot that was read.

    >>> Handle("rides")._newest is None
    True
    """

    __slots__ = ("_newest", "_rust")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith("deltaic."):
            name_methods(cls, "Table")

    @elsewhere(
        version="deltaic.Table(uri).snapshot(version=…)",
        without_files="deltaic.Table(uri): files are listed only when they are needed",
    )
    def __init__(
        self,
        uri: str | os.PathLike[str],
        *,
        storage_options: Mapping[str, str] | None = None,
        allowed_roots: Iterable[str | os.PathLike[str]] = (),
        max_line_bytes: int = _MAX_LINE_BYTES,
    ) -> None:
        if isinstance(allowed_roots, (str, os.PathLike)):
            raise TypeError("allowed_roots must be a list of paths or URIs: write allowed_roots=[…]")
        roots = [place("allowed_roots", root) for root in allowed_roots]
        self._rust = open_location(uri, storage_options, allowed_roots=roots, max_line_bytes=max_line_bytes)
        self._newest: _rust.Snapshot | None = None

    @property
    def uri(self) -> str:
        """The table's root, normalised and ending in a slash; never contains a secret."""
        return self._rust.uri

    def _refreshed(self) -> _rust.Snapshot:
        # Reads only what is new: many appends stay as fast as the first.
        self._newest = self._rust.snapshot() if self._newest is None else self._newest.refresh()
        return self._newest

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing("a deltaic.Table", name, OF_TABLES)

    def __repr__(self) -> str:
        return f"<deltaic.Table {self.uri}>"


name_methods(Handle, "Table")


def open_location(
    uri: str | os.PathLike[str],
    storage_options: Mapping[str, str] | None,
    *,
    allowed_roots: list[str] | None = None,
    max_line_bytes: int = _MAX_LINE_BYTES,
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
