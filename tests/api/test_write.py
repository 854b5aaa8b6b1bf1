"""`deltaic.write`: one call that creates a table if there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
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
    assert [commit.operation for commit in table.history()] == ["WRITE", "CREATE TABLE"]


@pytest.mark.parametrize(
    ("mode", "expected"), [("append", [1, 1, 2, 2]), ("overwrite", [1, 2]), ("ignore", [1, 2])]
)
def test_an_existing_table(root: Path, mode: Any, expected: list[int]) -> None:
    deltaic.write(root, ROWS)
    table = deltaic.write(root, ROWS, mode)
    assert ids(table) == expected
    assert table.snapshot().version == (1 if mode == "ignore" else 2)


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
        (pyarrow.dataset.dataset(ROWS), r"use data\.scanner\(\)\.to_reader\(\)"),
        (iter(ROWS.to_batches()), r"use pyarrow\.RecordBatchReader\.from_batches\(schema, batches\)"),
        ("rows.parquet", r"read the file first"),
    ],
    ids=["list of dicts", "dict of lists", "lazy frame", "dataset", "iterator", "path"],
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
