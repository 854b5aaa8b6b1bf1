"""The overlap of files, compared with counting for each value."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.advice.columns import ColumnClustering, ColumnStatistics, clustering_of
from tests.seed import generator


def naive(bounds: list[tuple[Any, Any]]) -> ColumnClustering:
    known = [(low, high) for low, high in bounds if low is not None and high is not None]
    depths = [sum(low <= point <= high for low, high in known) for point, _ in known]
    touching = [sum(low <= other[1] and other[0] <= high for other in known) for low, high in known]
    return ColumnClustering(
        "x", len(known), sum(depths) / len(known), max(depths), sum(count > 1 for count in touching)
    )


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.int64(), lambda number: number),
        (pa.string(), lambda number: f"v{number:03d}"),
        (pa.date32(), lambda number: date(2026, 1, 1) + timedelta(days=number)),
        (pa.decimal128(9, 2), lambda number: Decimal(number) / 4),
        (pa.float64(), lambda number: number / 8),
    ],
    ids=["int64", "string", "date", "decimal", "double"],
)
def test_the_same_as_counting(kind: pa.DataType, value: Any) -> None:
    source = generator("overlap", kind)
    for _ in range(60):
        count, spread = source.randint(1, 40), source.choice([3, 30, 300])
        bounds: list[tuple[Any, Any]] = []
        for _ in range(count):
            low = source.randrange(spread)
            bounds.append((value(low), value(low + source.randrange(spread))))
        bounds.append((None, value(3)))
        low, high = (pa.chunked_array([pa.array(side, kind)]) for side in zip(*bounds, strict=True))
        assert clustering_of(ColumnStatistics("x", low, high, None, has_bounds=True)) == naive(bounds)


def test_without_bounds() -> None:
    nothing = ColumnClustering("x", 0, None, None, None)
    empty = pa.chunked_array([pa.array([None, None], pa.int64())])
    assert clustering_of(ColumnStatistics("x", empty, empty, None, has_bounds=True)) == nothing
    assert clustering_of(ColumnStatistics("x", None, None, None, has_bounds=False)) == nothing
    assert nothing.share is None


def test_sorting_removes_the_overlap(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("at", pa.struct([("day", pa.int32())]))])
    properties = {"delta.targetFileSize": "2000"}
    table = deltaic.Table.create(root, schema, properties=properties)
    for number in range(30):
        rows = range(number, 3000, 30)
        table.append(pa.table({"id": rows, "at": [{"day": row // 7} for row in rows]}, schema=schema))
    advice = table.advise(["id", "at.day"])
    [finding] = [finding for finding in advice if finding.code == "POOR_CLUSTERING"]
    assert [column.name for column in advice.columns] == ["id", "at.day"]
    # The depth is measured at the lower bounds: the files start one after the other.
    assert advice.columns[0].average_depth == pytest.approx(15.5)
    assert advice.columns[0].maximum_depth == 30
    assert finding.action == 'table.optimize(zorder_by=["id", "at.day"])'
    table.optimize(zorder_by=["id", "at.day"])
    assert "POOR_CLUSTERING" not in {finding.code for finding in table.advise(["id", "at.day"])}


def test_clustering_columns_are_examined(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("s", pa.struct([("x", pa.int64())])), ("other", pa.int64())])
    table = deltaic.Table.create(
        root, schema, cluster_by=["s.x", "id"], properties={"delta.columnMapping.mode": "name"}
    )
    for number in range(6):
        table.append(
            pa.table({"id": [0, 9], "s": [{"x": 1}, {"x": number + 1}], "other": [1, 1]}, schema=schema)
        )
    assert [column.name for column in table.advise().columns] == ["s.x", "id"]
    assert [column.name for column in table.advise(["other"]).columns] == ["s.x", "id", "other"]
    [finding] = [finding for finding in table.advise() if finding.code == "POOR_CLUSTERING"]
    assert [column["average_depth"] for column in finding.figures["columns"]] == [6.0, 6.0]
    assert (finding.action, finding.command) == ("table.optimize(full=True)", "deltaic optimize PATH --full")
    table.optimize(full=True)
    assert "POOR_CLUSTERING" not in {finding.code for finding in table.advise()}


def test_partitions_are_not_combined(root: Path) -> None:
    """A value that each partition has is in a file of each, however these are sorted."""
    schema = pa.schema([("p", pa.int32()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["p"])
    rows = pa.table({"p": [n % 6 for n in range(600)], "id": [n // 6 for n in range(600)]}, schema=schema)
    table.append(rows)
    assert table.advise(["id"]).columns[0].average_depth == 6.0
    assert "POOR_CLUSTERING" not in {finding.code for finding in table.advise(["id"])}
    for _ in range(2):
        table.append(rows)
    [finding] = [finding for finding in table.advise(["id"]) if finding.code == "POOR_CLUSTERING"]
    assert finding.figures["files_after"] == finding.figures["files_with_a_value_after"] == 6
    table.optimize(zorder_by=["id"])
    assert table.advise(["id"]).columns[0].average_depth == 6.0
