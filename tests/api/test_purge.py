"""`Table.purge`: files lose their deleted rows and dropped columns, and no row changes."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.commit import from_rust
from deltaic.values.commit_options import to_options
from tests.api.command_line import as_json, lines
from tests.api.live_rows import all_rows, files_of
from tests.api.log_files import actions, of_kind

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("inner", pa.struct([("x", pa.int32()), ("y", pa.int32())])),
        ("items", pa.list_(pa.struct([("p", pa.int32()), ("q", pa.int32())]))),
        ("part", pa.string()),
    ]
)
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKING = {"delta.enableRowTracking": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
FILES = 4


def rows(*ids: int, part: str = "a") -> pa.Table:
    return pa.table(
        {
            "id": ids,
            "name": [f"n{i}" for i in ids],
            "inner": [{"x": i, "y": -i} for i in ids],
            "items": [[{"p": i, "q": -i}] for i in ids],
            "part": [part] * len(ids),
        },
        schema=SCHEMA,
    )


def made(root: Path, *, by: list[str] | None = None, **properties: str) -> deltaic.Table:
    """Returns a table of four files, each with 20 rows, in two partitions."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties)
    for file in range(FILES):
        table.append(rows(*range(100 * file, 100 * file + 20), part="ab"[file % 2]))
    return table


@pytest.mark.parametrize(
    "properties",
    [VECTORS, {**VECTORS, **FEED}, {**VECTORS, **MAPPED}, {**VECTORS, **FEED, **TRACKING, **MAPPED}],
    ids=["vectors", "feed", "mapped", "all"],
)
@pytest.mark.parametrize("by", [[], ["part"]], ids=["unpartitioned", "partitioned"])
def test_deleted_rows_are_removed(root: Path, by: list[str], properties: dict[str, str]) -> None:
    """protocol: deletion-vectors.3, row-ids.5."""
    table = made(root, by=by, **properties)
    table.delete("id IN (1, 102)")
    untouched = {file["path"] for file in files_of(table) if file["deletion_vector"] is None}
    has_ids = "delta.enableRowTracking" in properties
    before = all_rows(table, row_ids=has_ids)
    commit = table.purge()
    assert commit.operation == "REORG"
    assert commit.metrics["numRemovedFiles"] == commit.metrics["numDeletionVectorsRemoved"] == 2
    assert commit.metrics["numAddedFiles"] == (2 if by else 1)
    assert all_rows(table, row_ids=has_ids) == before
    assert untouched < {file["path"] for file in files_of(table)}
    assert all(file["deletion_vector"] is None for file in files_of(table))
    for action in actions(root, commit.version):
        for kind in ("add", "remove"):
            assert action.get(kind, {}).get("dataChange", False) is False
    assert table.changes(commit.version, infer=True).to_arrow().num_rows == 0
    if "delta.enableChangeDataFeed" in properties:
        assert table.changes(commit.version).to_arrow().num_rows == 0
        assert not of_kind(root, commit.version, "cdc")
    assert table.check(deep=True).is_healthy
    assert table.snapshot(version=FILES).scan().count() == 20 * FILES
    assert table.purge().skipped


@pytest.mark.parametrize("mode", ["name", "id"])
@pytest.mark.parametrize("column", ["name", "inner.y", "items.element.q"])
def test_dropped_columns_are_removed(root: Path, mode: str, column: str) -> None:
    table = made(root, **{"delta.columnMapping.mode": mode})
    assert table.purge().skipped
    table.alter(deltaic.alter.DropColumn(column))
    assert table.purge(dry_run=True).rewritten_files == FILES
    before = all_rows(table)
    commit = table.purge()
    assert commit.metrics["numRemovedFiles"] == FILES
    assert all_rows(table) == before
    [file] = files_of(table)
    assert len(pq.ParquetFile(root / file["path"]).schema) == len(SCHEMA) + 2 - 1
    assert table.purge().skipped


def test_a_column_of_the_same_name_does_not_hide_a_dropped_one(root: Path) -> None:
    table = made(root, **MAPPED)
    table.alter(deltaic.alter.DropColumn("name"), deltaic.alter.AddColumn("name", "string"))
    assert table.purge().metrics["numRemovedFiles"] == FILES
    assert {row["name"] for row in all_rows(table)} == {None}
    # A column that files do not have yet is no reason to rewrite them, nor is a new name.
    table.alter(deltaic.alter.AddColumn("later", "int"), deltaic.alter.RenameColumn("id", "key"))
    assert table.purge().skipped


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (pa.int8(), "short"),
        (pa.int8(), "long"),
        (pa.int16(), "int"),
        (pa.int32(), "long"),
        (pa.int32(), "double"),
        (pa.int32(), "decimal(12,1)"),
        (pa.int64(), "decimal(25,2)"),
        (pa.float32(), "double"),
        (pa.date32(), "timestamp_ntz"),
        (pa.decimal128(5, 1), "decimal(7,3)"),
    ],
    ids=str,
)
@pytest.mark.parametrize("column", ["value", "value.element", "value.x"])
def test_files_with_narrower_types_are_rewritten(
    root: Path, narrow: pa.DataType, wide: str, column: str
) -> None:
    nested = {"value": narrow, "value.element": pa.list_(narrow), "value.x": pa.struct([("x", narrow)])}
    schema = pa.schema([("id", pa.int64()), ("value", nested[column])])
    table = deltaic.Table.create(root, schema, properties={"delta.enableTypeWidening": "true"})
    others = {pa.decimal128(5, 1): Decimal("1.0"), pa.date32(): date(2026, 11, 30)}
    one = others.get(narrow, 1)
    value = {"value": one, "value.element": [one], "value.x": {"x": one}}[column]
    for id_ in range(2):
        table.append(pa.table({"id": [id_], "value": [value]}, schema=schema))
    assert table.purge().skipped
    table.alter(deltaic.alter.ChangeType(column, wide))
    table.append(table.to_arrow().slice(0, 1))
    before = table.to_arrow().sort_by("id")
    assert table.purge(dry_run=True).rewritten_files == 2
    commit = table.purge()
    assert commit.metrics["numRemovedFiles"] == 2
    assert table.to_arrow().sort_by("id") == before
    assert table.purge().skipped
    assert table.check(deep=True).is_healthy


def test_row_ids_in_files_are_no_dropped_columns(root: Path) -> None:
    table = made(root, **VECTORS, **TRACKING)
    table.delete("id = 1")
    before = all_rows(table, row_ids=True)
    table.purge()
    assert all_rows(table, row_ids=True) == before
    assert table.purge().skipped


def test_parameters_and_metrics_are_those_of_spark(root: Path) -> None:
    table = made(root, by=["part"], **VECTORS)
    table.delete("id IN (1, 101)")
    commit = table.purge("part IN ('a')")
    [info] = of_kind(root, commit.version, "commitInfo")
    parameters = info["operationParameters"]
    assert set(parameters) == {"predicate", "applyPurge"}
    assert parameters["applyPurge"] is True
    [predicate] = json.loads(parameters["predicate"])
    assert "part" in predicate
    assert (info["isBlindAppend"], info["isolationLevel"]) == (False, "SnapshotIsolation")
    assert {"numAddedFiles", "numRemovedFiles", "p50FileSize"} < set(commit.metrics)
    assert commit.metrics["numRemovedFiles"] == 1
    assert sum(file["deletion_vector"] is not None for file in files_of(table)) == 1
    with pytest.raises(deltaic.InvalidPredicate, match=r'"id" is no partition column'):
        table.purge("id = 1")


def test_a_dry_run_writes_nothing(root: Path) -> None:
    table = made(root, **VECTORS)
    table.delete("id IN (1, 2, 101)")
    before = sorted(root.rglob("*"))
    found = table.purge(dry_run=True)
    assert sorted(root.rglob("*")) == before
    assert (found.operation, found.version, found.rows) == ("REORG", FILES + 1, 37)
    assert (found.rewritten_files, found.added_files) == (2, 1)


def stale(table: deltaic.Table) -> Any:
    """Returns a function that purges the version before the changes that follow."""
    known = table._refreshed()

    def purge(**options: Any) -> deltaic.Commit:
        given = to_options("purge", **options)
        request: dict[str, object] = {
            "predicate": None,
            "target_file_size": None,
            "zorder_by": [],
            "full": False,
            "purge": True,
        }
        return from_rust(table._rust.optimize(known, request=request, options=given))

    return purge


def test_a_concurrent_change_conflicts(root: Path) -> None:
    table = made(root, **VECTORS)
    table.delete("id IN (1, 101)")
    purge = stale(table)
    deltaic.Table(root).delete("id = 2")
    files = sorted(root.rglob("*.parquet"))
    with pytest.raises(deltaic.CommitConflict):
        purge(row_level=False)
    assert sorted(root.rglob("*.parquet")) == files
    commit = purge()
    assert commit.conflicts_resolved
    ids = {row["id"] for row in all_rows(table)}
    assert ids == {100 * file + row for file in range(FILES) for row in range(20)} - {1, 2, 101}
    assert all(file["deletion_vector"] is None for file in files_of(table))


def test_appends_do_not_conflict(root: Path) -> None:
    table = made(root, **VECTORS)
    table.delete("id = 3")
    purge = stale(table)
    deltaic.Table(root).append(rows(999))
    assert purge(row_level=False).operation == "REORG"
    assert table.snapshot().scan(predicate="id = 999").count() == 1
    assert table.snapshot().num_rows == 20 * FILES


def test_a_damaged_file_leaves_the_table_as_it_was(root: Path) -> None:
    table = made(root, **VECTORS)
    path = root / files_of(table)[2]["path"]
    path.write_bytes(path.read_bytes()[:-9] + b"\0" * 9)
    before = sorted(root.rglob("*"))
    with pytest.raises(deltaic.CorruptData) as refused:
        table.purge()
    assert refused.value.context["path"] == path.name
    assert sorted(root.rglob("*")) == before


def test_the_command(root: Path) -> None:
    table = made(root, **VECTORS)
    assert lines("purge", root) == [
        f"Nothing to do: no file of version {FILES} has deleted rows or dropped columns."
    ]
    table.delete("id = 1")
    first, *_ = lines("purge", root, "--dry-run")
    assert first == f"REORG of version {FILES + 1} would copy 19 rows:"
    assert as_json("purge", root, "--dry-run")["rewritten_files"] == 1
    [shown] = lines("purge", root)
    assert shown.startswith(f"Version {FILES + 2}: 1 files (")
    assert as_json("purge", root) == {"version": None, "metrics": {}}
