"""Streams and iterators are read once: a used one raises, and is never taken as empty."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import deltaic
from deltaic import _rust
from deltaic.alter import SetProperties
from tests.api.staged_verbs import stage

BASE = pa.table({"id": [1, 5]})
NEW = pa.table({"id": [1, 2]})
USED = "were read before: a stream can be read once\nhint: pass rows that can be read again"


def ids(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan().to_arrow()["id"].to_pylist())


class Foreign:
    """A class of another library, whose rows may be readable again or not."""

    def __init__(self, rows: Callable[[], pa.RecordBatchReader]) -> None:
        self._rows = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._rows().__arrow_c_stream__(requested_schema)


def fetched() -> Foreign:
    """The result of a query, which was fetched and has no rows after that."""
    rows = NEW.to_reader()
    return Foreign(lambda: rows)


def merge(table: deltaic.Table, rows: Any, **options: Any) -> Any:
    merged = table.merge(rows, "target.id = source.id").when_not_matched_insert_all()
    return merged.when_not_matched_by_source_delete().execute(**options)


VERBS: dict[str, Callable[..., Any]] = {
    "append": lambda table, rows, **options: table.append(rows, **options),
    "overwrite": lambda table, rows, **options: table.overwrite(rows, **options),
    "replace where": lambda table, rows, **options: table.overwrite(rows, "id < 9", **options),
    "merge": merge,
    "write": lambda table, rows, **options: deltaic.write(table.uri, rows, **options),
    "write over": lambda table, rows, **options: deltaic.write(table.uri, rows, "overwrite", **options),
}
SOURCES: dict[str, Callable[[], Any]] = {"reader": NEW.to_reader, "fetched": fetched}


@pytest.fixture
def table(root: Path) -> deltaic.Table:
    return deltaic.write(root, BASE)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("verb", VERBS)
def test_a_used_stream_is_refused(table: deltaic.Table, verb: str, source: str) -> None:
    rows = SOURCES[source]()
    VERBS[verb](table, rows)
    before, version = ids(table), table.snapshot().version
    with pytest.raises(ValueError, match=USED):
        VERBS[verb](table, rows)
    assert (ids(table), table.snapshot().version) == (before, version)


@pytest.mark.parametrize("verb", VERBS)
def test_a_dry_run_keeps_the_rows_of_a_stream(table: deltaic.Table, verb: str) -> None:
    rows, expected = NEW.to_reader(), VERBS[verb](table, NEW, dry_run=True)
    for _ in range(2):
        assert VERBS[verb](table, rows, dry_run=True) == expected
    VERBS[verb](table, rows)
    assert set(ids(table)) >= {1, 2}


def test_a_dry_run_of_a_new_table_keeps_the_rows_of_a_stream(root: Path) -> None:
    rows = NEW.to_reader()
    assert deltaic.write(root, rows, dry_run=True).added_rows == 2
    assert ids(deltaic.write(root, rows)) == [1, 2]


@pytest.mark.parametrize("verb", ["append", "overwrite", "merge"])
def test_a_dry_run_of_a_transaction_keeps_the_rows_of_a_stream(table: deltaic.Table, verb: str) -> None:
    rows = NEW.to_reader()
    for is_dry_run in (True, False):
        with table.transaction(dry_run=is_dry_run) as tx:
            stage(tx, verb, rows)
    assert set(ids(table)) >= {1, 2}


def test_a_dry_run_keeps_no_more_than_its_memory(table: deltaic.Table) -> None:
    large = pa.table({"id": range(1 << 18)})
    rows = pa.RecordBatchReader.from_batches(large.schema, iter(large.to_batches(1 << 14)))
    with pytest.raises(
        ValueError, match="these take more than 1048576 bytes\nhint: pass rows that can be read"
    ):
        table.append(rows, dry_run=True, memory=1 << 20)
    with pytest.raises(ValueError, match=USED):
        table.append(rows)
    assert ids(table) == [1, 5]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("verb", ["append", "overwrite", "merge"])
def test_a_second_run_of_a_transaction(table: deltaic.Table, verb: str, source: str) -> None:
    rows = SOURCES[source]()
    runs: list[int] = []

    def function(tx: deltaic.Transaction) -> None:
        runs.append(tx.read().count())
        stage(tx, verb, rows)
        if len(runs) == 1:
            deltaic.Table(table.uri).append(pa.table({"id": [50]}))

    with pytest.raises(ValueError, match=USED):
        table.run_transaction(function)
    assert (runs, ids(table)) == ([2, 3], [1, 5, 50])
    assert len(list(Path(table.uri.removeprefix("file://")).glob("*.parquet"))) == 2


def paths(tx: deltaic.Transaction) -> list[str]:
    return tx.files().to_arrow()["path"].to_pylist()


def files_of(table: deltaic.Table) -> list[dict[str, Any]]:
    return table.snapshot().write_task().write(NEW)


@pytest.mark.parametrize("as_iterator", [iter, lambda values: (one for one in values)])
@pytest.mark.parametrize("verb", ["add", "remove", "delete_rows"])
def test_iterators_of_a_second_run(
    table: deltaic.Table, verb: str, as_iterator: Callable[[list[Any]], Iterator[Any]]
) -> None:
    table.alter(SetProperties({"delta.enableDeletionVectors": "true"}))
    [path] = paths_of(table)
    given = as_iterator({"add": files_of(table), "remove": [path], "delete_rows": [0]}[verb])
    runs: list[int] = []

    def function(tx: deltaic.Transaction) -> None:
        runs.append(tx.read().count())
        getattr(tx, verb)({path: given} if verb == "delete_rows" else given)
        if len(runs) == 1:
            deltaic.Table(table.uri).append(pa.table({"id": [50]}))

    with pytest.raises(ValueError, match="are an iterator that was read before"):
        table.run_transaction(function)
    assert (len(runs), ids(table)) == (2, [1, 5, 50])


def paths_of(table: deltaic.Table) -> list[str]:
    return table.snapshot().files().to_arrow()["path"].to_pylist()


def test_an_iterator_of_two_transactions(table: deltaic.Table) -> None:
    given = (path for path in paths_of(table))
    with table.transaction() as tx:
        tx.remove(given)
    with pytest.raises(ValueError, match="are an iterator that was read before"), table.transaction() as tx:
        tx.remove(given)
    assert (ids(table), table.snapshot().version) == ([], 1)


def test_an_arrow_stream_of_files_is_read_once(table: deltaic.Table) -> None:
    files = pa.Table.from_pylist([{**file, "partition_values": None} for file in files_of(table)]).to_reader()
    with table.transaction() as tx:
        tx.add(files)
    with pytest.raises(ValueError, match="was read before"), table.transaction() as tx:
        tx.add(files)
    assert ids(table) == [1, 1, 2, 5]


@pytest.mark.parametrize("verb", VERBS)
def test_an_empty_stream_is_welcome_twice(table: deltaic.Table, verb: str) -> None:
    empty = NEW.slice(0, 0).to_reader()
    for _ in range(2):
        VERBS[verb](table, empty)
    assert ids(table) in ([], [1, 5])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "rows",
    [NEW, NEW.to_batches()[0], pl.DataFrame(NEW), NEW.to_pandas(), Foreign(NEW.to_reader)],
    ids=["table", "batch", "polars", "pandas", "foreign"],
)
def test_what_can_be_read_again_is(table: deltaic.Table, verb: str, rows: Any) -> None:
    for _ in range(2):
        VERBS[verb](table, rows)
    assert set(ids(table)) >= {1, 2}


def test_a_stream_that_nothing_read_is_not_used(table: deltaic.Table, tmp_path: Path) -> None:
    rows = NEW.to_reader()
    table.append(NEW, app_transaction=("nightly", 7))
    # It is committed already, so no row is read.
    assert table.append(rows, app_transaction=("nightly", 7)).skipped
    with pytest.raises(deltaic.SchemaMismatch):
        deltaic.write(tmp_path / "other", pa.table({"no": ["x"]})).append(rows)
    table.append(rows)
    assert ids(table) == [1, 1, 1, 2, 2, 5]


@pytest.mark.parametrize("again", [False, True], ids=["stream", "table"])
def test_rows_that_were_read_in_part(root: Path, again: bool) -> None:
    rows = pa.table({"id": [1, None]})
    columns = [deltaic.Column("id", "bigint", nullable=False)]
    table = deltaic.Table.create(root, columns)
    data: Any = rows if again else pa.RecordBatchReader.from_batches(rows.schema, iter(rows.to_batches(1)))
    with pytest.raises(deltaic.ConstraintViolation):
        table.append(data)
    expected: Any = (deltaic.ConstraintViolation, "NULL") if again else (ValueError, USED)
    with pytest.raises(expected[0], match=expected[1]):
        table.append(data)
    assert table.snapshot().version == 0


def test_used_streams_are_not_kept_alive(table: deltaic.Table) -> None:
    rows = NEW.to_reader()
    table.append(rows)
    reference = weakref.ref(rows)
    del rows
    gc.collect()
    assert reference() is None


def test_how_often_objects_are_read(table: deltaic.Table) -> None:
    scan = table.snapshot().scan()
    again = [NEW, NEW.to_batches()[0], pl.DataFrame(NEW), NEW.to_pandas(), scan, table.snapshot().files()]
    assert [_rust.is_read_once(rows) for rows in again] == [False] * len(again)
    assert _rust.is_read_once(NEW.to_reader()) is True
    [task] = scan.tasks()
    assert (_rust.is_read_once(task), _rust.is_read_once(task.read())) == (False, True)
    assert _rust.is_read_once(fetched()) is None
