"""The reference tables outside of the repository: the path of each, and what delta-spark reads from it.

The tables are in ``../shared/golden``; what delta-spark reads is in ``../shared/golden_oracle``, or in
``expected/`` in the table's folder for those of ``delta-spark-fresh``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

SHARED = Path(__file__).resolve().parents[3] / "shared"
GOLDEN = SHARED / "golden"
ORACLE = SHARED / "golden_oracle"
FRESH = "delta-spark-fresh"

_NOT_OF_THE_TABLE = "schema_of_"


@dataclass(frozen=True)
class Content:
    """Contents of one version; None if the reference does not specify them."""

    num_files: int | None
    rows: Path | None
    num_rows: int | None = None

    def read(self) -> pa.Table:
        """Reads the rows. Columns that the reference stores as strings are strings here, too."""
        assert self.rows is not None
        parts = sorted(self.rows.glob("*.parquet")) if self.rows.is_dir() else [self.rows]
        table = pa.concat_tables([pq.ParquetFile(part).read() for part in parts])
        return table.select([name for name in table.column_names if not name.startswith(_NOT_OF_THE_TABLE)])


@dataclass(frozen=True)
class Reference:
    """A table and its expected contents."""

    name: str
    folder: Path
    failed_at: Literal["snapshot", "scan"] | None
    failure: str
    version: int | None
    protocol: dict[str, Any] = field(default_factory=dict[str, Any])
    schema: dict[str, Any] = field(default_factory=dict[str, Any])
    partition_columns: tuple[str, ...] = ()
    latest: Content = Content(None, None)
    older: dict[int, Content] = field(default_factory=dict[int, Content])
    meta: dict[str, Any] | None = None


@cache
def reference(name: str) -> Reference:
    """Returns the reference for a table, named as in the manifest."""
    folder = GOLDEN / name
    return _fresh(name, folder) if name.startswith(FRESH) else _from_oracle(name, folder)


def manifest() -> list[str]:
    """Returns the names of all reference tables."""
    return sorted(json.loads((GOLDEN / "manifest.json").read_text()))


def _fresh(name: str, folder: Path) -> Reference:
    expected = folder / "expected"
    meta = json.loads((expected / "meta.json").read_text())
    return Reference(
        name=name,
        folder=folder / "delta",
        failed_at=None,
        failure="",
        version=meta["version"],
        protocol=meta["protocol"],
        schema=json.loads(meta["schema_string"]),
        partition_columns=tuple(meta["partition_columns"]),
        latest=Content(meta["num_files"], expected / "latest", meta["rows"]),
        older=dict(sorted(_fresh_versions(expected))),
        meta=meta,
    )


def _fresh_versions(expected: Path) -> Iterator[tuple[int, Content]]:
    for path in expected.glob("v[0-9]*"):
        yield int(path.name[1:]), Content(None, path)


def _from_oracle(name: str, folder: Path) -> Reference:
    place = ORACLE / name
    known = json.loads((place / "oracle.json").read_text())
    table = folder / "delta" / known["sub_folder"]
    error = known["error"]
    if known["version"] is None:
        return Reference(name, table, error["stage"], error["class"], None)
    return Reference(
        name=name,
        folder=table,
        failed_at=error["stage"] if error else None,
        failure=error["class"] if error else "",
        version=known["version"],
        protocol=known["protocol"],
        schema=json.loads(known["schema"]),
        partition_columns=tuple(known["partition_columns"]),
        latest=_content(known, place / "latest.parquet"),
        older=dict(_older(place, known.get("older") or {})),
    )


def _older(place: Path, known: dict[str, Any]) -> Iterator[tuple[int, Content]]:
    for text, facts in known.items():
        if "error" not in facts:
            yield int(text), _content(facts, place / f"v{text}.parquet")


def _content(facts: dict[str, Any], rows: Path) -> Content:
    return Content(facts["num_files"], rows if rows.exists() else None, facts.get("rows"))
