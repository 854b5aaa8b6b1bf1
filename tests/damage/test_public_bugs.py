"""Public bugs of other implementations, each with a test that is named after its issue.

Those that need a simulated store are in that store's tests, see `ELSEWHERE`. Not covered here: cleanup of the
log (delta-rs#2016, delta-rs#2174, delta-rs#3692, delta-rs#3057), a vacuum that deletes concurrently committed
files, MERGE (delta-rs#4475), and the contents of written checkpoints (delta-kernel-rs#1716, delta-rs#3360:
reading them is tested here).
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.protocol import handmade_log as log
from tests.protocol.handmade_vectors import FEATURE, without
from tests.repository.markdown import TOP

from . import broken
from .check_damage import checkpoint, log_file
from .tree import tree

# Where a bug of commits on a store is tested; that file names it.
ELSEWHERE = {
    "delta#1830": "tests/stores/test_commits.py",
    "delta#1410": "tests/stores/test_commits.py",
    "aws-sdk-java-v2#6580": "tests/stores/test_commits.py",
    "delta#7345": "tests/stores/test_commits.py",
    "ClickHouse#111738": "tests/stores/test_faults.py",
    "delta-kernel-rs#2717": "rust/log/tests/it/commit.rs",
    "delta-kernel-rs#3070": "rust/log/tests/it/commit.rs",
    "delta-rs#2279": "rust/log/tests/it/commit.rs",
    "delta-rs#2609": "rust/log/tests/it/commit.rs",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The healthy table of this folder's tests."""
    root = tmp_path / "t"
    broken.healthy(root)
    return root


@pytest.mark.parametrize("bug", ELSEWHERE)
def test_a_bug_of_commits_on_a_store_is_played_beside_it(bug: str) -> None:
    assert bug in (TOP / ELSEWHERE[bug]).read_text()


def test_delta_1830_and_1410_a_commit_is_never_overwritten(root: Path) -> None:
    """Two writers read the same version: the second commits the next version, the first one is unchanged."""
    first, second = deltaic.Table(root), deltaic.Table(root)
    held = second.snapshot()
    assert first.append(broken.good_rows()).version == 2
    before = tree(root)
    assert held.version == 1
    assert second.append(broken.good_rows()).version == 3
    after = tree(root)
    assert {path: after[path] for path in before} == before


def test_clickhouse_111738_an_empty_tail_commit_is_not_an_empty_version(root: Path) -> None:
    broken.body(b"", version=2)(root)
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(root).snapshot()
    assert caught.value.context["version"] == 2
    assert deltaic.Table(root).snapshot(version=1).num_files == 2
    with pytest.raises(deltaic.CorruptLog):
        deltaic.Table(root).append(broken.good_rows())
    assert log.commit_path(root, 2).read_bytes() == b""


@pytest.mark.parametrize("name", [f"{1:020}.checkpoint.parquet", f".{1:020}.checkpoint.parquet.tmp"])
def test_delta_rs_2258_an_interrupted_checkpoint_does_not_close_the_table(root: Path, name: str) -> None:
    checkpoint()(root)
    whole = root / "_delta_log" / f"{1:020}.checkpoint.parquet"
    half = whole.read_bytes()[:700]
    whole.unlink()
    log_file(name, half)(root)
    assert deltaic.Table(root).snapshot().scan().to_arrow().num_rows == 4
    assert deltaic.Table(root).append(broken.good_rows()).version == 2


@pytest.mark.parametrize("content", [None, b"", b"PAR1PAR1"])
def test_delta_kernel_rs_2579_and_delta_5458_a_bad_checkpoint_does_not_block_a_healthy_table(
    root: Path, content: bytes | None
) -> None:
    """The hint refers to a missing or damaged checkpoint; all commits exist."""
    log_file("_last_checkpoint", json.dumps({"version": 1, "size": 4}))(root)
    if content is not None:
        log_file(f"{1:020}.checkpoint.parquet", content)(root)
    snapshot = deltaic.Table(root).snapshot()
    assert snapshot.scan().to_arrow().num_rows == 4
    assert snapshot.warnings


def test_delta_kernel_rs_1716_and_delta_rs_3360_domains_outlive_a_checkpoint_and_removed_ones_do_not(
    tmp_path: Path,
) -> None:
    table = log.HandmadeTable(tmp_path / "t")
    table.commit(log.protocol(1, 7, None, ["domainMetadata"]), log.metadata())
    table.commit(log.domain("kept", "1"), log.domain("removed before", "2"), log.domain("removed after", "3"))
    table.commit(log.domain("removed before", removed=True))
    held = [*log.read_commit(table.root, 0), log.domain("kept", "1"), log.domain("removed after", "3")]
    table.checkpoint(2, held)
    for version in range(2):
        log.commit_path(table.root, version).unlink()
    assert deltaic.Table(table.root).snapshot().domain_metadata == {"kept": "1", "removed after": "3"}
    table.commit(log.domain("removed after", removed=True))
    assert deltaic.Table(table.root).snapshot().domain_metadata == {"kept": "1"}


@pytest.mark.parametrize("in_between", [False, True])
def test_delta_4894_a_compaction_adds_no_removed_file_back(tmp_path: Path, in_between: bool) -> None:
    """A file of the checkpoint is removed by a commit within a compaction."""
    table = log.HandmadeTable(tmp_path / "t")
    table.create(log.add("a"), log.add("b"))
    table.checkpoint(0, log.read_commit(table.root, 0))
    table.commit(log.remove("a"))
    table.commit(log.add("c"))
    table.commit(log.remove("c"))
    compacted = [log.remove("a"), log.add("c")] if in_between else [log.remove("a"), log.remove("c")]
    end = 2 if in_between else 3
    text = "".join(json.dumps(action) + "\n" for action in compacted)
    log_file(f"{1:020}.{end:020}.compacted.json", text)(table.root)
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.warnings == []
    assert snapshot.files().to_arrow()["path"].to_pylist() == ["b"]
    assert set(snapshot.tombstones().to_arrow()["path"].to_pylist()) == {"a", "c"}


TEN = log.ids(*range(10))
STATS = json.dumps({"numRecords": 10})


def with_vectors(root: Path, *vectors: dict[str, Any]) -> deltaic.Snapshot:
    """Returns a file of ten rows whose deletion vector is set and then replaced, one commit each."""
    table = log.HandmadeTable(root)
    file = table.data("a.parquet", TEN, stats=STATS)["add"]
    table.commit(FEATURE, log.metadata(), {"add": file})
    for before, after in pairwise([{}, *vectors]):
        table.commit(log.remove("a.parquet", **before), {"add": {**file, **after}})
    return deltaic.Table(root).snapshot()


def test_trino_24648_a_second_deletion_vector_on_a_file_doubles_no_rows(tmp_path: Path) -> None:
    """Each change of the deletion vector is a remove and an add of the path: one logical file is left."""
    snapshot = with_vectors(tmp_path / "t", without(3), without(3, 4))
    assert snapshot.num_files == 1
    [file] = snapshot.files().to_arrow().to_pylist()
    assert file["path"] == "a.parquet"
    assert snapshot.scan().to_arrow()["id"].to_pylist() == [0, 1, 2, 5, 6, 7, 8, 9]
    assert deltaic.Table(tmp_path / "t").snapshot(version=1).scan().count() == 9


def test_clickhouse_114933_a_count_knows_of_deletion_vectors(tmp_path: Path) -> None:
    """Ten rows of which three are deleted are never counted as ten."""
    snapshot = with_vectors(tmp_path / "t", without(0, 5, 9))
    assert snapshot.num_rows in (7, None)
    assert snapshot.scan().count() == 7
    assert snapshot.scan(predicate="id >= 5").count() == 3
    assert snapshot.scan(limit=100).count() == 7


def test_delta_rs_4235_a_mask_shorter_than_the_file_loses_no_row(tmp_path: Path) -> None:
    """Rows after the last deleted position are returned, in every batch."""
    snapshot = with_vectors(tmp_path / "t", without(0, 2))
    assert snapshot.scan().to_arrow()["id"].to_pylist() == [1, 3, 4, 5, 6, 7, 8, 9]
    assert snapshot.scan(batch_size=3).to_arrow().num_rows == 8


@pytest.mark.parametrize(
    ("on_disk", "in_log"),
    [
        ("s=a b/x.parquet", "s=a%20b/x.parquet"),
        ("s=a%20b/x.parquet", "s=a%2520b/x.parquet"),
        ("s=é/x.parquet", "s=%C3%A9/x.parquet"),
        ("s=a+b/x.parquet", "s=a+b/x.parquet"),
        ("s=a%3Ab/x.parquet", "s=a%253Ab/x.parquet"),
    ],
)
def test_delta_rs_4352_and_3577_and_1896_encoded_paths_neither_double_nor_lose_rows(
    tmp_path: Path, on_disk: str, in_log: str
) -> None:
    """A path is decoded once; added, removed and added again, it is one file."""
    table = log.HandmadeTable(tmp_path / "t")
    text = log.schema(log.field("id"), log.field("s", "string"))
    table.create(schema_string=text, partition_by=["s"])
    file = table.data(on_disk, log.ids(1, 2), values={"s": "v"}, uri=in_log)
    table.commit(file)
    table.commit(log.remove(in_log))
    assert deltaic.Table(table.root).snapshot().scan().to_arrow().num_rows == 0
    table.commit(file)
    assert deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist() == [1, 2]


@pytest.mark.parametrize("value", ["a b", "a%20b", "é", "a/b", "a:b", "100%", "a+b", "..", "#?"])
def test_delta_rs_4352_and_3577_and_1896_what_is_appended_is_read_once(tmp_path: Path, value: str) -> None:
    data = pa.table({"id": [1], "s": [value]})
    table = deltaic.Table.create(tmp_path / "t", data.schema, partition_by=["s"])
    table.append(data)
    table.append(data)
    assert table.snapshot().scan().to_arrow().to_pylist() == [{"id": 1, "s": value}] * 2


@pytest.mark.parametrize(
    "path", ["../outside.parquet", "a/%2e%2e/%2e%2e/outside.parquet", "/outside.parquet"]
)
def test_delta_rs_4637_a_path_does_not_climb_out_of_the_table(root: Path, path: str) -> None:
    (root.parent / "outside.parquet").write_bytes((root / broken.FIRST_FILE).read_bytes())
    broken.path_in_log(path)(root)
    with pytest.raises(deltaic.PathEscape):
        deltaic.Table(root).snapshot().scan().to_arrow()


@pytest.mark.parametrize("micros", [1, 500, 999])
def test_delta_kernel_rs_1002_and_delta_5249_truncated_timestamps_prune_no_live_row(
    tmp_path: Path, micros: int
) -> None:
    """Statistics have milliseconds: a maximum also includes later microseconds of its millisecond."""
    table = log.HandmadeTable(tmp_path / "t")
    table.create(schema_string=log.schema(log.field("at", "timestamp")))
    at = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=micros)
    rows = pa.table({"at": pa.array([at], pa.timestamp("us", "UTC"))})
    text = "2026-01-01T00:00:00.000Z"
    stats = {"numRecords": 1, "minValues": {"at": text}, "maxValues": {"at": text}, "nullCount": {"at": 0}}
    table.commit(table.data("a.parquet", rows, stats=json.dumps(stats)))
    snapshot = deltaic.Table(table.root).snapshot()
    exactly = f"at = TIMESTAMP '2026-01-01 00:00:00.{micros:06}Z'"
    later = "at > TIMESTAMP '2026-01-01 00:00:00Z'"
    for predicate in (exactly, later):
        assert snapshot.scan(predicate=predicate).to_arrow()["at"].to_pylist() == [at]
