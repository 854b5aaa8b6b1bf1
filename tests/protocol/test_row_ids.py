"""Headings *Row IDs* and *Row Tracking*: ids of rows, which are unique and do not change."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import SetProperties
from tests.api.log_files import of_kind, write_commit

from .handmade_log import HandmadeTable, ids, metadata, protocol

ON = {"delta.enableRowTracking": "true"}
DOMAIN = "delta.rowTracking"


def rows(*numbers: int) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64())})


def row_ids(table: deltaic.Table) -> dict[int, int]:
    """Returns the id of each row, by the column `id`."""
    found = table.snapshot().scan(["id"], row_ids=True).to_arrow().to_pylist()
    return {row["id"]: row["_row_id"] for row in found}


def high_water_mark(root: Path, version: int) -> int | None:
    """Returns the mark that a commit sets; None if it does not change the domain."""
    marks = [domain for domain in of_kind(root, version, "domainMetadata") if domain["domain"] == DOMAIN]
    return json.loads(marks[0]["configuration"])["rowIdHighWaterMark"] if marks else None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "t"


def test_each_row_has_the_id_of_its_file_and_position(root: Path) -> None:
    """The files of a commit begin after the ids of the commit before.

    protocol: writer-requirements-for-row-tracking.1, writer-requirements-for-row-tracking.2,
    writer-requirements-for-row-tracking.6, writer-requirements-for-row-tracking.9
    """
    table = deltaic.Table.create(root, rows().schema, properties=ON)
    table.append(rows(10, 11, 12))
    table.append(rows(20, 21))
    assert row_ids(table) == {10: 0, 11: 1, 12: 2, 20: 3, 21: 4}
    bases = [of_kind(root, version, "add")[0]["baseRowId"] for version in (1, 2)]
    assert bases == [0, 3]
    assert [high_water_mark(root, version) for version in (1, 2)] == [2, 4]


def test_no_id_is_given_twice_after_rows_are_gone(root: Path) -> None:
    """Ids of deleted and of overwritten rows are not reused.

    protocol: writer-requirements-for-row-tracking.3, writer-requirements-for-row-tracking.5,
    writer-requirements-for-row-tracking.8
    """
    table = deltaic.Table.create(root, rows().schema, properties=ON)
    table.append(rows(1, 2, 3))
    table.overwrite(rows(4, 5))
    table.delete("id = 5")
    table.append(rows(6))
    given = row_ids(table)
    assert given.keys() == {4, 6}
    assert min(given.values()) > 2, "the ids 0 to 2 were those of deleted rows"
    assert len(set(given.values())) == 2
    assert given[6] > 4


def test_a_commit_without_new_rows_leaves_the_high_water_mark(root: Path) -> None:
    """protocol: writer-requirements-for-row-tracking.7."""
    table = deltaic.Table.create(root, rows().schema, properties=ON)
    table.append(rows(1, 2))
    table.delete()
    assert of_kind(root, 2, "remove")
    assert high_water_mark(root, 2) is None


def test_enabling_gives_every_file_a_base(root: Path) -> None:
    """In the same commit as the property, and ahead of any new row.

    protocol: row-ids.3, row-ids.4, row-ids.5, row-tracking.3, row-tracking.4, row-tracking.5, row-tracking.6
    """
    table = deltaic.Table.create(root, rows().schema)
    table.append(rows(1, 2))
    table.append(rows(3))
    assert [add.get("baseRowId") for add in of_kind(root, 1, "add")] == [None]
    with pytest.raises(deltaic.DeltaicError):
        row_ids(table)
    table.alter(SetProperties(ON))
    [configured] = of_kind(root, 3, "metaData")
    assert configured["configuration"]["delta.enableRowTracking"] == "true"
    backfilled = of_kind(root, 3, "add")
    assert sorted(add["baseRowId"] for add in backfilled) == sorted({add["baseRowId"] for add in backfilled})
    assert len(backfilled) == 2
    assert not any(add["dataChange"] for add in backfilled)
    [needs] = of_kind(root, 3, "protocol")
    assert needs["minWriterVersion"] == 7
    assert {"rowTracking", "domainMetadata"} <= set(needs["writerFeatures"])
    before = row_ids(table)
    assert sorted(before.values()) == [0, 1, 2]
    table.append(rows(4))
    assert row_ids(table) == {**before, 4: 3}


def test_files_get_a_base_before_row_ids_are_enabled(root: Path) -> None:
    """Writers assign ids as soon as the feature is supported.

    protocol: row-tracking.1
    """
    table = HandmadeTable(root)
    table.commit(protocol(1, 7, None, ["rowTracking", "domainMetadata"]), metadata())
    deltaic.Table(root).append(ids(1, 2))
    [add] = of_kind(root, 1, "add")
    assert (add["baseRowId"], add["defaultRowCommitVersion"], high_water_mark(root, 1)) == (0, 1, 1)


def test_ids_begin_above_the_mark_of_another_writer(root: Path) -> None:
    """protocol: writer-requirements-for-row-tracking.9."""
    table = deltaic.Table.create(root, rows().schema, properties=ON)
    mark = {"domain": DOMAIN, "configuration": '{"rowIdHighWaterMark":499}', "removed": False}
    write_commit(root, 1, {"commitInfo": {"operation": "OTHER"}}, {"domainMetadata": mark})
    table.append(rows(1, 2))
    assert row_ids(table) == {1: 500, 2: 501}
    assert high_water_mark(root, 2) == 501


def test_ids_remain_when_the_log_is_shortened(root: Path) -> None:
    """protocol: writer-requirements-for-row-tracking.4."""
    table = deltaic.Table.create(root, rows().schema, properties=ON)
    table.append(rows(1, 2))
    table.append(rows(3))
    before = row_ids(table)
    table.checkpoint()
    for version in range(3):
        (root / f"_delta_log/{version:020}.json").unlink()
    again = deltaic.Table(root)
    assert row_ids(again) == before
    again.delete("id = 3")
    removed = of_kind(root, 3, "remove")
    assert [remove["baseRowId"] for remove in removed] == [2]
