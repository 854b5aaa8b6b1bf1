"""`dry_run=True` of appends and overwrites: what would be done, without doing it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import SetProperties

ROWS = pa.table({"id": [1, 2, 3, 4], "part": ["a", "a", "b", "b"]})
NEW = pa.table({"id": [8, 9], "part": ["a", "c"]})


@pytest.fixture
def table(root: Path) -> deltaic.Table:
    table = deltaic.Table.create(root, ROWS.schema, partition_by=["part"])
    table.append(ROWS)
    return table


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def test_an_append(table: deltaic.Table, root: Path) -> None:
    before = files(root)
    found = table.append(NEW, dry_run=True)
    assert files(root) == before
    assert (found.operation, found.version, found.rows, found.features) == ("APPEND", 1, 0, [])
    metrics = table.append(NEW).metrics
    assert found.added_rows == metrics["numOutputRows"] == 2
    assert (found.added_files, found.added_bytes) == (metrics["numFiles"], metrics["numOutputBytes"])
    assert str(found).splitlines() == [
        "APPEND to version 1 would add 2 rows:",
        f"  2 files added ({found.added_bytes} B)",
    ]


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_an_overwrite_of_rows(table: deltaic.Table, root: Path, vectors: str) -> None:
    table.alter(SetProperties({"delta.enableDeletionVectors": vectors}))
    before = files(root)
    new = pa.table({"id": [1], "part": ["c"]})
    found = table.overwrite(new, "id = 1 OR part = 'b'", dry_run=True)
    assert files(root) == before
    assert (found.rows, found.added_rows, found.removed_files) == (3, 1, 1)
    changed, rewritten = (1, 0) if vectors == "true" else (0, 1)
    assert (found.files_with_deletion_vectors, found.rewritten_files) == (changed, rewritten)
    assert (found.rewritten_bytes > 0) == bool(rewritten)
    metrics = table.overwrite(new, "id = 1 OR part = 'b'").metrics
    assert (found.added_files, found.added_bytes) == (metrics["numFiles"], metrics["numOutputBytes"])
    assert found.rows == metrics["numDeletedRows"]
    assert str(found).startswith("OVERWRITE of version 2 would replace 3 rows by 1:\n  1 file removed\n")


def test_an_overwrite_of_partitions(table: deltaic.Table, root: Path) -> None:
    before = files(root)
    found = table.overwrite(NEW, partitions="dynamic", dry_run=True)
    assert files(root) == before
    # The log's statistics of these files are not read.
    assert (found.rows, found.removed_files, found.added_files) == (None, 1, 2)
    assert "would replace an unknown number of rows by 2" in str(found)


def test_an_overwrite_of_everything_with_another_schema(table: deltaic.Table, root: Path) -> None:
    before = files(root)
    new = pa.table({"name": ["x"]})
    found = table.overwrite(new, schema_mode="replace", partition_by=[], dry_run=True)
    assert files(root) == before
    assert (found.rows, found.removed_files, found.added_rows) == (4, 2, 1)
    assert table.snapshot().schema.names == ["id", "part"]


def test_features_that_a_new_column_needs(table: deltaic.Table) -> None:
    new = NEW.append_column("at", pa.array([0, 1], pa.timestamp("us")))
    found = table.append(new, schema_mode="merge", dry_run=True)
    assert found.features == ["timestampNtz"]
    assert "the feature timestampNtz added to the table" in str(found)
    table.append(new, schema_mode="merge")
    assert table.append(new, dry_run=True).features == []


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"data": pa.table({"id": ["x"], "part": ["a"]})}, deltaic.SchemaMismatch),
        ({"data": pa.table({"id": [1], "part": [""]})}, deltaic.ConstraintViolation),
        ({"data": NEW, "dry_run": 1}, TypeError),
    ],
    ids=["another type", "empty partition text", "no flag"],
)
def test_an_append_that_would_be_refused(
    table: deltaic.Table, arguments: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        table.append(**{"dry_run": True, **arguments})


def test_an_overwrite_whose_rows_do_not_match(table: deltaic.Table) -> None:
    with pytest.raises(deltaic.ConstraintViolation):
        table.overwrite(NEW, "part = 'a'", dry_run=True)


def test_identity_values_are_not_used_up(root: Path) -> None:
    columns = [deltaic.Column("id", "bigint", identity=deltaic.Identity()), deltaic.Column("name", "string")]
    table = deltaic.Table.create(root, columns)
    names = pa.table({"name": ["x", "y"]})
    assert table.append(names, dry_run=True).added_rows == 2
    table.append(names)
    assert table.snapshot().scan().to_arrow()["id"].to_pylist() == [1, 2]


def test_a_committed_application_version_adds_nothing(table: deltaic.Table) -> None:
    table.append(NEW, app_transaction=("nightly", 1))
    found = table.append(NEW, app_transaction=("nightly", 1), dry_run=True)
    assert str(found) == "APPEND to version 2 would add 0 rows"


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_write(table: deltaic.Table, root: Path, mode: Literal["append", "overwrite"]) -> None:
    before = files(root)
    found = deltaic.write(root, NEW, mode, dry_run=True)
    assert files(root) == before
    assert (found.operation, found.version) == (mode.upper(), 1)
    assert (found.rows, found.added_rows, found.added_files) == (4 if mode == "overwrite" else 0, 2, 2)
    assert deltaic.write(root, NEW, "ignore", dry_run=True).added_rows == 0
    with pytest.raises(deltaic.TableExists):
        deltaic.write(root, NEW, "error", dry_run=True)
    assert table.snapshot().version == 1


def test_a_write_of_a_new_table(root: Path) -> None:
    found = deltaic.write(root, NEW, partition_by=["part"], dry_run=True)
    assert not root.exists() or not files(root)
    assert (found.operation, found.version, found.added_rows, found.added_files) == ("CREATE", None, 2, 2)
    assert str(found).startswith("CREATE of a table would add 2 rows:\n  2 files added (")
    with pytest.raises(ValueError, match='the partition column "other" does not exist'):
        deltaic.write(root, NEW, partition_by=["other"], dry_run=True)


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_a_transaction(table: deltaic.Table, root: Path, vectors: str) -> None:
    table.alter(SetProperties({"delta.enableDeletionVectors": vectors, "delta.enableChangeDataFeed": "true"}))
    before = files(root)
    with table.transaction(dry_run=True) as tx:
        assert tx.dry_run is None
        assert tx.delete("id = 1") == 1
        assert tx.update({"id": "id + 10"}, "part = 'b'") == 2
        assert tx.append(NEW) == 2
    assert files(root) == before
    assert (table.snapshot().version, tx.committed) == (2, None)
    found = tx.dry_run
    assert found is not None
    assert (found.operation, found.version, found.rows, found.added_rows) == ("TRANSACTION", 2, 3, 2)
    changed, rewritten = (1, 0) if vectors == "true" else (0, 1)
    assert (found.removed_files, found.files_with_deletion_vectors) == (1, changed)
    assert found.rewritten_files == rewritten
    # The files of the append and of the update, and a copied one.
    assert found.added_files == 3 + rewritten
    first = "TRANSACTION on version 2 would delete or update 3 rows and add 2 rows:"
    assert str(found).splitlines()[0] == first


def test_a_transaction_that_fails_or_removes_files_by_path(table: deltaic.Table, root: Path) -> None:
    before = files(root)
    with pytest.raises(deltaic.SchemaMismatch), table.transaction(dry_run=True) as failed:  # noqa: PT012
        failed.append(NEW)
        failed.append(pa.table({"other": [1]}))
    assert failed.dry_run is None
    with table.transaction(dry_run=True) as tx:
        tx.remove(tx.files("part = 'a'"))
    assert tx.dry_run is not None
    assert (tx.dry_run.rows, tx.dry_run.removed_files, tx.dry_run.added_files) == (None, 1, 0)
    assert files(root) == before
