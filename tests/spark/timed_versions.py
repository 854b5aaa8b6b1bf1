"""A table whose versions are an hour apart."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from tests.protocol.handmade_log import HandmadeTable, ids

__all__ = ["NOON", "timed_versions"]

NOON = datetime(2026, 11, 1, 12, tzinfo=timezone.utc)


def timed_versions(root: Path) -> Path:
    """Version 1 at noon UTC contains one row, version 2 an hour later two."""
    made = HandmadeTable(root)
    made.create()
    for version in (1, 2):
        made.commit(made.data(f"{version}.parquet", ids(version)))
    for version, hours in enumerate((-1, 0, 1)):
        made.set_time(version, round((NOON + timedelta(hours=hours)).timestamp() * 1000))
    return made.root
