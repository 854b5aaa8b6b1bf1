"""`deltaic.write`: one call that creates a table if there is none."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deltaic

ROWS = pa.table({"id": [1, 2], "part": ["a", "b"]})


def ids(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan(["id"]).to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("mode", ["error", "append", "overwrite", "ignore"])
def test_a_table_is_created(root: Path, mode: Any) -> None:
    table = deltaic.write(root, ROWS, mode, partition_by=["part"], properties={"mine": "1"})
    assert ids(table) == [1, 2]
    snapshot = table.snapshot()
    assert (snapshot.partition_columns, snapshot.properties["mine"]) == (["part"], "1")
    # No reader sees the table without its rows.
    [commit] = table.history()
    assert (commit.version, commit.operation) == (0, "CREATE TABLE AS SELECT")
    assert commit.metrics["numOutputRows"] == 2


@pytest.mark.parametrize(
    ("mode", "expected"), [("append", [1, 1, 2, 2]), ("overwrite", [1, 2]), ("ignore", [1, 2])]
)
def test_an_existing_table(root: Path, mode: Any, expected: list[int]) -> None:
    deltaic.write(root, ROWS)
    table = deltaic.write(root, ROWS, mode)
    assert ids(table) == expected
    assert table.snapshot().version == (0 if mode == "ignore" else 1)


def test_an_existing_table_may_be_an_error(root: Path) -> None:
    deltaic.write(root, ROWS)
    with pytest.raises(deltaic.TableExists, match="there is a table") as caught:
        deltaic.write(root, ROWS, mode="error")
    assert caught.value.hint == 'pass mode="append" or mode="overwrite"'


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        ROWS.to_batches()[0],
        ROWS.to_reader(),
        pl.DataFrame({"id": [1, 2], "part": ["a", "b"]}),
        pd.DataFrame({"id": [1, 2], "part": ["a", "b"]}),
        pd.DataFrame({"part": ["a", "b"]}, index=pd.Index([1, 2], name="id")),
    ],
    ids=["table", "batch", "reader", "polars", "pandas", "pandas with an index"],
)
def test_any_arrow_data_is_written(root: Path, data: Any) -> None:
    assert ids(deltaic.write(root, data)) == [1, 2]


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ([{"id": 1}], r"use pyarrow\.Table\.from_pylist\(rows\)"),
        ({"id": [1]}, r"use pyarrow\.table\(data\)"),
        (pl.LazyFrame({"id": [1]}), r"call \.collect\(\) first"),
        (iter(ROWS.to_batches()), r"use pyarrow\.RecordBatchReader\.from_batches\(schema, batches\)"),
        ("rows.parquet", r"read the file first"),
        (ROWS.to_batches(), r"use pyarrow\.Table\.from_batches\(batches\)"),
        (pl.Series("id", [1]), r"use data\.to_frame\(\)"),
        (pd.Series([1], name="id"), r"use data\.to_frame\(\)"),
    ],
    ids=[
        "list of dicts",
        "dict of lists",
        "lazy frame",
        "iterator",
        "path",
        "batches",
        "polars series",
        "pandas series",
    ],
)
def test_the_remedy_for_data_that_is_not_arrow(root: Path, data: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        deltaic.write(root, data)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"mode": "replace"}, ValueError, "mode must be one of error, append, overwrite, ignore"),
        ({"mode": 1}, TypeError, "mode must be a string"),
        ({"partition_by": ["id"]}, ValueError, r"partitioned by \[\], not by \['id'\]"),
        ({"data": [{"id": 1}]}, TypeError, "data must have __arrow_c_stream__"),
    ],
)
def test_wrong_arguments(root: Path, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    deltaic.write(root, ROWS)
    with pytest.raises(error, match=message):
        deltaic.write(root, **{"data": ROWS, **arguments})
    assert ids(deltaic.Table(root)) == [1, 2]


EMPTY_TEXT = pa.table({"part": [""], "id": [1]})


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (ROWS, {"configuration": {}}),
        (ROWS, {"isolation": "x"}),
        (ROWS, {"partition_by": ["other"]}),
        (ROWS, {"properties": {"delta.appendOnly": "perhaps"}}),
        (EMPTY_TEXT, {"partition_by": ["part"]}),
        (pa.table({"at": pa.array([1001], pa.timestamp("ns"))}), {}),
        (pa.table({"d": pa.array([1], pa.duration("s"))}), {}),
    ],
    ids=["option", "isolation", "partition", "property", "empty text", "nanoseconds", "type"],
)
@pytest.mark.parametrize("mode", ["error", "append", "overwrite", "ignore"])
def test_a_failed_write_creates_no_table(
    root: Path, mode: Any, data: pa.Table, options: dict[str, Any]
) -> None:
    with pytest.raises((TypeError, ValueError, deltaic.DeltaicError)):
        deltaic.write(root, data, mode, **options)
    assert not deltaic.Table.exists(root)
    assert [path for path in root.rglob("*") if path.is_file()] == []


def test_a_failed_source_creates_no_table(root: Path) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield ROWS.to_batches()[0]
        raise RuntimeError("the cable is cut")

    with pytest.raises(Exception, match="the cable is cut"):
        deltaic.write(root, pa.RecordBatchReader.from_batches(ROWS.schema, batches()))
    assert not deltaic.Table.exists(root)
    assert [path for path in root.rglob("*") if path.is_file()] == []


def writer_meanwhile(root: Path) -> pa.RecordBatchReader:
    """Rows during whose reading another writer creates the table."""

    def batches() -> Iterator[pa.RecordBatch]:
        deltaic.write(root, pa.table({"id": [9], "part": ["c"]}))
        yield from ROWS.to_batches()

    return pa.RecordBatchReader.from_batches(ROWS.schema, batches())


class Rereadable:
    """Rows of a scan during whose first reading another writer creates the table."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        rows = ROWS.to_reader() if deltaic.Table.exists(self._root) else writer_meanwhile(self._root)
        return rows.__arrow_c_stream__(requested_schema)


class DataFrame(Rereadable):
    """A class whose name states that its rows are in memory."""


@pytest.mark.parametrize(("mode", "expected"), [("append", [1, 2, 9]), ("overwrite", [1, 2])])
def test_another_writer_creates_the_table_first(root: Path, mode: Any, expected: list[int]) -> None:
    assert ids(deltaic.write(root, DataFrame(root), mode)) == expected


@pytest.mark.parametrize("mode", ["error", "append", "overwrite"])
def test_another_writer_creates_the_table_while_a_stream_is_read(root: Path, mode: Any) -> None:
    with pytest.raises(deltaic.TableExists):
        deltaic.write(root, writer_meanwhile(root), mode)
    table = deltaic.Table(root)
    assert ids(table) == [9]
    # The data files of the other rows are deleted.
    assert len(list(root.rglob("*.parquet"))) == 1


def test_another_writer_creates_the_table_that_is_ignored(root: Path) -> None:
    assert ids(deltaic.write(root, writer_meanwhile(root), mode="ignore")) == [9]


def test_an_application_creates_the_table_once(root: Path) -> None:
    for _ in range(2):
        table = deltaic.write(root, ROWS, app_transaction=("nightly", 7))
    assert (ids(table), table.snapshot().version) == ([1, 2], 0)


def test_properties_of_an_existing_table_are_not_set(root: Path) -> None:
    properties = {"mine": "1", "delta.feature.deletionVectors": "supported"}
    deltaic.write(root, ROWS, properties=properties)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        deltaic.write(root, ROWS, properties=properties)
    with pytest.warns(deltaic.DeltaicWarning, match="these properties are not set: mine, other") as caught:
        table = deltaic.write(root, ROWS, properties={"mine": "2", "other": "1"})
    assert caught[0].filename == __file__
    assert table.snapshot().properties["mine"] == "1"


@pytest.mark.parametrize("as_arrow", [False, True])
def test_periods_of_pandas_are_no_numbers(root: Path, as_arrow: bool) -> None:
    frame = pd.DataFrame({"id": [1], "month": pd.period_range("2026-11", periods=1, freq="M")})
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64()), ("month", pa.int64())]))
    data: Any = pa.Table.from_pandas(frame) if as_arrow else frame
    calls: list[Any] = [
        lambda: table.append(data),
        lambda: table.overwrite(data),
        lambda: table.merge(data, "target.id = source.id").when_matched_delete().execute(),
        lambda: deltaic.write(root.parent / "new", data),
    ]
    for call in calls:
        with pytest.raises(deltaic.SchemaMismatch, match="the column month has periods") as caught:
            call()
        assert caught.value.hint == 'convert it first: df["month"] = df["month"].dt.to_timestamp()'
    frame["month"] = frame["month"].dt.to_timestamp()
    assert deltaic.write(root.parent / "new", frame).count() == 1


def test_periods_are_no_columns_of_a_new_table(root: Path) -> None:
    frame = pd.DataFrame({"id": [1], "month": pd.period_range("2026-11", periods=1, freq="M")})
    nested = pa.table({"s": pa.StructArray.from_arrays([pa.array(frame["month"])], ["month"])})
    for schema in (frame, nested.schema):
        with pytest.raises(deltaic.SchemaMismatch, match="has periods"):
            deltaic.Table.create(root, schema)
    with pytest.raises(deltaic.SchemaMismatch, match="has periods"):
        deltaic.write(root, nested)
    assert not root.exists()
