"""Heading *Writer Requirements for Row Tracking*: rows that are copied or updated keep their ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import of_kind

ROWS = 20


class Ids(NamedTuple):
    """The id of a row, and the version that last changed it."""

    row_id: int
    version: int


def made(root: Path, **properties: str) -> deltaic.Table:
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    table = deltaic.Table.create(root, schema, properties={"delta.enableRowTracking": "true", **properties})
    table.append(pa.table({"id": range(ROWS), "name": [f"n{number}" for number in range(ROWS)]}))
    return table


def known(table: deltaic.Table) -> dict[int, Ids]:
    rows = table.snapshot().scan(["id"], row_ids=True).to_arrow().to_pylist()
    return {row["id"]: Ids(row["_row_id"], row["_row_commit_version"]) for row in rows}


def materialized(root: Path) -> tuple[str, str]:
    """Returns the names of the materialized columns, as the table's metadata has them."""
    [metadata] = of_kind(root, 0, "metaData")
    key = "delta.rowTracking.materialized{}ColumnName"
    row_id, version = (metadata["configuration"][key.format(kind)] for kind in ("RowId", "RowCommitVersion"))
    return row_id, version


def written(root: Path, version: int) -> dict[int, tuple[int | None, int | None]]:
    """Returns the materialized ids and versions in the files that a commit added, by the column `id`."""
    names = materialized(root)
    found: dict[int, tuple[int | None, int | None]] = {}
    for add in of_kind(root, version, "add"):
        rows = pq.ParquetFile(root / add["path"]).read()
        columns = [rows[name].to_pylist() for name in names]
        found |= dict(zip(rows["id"].to_pylist(), zip(*columns, strict=True), strict=True))
    return found


def test_copied_rows_keep_ids_and_versions(tmp_path: Path) -> None:
    """They are in the columns that the metadata names.

    protocol: writer-requirements-for-row-tracking.21, writer-requirements-for-row-tracking.22,
    writer-requirements-for-row-tracking.23, writer-requirements-for-row-tracking.26,
    writer-requirements-for-row-tracking.27, writer-requirements-for-row-tracking.28
    """
    root = tmp_path / "t"
    table = made(root)
    before = known(table)
    table.delete("id IN (3, 7)")
    kept = {row: ids for row, ids in before.items() if row not in (3, 7)}
    assert known(table) == kept
    assert written(root, 2) == {row: tuple(ids) for row, ids in kept.items()}
    # Copied once more, by another verb.
    table.overwrite(pa.table({"id": [100], "name": ["new"]}), "id = 4 OR id = 100")
    del kept[4]
    after = known(table)
    new = after.pop(100)
    assert after == kept
    assert new.version == 3
    assert new.row_id not in {ids.row_id for ids in before.values()}


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_updated_rows_keep_ids_and_get_the_version_of_the_update(tmp_path: Path, vectors: str) -> None:
    """What is not preserved is NULL in the materialized column.

    protocol: writer-requirements-for-row-tracking.21, writer-requirements-for-row-tracking.22,
    writer-requirements-for-row-tracking.23, writer-requirements-for-row-tracking.24,
    writer-requirements-for-row-tracking.29
    """
    root = tmp_path / "t"
    table = made(root, **{"delta.enableDeletionVectors": vectors})
    before = known(table)
    table.update({"name": "'changed'"}, "id IN (1, 2)")
    after = known(table)
    assert {row: ids.row_id for row, ids in after.items()} == {row: ids.row_id for row, ids in before.items()}
    assert {row for row, ids in after.items() if ids.version == 2} == {1, 2}
    materialized_ids = written(root, 2) if vectors == "false" else updated(root, 2)
    for row in (1, 2):
        assert materialized_ids[row] == (before[row].row_id, None)
    for row in set(materialized_ids) - {1, 2}:
        assert materialized_ids[row] == tuple(before[row])
    # Rows that are appended have fresh ids, and no materialized columns.
    table.append(pa.table({"id": [500], "name": ["later"]}))
    [add] = of_kind(root, 3, "add")
    assert set(pq.ParquetFile(root / add["path"]).schema_arrow.names) == {"id", "name"}
    fresh = known(table)[500]
    assert fresh == (add["baseRowId"], 3)
    assert fresh.row_id > max(ids.row_id for ids in after.values())


def updated(root: Path, version: int) -> dict[int, tuple[int | None, int | None]]:
    """Returns the same for a commit that also adds files with a deletion vector, which are not new."""
    names = materialized(root)
    [add] = [add for add in of_kind(root, version, "add") if "deletionVector" not in add]
    rows = pq.ParquetFile(root / add["path"]).read()
    columns = [rows[name].to_pylist() for name in names]
    return dict(zip(rows["id"].to_pylist(), zip(*columns, strict=True), strict=True))


def test_the_commit_states_that_ids_are_preserved(tmp_path: Path) -> None:
    """protocol: writer-requirements-for-row-tracking.30."""
    root = tmp_path / "t"
    table = made(root)
    table.delete("id = 3")
    table.update({"name": "'x'"}, "id = 4")
    for version in (2, 3):
        [info] = of_kind(root, version, "commitInfo")
        assert info["tags"]["delta.rowTracking.preserved"] == "true"
        [domain] = of_kind(root, version, "domainMetadata")
        mark = json.loads(domain["configuration"])["rowIdHighWaterMark"]
        last = max(
            add["baseRowId"] + json.loads(add["stats"])["numRecords"] for add in of_kind(root, version, "add")
        )
        assert mark >= last - 1


def test_change_data_files_are_in_the_folders_of_their_partitions(tmp_path: Path) -> None:
    """protocol: change-data-files.1."""
    root = tmp_path / "t"
    rows = pa.table({"id": [1, 2, 3, 4], "day": ["a", "a", "b", None]})
    feed = {"delta.enableChangeDataFeed": "true"}
    table = deltaic.Table.create(root, rows.schema, partition_by=["day"], properties=feed)
    table.append(rows)
    table.update({"id": "id + 10"}, "id <> 2")
    folders = {str(Path(cdc["path"]).parent) for cdc in of_kind(root, 2, "cdc")}
    assert folders == {
        "_change_data/day=a",
        "_change_data/day=b",
        "_change_data/day=__HIVE_DEFAULT_PARTITION__",
    }
