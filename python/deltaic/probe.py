"""Is a store safe to commit to? Tried out, without touching a table."""

from __future__ import annotations

import os
from collections.abc import Mapping

from deltaic import _rust
from deltaic.arguments import options, place

__all__ = ["probe_store"]


def probe_store(uri: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None) -> None:
    """Tries out whether commits are safe at a place, and gives nothing back where they are.

    Versions are proposed by one writer and by many at once, in a folder ``_probe-…`` at that place, which is
    removed again: one writer must win each, its bytes must stay, and a listing must show them.

    Args:
        uri: A place where tables are to lie; nothing else there is touched.
        storage_options: Settings of the store, as for `Table`.

    Raises:
        StorageError: The store does not keep what a commit needs, and ``context["promise"]`` is ``"once"``,
            ``"one winner"``, ``"bytes"`` or ``"listing"``; or it cannot be reached or written.
        ValueError: The URI or a storage option is not known.

    >>> import deltaic
    >>> deltaic.probe_store("memory://anywhere")
    """
    _rust.Table(place("uri", uri), storage_options=options("storage_options", storage_options)).probe()
