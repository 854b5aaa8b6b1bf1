"""`Table.optimize(zorder_by=…)`: rows are sorted along a curve, and do not change."""

from __future__ import annotations

import datetime as dt
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.live_rows import all_rows
from tests.api.log_files import of_kind
from tests.seed import generator

SIDE = 64
SCHEMA = pa.schema([("x", pa.int64()), ("y", pa.int64()), ("id", pa.int64())])
ALL = {
    "delta.enableDeletionVectors": "true",
    "delta.enableRowTracking": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.columnMapping.mode": "name",
}


def points(chance: random.Random) -> pa.Table:
    """Returns a grid of points in random order."""
    places = list(range(SIDE * SIDE))
    chance.shuffle(places)
    columns = {"x": [n % SIDE for n in places], "y": [n // SIDE for n in places], "id": places}
    return pa.table(columns, schema=SCHEMA)


def made(root: Path, *, files: int = 4, **properties: str) -> deltaic.Table:
    table = deltaic.Table.create(root, SCHEMA, properties=properties)
    rows = points(generator("points of a Z-order", 0))
    for part in range(files):
        length = rows.num_rows // files
        table.append(rows.slice(part * length, length))
    return table


def target(table: deltaic.Table, files: int) -> int:
    """Returns the target size with which so many files are written."""
    return -(-table.snapshot().size_in_bytes // (files + 1)) + 1


def files_with(table: deltaic.Table, where: str) -> int:
    return table.snapshot().files(where).to_arrow().num_rows


@pytest.mark.parametrize("properties", [{}, ALL], ids=["plain", "all"])
def test_rows_stay_the_same(root: Path, properties: dict[str, str]) -> None:
    """protocol: add-file-and-remove-file.7, row-ids.5."""
    table = made(root, **properties)
    table.delete("x = 3 AND y < 9")
    before = all_rows(table, row_ids=bool(properties))
    commit = table.optimize(zorder_by=["x", "y"], target_file_size=target(table, 16))
    assert all_rows(table, row_ids=bool(properties)) == before
    [info] = of_kind(root, commit.version, "commitInfo")
    assert info["operationParameters"]["zOrderBy"] == json.dumps(["x", "y"], separators=(",", ":"))
    assert table.changes(commit.version, infer=True).to_arrow().num_rows == 0
    assert all(not add["dataChange"] for add in of_kind(root, commit.version, "add"))
    assert table.check(deep=True).is_healthy


def test_scans_read_fewer_files(root: Path) -> None:
    table = made(root)
    commit = table.optimize(zorder_by=["x", "y"], target_file_size=target(table, 16))
    assert commit.metrics["numAddedFiles"] == 16
    for column in ("x", "y"):
        for value in range(0, SIDE, 5):
            # A quarter of the range of each column is in a quarter of the files.
            assert files_with(table, f"{column} = {value}") <= 4 + 2
    assert files_with(table, "x = 20 AND y = 30") <= 2
    # A file has as many rows as another.
    records = table.snapshot().files(stats=True).to_arrow()["num_records"].to_pylist()
    assert max(records) - min(records) <= 16


def test_one_column_is_sorted(root: Path) -> None:
    table = made(root)
    table.optimize(zorder_by=["id"], target_file_size=target(table, 8))
    assert all(files_with(table, f"id = {value}") == 1 for value in range(1, SIDE * SIDE, 100))


def test_little_memory(root: Path) -> None:
    """Rows wait in a temporary file, in several parts."""
    table = made(root)
    before = all_rows(table)
    commit = table.optimize(zorder_by=["y", "x"], memory=1 << 20, target_file_size=target(table, 16))
    assert all_rows(table) == before
    assert commit.metrics["numAddedFiles"] == 16
    assert max(files_with(table, f"x = {value}") for value in range(SIDE)) <= 6


def test_each_partition_is_sorted(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, partition_by=["y"])
    rows = points(generator("points of a Z-order", 1))
    rows = rows.set_column(1, "y", pa.array([n % 2 for n in range(rows.num_rows)], pa.int64()))
    for part in range(2):
        table.append(rows.slice(part * 2048, 2048))
    before = all_rows(table)
    commit = table.optimize("y = 1", zorder_by=["x"])
    assert (commit.metrics["numRemovedFiles"], commit.metrics["numAddedFiles"]) == (2, 1)
    assert all_rows(table) == before
    assert table.snapshot().num_files == 3


VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["", "a", "b" * 50, None, "ä", "a"]),
    "real": (pa.float64(), [1.5, float("nan"), float("-inf"), None, -0.0, 0.0]),
    "day": (pa.date32(), [dt.date(1, 1, 1), None, dt.date(2026, 1, 1), dt.date(9999, 12, 31), None, None]),
    "time": (
        pa.timestamp("us", "UTC"),
        [dt.datetime(2026, 1, n + 1, tzinfo=dt.timezone.utc) for n in range(6)],
    ),
    "price": (pa.decimal128(20, 3), [None] * 6),
    "same": (pa.int32(), [7] * 6),
}


@pytest.mark.parametrize("columns", [[name] for name in VALUES] + [list(VALUES)], ids=",".join)
def test_columns_of_all_types(root: Path, columns: list[str]) -> None:
    schema = pa.schema([("id", pa.int64()), *((name, kind) for name, (kind, _) in VALUES.items())])
    table = deltaic.Table.create(root, schema)
    for file in range(3):
        row = {name: pa.array(values, kind) for name, (kind, values) in VALUES.items()}
        table.append(pa.table({"id": range(file * 6, file * 6 + 6), **row}, schema=schema))
    before = repr(all_rows(table))
    assert table.optimize(zorder_by=columns).metrics["numAddedFiles"] == 1
    assert repr(all_rows(table)) == before


def test_fields_of_structs(root: Path) -> None:
    place = pa.struct([("x", pa.int64()), ("y", pa.int64())])
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64()), ("place", place)]))
    for _ in range(2):
        rows = [{"id": n, "place": {"x": n % 7, "y": -n} if n % 9 else None} for n in range(100)]
        table.append(pa.Table.from_pylist(rows, pa.schema([("id", pa.int64()), ("place", place)])))
    before = all_rows(table)
    table.optimize(zorder_by=["place.x", "PLACE.y"])
    assert sorted(map(repr, all_rows(table))) == sorted(map(repr, before))


def test_refused_columns(root: Path) -> None:
    """protocol: per-file-statistics.2."""
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("p", pa.int64())])
    properties = {"delta.dataSkippingStatsColumns": "a"}
    table = deltaic.Table.create(root / "t", schema, partition_by=["p"], properties=properties)
    for column, why in {
        "p": "it is a partition column",
        "b": "files have no statistics of it",
        "c": "the table does not have it",
        "a.x": "the table does not have it",
    }.items():
        with pytest.raises(ValueError, match=f"zorder_by may not have the column .*{why}"):
            table.optimize(zorder_by=[column])
    with pytest.raises(ValueError, match="it is there twice"):
        table.optimize(zorder_by=["a", "A"])
    with pytest.raises(TypeError, match="zorder_by must be a list"):
        table.optimize(zorder_by="a")
    clustered = deltaic.Table.create(root / "clustered", schema, cluster_by=["a"])
    with pytest.raises(ValueError, match="a clustered table cannot be Z-ordered"):
        clustered.optimize(zorder_by=["b"])
    assert table.optimize(zorder_by=["a"]).skipped


def test_a_dry_run(root: Path) -> None:
    table = made(root)
    found = table.optimize(zorder_by=["x"], target_file_size=target(table, 16), dry_run=True)
    assert (found.rewritten_files, found.added_files, found.rows) == (4, 16, SIDE * SIDE)
