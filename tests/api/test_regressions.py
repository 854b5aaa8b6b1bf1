"""Regressions found by trying to break the package, each with a minimal reproduction."""

from __future__ import annotations

import functools
import json
import operator
import os
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .log_files import commit_file


@pytest.fixture
def three(root: Path) -> deltaic.Table:
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": [1, 2, 3]}))
    return table


@pytest.mark.parametrize(
    ("predicate", "rows"),
    [("FALSE", 0), ("TRUE", 3), ("NULL", 0), ("NOT TRUE", 0), ("id = NULL", 0), ("id IN (NULL)", 0)],
)
def test_a_predicate_without_columns_counts_what_it_reads(
    three: deltaic.Table, predicate: str, rows: int
) -> None:
    scan = three.snapshot().scan(predicate=predicate)
    assert scan.count() == scan.to_arrow().num_rows == rows


def test_an_empty_list_matches_nothing(three: deltaic.Table) -> None:
    scan = three.snapshot().scan(predicate=deltaic.col("id").is_in([]))
    assert scan.count() == scan.to_arrow().num_rows == 0


def test_long_predicates_do_not_end_the_process(three: deltaic.Table) -> None:
    snapshot = three.snapshot()
    assert snapshot.scan(predicate=deltaic.col("id").is_in(list(range(-20_000, 3)))).count() == 2
    assert snapshot.scan(predicate=" OR ".join(["id = 2"] * 3000)).count() == 1
    assert snapshot.scan(predicate=" AND ".join(["id = 2"] * 3000)).count() == 1
    assert snapshot.scan(predicate=" OR ".join(["id = 2"] * 100_000)).count() == 1
    links = [deltaic.col("id") == number for number in range(2, 2_000)]
    assert snapshot.scan(predicate=functools.reduce(operator.or_, links)).count() == 2
    for deep in ("id + " * 100_000 + "1 > 0", "(" * 100_000, "NOT " * 100_000 + "id > 0"):
        with pytest.raises(deltaic.InvalidPredicate, match="levels deep"):
            snapshot.scan(predicate=deep)


def test_two_fields_of_a_struct_that_differ_by_case_are_refused(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("s", pa.struct([("a", pa.int64())]))]))
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["A", "a"])
    with pytest.raises(deltaic.SchemaMismatch, match="two fields"):
        table.append(pa.table({"s": twice}))
    with pytest.raises(deltaic.SchemaMismatch, match="two columns"):
        deltaic.Table.create(root.parent / "other", pa.schema([("s", twice.type)]))


def test_a_uri_that_is_refused_is_shown_without_its_secrets() -> None:
    with pytest.raises(ValueError, match="not the location of a table") as caught:
        deltaic.Table("file://user:SECRET@host/k?sig=SECRET")
    assert "SECRET" not in str(caught.value)


def test_something_else_where_the_next_commit_should_be(three: deltaic.Table, root: Path) -> None:
    snapshot_before = three.snapshot().version
    commit_file(root, 2).symlink_to(root / "nowhere")
    with pytest.raises(deltaic.CorruptLog, match="no regular file") as caught:
        three.append(pa.table({"id": [4]}))
    assert caught.value.context["version"] == snapshot_before + 1


@pytest.mark.parametrize(
    "info",
    [
        {"inCommitTimestamp": 1, "nested": "[" * 5000 + "]" * 5000},
        {"operationMetrics": {"numFiles": "9" * 5000}},
    ],
)
def test_a_strange_commit_info_is_not_a_untyped_error(
    three: deltaic.Table, root: Path, info: dict[str, object]
) -> None:
    text = json.dumps({"commitInfo": info}).replace('"[', "[").replace(']"', "]")
    commit_file(root, 2).write_text(text + "\n")
    said: deltaic.DeltaicError | None = None
    metrics: dict[str, int | str] = {}
    try:
        metrics = three.history()[0].metrics
    except deltaic.DeltaicError as error:
        said = error
    assert said.context["version"] == 2 if said else list(metrics) == ["numFiles"]


def test_a_pipe_for_a_data_file_is_damage(three: deltaic.Table, root: Path) -> None:
    [file] = root.glob("*.parquet")
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(deltaic.CorruptData, match="no regular file"):
        three.snapshot().scan().to_arrow()


def test_a_failed_append_leaves_no_folder(root: Path) -> None:
    table = deltaic.Table.create(
        root, pa.schema([("id", pa.int64()), ("p", pa.string())]), partition_by=["p"]
    )
    (root / "p=no").touch()  # a file with the name of the second partition's folder
    with pytest.raises(deltaic.StorageError):
        table.append(pa.table({"id": [1, 2], "p": ["ok", "no"]}))
    assert sorted(path.name for path in root.iterdir()) == ["_delta_log", "p=no"]


def test_an_iterator_has_one_reader(three: deltaic.Table) -> None:
    """A second thread gets an error or a batch, never a premature end."""
    for _ in range(20):
        three.append(pa.table({"id": [0]}))
    batches = three.snapshot().scan()._rust.batches()
    rows: list[int] = []
    busy: list[str] = []

    def rows_of_next() -> int | None:
        try:
            return next(batches).num_rows
        except RuntimeError as error:
            busy.append(str(error))
            return 0
        except StopIteration:
            return None

    def read() -> None:
        while (found := rows_of_next()) is not None:
            rows.append(found)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(rows) == 23
    assert all("another thread" in text for text in busy)


def test_times_past_year_9999_have_no_bound(root: Path) -> None:
    late = pa.array([253_402_300_799_999_999, 253_402_300_800_000_000], pa.timestamp("us", "UTC"))
    table = deltaic.Table.create(root, pa.schema([("t", late.type)]))
    table.append(pa.table({"t": late}))
    [add] = [
        json.loads(line)["add"] for line in commit_file(root, 1).read_bytes().splitlines() if b'"add"' in line
    ]
    stats = json.loads(add["stats"])
    assert (stats["minValues"], stats["maxValues"]) == ({"t": "9999-12-31T23:59:59.999Z"}, {})


def test_a_compaction_that_was_there_before_its_commits_is_none_of_theirs(tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    stale = commit_file(table_root := tmp_path / "t", 0).read_bytes()
    compaction = table_root / "_delta_log" / f"{0:020}.{2:020}.compacted.json"
    compaction.write_bytes(stale)
    os.utime(compaction, (1_600_000_000, 1_600_000_000))
    for number in range(2):
        table.append(pa.table({"id": [number]}))
    assert sorted(deltaic.Table(table_root).snapshot().scan().to_arrow()["id"].to_pylist()) == [0, 1]


@pytest.mark.parametrize("value", ["PlAnTeD\n", "a\x00b", "a\tb"])
@pytest.mark.parametrize("option", ["aws_access_key_id", "aws_session_token", "aws_region"])
def test_an_option_that_no_request_can_carry_is_named(option: str, value: str) -> None:
    with pytest.raises(ValueError, match=option) as caught:
        deltaic.Table("s3://b/t", storage_options={option: value})
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "uri", ["s3:/bucket/t", "S3A:bucket/t", "dbfs:/t", "memory:x", "memory://u:secret@b"]
)
def test_a_place_that_is_nearly_a_stores_is_not_a_folder(uri: str) -> None:
    with pytest.raises(ValueError, match=r"store|memory|not a URI") as caught:
        deltaic.Table(uri)
    assert "secret" not in str(caught.value)


def test_after_an_error_an_iterator_is_not_at_its_end(tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    for first in (0, 10, 20):
        table.append(pa.table({"id": range(first, first + 10)}))
    scan = table.snapshot().scan()
    broken = tmp_path / "t" / scan.tasks()[1].path
    broken.write_bytes(b"PAR1" + b"\0" * (broken.stat().st_size - 4))
    batches = iter(scan)
    with pytest.raises(deltaic.CorruptData):
        for _ in batches:
            pass
    for _ in range(2):
        with pytest.raises(RuntimeError, match="start the scan again"):
            next(batches)
