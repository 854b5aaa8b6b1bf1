"""Every verb takes the same sources: tables, snapshots, scans, change feeds, datasets and scanners."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import deltaic
from tests.api.staged_verbs import stage, upserted

BASE = pa.table({"id": [1, 5], "n": [0, 0]})
NEW = pa.table({"id": [1, 2], "n": [7, 7]})


def changes(source: deltaic.Table) -> deltaic.Scan:
    return source.changes(0, 0, infer=True)


SOURCES: dict[str, Callable[[deltaic.Table], Any]] = {
    "table": lambda source: source,
    "snapshot": lambda source: source.snapshot(),
    "scan": lambda source: source.snapshot().scan(),
    "dataset": lambda source: source.snapshot().to_pyarrow_dataset(),
    "dataset of files": lambda source: ds.dataset(source.uri.removeprefix("file://"), format="parquet"),
    "dataset in memory": lambda _: ds.dataset(NEW),
    "scanner": lambda _: ds.dataset(NEW).scanner(filter=ds.field("id") < 9),
}


def in_transaction(table: deltaic.Table, verb: str, rows: Any) -> None:
    with table.transaction() as tx:
        stage(tx, verb, rows)


def by_task(table: deltaic.Table, rows: Any) -> None:
    files = table.snapshot().write_task().write(rows)
    with table.transaction() as tx:
        tx.add(files)


APPENDED, OVERWRITTEN, MERGED = [(1, 0), (1, 7), (2, 7), (5, 0)], [(1, 7), (2, 7)], [(1, 7), (2, 7), (5, 0)]
VERBS: dict[str, tuple[Callable[[deltaic.Table, Any], object], list[tuple[int, int]]]] = {
    "append": (lambda table, rows: table.append(rows), APPENDED),
    "overwrite": (lambda table, rows: table.overwrite(rows), OVERWRITTEN),
    "merge": (lambda table, rows: upserted(table.merge(rows, "target.id = source.id")).execute(), MERGED),
    "write": (lambda table, rows: deltaic.write(table.uri, rows), APPENDED),
    "write over": (lambda table, rows: deltaic.write(table.uri, rows, "overwrite"), OVERWRITTEN),
    "append in a transaction": (lambda table, rows: in_transaction(table, "append", rows), APPENDED),
    "overwrite in a transaction": (lambda table, rows: in_transaction(table, "overwrite", rows), OVERWRITTEN),
    "merge in a transaction": (lambda table, rows: in_transaction(table, "merge", rows), MERGED),
    "write task": (by_task, APPENDED),
}


@pytest.fixture
def source(tmp_path: Path) -> deltaic.Table:
    return deltaic.write(tmp_path / "source", NEW)


def rows_in(table: deltaic.Table) -> list[tuple[int, int]]:
    return sorted((row["id"], row["n"]) for row in table.to_arrow().to_pylist())


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_every_source(root: Path, source: deltaic.Table, verb: str, name: str) -> None:
    table = deltaic.write(root, BASE)
    run, expected = VERBS[verb]
    run(table, SOURCES[name](source))
    assert rows_in(table) == expected


@pytest.mark.parametrize("name", SOURCES)
def test_a_table_is_created_from_every_source(root: Path, source: deltaic.Table, name: str) -> None:
    assert rows_in(deltaic.write(root, SOURCES[name](source))) == OVERWRITTEN
    schema = deltaic.Table.create(root.parent / "other", source).schema
    assert schema.names == ["id", "n"]


def test_a_change_feed_is_a_source(root: Path, source: deltaic.Table) -> None:
    table = deltaic.write(root, changes(source))
    table.append(changes(source))
    assert [row["_change_type"] for row in table.to_arrow().to_pylist()] == ["insert"] * 4


def test_a_table_is_a_source_of_itself(root: Path) -> None:
    table = deltaic.write(root, BASE)
    table.append(table)
    assert table.count() == 4
    table.overwrite(table)
    assert table.count() == 4
    table.merge(table.snapshot(0), "target.id = source.id").when_matched_delete().execute()
    assert table.count() == 0


def test_a_dry_run_takes_them_too(root: Path, source: deltaic.Table) -> None:
    table = deltaic.write(root, BASE)
    for name, make in SOURCES.items():
        if name != "scanner":  # it becomes a stream
            assert table.append(make(source), dry_run=True).added_rows == 2
    assert table.version == 0
