"""The reference tables that deltaic reads, and the comparison of Spark's rows with the reference."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import deltaic
from tests.golden.expected_rows import as_read, padded
from tests.golden.reference import GOLDEN, Content, Reference, reference
from tests.golden.rows import difference
from tests.golden.variants import as_text, holds_variants, rendered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EXPECTATIONS = Path(__file__).parents[1] / "golden" / "expectations.json"
OUTCOMES: dict[str, str] = json.loads(EXPECTATIONS.read_text()) if EXPECTATIONS.exists() else {}
# Tables without reference rows are left out.
READ = [
    name
    for name, outcome in OUTCOMES.items()
    if outcome == "read" and "@" not in name and (not GOLDEN.is_dir() or reference(name).latest.rows)
]


def older_versions() -> list[tuple[str, int]]:
    """Returns the older versions that deltaic reads and that have reference rows."""
    # A version with another result than its table has a separate entry.
    not_read = {name for name, outcome in OUTCOMES.items() if outcome != "read"}
    return [
        (name, version)
        for name in READ
        if GOLDEN.is_dir()
        for version, known in reference(name).older.items()
        if known.rows and f"{name}@{version}" not in not_read
    ]


def beyond_spark(snapshot: deltaic.Snapshot) -> str | None:
    """Returns why a native scan cannot read the table, if it cannot."""
    if snapshot.properties.get("delta.columnMapping.mode") == "id":
        return "found by ids"
    return "type variant" if holds_variants(json.loads(snapshot.schema.to_json())) else None


def without_stale_checksums(table: Path, to: Path) -> Path:
    """Copies a table without Hadoop's checksums (.<name>.crc), some of which are outdated."""
    return shutil.copytree(table, to / "t", ignore=shutil.ignore_patterns(".*.crc"))


def arrow_of(frame: DataFrame) -> pa.Table:
    """Returns the rows as Arrow data."""
    if "variant" not in frame.schema.json():
        return frame.toArrow()
    # Like toArrow, which fails for a list of variants that contains NULL.
    batches = frame._collect_as_arrow()
    return pa.Table.from_batches(batches) if batches else frame.toArrow()


def prove(known: Reference, content: Content, actual: pa.Table, schema: str) -> None:
    """Asserts that these are the rows of the reference."""
    kinds = json.loads(schema)
    if holds_variants(kinds):
        actual = rendered(as_text(actual, kinds), kinds, content.read().schema)
    assert difference(padded(actual, known.schema), as_read(content, actual)) is None
