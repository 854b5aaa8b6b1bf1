"""The reference tables that deltaic reads, and whether what Spark reads of them is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tests.golden.reference import GOLDEN, Content, Reference, reference
from tests.golden.rows import difference
from tests.golden.test_golden import as_read, padded
from tests.golden.variants import as_text, holds_variants, rendered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EXPECTATIONS = Path(__file__).parents[1] / "golden" / "expectations.json"
VERDICTS: dict[str, str] = json.loads(EXPECTATIONS.read_text()) if EXPECTATIONS.exists() else {}
# A table that the reference has no rows of says nothing here.
READ = [
    name
    for name, verdict in VERDICTS.items()
    if verdict == "read" and "@" not in name and (not GOLDEN.is_dir() or reference(name).latest.rows)
]


def older_versions() -> list[tuple[str, int]]:
    """Versions of the tables that deltaic reads and that the reference has rows of."""
    # A version that fares otherwise than its table has a line of its own there.
    not_read = {name for name, verdict in VERDICTS.items() if verdict != "read"}
    return [
        (name, version)
        for name in READ
        if GOLDEN.is_dir()
        for version, known in reference(name).older.items()
        if known.rows and f"{name}@{version}" not in not_read
    ]


def arrow_of(frame: DataFrame) -> pa.Table:
    """The rows, as Spark hands them to Arrow."""
    if "variant" not in frame.schema.json():
        return frame.toArrow()
    # As toArrow, which fails for a list of variants with a NULL in it.
    batches = frame._collect_as_arrow()
    return pa.Table.from_batches(batches) if batches else frame.toArrow()


def prove(known: Reference, content: Content, actual: pa.Table, schema: str) -> None:
    """These are the rows that the reference has."""
    kinds = json.loads(schema)
    if holds_variants(kinds):
        actual = rendered(as_text(actual, kinds), kinds, content.read().schema)
    assert difference(padded(actual, known.schema), as_read(content, actual)) is None
