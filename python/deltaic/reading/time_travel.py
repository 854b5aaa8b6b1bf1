"""`Table.snapshot`: the newest version, or one that is selected by its number or by a time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from deltaic import _rust
from deltaic.reading.snapshot import Snapshot, announced
from deltaic.values.times import to_millis
from deltaic.values.versions import to_version

__all__ = ["snapshot_at"]


def snapshot_at(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    version: int | None,
    timestamp: str | datetime | None,
) -> Snapshot:
    """Returns the snapshot of `Table.snapshot`."""
    if version is not None and timestamp is not None:
        raise ValueError("give version or timestamp, not both")
    if version is not None:
        known = table.snapshot(version=to_version(version))
    elif timestamp is not None:
        known = table.snapshot(timestamp_ms=to_millis(timestamp))
    else:
        known = refresh()
    # `Table.snapshot` and its decorator are between the caller and this function.
    return announced(known, stacklevel=5)
