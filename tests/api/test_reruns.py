"""An append or overwrite whose commit conflicts adds the same data files to the newest version."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import AddColumn, SetDescription
from tests.api.log_files import of_kind
from tests.api.rows_in_parts import FEED, SCHEMA, TRACKING, VECTORS, ids, made, rows


def stream(new: pa.Table, *meanwhile: Callable[[], object]) -> pa.RecordBatchReader:
    """Data that can be read once and, while being read, calls functions that change the table."""

    def batches() -> Iterator[pa.RecordBatch]:
        for change in meanwhile:
            change()
        yield from new.to_batches()

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def data_files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*.parquet") if "_delta_log" not in path.parts}


def named(root: Path, versions: int) -> set[str]:
    """The data files and change data files that any version adds."""
    kinds = [of_kind(root, version, kind) for version in range(versions) for kind in ("add", "cdc")]
    return {action["path"] for actions in kinds for action in actions}


def rename(root: Path) -> None:
    """Changes only the description, on which data files do not depend."""
    deltaic.Table(root).alter(SetDescription("other"))


def widen(root: Path) -> None:
    deltaic.Table(root).alter(AddColumn("extra", pa.int64()))


@pytest.mark.parametrize("properties", [{}, TRACKING])
def test_an_append_is_repeated_after_a_change_of_the_description(
    root: Path, properties: dict[str, str]
) -> None:
    table = made(root, **properties)
    commit = table.append(stream(rows(100, 101), lambda: rename(root)))
    assert (commit.version, len(commit.conflicts_resolved)) == (4, 1)
    assert ids(table) == [*range(10), 100, 101]
    assert commit.metrics["numOutputRows"] == 2
    assert data_files(root) == named(root, 5)
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("verb", ["append", "overwrite"])
def test_a_changed_schema_is_a_conflict(root: Path, verb: str) -> None:
    """The files were written for the schema before, so they are deleted."""
    table = made(root)
    before = data_files(root)
    with pytest.raises(deltaic.MetadataChanged):
        getattr(table, verb)(stream(rows(100), lambda: widen(root)))
    assert table.snapshot().version == 3
    assert data_files(root) == before


@pytest.mark.parametrize("properties", [{}, VECTORS, FEED, TRACKING])
def test_an_overwrite_replaces_rows_of_another_writer_too(root: Path, properties: dict[str, str]) -> None:
    table = made(root, **properties)
    commit = table.overwrite(stream(rows(100, 101), lambda: deltaic.Table(root).append(rows(50))))
    assert (commit.version, len(commit.conflicts_resolved)) == (4, 1)
    assert ids(table) == [100, 101]
    assert (commit.metrics["numOutputRows"], commit.metrics["numRemovedFiles"]) == (2, 3)
    assert data_files(root) == named(root, 5)
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("properties", [{}, VECTORS, TRACKING])
def test_an_overwrite_by_a_predicate_searches_its_rows_again(root: Path, properties: dict[str, str]) -> None:
    table = made(root, **properties)
    new = stream(rows(100), lambda: deltaic.Table(root).append(rows(8, 101)))
    commit = table.overwrite(new, where="id >= 7")
    assert (commit.version, len(commit.conflicts_resolved)) == (4, 1)
    assert ids(table) == [*range(7), 100]
    assert table.check(deep=True).is_healthy
    live = set(table.snapshot().files().to_arrow()["path"].to_pylist())
    assert live <= data_files(root) == named(root, 5)


def test_an_overwrite_of_partitions_removes_their_newest_files(root: Path) -> None:
    table = made(root, by=["part"])
    new = stream(rows(100), lambda: deltaic.Table(root).append(rows(50, 51)))
    commit = table.overwrite(new, partitions="dynamic")
    assert (commit.version, len(commit.conflicts_resolved)) == (4, 1)
    assert ids(table) == [1, 3, 5, 7, 9, 51, 100]
    assert data_files(root) == named(root, 5)


@pytest.mark.parametrize("properties", [FEED, {**FEED, **VECTORS}])
def test_a_repeated_overwrite_records_every_change(root: Path, properties: dict[str, str]) -> None:
    """The feed of the version is the difference of its rows: those of the other writer are deleted too."""
    table = made(root, **properties)
    new = stream(rows(100), lambda: deltaic.Table(root).append(rows(8)))
    table.overwrite(new, where="id >= 7")
    changes = table.changes(4, 4).to_arrow().select(["id", "_change_type"]).to_pylist()
    assert sorted((row["id"], row["_change_type"]) for row in changes) == [
        *((i, "delete") for i in (7, 8, 8, 9)),
        (100, "insert"),
    ]
    assert data_files(root) == named(root, 5)


def test_without_row_level_the_conflict_is_raised(root: Path) -> None:
    table = made(root)
    new = stream(rows(100), lambda: deltaic.Table(root).append(rows(50)))
    with pytest.raises(deltaic.ConcurrentAppend):
        table.overwrite(new, row_level=False)
    assert ids(table) == [*range(10), 50]
    assert data_files(root) == named(root, 4)


def test_a_repeated_application_transaction_is_not_committed_twice(root: Path) -> None:
    table = made(root)
    winner = deltaic.Table(root)
    new = stream(rows(100), lambda: winner.overwrite(rows(100), app_transaction=("job", 1)))
    with contextlib.suppress(deltaic.ConcurrentTransaction):
        table.overwrite(new, app_transaction=("job", 1))
    assert ids(table) == [100]
    assert table.snapshot().version == 3
    assert data_files(root) == named(root, 4)


def test_a_repeated_merge_gives_each_identity_value_once(root: Path) -> None:
    """The first attempt inserts by the second clause; the next one by both."""
    columns = [deltaic.Column("id", "bigint", identity=deltaic.Identity()), deltaic.Column("k", "bigint")]
    table = deltaic.Table.create(root, columns)
    table.append(pa.table({"k": [1]}))
    new = pa.table({"k": [1, 2]})

    def batches() -> Iterator[pa.RecordBatch]:
        deltaic.Table(root).delete("k = 1")
        yield from new.to_batches()

    merge = table.merge(pa.RecordBatchReader.from_batches(new.schema, batches()), "target.k = source.k")
    merge = merge.when_matched_update({"k": "source.k"})
    merge = merge.when_not_matched_insert({"k": "source.k"}, "source.k = 1")
    commit = merge.when_not_matched_insert({"k": "source.k"}).execute()
    assert len(commit.conflicts_resolved) == 1
    rows = table.snapshot().scan().to_arrow().sort_by("k").to_pydict()
    assert rows == {"id": [2, 3], "k": [1, 2]}
    assert data_files(root) == named(root, 4)
    assert table.check(deep=True).is_healthy
