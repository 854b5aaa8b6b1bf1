"""The progress of verbs that write: a function, or a line on the terminal."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

ROWS = pa.table({"id": list(range(1_000))})
Heard = list[tuple[str, int, int]]
HANGS_AFTER = 300
"""Seconds after which a test fails that waits."""


def filled(root: Path, *, vectors: bool = False, files: int = 4) -> deltaic.Table:
    """A table of several files with 1,000 ids in turns, so that a range of ids is in all of them."""
    properties = {"delta.enableDeletionVectors": "true"} if vectors else {}
    table = deltaic.Table.create(root, ROWS.schema, properties=properties)
    for file in range(files):
        table.append(pa.table({"id": list(range(file, 1_000, files))}))
    return table


def until(heard: Heard) -> pa.RecordBatchReader:
    """A stream of batches of 10 rows that ends one batch after progress was heard."""

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(HANGS_AFTER * 20):
            yield pa.record_batch({"id": list(range(10))})
            if heard:
                break
            time.sleep(0.05)
        yield pa.record_batch({"id": list(range(10))})

    return pa.RecordBatchReader.from_batches(ROWS.schema, batches())


def deleting(table: deltaic.Table, first: int, end: int) -> deltaic.Merge:
    ids = pa.table({"id": list(range(first, end))})
    return table.merge(ids, on="target.id = source.id").when_matched_delete()


def inserting(table: deltaic.Table, first: int, end: int) -> deltaic.Merge:
    ids = pa.table({"id": list(range(first, end))})
    return table.merge(ids, on="target.id = source.id").when_not_matched_insert_all()


def last_of(verb: Callable[[Callable[[str, int, int], object]], object]) -> tuple[str, int, int]:
    """The last progress of a verb."""
    heard: Heard = []
    verb(lambda *told: heard.append(told))
    return heard[-1]


def test_progress_is_reported_while_rows_are_written(tmp_path: Path) -> None:
    heard: Heard = []
    table = deltaic.Table.create(tmp_path, ROWS.schema)
    table.append(until(heard), progress=lambda *told: heard.append(told))
    rows = table.snapshot().num_rows
    assert len(heard) >= 2
    assert heard[-1] == ("rows", rows, 0)
    counts = [done for _, done, _ in heard]
    assert counts == sorted(counts)
    assert heard[0][1] < rows


@pytest.mark.parametrize(
    ("verb", "last"),
    [
        (lambda table, told: table.append(ROWS, progress=told), ("rows", 1_000, 0)),
        (lambda table, told: table.overwrite(ROWS, progress=told), ("rows", 1_000, 0)),
        (
            lambda table, told: deltaic.write(table.uri, ROWS, mode="overwrite", progress=told),
            ("rows", 1_000, 0),
        ),
        (lambda table, told: table.delete("id < 100", progress=told), ("rows", 900, 900)),
        (lambda table, told: table.delete("id < 0", progress=told), ("files", 0, 0)),
        (lambda table, told: table.update({"id": "-id"}, "id < 100", progress=told), ("rows", 1000, 1000)),
        (lambda table, told: deleting(table, 0, 100).execute(progress=told), ("rows", 900, 900)),
        (lambda table, told: deleting(table, 5_000, 5_100).execute(progress=told), ("files", 0, 0)),
        (lambda table, told: inserting(table, 990, 1_200).execute(progress=told), ("rows", 200, 200)),
    ],
)
def test_the_last_progress_counts_every_row(
    tmp_path: Path, verb: Callable[[deltaic.Table, Any], object], last: tuple[str, int, int]
) -> None:
    table = filled(tmp_path)
    assert last_of(lambda told: verb(table, told)) == last


def test_deletion_vectors_need_no_rows_but_those_of_an_update(tmp_path: Path) -> None:
    table = filled(tmp_path, vectors=True)
    assert last_of(lambda told: table.delete("id < 100", progress=told)) == ("files", 4, 4)
    assert last_of(lambda told: table.update({"id": "-id"}, "id < 300", progress=told)) == ("rows", 200, 200)


def test_each_verb_of_a_transaction_reports_its_progress(tmp_path: Path) -> None:
    """A verb that takes long also reports before its end."""
    table, heard = filled(tmp_path, vectors=True), []

    def told(*now: Any) -> None:
        heard.append(now)

    with table.transaction(progress=told) as tx:
        tx.append(ROWS)
        assert heard[-1] == ("rows", 1_000, 0)
        heard.clear()
        tx.delete("id < 100")
    assert heard[-1] == ("files", 4, 4)
    with table.transaction(progress=told) as tx:
        merge = tx.merge(pa.table({"id": [500, 5_000]}), on="target.id = source.id")
        merge.when_not_matched_insert_all().execute()
    assert heard[-1] == ("rows", 1, 1)
    table.run_transaction(lambda tx: tx.overwrite(ROWS, "id >= 0"), progress=told)
    assert heard[-1] == ("rows", 1_000, 0)


def test_an_exception_ends_the_verb_and_leaves_no_files(tmp_path: Path) -> None:
    table, heard = deltaic.Table.create(tmp_path, ROWS.schema), []

    def broken(*told: Any) -> None:
        heard.append(told)
        raise LookupError("enough")

    def endless() -> Iterator[pa.RecordBatch]:
        for _ in range(HANGS_AFTER * 20):
            yield pa.record_batch({"id": list(range(10))})
            time.sleep(0.05)

    with pytest.raises(LookupError, match="enough"):
        table.append(pa.RecordBatchReader.from_batches(ROWS.schema, endless()), progress=broken)
    assert len(heard) == 1
    assert table.snapshot().version == 0
    deadline = time.monotonic() + HANGS_AFTER
    while list(tmp_path.glob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)  # the files are deleted after the call
    assert not list(tmp_path.glob("*.parquet"))


class Terminal(io.StringIO):
    """A stderr that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_true_shows_a_line_that_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = filled(tmp_path)
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    table.delete("id < 100", progress=True)
    # Other lines come before it if the verb takes long.
    *_, last, erased, end = screen.getvalue().split("\r")
    assert last.rstrip() == "writing rows: 900 of 900 [########################]"
    assert (erased.strip(), end) == ("", "")
    assert len(erased) >= len(last.rstrip())
    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    table.append(ROWS, progress=True)
    assert screen.getvalue().split("\r")[-3].rstrip() == "writing rows: 1,000"
    monkeypatch.setattr(sys, "stderr", no_terminal := io.StringIO())
    table.append(ROWS, progress=True)
    table.append(ROWS, progress=False)
    assert no_terminal.getvalue() == ""


def test_progress_is_a_function_or_a_bool(tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path, ROWS.schema)
    with pytest.raises(TypeError, match="progress must be a function of three arguments, or True, not str"):
        table.append(ROWS, progress="bar")  # type: ignore[typeddict-item]
    assert table.snapshot().version == 0
