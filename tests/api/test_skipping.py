"""Which files a predicate keeps: by partition values and by statistics, separately and combined."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.protocol.handmade_log import Action, HandmadeTable, add, field, metadata, protocol, schema


def file_of(
    table: HandmadeTable, name: str, region: str | None, day: str, bounds: tuple[float, float] | None
) -> Action:
    """Adds a file with two amounts, with or without statistics in the log."""
    amounts = pa.table({"amount": bounds or (None, 3.5)})
    others: dict[str, Any] = {}
    if bounds is not None:
        low, high = ({"amount": bound} for bound in bounds)
        stats = {"numRecords": 2, "minValues": low, "maxValues": high, "nullCount": {"amount": 0}}
        others = {"stats": json.dumps(stats)}
    return table.data(name, amounts, values={"region": region, "day": day}, **others)


@pytest.fixture
def sales(tmp_path: Path) -> deltaic.Snapshot:
    """Sales by region, with a file of low and a file of high amounts in each."""
    table = HandmadeTable(tmp_path / "sales")
    columns = schema(field("region", "string"), field("amount", "double"), field("day", "integer"))
    table.commit(
        protocol(),
        metadata(columns, ["region", "day"]),
        file_of(table, "eu low", "EU", "1", (0.5, 4.5)),
        file_of(table, "eu high", "EU", "2", (5.5, 7.5)),
        file_of(table, "us low", "US", "1", (0.5, 8.5)),
        file_of(table, "us high", "US", "9", (8.5, 12.5)),
        file_of(table, "nowhere", None, "3", (0.5, 20.5)),
        file_of(table, "unknown", "EU", "4", None),
        file_of(table, "damaged", "EU", "soon", (0.5, 1.5)),
    )
    return deltaic.Table(table.root).snapshot()


@pytest.mark.parametrize(
    ("predicate", "after_partitions", "kept"),
    [
        (
            "(region = 'EU' AND amount BETWEEN 5 AND 6) OR (region = 'US' AND amount BETWEEN 9 AND 10)",
            6,
            {"eu high", "us high", "unknown"},
        ),
        ("region = 'EU' AND amount = 0.75", 4, {"eu low", "unknown", "damaged"}),
        ("amount = day", 7, {"eu low", "us low", "us high", "nowhere", "unknown", "damaged"}),
        ("amount < day", 7, {"eu low", "us low", "us high", "nowhere", "unknown", "damaged"}),
        ("NOT (region = 'EU' OR amount <= 8.5)", 3, {"us low", "us high", "damaged"}),
        ("region IS NULL AND amount = 30", 2, set()),
        ("region IS NULL OR amount = 30", 7, {"nowhere", "unknown", "damaged"}),
        ("day = 2 OR (day = 9 AND amount < 8)", 3, {"eu high", "damaged"}),
        ("day > 2 AND day < 9", 3, {"nowhere", "unknown", "damaged"}),
        ("amount IS NULL", 7, {"unknown"}),
        ("amount IS NOT NULL AND region = 'US'", 3, {"us low", "us high", "damaged"}),
        ("region = 'EU' AND FALSE", 1, {"damaged"}),
        ("region = 'XX' AND amount = 1", 1, {"damaged"}),
        ("TRUE", 7, {"eu low", "eu high", "us low", "us high", "nowhere", "unknown", "damaged"}),
        ("FALSE", 0, set()),
        ("NULL", 0, set()),
        ("amount = NULL", 0, set()),
        ("amount > 9 AND NULL", 0, set()),
    ],
)
def test_partitions_and_statistics_rule_out_together(
    sales: deltaic.Snapshot, predicate: str, after_partitions: int, kept: set[str]
) -> None:
    """protocol: partition-value-serialization.1. An unreadable value does not exclude its file."""
    found = sales.files(predicate).to_arrow()["path"].to_pylist()
    assert set(found) == kept
    assert len(found) == len(kept)
    if "damaged" not in kept:
        told = sales.scan(predicate=predicate).explain()
        assert f" 7 in all, {after_partitions} after partitions, {len(kept)} after statistics" in told


def test_without_partition_columns_constants_are_observed(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "plain")
    table.commit(protocol(), metadata(), add("a"))
    snapshot = deltaic.Table(table.root).snapshot()
    for predicate, kept in [
        ("FALSE", 0),
        ("NULL", 0),
        ("TRUE", 1),
        ("id > 1 AND FALSE", 0),
        ("id = NULL", 0),
    ]:
        assert snapshot.files(predicate).num_rows == kept
