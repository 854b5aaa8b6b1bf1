"""`checkpoint`, `compact_log` and `clean_up`: what they write and delete; the table stays what it is."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import commit_file

DAY = 24 * 3600


def rows_of(table: deltaic.Table) -> list[dict[str, Any]]:
    return deltaic.Table(table.uri).snapshot().scan().to_arrow().sort_by("id").to_pylist()


def test_a_checkpoint_stands_for_the_commits_before_it(numbers: deltaic.Table, root: Path) -> None:
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


def test_a_compaction_file_stands_for_a_range(numbers: deltaic.Table, root: Path) -> None:
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
    with pytest.raises(ValueError, match="no range"):
        numbers.compact_log(2)
    with pytest.raises(ValueError, match="start"):
        numbers.compact_log(-1)


def test_what_has_expired_goes_and_what_can_be_read_stays(numbers: deltaic.Table, root: Path) -> None:
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


def test_a_table_that_keeps_its_log(root: Path) -> None:
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
