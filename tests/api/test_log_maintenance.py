"""`checkpoint`, `compact_log` and `clean_up`: files written and deleted; the table is unchanged."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import ClusterBy
from tests.api.log_files import commit_file

DAY = 24 * 3600


def rows_of(table: deltaic.Table) -> list[dict[str, Any]]:
    return deltaic.Table(table.uri).snapshot().scan().to_arrow().sort_by("id").to_pylist()


def test_a_checkpoint_represents_the_commits_before_it(numbers: deltaic.Table, root: Path) -> None:
    before = rows_of(numbers)
    written = numbers.checkpoint()
    assert (written.version, written.is_new, written.sidecars) == (2, True, [])
    assert (root / written.path).stat().st_size == written.size_in_bytes
    assert not numbers.checkpoint().is_new
    for version in range(3):
        commit_file(root, version).unlink()
    assert rows_of(numbers) == before
    numbers.append(pa.table({"id": [9], "name": ["nine"]}))
    assert deltaic.Table(root).snapshot().version == 3
    assert numbers.check().is_healthy


def test_a_checkpoint_with_sidecars(root: Path) -> None:
    """protocol: v2-spec.1."""
    schema = pa.schema([("id", pa.int64())])
    properties = {"delta.checkpointPolicy": "v2"}
    table = deltaic.Table.create(root, schema, properties=properties)
    for number in range(3):
        table.append(pa.table({"id": [number]}))
    written = table.checkpoint()
    for version in range(4):
        commit_file(root, version).unlink()
    assert [row["id"] for row in rows_of(table)] == [0, 1, 2]
    for sidecar in written.sidecars:
        assert (root / sidecar).is_file()


def test_a_checkpoint_references_older_sidecars(root: Path) -> None:
    """Files that exist already are not written again, whichever handle writes; each checkpoint is complete.

    protocol: v2-spec.2, v2-spec.3, sidecar-files.1
    """
    schema = pa.schema([("id", pa.int64()), ("p", pa.int64())])
    properties = {"delta.checkpointPolicy": "v2"}
    table = deltaic.Table.create(root, schema, partition_by=["p"], properties=properties)
    table.append(pa.table({"id": range(40), "p": range(40)}))
    first = table.checkpoint()
    assert (len(first.sidecars), first.reused_sidecars) == (1, 0)
    table.append(pa.table({"id": [40], "p": [40]}))
    second = table.checkpoint()
    assert (second.sidecars[0], second.reused_sidecars) == (first.sidecars[0], 1)
    again = table.checkpoint()
    assert (again.is_new, again.sidecars, again.reused_sidecars) == (False, second.sidecars, 0)
    table.delete("p = 7")
    third = deltaic.Table(root).checkpoint()
    assert first.sidecars[0] not in third.sidecars
    assert len(third.sidecars) == 2
    for version in range(4):
        commit_file(root, version).unlink()
    assert [row["id"] for row in rows_of(table)] == [id_ for id_ in range(41) if id_ != 7]
    assert deltaic.Table(root).check().is_healthy


def test_post_commit_checkpoints_reference_older_sidecars(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("p", pa.int64())])
    properties = {"delta.checkpointPolicy": "v2", "delta.checkpointInterval": "2"}
    table = deltaic.Table.create(root, schema, partition_by=["p"], properties=properties)
    table.append(pa.table({"id": range(100), "p": range(100)}))
    for number in range(11):
        table.append(pa.table({"id": [100 + number], "p": [0]}))
    sidecars = root / "_delta_log" / "_sidecars"
    assert len(list((root / "_delta_log").glob("*.checkpoint.parquet"))) == 6
    # A file is written again a few times only.
    rows = [pq.ParquetFile(sidecar).metadata.num_rows for sidecar in sidecars.iterdir()]
    assert max(rows) >= 100
    assert sum(rows) < 2 * 100
    assert [row["id"] for row in rows_of(table)] == list(range(111))
    assert deltaic.Table(root).check().is_healthy


def test_a_compaction_file_represents_a_range(numbers: deltaic.Table, root: Path) -> None:
    before = rows_of(numbers)
    compacted = numbers.compact_log(1)
    assert compacted is not None
    assert compacted.path == "_delta_log/00000000000000000001.00000000000000000002.compacted.json"
    assert (root / compacted.path).stat().st_size == compacted.size_in_bytes
    again = numbers.compact_log(1, 2)
    assert again is not None
    assert not again.is_new
    assert rows_of(numbers) == before
    assert numbers.check().is_healthy
    with pytest.raises(ValueError, match="cannot be compacted"):
        numbers.compact_log(2)
    with pytest.raises(ValueError, match="start"):
        numbers.compact_log(-1)


def test_expired_files_are_deleted_and_readable_versions_remain(numbers: deltaic.Table, root: Path) -> None:
    numbers.checkpoint()
    numbers.append(pa.table({"id": [9], "name": ["nine"]}))
    before = rows_of(numbers)
    assert str(numbers.clean_up()) == "nothing to delete: nothing has expired"
    long_ago = time.time() - 40 * DAY
    for version in range(3):
        os.utime(commit_file(root, version), (long_ago + version, long_ago + version))
    checkpoint = root / "_delta_log" / f"{2:020}.checkpoint.parquet"
    os.utime(checkpoint, (long_ago + 2, long_ago + 2))
    planned = numbers.clean_up(dry_run=True)
    assert commit_file(root, 0).exists()
    done = numbers.clean_up()
    assert done == planned
    assert done.oldest_version == 2
    expired = [f"{version:020}.{kind}" for version in range(2) for kind in ("crc", "json")]
    assert sorted(Path(file.path).name for file in done.files) == expired
    assert "4 files" in str(done)
    assert repr(done) == f"<deltaic.CleanUp {str(done).splitlines()[0]}>"
    assert repr(numbers.clean_up()) == "<deltaic.CleanUp nothing to delete: nothing has expired>"
    assert not commit_file(root, 0).exists()
    assert checkpoint.exists()
    assert rows_of(numbers) == before
    assert deltaic.Table(root).snapshot(version=2).num_files == 2
    with pytest.raises(deltaic.VersionNotFound):
        deltaic.Table(root).snapshot(version=1)


def test_a_table_that_retains_its_log(root: Path) -> None:
    schema = pa.schema([("id", pa.int64())])
    table = deltaic.Table.create(root, schema, properties={"delta.enableExpiredLogCleanup": "false"})
    told = table.clean_up()
    assert told.files == []
    assert told.kept


def test_no_table(tmp_path: Path) -> None:
    table = deltaic.Table(tmp_path / "nothing")
    for verb in (table.checkpoint, table.clean_up, lambda: table.compact_log(0)):
        with pytest.raises(deltaic.TableNotFound):
            verb()


@pytest.mark.parametrize("then", ["nothing", "an append"])
@pytest.mark.parametrize("checkpoints", [0, 1])
def test_an_open_snapshot_is_complete_after_a_cleanup(root: Path, checkpoints: int, then: str) -> None:
    """If log files that a handle would read lazily were deleted, it reads the log again."""
    properties = {"delta.logRetentionDuration": "interval 1 days", "delta.enableDeletionVectors": "true"}
    deltaic.Table.create(root, pa.schema([("id", pa.int64())]), properties=properties)
    for number in range(4):
        deltaic.Table(root).append(pa.table({"id": [number]}))
        if number == 1 and checkpoints:
            deltaic.Table(root).checkpoint()
    now = time.time()
    for file in (root / "_delta_log").glob("0*"):
        os.utime(file, (now - 5 * DAY + int(file.name[:20]),) * 2)
    held = deltaic.Table(root)
    assert held.snapshot().num_rows == 4
    other = deltaic.Table(root)
    other.checkpoint()
    os.utime(next((root / "_delta_log").glob("*4.checkpoint.parquet")), (now - 4 * DAY,) * 2)
    assert len(other.clean_up().files) >= 4
    if then == "an append":
        other.append(pa.table({"id": [4]}))
    snapshot = held.snapshot()
    rows = 5 if then == "an append" else 4
    assert (snapshot.num_rows, snapshot.scan().count()) == (rows, rows)
    assert snapshot.files("id = 1").num_rows == 1
    [path] = snapshot.files("id = 1").to_arrow()["path"].to_pylist()
    with held.transaction() as tx:
        assert tx.delete_rows({path: [0]}) == 1
    held.alter(ClusterBy("id"))
    assert sorted(held.snapshot().scan().to_arrow()["id"].to_pylist()) == [0, 2, 3, 4][: rows - 1]
