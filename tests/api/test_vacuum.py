"""`Table.vacuum`: which files are deleted and which remain, each rule by itself."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.api.aged_files import age, files_of
from tests.api.log_files import of_kind, write_commit
from tests.api.vacuum_tables import (
    DAY,
    WEEK,
    ids,
    live,
    made,
    many,
    orphan,
    rows,
    vectors,
)


def test_a_file_that_no_commit_names_is_deleted_after_the_retention(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    orphan(root, "sub/folder/orphan.parquet")
    age(root)
    young = orphan(root, "sub/young.parquet")
    vacuumed = table.vacuum()
    assert vacuumed.paths == ["orphan.parquet", "sub/folder/orphan.parquet"]
    assert (vacuumed.deleted_files, vacuumed.size_in_bytes) == (2, 10)
    assert files_of(root) == live(table) | {"sub/young.parquet"}
    assert young.exists()
    assert rows(table) == [1]


def test_a_removed_file_is_deleted_when_its_tombstone_has_expired(root: Path) -> None:
    table = made(root, ids(1))
    old = live(table)
    age(root)
    table.overwrite(ids(2))
    # The file is old, and its tombstone is not.
    assert table.vacuum().paths == []
    assert rows(table, 1) == [1]
    age(root)
    assert set(table.vacuum().paths) == old
    assert rows(table) == [2]
    with pytest.raises(deltaic.CorruptData):
        rows(table, 1)


def test_live_deletion_vectors_are_not_deleted(root: Path) -> None:
    """A known loss with deltalake, which deletes them: the table can then not be read."""
    table = made(root, many(), enableDeletionVectors="true")
    table.delete("id % 2 = 0")
    age(root)
    before = vectors(root)
    assert len(before) == 1
    assert table.vacuum().paths == []
    assert vectors(root) == before
    assert rows(table) == list(range(1, 1000, 2))


def test_deletion_vectors_of_removed_files_have_the_time_of_their_tombstone(root: Path) -> None:
    table = made(root, many(), enableDeletionVectors="true")
    table.delete("id % 2 = 0")
    [first] = vectors(root)
    age(root)
    # Removes the file with its first vector, and adds it with a second one.
    table.delete("id % 3 = 0")
    assert table.vacuum().paths == []
    assert len(vectors(root)) == 2
    assert rows(table, 2) == list(range(1, 1000, 2))
    age(root)
    assert table.vacuum().paths == [first]
    assert len(vectors(root)) == 1
    assert len(rows(table)) == 333


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_absolute_paths_of_files_and_vectors_are_kept(root: Path, scheme: str) -> None:
    table = made(root, many(), enableDeletionVectors="true")
    table.delete("id % 2 = 0")
    [add] = of_kind(root, 2, "add")
    [vector] = vectors(root)
    absolute = f"{scheme}{root}/{add['path']}"
    moved = {
        **add,
        "path": absolute,
        "deletionVector": {
            **add["deletionVector"],
            "storageType": "p",
            "pathOrInlineDv": f"file:{root}/{vector}",
        },
    }
    remove = {
        "path": add["path"],
        "deletionVector": add["deletionVector"],
        "deletionTimestamp": 1,
        "dataChange": True,
    }
    write_commit(root, 3, {"remove": remove}, {"add": moved})
    age(root)
    assert table.vacuum().paths == []
    assert len(rows(table)) == 500


def test_change_data_is_deleted_after_the_retention(root: Path) -> None:
    table = made(root, ids(1, 2), ids(3), enableChangeDataFeed="true")
    table.update({"id": "id + 10"}, "id = 1")
    changes = {name for name in files_of(root) if name.startswith("_change_data/")}
    assert changes
    assert table.vacuum().paths == []
    assert table.changes(3).to_arrow().num_rows == 2
    age(root)
    assert changes < set(table.vacuum().paths)
    assert rows(table) == [2, 3, 11]


def test_hidden_files_are_not_deleted(root: Path) -> None:
    table = made(root, ids(1))
    hidden = ["_backup/a.parquet", ".cache/b", "x/_tmp/c", "x/.d", "_e", "metadata/v1.metadata.json"]
    for name in hidden:
        orphan(root, name)
    age(root)
    assert table.vacuum().paths == []
    assert set(hidden) < files_of(root)


def test_the_log_is_not_deleted(root: Path) -> None:
    table = made(root, ids(1), ids(2))
    table.checkpoint()
    orphan(root, "_delta_log/other.parquet")
    orphan(root, "_delta_log/_staged_commits/x.json")
    age(root)
    before = sorted((root / "_delta_log").rglob("*"))
    table.vacuum(upkeep=False)
    assert set(before) < set((root / "_delta_log").rglob("*"))


@pytest.mark.parametrize("mapping", ["none", "name"])
def test_partitions_whose_names_begin_with_an_underscore_are_not_hidden(root: Path, mapping: str) -> None:
    schema = pa.schema([("_day", pa.int64()), ("id", pa.int64())])
    properties = {"delta.columnMapping.mode": mapping}
    table = deltaic.Table.create(root, schema, partition_by=["_day"], properties=properties)
    table.append(pa.table({"_day": [1, 2], "id": [1, 2]}))
    table.delete("_day = 1")
    orphan(root, "_day=7/orphan.parquet")
    age(root)
    assert len(table.vacuum().paths) == 2
    assert not (root / "_day=7").exists()
    assert rows(table) == [2]


def test_the_table_determines_the_retention(root: Path) -> None:
    table = made(root, ids(1), deletedFileRetentionDuration="interval 40 days")
    orphan(root)
    age(root)
    vacuumed = table.vacuum()
    assert (vacuumed.paths, vacuumed.retention) == ([], timedelta(days=40))
    age(root)
    assert table.vacuum().paths == ["orphan.parquet"]


def test_a_shorter_retention_must_be_forced(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    age(root, DAY)
    for short in (WEEK - timedelta(milliseconds=1), timedelta(0)):
        with pytest.raises(ValueError, match="files of running writers could be deleted") as raised:
            table.vacuum(short)
        assert "force=True" in str(raised.value)
    assert table.snapshot().version == 1
    assert table.vacuum(DAY * 2, force=True).paths == []
    assert table.vacuum(DAY / 2, force=True).paths == ["orphan.parquet"]
    assert table.vacuum(WEEK).paths == []


def test_a_longer_retention_keeps_what_checkpoints_no_longer_name(root: Path) -> None:
    """A checkpoint drops tombstones after the table's retention, so the commits are read."""
    table = made(root, ids(1))
    age(root, timedelta(days=60))
    table.overwrite(ids(2))
    age(root, timedelta(days=20))
    # The times of commit files decide which commits belong to the retention.
    table.checkpoint()
    table = deltaic.Table(root)
    assert table.snapshot().tombstones().to_arrow().num_rows == 0
    assert table.vacuum(timedelta(days=30), dry_run=True).paths == []
    assert len(table.vacuum(timedelta(days=10), dry_run=True).paths) == 1


@pytest.mark.parametrize("mode", ["full", "lite"])
def test_a_dry_run_writes_nothing(root: Path, mode: str) -> None:
    table = made(root, ids(1))
    table.overwrite(ids(2))
    (root / "empty").mkdir()
    age(root)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    vacuumed = table.vacuum(mode=mode, dry_run=True)
    assert len(vacuumed.paths) == 1
    assert (vacuumed.deleted_files, vacuumed.versions, vacuumed.is_dry_run) == (0, None, True)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
    assert table.vacuum(mode=mode).paths == vacuumed.paths


def test_start_and_end_are_recorded(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    age(root)
    vacuumed = table.vacuum(WEEK * 2, commit_info={"job": "nightly"})
    assert vacuumed.versions == (2, 3)
    end, start = table.history(limit=2)
    assert (start.operation, end.operation) == ("VACUUM START", "VACUUM END")
    assert start.metrics == {"numFilesToDelete": 1, "sizeOfDataToDelete": 5}
    assert end.metrics == {"numDeletedFiles": 1, "numVacuumedDirectories": 1}
    [info] = of_kind(root, 2, "commitInfo")
    week = 7 * 24 * 3_600_000
    expected = {
        "retentionCheckEnabled": True,
        "defaultRetentionMillis": week,
        "specifiedRetentionMillis": 2 * week,
    }
    assert info["operationParameters"] == expected
    assert of_kind(root, 3, "commitInfo")[0]["operationParameters"] == {"status": "COMPLETED"}
    assert (start.info["job"], end.info["job"]) == ("nightly", "nightly")
    table.vacuum(force=True)
    [info] = of_kind(root, 4, "commitInfo")
    assert info["operationParameters"] == {"retentionCheckEnabled": False, "defaultRetentionMillis": week}
    assert table.check().is_healthy


@pytest.mark.parametrize("path", ["%FF.parquet", "vector"])
def test_nothing_is_deleted_if_it_is_unknown_what_is_needed(root: Path, path: str) -> None:
    table = made(root, ids(1), enableDeletionVectors="true")
    orphan(root)
    [add] = of_kind(root, 1, "add")
    if path == "vector":
        add["deletionVector"] = {
            "storageType": "x",
            "pathOrInlineDv": "?",
            "sizeInBytes": 1,
            "cardinality": 1,
        }
    else:
        add["path"] = path
    write_commit(root, 2, {"add": add})
    age(root)
    with pytest.raises(deltaic.CorruptLog):
        table.vacuum()
    assert "orphan.parquet" in files_of(root)


def test_uploads_of_killed_writers_are_deleted(root: Path) -> None:
    """A writer to a local disk writes a file under its name and `#` with a number first."""
    table = made(root, ids(1))
    orphan(root, "part-1.parquet#1")
    orphan(root, "p=1/part-2.parquet#12")
    age(root)
    orphan(root, "part-3.parquet#1")
    assert table.vacuum().deleted_files == 2
    assert files_of(root) == live(table) | {"part-3.parquet#1"}


def test_checksum_files_beside_deleted_files_are_deleted(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root, "p=1/orphan.parquet")
    orphan(root, "p=1/.orphan.parquet.crc")
    [file] = live(table)
    orphan(root, f".{file}.crc")
    age(root)
    assert table.vacuum().deleted_files == 1
    assert files_of(root) == {file, f".{file}.crc"}
    assert not (root / "p=1").exists()


def test_empty_folders_are_removed_after_the_retention(root: Path) -> None:
    table = made(root, ids(1))
    (root / "a" / "b").mkdir(parents=True)
    (root / "_hidden").mkdir()
    age(root)
    (root / "c").mkdir()
    assert table.vacuum().deleted_folders == 2
    assert {path.name for path in root.iterdir() if path.is_dir()} == {"_delta_log", "_hidden", "c"}


def test_a_file_that_is_already_deleted_is_no_error(root: Path) -> None:
    table = made(root, ids(1))
    table.overwrite(ids(2))
    age(root)
    [gone] = files_of(root) - live(table)
    (root / gone).unlink()
    vacuumed = table.vacuum(mode="lite")
    assert (vacuumed.paths, vacuumed.deleted_files) == ([gone], 0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"retention": 7}, TypeError),
        ({"retention": timedelta(seconds=-1), "force": True}, ValueError),
        ({"mode": "quick"}, ValueError),
        ({"mode": None}, TypeError),
        ({"inventory": [1]}, TypeError),
        ({"clones": "one"}, TypeError),
        ({"clones": [7]}, TypeError),
        ({"dry_run": 1}, TypeError),
        ({"force": "yes"}, TypeError),
        ({"app_transaction": ("job", 1)}, ValueError),
        ({"retention_hours": 5}, TypeError),
    ],
)
def test_wrong_arguments(root: Path, arguments: dict[str, object], error: type[Exception]) -> None:
    table = made(root, ids(1))
    with pytest.raises(error):
        table.vacuum(**arguments)  # pyright: ignore[reportArgumentType] - wrong on purpose
    assert table.snapshot().version == 1


def test_progress_and_result(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    age(root)
    seen: list[tuple[str, int, int]] = []
    vacuumed = table.vacuum(progress=lambda *state: seen.append(state))
    assert seen[-1] == ("deletions", 1, 1)
    assert repr(vacuumed) == "<deltaic.Vacuum 1 file deleted (5 B), retention 7 days>"
    assert str(vacuumed).splitlines()[1] == "  orphan.parquet  5 B"
    with pytest.raises(AttributeError):
        vacuumed.deleted_files = 2  # pyright: ignore[reportAttributeAccessIssue] - it is frozen


def test_a_table_in_memory() -> None:
    table = deltaic.Table.create("memory://vacuumed", ids().schema)
    table.append(ids(1))
    table.overwrite(ids(2))
    assert table.vacuum().paths == []
    assert rows(table, 1) == [1]


def test_a_copied_table_keeps_its_files(root: Path, tmp_path: Path) -> None:
    """A copy has absolute paths of the original only if the log has; its own files are young or named."""
    made(root, many(), enableDeletionVectors="true").delete("id % 2 = 0")
    shutil.copytree(root, tmp_path / "copy")
    copy = deltaic.Table(tmp_path / "copy")
    age(tmp_path / "copy")
    assert copy.vacuum().paths == []
    assert len(rows(copy)) == 500


def test_times_before_the_epoch(root: Path) -> None:
    table = made(root, ids(1))
    os.utime(orphan(root), (-5, -5))
    assert table.vacuum().paths == ["orphan.parquet"]
