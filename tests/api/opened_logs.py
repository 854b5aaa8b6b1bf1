"""A handmade log, opened, and the files of its snapshot."""

from __future__ import annotations

import deltaic
from tests.protocol.handmade_log import HandmadeTable

FIRST_CHECKPOINT = f"{0:020}.checkpoint.parquet"


def paths(snapshot: deltaic.Snapshot, predicate: str | None = None) -> list[str]:
    return sorted(snapshot.files(predicate).to_arrow()["path"].to_pylist())


def opened(table: HandmadeTable) -> deltaic.Snapshot:
    return deltaic.Table(table.root).snapshot()
