"""A blind append loses the race: the winning commit determines whether it is retried.

The winning commit is written while the append reads its data, by a stream before its first batch. The tests
assert by the number of requests that the append had opened the table by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import _rust
from tests.protocol.handmade_log import (
    Action,
    HandmadeTable,
    add,
    commit_path,
    domain,
    field,
    ids,
    metadata,
    protocol,
    read_commit,
    remove,
    schema,
    txn,
)
from tests.required import skip_without_development_build


def made(root: Path, *, domains: bool = False) -> HandmadeTable:
    table = HandmadeTable(root)
    first = protocol(1, 7, None, ["domainMetadata"]) if domains else protocol()
    table.commit(first, metadata(), table.data("first.parquet", ids(1)))
    return table


def while_reading(during: Callable[[], object]) -> pa.RecordBatchReader:
    """Yields one row, 100; first calls a function, and asserts that the table was opened before."""
    counts = vars(_rust)
    if "witness" not in counts:
        skip_without_development_build("witness")

    def batches() -> Iterator[pa.RecordBatch]:
        _, requests, _ = counts["witness"]()
        assert requests, "the append has not opened the table: nothing overlaps"
        during()
        yield from ids(100).to_batches()

    counts["witness_reset"]()
    return pa.RecordBatchReader.from_batches(ids(100).schema, batches())


def live(root: Path) -> list[int]:
    return sorted(deltaic.Table(root).snapshot().scan().to_arrow()["id"].to_pylist())


HARMLESS: dict[str, tuple[list[Action], list[int]]] = {
    "provenance alone": ([{"commitInfo": {"operation": "X"}}], [1, 100]),
    "a removal": ([remove("first.parquet")], [100]),
    "a transaction": ([txn("other", 1)], [1, 100]),
    "a domain": ([domain("app.x", "1")], [1, 100]),
    "an unknown action": ([{"fromTheFuture": {}}], [1, 100]),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_an_append_is_rebased_over_an_unrelated_commit(tmp_path: Path, name: str) -> None:
    actions, rows = HARMLESS[name]
    table = made(tmp_path / "t", domains=True)
    commit = deltaic.Table(table.root).append(while_reading(lambda: table.commit(*actions)))
    assert commit.version == 2
    assert [text.partition(":")[0] for text in commit.conflicts_resolved] == ["version 1"]
    assert live(table.root) == rows


def test_an_append_goes_after_another_append(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    other = table.data("other.parquet", ids(50))
    info: Action = {"commitInfo": {"operation": "WRITE", "isBlindAppend": True}}
    commit = deltaic.Table(table.root).append(while_reading(lambda: table.commit(info, other)))
    assert (commit.version, len(commit.conflicts_resolved)) == (2, 1)
    assert live(table.root) == [1, 50, 100]


def test_several_winning_commits_in_a_row(tmp_path: Path) -> None:
    table = made(tmp_path / "t")

    def win() -> None:
        for number in range(3):
            table.commit(table.data(f"{number}.parquet", ids(50 + number)))

    commit = deltaic.Table(table.root).append(while_reading(win))
    assert (commit.version, len(commit.conflicts_resolved)) == (4, 3)
    assert live(table.root) == [1, 50, 51, 52, 100]


def test_an_append_of_this_process_also_wins(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    other = deltaic.Table(table.root)
    commit = deltaic.Table(table.root).append(while_reading(lambda: other.append(ids(7))))
    assert commit.version == 2
    assert len(commit.conflicts_resolved) == 1
    assert live(table.root) == [1, 7, 100]


CONFLICTS: dict[str, tuple[list[Action], type[deltaic.CommitConflict]]] = {
    "another schema": ([metadata(schema(field("id"), field("x")))], deltaic.MetadataChanged),
    "another partitioning": ([metadata(schema(field("id")), ["id"])], deltaic.MetadataChanged),
    "a property": ([metadata(configuration={"delta.appendOnly": "true"})], deltaic.MetadataChanged),
    "a protocol": ([protocol(1, 7, None, ["fromTheFuture"])], deltaic.ProtocolChanged),
    "a reader feature": ([protocol(3, 7, ["fromTheFuture"], ["fromTheFuture"])], deltaic.ProtocolChanged),
    "protocol and metadata": ([metadata(name="x"), protocol(1, 3)], deltaic.MetadataChanged),
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_winning_commit_that_changes_what_the_append_was_checked_against(tmp_path: Path, name: str) -> None:
    actions, expected = CONFLICTS[name]
    table = made(tmp_path / "t")
    with pytest.raises(expected) as caught:
        deltaic.Table(table.root).append(while_reading(lambda: table.commit(*actions)))
    error = caught.value
    assert type(error) is expected
    assert isinstance(error, deltaic.CommitConflict)
    assert error.context["version"] == 1
    assert error.hint
    assert read_commit(table.root, 1) == actions
    assert not commit_path(table.root, 2).exists()


def test_a_protocol_that_we_can_follow_is_followed(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    committed = deltaic.Table(table.root).append(while_reading(lambda: table.commit(protocol(1, 3))))
    assert committed.version == 2
    assert len(committed.conflicts_resolved) == 1
    assert deltaic.Table(table.root).snapshot().protocol.min_writer_version == 3
    assert live(table.root)[-1] == 100


def test_a_conflict_after_a_harmless_winning_commit(tmp_path: Path) -> None:
    table = made(tmp_path / "t")

    def win() -> None:
        table.commit(add("x.parquet"))
        table.commit(metadata(schema(field("id"), field("x"))))

    with pytest.raises(deltaic.MetadataChanged) as caught:
        deltaic.Table(table.root).append(while_reading(win))
    assert caught.value.context["version"] == 2


def test_a_winning_commit_that_cannot_be_read_is_not_followed(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(table.root).append(while_reading(lambda: table.commit_bytes(b'{"add":{"path"')))
    assert caught.value.context["version"] == 1
    assert commit_path(table.root, 1).read_bytes() == b'{"add":{"path"'
    assert not commit_path(table.root, 2).exists()


def test_one_attempt_is_one_attempt(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    with pytest.raises(deltaic.ConcurrentWrite) as caught:
        deltaic.Table(table.root).append(
            while_reading(lambda: table.commit(add("other.parquet"))), max_attempts=1
        )
    assert caught.value.hint
    assert not commit_path(table.root, 2).exists()


def test_a_stream_that_breaks_off_commits_nothing(tmp_path: Path) -> None:
    table = made(tmp_path / "t")

    def fail() -> None:
        raise RuntimeError("the source broke off")

    with pytest.raises(Exception, match="the source broke off"):
        deltaic.Table(table.root).append(while_reading(fail))
    assert not commit_path(table.root, 1).exists()
    assert live(table.root) == [1]


def test_a_tables_own_scan_is_a_source(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    handle = deltaic.Table(table.root)
    handle.append(handle.snapshot().scan())
    assert live(table.root) == [1, 1]
