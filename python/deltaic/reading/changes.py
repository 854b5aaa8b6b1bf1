"""`Table.changes`: the row-level changes between two versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from deltaic import _rust
from deltaic.reading.scan import Scan
from deltaic.values.arguments import names
from deltaic.values.versions import to_end

__all__ = ["read_changes"]


def read_changes(
    table: _rust.Table,
    start: int | str | datetime,
    end: int | str | datetime | None,
    columns: Sequence[str] | None,
    *,
    infer: bool,
) -> Scan:
    """Returns the scan of `Table.changes`."""
    wanted = None if columns is None else names("columns", columns)
    first_version, first_ms = to_end("start", start, round_up=True)
    last_version, last_ms = (None, None) if end is None else to_end("end", end, round_up=False)
    return Scan(
        table.changes(
            first_version=first_version,
            first_ms=first_ms,
            last_version=last_version,
            last_ms=last_ms,
            columns=wanted,
            infer=infer,
        )
    )
