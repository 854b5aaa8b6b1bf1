"""`Table.restore`: an earlier version becomes the newest."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import alter
from tests.api.aged_files import age
from tests.api.log_files import actions, of_kind, set_commit_time, write_commit

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKING = {"delta.enableRowTracking": "true"}


def rows(first: int, end: int) -> pa.Table:
    return pa.table({"id": range(first, end), "name": [f"n{i}" for i in range(first, end)]}, schema=SCHEMA)


def made(root: Path, **properties: str) -> deltaic.Table:
    """Returns a table of two files with ten rows each: version 2."""
    table = deltaic.Table.create(root, SCHEMA, properties=properties)
    table.append(rows(0, 10))
    table.append(rows(10, 20))
    return table


def ids(table: deltaic.Table, version: int | None = None) -> list[int]:
    return sorted(table.snapshot(version).scan(["id"]).to_arrow()["id"].to_pylist())


def test_deleted_and_added_files_are_exchanged(root: Path) -> None:
    table = made(root)
    table.delete("id < 10")
    table.append(rows(20, 25))
    then, now = table.snapshot(2), table.snapshot()
    dry = table.restore(2, dry_run=True)
    assert table.snapshot().version == 4
    assert str(dry).startswith("RESTORE of version 4 to version 2 would leave 2 files")
    commit = table.restore(2)
    assert (commit.version, commit.operation, commit.parameters) == (5, "RESTORE", {"version": "2"})
    removed = {add["path"]: add["size"] for add in of_kind(root, 4, "add")}
    restored = {add["path"]: add["size"] for add in of_kind(root, 1, "add")}
    assert commit.metrics == {
        "tableSizeAfterRestore": then.size_in_bytes,
        "numOfFilesAfterRestore": 2,
        "numRemovedFiles": 1,
        "numRestoredFiles": 1,
        "removedFilesSize": sum(removed.values()),
        "restoredFilesSize": sum(restored.values()),
    }
    assert (dry.files_after, dry.bytes_after) == (2, then.size_in_bytes)
    assert (dry.removed_files, dry.removed_bytes) == (1, sum(removed.values()))
    assert (dry.restored_files, dry.restored_bytes) == (1, sum(restored.values()))
    assert not dry.changes_metadata
    assert [(add["path"], add["dataChange"]) for add in of_kind(root, 5, "add")] == [
        (path, True) for path in restored
    ]
    assert [(remove["path"], remove["dataChange"]) for remove in of_kind(root, 5, "remove")] == [
        (path, True) for path in removed
    ]
    assert of_kind(root, 5, "add")[0]["stats"] == of_kind(root, 1, "add")[0]["stats"]
    assert ids(table) == list(range(20))
    assert ids(table, 4) == list(range(10, 25))
    assert table.check(deep=True).is_healthy
    assert now.version == 4


def test_a_file_with_another_deletion_vector_is_removed_and_added(root: Path) -> None:
    table = made(root, **VECTORS)
    table.delete("id = 3")
    table.delete("id IN (4, 15)")
    commit = table.restore(3)
    assert (commit.metrics["numRestoredFiles"], commit.metrics["numRemovedFiles"]) == (2, 2)
    vectors = {add["path"]: "deletionVector" in add for add in of_kind(root, 5, "add")}
    assert sorted(vectors.values()) == [False, True]
    assert {remove["path"] for remove in of_kind(root, 5, "remove")} == set(vectors)
    assert ids(table) == [i for i in range(20) if i != 3]
    assert table.check(deep=True).is_healthy
    # A file that has the same deletion vector in both versions is not touched.
    table.delete("id = 12")
    commit = table.restore(5)
    assert (commit.metrics["numRestoredFiles"], commit.metrics["numRemovedFiles"]) == (1, 1)


def test_the_metadata_is_restored(root: Path) -> None:
    table = deltaic.Table.create(
        root, SCHEMA, partition_by=["name"], properties={"mine": "then"}, description="then"
    )
    table.append(rows(0, 2))
    table.overwrite(pa.table({"id": [7], "new": [1.5]}), schema_mode="replace", partition_by=[])
    table.alter(alter.SetProperties({"mine": "now", **FEED}), alter.SetDescription("now"))
    dry = table.restore(1, dry_run=True)
    assert dry.changes_metadata
    assert "metadata changed" in str(dry)
    table.restore(1)
    then, now = table.snapshot(1), table.snapshot()
    assert now.metadata == then.metadata
    assert now.schema.to_json() == then.schema.to_json()
    assert now.partition_columns == ["name"]
    assert now.properties == {"mine": "then"}
    assert ids(table) == [0, 1]
    assert table.check(deep=True).is_healthy


def test_the_protocol_is_never_lowered(root: Path) -> None:
    table = made(root)
    table.alter(alter.SetProperties(VECTORS))
    table.delete("id = 3")
    raised = table.snapshot().protocol
    table.restore(2)
    assert table.snapshot().protocol.to_json() == raised.to_json()
    assert not of_kind(root, 5, "protocol")
    assert table.snapshot().properties == {}
    assert ids(table) == list(range(20))


def test_a_time_selects_the_version(root: Path) -> None:
    table = made(root)
    for version in range(3):
        set_commit_time(root, version, 1_793_491_200_000 + 60_000 * version)
    commit = table.restore(timestamp="2026-11-01T00:01:30Z")
    assert commit.parameters == {"timestamp": "2026-11-01 00:01:30"}
    assert ids(table) == list(range(10))
    with pytest.raises(deltaic.VersionNotFound):
        table.restore(timestamp=datetime(2020, 1, 1, tzinfo=timezone.utc))


def test_nothing_is_committed_if_nothing_differs(root: Path) -> None:
    table = made(root)
    assert table.restore(2).skipped
    dry = table.restore(2, dry_run=True)
    assert (dry.restored_files, dry.removed_files, dry.files_after) == (0, 0, 2)
    table.delete("id < 10")
    table.restore(2)
    assert table.restore(2).skipped
    assert table.snapshot().version == 4


def test_mistakes(root: Path) -> None:
    table = made(root)
    for call in (
        table.restore,
        lambda: table.restore(1, "2026-11-01T00:00:00Z"),
        lambda: table.restore(-1),
        lambda: table.restore(timestamp="2026-11-01"),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - each has a message of its own
            call()
    with pytest.raises(deltaic.VersionNotFound, match="99"):
        table.restore(99)
    with pytest.raises(TypeError, match="restore\\(\\) has no option 'mode'"):
        table.restore(1, mode="x")  # type: ignore[call-overload]
    assert table.snapshot().version == 2


def test_missing_files_are_refused_or_left_out(root: Path) -> None:
    table = made(root)
    table.delete()
    [path] = [add["path"] for add in of_kind(root, 1, "add")]
    (root / path).unlink()
    for dry_run in (True, False):
        with pytest.raises(deltaic.CorruptData, match="1 file of version 2 no longer exists") as caught:
            table.restore(2, dry_run=dry_run)
        assert path in str(caught.value)
        assert caught.value.context["files"] == 1
        assert "ignore_missing_files" in (caught.value.hint or "")
    assert table.snapshot().version == 3
    dry = table.restore(2, dry_run=True, ignore_missing_files=True)
    assert list(dry.missing_files) == [path]
    assert "1 file left out" in str(dry)
    commit = table.restore(2, ignore_missing_files=True)
    assert (commit.metrics["numRestoredFiles"], commit.metrics["numOfFilesAfterRestore"]) == (1, 1)
    assert ids(table) == list(range(10, 20))
    assert table.check(deep=True).is_healthy


def test_many_missing_files_are_counted(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, partition_by=["id"])
    table.append(rows(0, 12))
    table.delete()
    for file in root.rglob("*.parquet"):
        file.unlink()
    with pytest.raises(deltaic.CorruptData, match=r"12 files of version 1 no longer exist: .*, and 7 more"):
        table.restore(1)


def test_a_missing_deletion_vector_is_a_missing_file(root: Path) -> None:
    """Without its deletion vector, deleted rows of the file would be in the table again."""
    table = deltaic.Table.create(root, SCHEMA, properties=VECTORS)
    table.append(rows(0, 20_000))
    # Small deletion vectors are in the log.
    table.delete(f"id IN ({', '.join(map(str, range(0, 20_000, 7)))})")
    assert [add["deletionVector"]["storageType"] for add in of_kind(root, 2, "add")] == ["u"]
    table.overwrite(rows(0, 1))
    for file in root.rglob("*.bin"):
        file.unlink()
    with pytest.raises(deltaic.CorruptData, match="1 file of version 2 lost the deletion vector"):
        table.restore(2)
    table.restore(2, ignore_missing_files=True)
    assert ids(table) == []


def test_an_append_only_table_loses_no_row(root: Path) -> None:
    table = made(root)
    table.delete("id < 10")
    table.alter(alter.SetProperties({"delta.appendOnly": "true"}))
    table.append(rows(20, 21))
    with pytest.raises(deltaic.ConstraintViolation, match="append-only"):
        table.restore(2)
    with pytest.raises(deltaic.ConstraintViolation, match="append-only"):
        table.restore(2, dry_run=True)


def test_row_ids_are_restored_and_not_given_again(root: Path) -> None:
    """Recommitted files have the ids of the last add.

    protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12
    """
    table = made(root, **TRACKING, **VECTORS)
    before = tracked(table)
    table.delete("id = 5")
    table.update({"name": "'x'"}, "id = 12")
    table.append(rows(20, 30))
    marks = [json.loads(domain["configuration"]) for domain in of_kind(root, 5, "domainMetadata")]
    table.restore(2)
    assert tracked(table) == before
    assert not of_kind(root, 6, "domainMetadata")
    table.append(rows(30, 31))
    assert max(ids_of for ids_of, _ in tracked(table).values()) > marks[0]["rowIdHighWaterMark"]
    assert table.check(deep=True).is_healthy


def test_files_keep_the_row_ids_that_they_got_since(root: Path) -> None:
    """Row tracking was enabled after the restored version.

    protocol: writer-requirements-for-row-tracking.4
    """
    table = made(root, **VECTORS)
    table.alter(alter.SetProperties(TRACKING))
    given = {add["path"]: add["baseRowId"] for add in table_adds(root, table.snapshot().version)}
    table.delete("id IN (1, 11)")
    table.restore(2)
    newest = table.snapshot().version
    assert {add["path"]: add["baseRowId"] for add in of_kind(root, newest, "add")} == given


def test_row_ids_return_after_row_tracking_was_dropped(root: Path) -> None:
    table = made(root, **TRACKING)
    before = tracked(table)
    table.alter(alter.SetProperties({"delta.enableRowTracking": "false"}))
    table.alter(alter.DropFeature("rowTracking"))
    assert not any("baseRowId" in add for add in table_adds(root, table.snapshot().version))
    table.restore(2)
    newest = table.snapshot().version
    assert tracked(table) == before
    # The rows did not change.
    assert {add["dataChange"] for add in of_kind(root, newest, "add")} == {False}
    table.append(rows(30, 31))
    assert sorted(row_id for row_id, _ in tracked(table).values()) == list(range(21))


def test_identity_values_are_not_given_again(root: Path) -> None:
    columns = [deltaic.Column("id", "bigint", identity=deltaic.Identity()), deltaic.Column("name", "string")]
    table = deltaic.Table.create(root, columns)
    for name in "abc":
        table.append(pa.table({"name": [name]}))
    table.restore(1)
    table.append(pa.table({"name": ["d"]}))
    assert ids(table) == [1, 4]


def test_clustering_columns_are_restored(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, cluster_by=["id"])
    table.alter(alter.ClusterBy("name"))
    table.restore(0)
    [domain] = of_kind(root, 2, "domainMetadata")
    assert json.loads(domain["configuration"])["clusteringColumns"] == [["id"]]


def test_in_commit_timestamps_continue(root: Path) -> None:
    table = made(root)
    table.alter(alter.SetProperties({"delta.enableInCommitTimestamps": "true"}))
    enabled = table.snapshot().properties
    table.delete("id < 10")
    table.alter(alter.SetProperties({"mine": "x"}))
    table.restore(4)
    assert table.snapshot().properties == enabled
    times = [commit.timestamp for commit in table.history()]
    assert times == sorted(times, reverse=True)
    table.restore(2)
    assert "delta.enableInCommitTimestamps" not in table.snapshot().properties
    commit = table.restore(4)
    properties = table.snapshot().properties
    assert properties["delta.inCommitTimestampEnablementVersion"] == str(commit.version)
    assert table.check().is_healthy


def test_columns_are_mapped_as_then(root: Path) -> None:
    table = made(root, **{"delta.columnMapping.mode": "name"})
    table.alter(alter.RenameColumn("name", "label"), alter.DropColumn("id"))
    table.append(pa.table({"label": ["z"]}))
    table.restore(2)
    assert table.snapshot().scan().to_arrow().sort_by("id").equals(rows(0, 20))
    unmapped = deltaic.Table.create(root / "unmapped", SCHEMA)
    unmapped.append(rows(0, 3))
    unmapped.alter(alter.SetProperties({"delta.columnMapping.mode": "name"}), alter.RenameColumn("name", "n"))
    unmapped.append(pa.table({"id": [9], "n": ["n9"]}))
    unmapped.restore(1)
    assert unmapped.snapshot().scan().to_arrow().sort_by("id").equals(rows(0, 3))
    unmapped.append(rows(3, 4))
    assert unmapped.snapshot().scan().to_arrow().sort_by("id").equals(rows(0, 4))


@pytest.mark.parametrize("infer", [False, True])
def test_the_change_feed_shows_the_difference(root: Path, infer: bool) -> None:
    table = made(root, **VECTORS, **FEED)
    table.delete("id IN (3, 15)")
    table.append(rows(20, 22))
    table.delete("id = 4")
    commit = table.restore(3)
    assert not of_kind(root, commit.version, "cdc")
    changes = table.changes(commit.version, infer=infer).to_arrow()
    found = sorted(zip(changes["id"].to_pylist(), changes["_change_type"].to_pylist(), strict=True))
    assert found == [(4, "insert"), (20, "delete"), (21, "delete")]


def other_append(table: deltaic.Table, _: Path) -> None:
    deltaic.Table(table.uri).append(rows(50, 51))


def other_delete(table: deltaic.Table, _: Path) -> None:
    deltaic.Table(table.uri).delete("id = 11")


def other_alter(table: deltaic.Table, _: Path) -> None:
    deltaic.Table(table.uri).alter(alter.SetProperties({"mine": "x"}))


def other_without_actions(table: deltaic.Table, root: Path) -> None:
    version = table.snapshot().version + 1
    write_commit(root, version, {"commitInfo": {"timestamp": 0, "operation": "VACUUM START"}})


@pytest.mark.parametrize(
    ("other", "error"),
    [
        (other_append, deltaic.ConcurrentAppend),
        (other_delete, deltaic.CommitConflict),
        (other_alter, deltaic.MetadataChanged),
        (other_without_actions, deltaic.ConcurrentWrite),
    ],
)
def test_every_concurrent_commit_conflicts(
    root: Path,
    other: Callable[[deltaic.Table, Path], None],
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = made(root)
    table.delete("id < 10")
    table.alter(alter.SetProperties({"since": "then"}))
    known = table.snapshot()._rust  # the version that the restore starts from
    other(table, root)
    newest = deltaic.Table(root).snapshot().version
    monkeypatch.setattr(type(table), "_refreshed", lambda _: known)
    with pytest.raises(error):
        table.restore(2)
    monkeypatch.undo()
    assert table.snapshot().version == newest


def test_an_application_transaction_is_restored_once(root: Path) -> None:
    table = made(root)
    table.append(rows(20, 21), app_transaction=("stream", 4))
    assert not table.restore(2, app_transaction=("rescue", 1)).skipped
    table.append(rows(20, 21))
    # Even if the version could not be restored again.
    assert table.restore(99, app_transaction=("rescue", 1)).skipped
    # The transactions of applications remain.
    assert table.append(rows(20, 21), app_transaction=("stream", 4)).skipped


def test_a_checkpoint_version_is_restored(root: Path) -> None:
    table = made(root)
    table.checkpoint()
    table.delete()
    table.checkpoint()
    table.restore(2)
    assert ids(table) == list(range(20))
    [add, _] = of_kind(root, 4, "add")
    assert json.loads(add["stats"])["numRecords"] == 10


def tracked(table: deltaic.Table) -> dict[int, tuple[int, int]]:
    """Returns the row id and row commit version of each row."""
    found = table.snapshot().scan(row_ids=True).to_arrow()
    values = zip(found["_row_id"].to_pylist(), found["_row_commit_version"].to_pylist(), strict=True)
    return dict(zip(found["id"].to_pylist(), values, strict=True))


def table_adds(root: Path, version: int) -> list[dict[str, object]]:
    """Returns the newest adds of files up to a version, whether live or not."""
    found: dict[str, dict[str, object]] = {}
    for number in range(version + 1):
        for action in actions(root, number):
            if "add" in action:
                found[action["add"]["path"]] = action["add"]
    return list(found.values())


def start_vacuum(root: Path, version: int, **parameters: int) -> None:
    info = {"timestamp": 0, "operation": "VACUUM START", "operationParameters": parameters}
    write_commit(root, version, {"commitInfo": info})


def end_vacuum(root: Path, version: int) -> None:
    info = {"timestamp": 0, "operation": "VACUUM END", "operationParameters": {"status": "COMPLETED"}}
    write_commit(root, version, {"commitInfo": info})


def test_expired_files_are_not_restored_during_a_vacuum(root: Path) -> None:
    """The vacuum would delete them from the newest version."""
    made(root).delete()
    age(root)
    start_vacuum(root, 4)
    table = deltaic.Table(root)
    for dry_run in (True, False):
        with pytest.raises(deltaic.ConcurrentWrite, match="a vacuum started at version 4") as caught:
            table.restore(2, dry_run=dry_run)
        assert "run it again after the vacuum" in str(caught.value)
        assert caught.value.context["files"] == 2
    end_vacuum(root, 5)
    assert table.restore(2).version == 6
    assert ids(table) == list(range(20))


def test_the_end_of_another_vacuum_is_not_the_end(root: Path) -> None:
    made(root).delete()
    age(root)
    start_vacuum(root, 4)
    start_vacuum(root, 5)
    end_vacuum(root, 6)
    with pytest.raises(deltaic.ConcurrentWrite, match="version 4"):
        deltaic.Table(root).restore(2)


def test_files_that_a_vacuum_retains_are_restored(root: Path) -> None:
    """Young tombstones, live files and old vacuums do not matter; the retention of the vacuum does."""
    table = made(root)
    table.delete("id < 10")
    start_vacuum(root, 4)
    assert table.restore(2).version == 5
    table.delete("id < 10")
    start_vacuum(root, 7, specifiedRetentionMillis=0)
    with pytest.raises(deltaic.ConcurrentWrite, match="version 7"):
        table.restore(2)
    assert table.restore(6).skipped
    age(root, timedelta(hours=25))
    assert deltaic.Table(root).restore(2).version == 8
    assert ids(deltaic.Table(root)) == list(range(20))


def test_the_hint_of_a_missing_version_is_about_restoring(root: Path) -> None:
    table = made(root)
    for dry_run in (True, False):
        with pytest.raises(deltaic.VersionNotFound, match="restore a version from 0 to 2"):
            table.restore(9, dry_run=dry_run)
        with pytest.raises(deltaic.VersionNotFound, match="restore a version from 0 to 2"):
            table.restore(timestamp="2000-01-01T00:00:00Z", dry_run=dry_run)
    table = deltaic.Table.create(root.parent / "new", SCHEMA)
    with pytest.raises(deltaic.VersionNotFound, match="version 0 is the only one in the log"):
        table.restore(9)
