"""Tests whether a store is safe to commit to, without touching a table."""

from __future__ import annotations

import os
from collections.abc import Mapping

from deltaic import _rust
from deltaic.values.arguments import options, place

__all__ = ["probe_store"]


def probe_store(uri: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None) -> None:
    """Tests whether commits are safe at a location; raises an error if they are not.

    One writer, and then many concurrent ones, write versions in a folder ``_probe-…`` at that location, which
    is deleted afterwards: exactly one writer must win each version, its bytes must remain, and a listing must
    include them.

    Args:
        uri: A location for tables; no other file there is touched.
        storage_options: Settings of the store, as for `Table`.

    Raises:
        StorageError: The store does not guarantee what a commit requires, and ``context["promise"]`` is
            ``"once"``, ``"one winner"``, ``"bytes"`` or ``"listing"``; or it cannot be reached or written to.
        ValueError: The URI or a storage option is not known.

    >>> import deltaic
    >>> deltaic.probe_store("memory://anywhere")
    """
    _rust.Table(place("uri", uri), storage_options=options("storage_options", storage_options)).probe()
