"""Heading *Row Commit Versions*: the version that last inserted or updated each row."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import SetProperties
from tests.api.log_files import of_kind

ON = {"delta.enableRowTracking": "true"}


def rows(*numbers: int) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64()), "n": pa.array(numbers, pa.int64())})


def versions(table: deltaic.Table) -> dict[int, int]:
    """Returns the commit version of each row, by the column `id`."""
    found = table.snapshot().scan(["id"], row_ids=True).to_arrow().to_pylist()
    return {row["id"]: row["_row_commit_version"] for row in found}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "t"


def test_new_rows_have_the_version_of_their_commit(root: Path) -> None:
    """Files contain it once, as a default.

    protocol: writer-requirements-for-row-tracking.10, writer-requirements-for-row-tracking.11,
    writer-requirements-for-row-tracking.25
    """
    table = deltaic.Table.create(root, rows().schema, properties=ON)
    table.append(rows(1, 2))
    table.append(rows(3))
    assert versions(table) == {1: 1, 2: 1, 3: 2}
    for version in (1, 2):
        assert [add["defaultRowCommitVersion"] for add in of_kind(root, version, "add")] == [version]


def test_a_commit_that_lost_the_race_has_the_version_it_became(root: Path) -> None:
    """protocol: writer-requirements-for-row-tracking.11."""
    table = deltaic.Table.create(root, rows().schema, properties=ON)
    with deltaic.Table(root).transaction() as tx:
        tx.append(rows(2))
        table.append(rows(1))
    assert versions(table) == {1: 1, 2: 2}


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_only_updated_rows_get_the_version_of_the_update(root: Path, vectors: str) -> None:
    """protocol: writer-requirements-for-row-tracking.26, writer-requirements-for-row-tracking.27."""
    properties = {**ON, "delta.enableDeletionVectors": vectors}
    table = deltaic.Table.create(root, rows().schema, properties=properties)
    table.append(rows(1, 2, 3))
    table.update({"n": "n + 1"}, "id = 2")
    table.delete("id = 1")
    assert versions(table) == {2: 2, 3: 1}


def test_a_backfill_has_the_version_that_enables_row_tracking(root: Path) -> None:
    """protocol: writer-requirements-for-row-tracking.17, writer-requirements-for-row-tracking.18."""
    table = deltaic.Table.create(root, rows().schema)
    table.append(rows(1))
    table.alter(SetProperties(ON))
    assert [add["defaultRowCommitVersion"] for add in of_kind(root, 2, "add")] == [2]
    assert versions(table) == {1: 2}
    table.append(rows(2))
    assert versions(table) == {1: 2, 2: 3}


def test_versions_remain_in_removes_and_checkpoints(root: Path) -> None:
    """protocol: writer-requirements-for-row-tracking.12."""
    table = deltaic.Table.create(root, rows().schema, properties=ON)
    table.append(rows(1))
    table.append(rows(2))
    table.checkpoint()
    for version in range(3):
        (root / f"_delta_log/{version:020}.json").unlink()
    again = deltaic.Table(root)
    assert versions(again) == {1: 1, 2: 2}
    again.delete("id = 1")
    assert [remove["defaultRowCommitVersion"] for remove in of_kind(root, 3, "remove")] == [1]
