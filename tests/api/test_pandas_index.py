"""The index of a pandas frame: written if the table has a column of its name, never lost silently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deltaic

SCHEMA = pa.schema([("event_id", pa.int64()), ("x", pa.int64())])
ROWS = [{"event_id": 10, "x": 1}, {"event_id": 11, "x": 2}]
FRAME = pd.DataFrame({"x": [1, 2]})


def indexed(index: pd.Index, **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": [1, 2], **columns}, index=index)


def by_append(table: deltaic.Table, data: Any) -> None:
    table.append(data)


def by_transaction(table: deltaic.Table, data: Any) -> None:
    with table.transaction() as tx:
        tx.append(data)


def by_run_transaction(table: deltaic.Table, data: Any) -> None:
    table.run_transaction(lambda tx: tx.append(data))


WAYS = pytest.mark.parametrize("write", [by_append, by_transaction, by_run_transaction])
Write = Callable[[deltaic.Table, Any], None]

KEPT = {
    "a range": indexed(pd.RangeIndex(10, 12, name="event_id")),
    "values": indexed(pd.Index([10, 11], name="event_id")),
    "a name in another case": indexed(pd.RangeIndex(10, 12, name="Event_ID")),
    "set_index": pd.DataFrame(ROWS).set_index("event_id"),
    "set_index that keeps the column": pd.DataFrame(ROWS).set_index("event_id", drop=False),
    "values that are a column, too": indexed(pd.Index([11, 10], name="event_id"), event_id=[11, 10]).iloc[
        ::-1
    ],
    "several levels": pd.DataFrame(ROWS).set_index(["event_id", "x"]),
    "a range that was filtered": indexed(pd.RangeIndex(9, 12, name="event_id")[1:]),
    "reset_index": pd.DataFrame(ROWS).set_index("event_id").reset_index(),
    "no name and a range": pd.DataFrame(ROWS, index=pd.RangeIndex(5, 7)),
}


@WAYS
@pytest.mark.parametrize("index", KEPT)
def test_an_index_that_is_a_column_of_the_table_is_retained(root: Path, write: Write, index: str) -> None:
    frame = KEPT[index]
    before = frame.copy()
    table = deltaic.Table.create(root, SCHEMA)
    write(table, frame)
    rows = table.snapshot().scan().to_arrow().sort_by("event_id").to_pylist()
    expected = [{**row, "x": 3 - row["x"]} for row in ROWS] if "too" in index else ROWS
    assert rows == expected
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("name", [7, "7"])
def test_an_index_is_named_by_the_text_of_its_name(root: Path, name: Any) -> None:
    table = deltaic.Table.create(root, pa.schema([("7", pa.int64()), ("x", pa.int64())]))
    table.append(FRAME.set_axis(pd.RangeIndex(2, name=name)))
    assert table.snapshot().scan().to_arrow()["7"].to_pylist() == [0, 1]


def test_an_index_of_times_is_a_partition_column(root: Path) -> None:
    times = pd.date_range("2026-11-01", periods=2, freq="D", tz="UTC", name="at")
    schema = pa.schema([("at", pa.timestamp("us", "UTC")), ("x", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["at"])
    table.append(FRAME.set_axis(times))
    assert table.snapshot().scan().to_arrow()["at"].to_pylist() == list(times)
    assert table.snapshot().num_files == 2


REFUSED = {
    "a range of another name": (
        FRAME.set_axis(pd.RangeIndex(2, name="day")),
        "day",
        "The index 'day' is not a column",
    ),
    "values of another name": (
        FRAME.set_axis(pd.Index([4, 9], name="day")),
        "day",
        "The index 'day' is not a column",
    ),
    "no name": (FRAME.set_axis(pd.Index([4, 9])), "__index_level_0__", "The index has no name"),
    "a level of another name": (
        FRAME.set_axis(pd.MultiIndex.from_arrays([[1, 2], [3, 4]], names=["event_id", "day"])),
        "day",
        "The index 'day' is not a column",
    ),
    "a level without a name": (
        FRAME.set_axis(pd.MultiIndex.from_arrays([[1, 2], [3, 4]], names=["event_id", None])),
        "__index_level_1__",
        "The index has no name",
    ),
    "other values than the column": (
        FRAME.set_axis(pd.Index([7, 9], name="x")),
        "x",
        "The index 'x' has other values than the column",
    ),
    "a tuple": (FRAME.set_axis(pd.RangeIndex(2, name=("a", 1))), "('a', 1)", "is not a column"),
}


@WAYS
@pytest.mark.parametrize("index", REFUSED)
def test_an_index_that_would_be_lost_is_refused(root: Path, write: Write, index: str) -> None:
    frame, field, message = REFUSED[index]
    table = deltaic.Table.create(root, SCHEMA)
    with pytest.raises(deltaic.SchemaMismatch) as raised:
        write(table, frame)
    assert message in raised.value.message
    assert raised.value.context == {"field": field, "table": table.uri, "version": 0}
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("call df.reset_index(drop=True)")
    assert table.snapshot().version == 0
    assert list(root.rglob("*.parquet")) == []
    # Following the hint fixes the call.
    write(table, frame.reset_index(drop=True))
    assert table.snapshot().num_rows == 2


@pytest.mark.parametrize("make", [pa.Table.from_pandas, pa.table, pa.RecordBatch.from_pandas])
def test_a_range_that_pyarrow_dropped_is_refused(root: Path, make: Callable[[pd.DataFrame], Any]) -> None:
    frame = KEPT["a range"]
    table = deltaic.Table.create(root, SCHEMA)
    with pytest.raises(deltaic.SchemaMismatch, match='The index "event_id" of the pandas frame') as raised:
        table.append(make(frame))
    assert raised.value.context["field"] == "event_id"
    assert "df.reset_index()" in str(raised.value)
    table.append(make(frame.reset_index()))
    assert table.snapshot().scan().to_arrow().to_pylist() == ROWS


def test_an_index_without_a_name_that_pyarrow_named(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    with pytest.raises(deltaic.SchemaMismatch, match=r"reset_index\(drop=True\)"):
        table.append(pa.Table.from_pandas(FRAME.set_axis(pd.Index([4, 9]))))


def test_a_table_made_from_the_schema_of_a_frame(tmp_path: Path) -> None:
    frame = FRAME.set_axis(pd.Index([4, 9]))
    table = deltaic.Table.create(tmp_path / "t", pa.Schema.from_pandas(frame))
    table.append(frame)
    table.append(FRAME)
    rows = table.snapshot().scan().to_arrow().sort_by("__index_level_0__")
    assert rows["__index_level_0__"].to_pylist() == [0, 1, 4, 9]


def test_a_subclass_and_polars_are_not_exception(root: Path) -> None:
    class Frame(pd.DataFrame):
        pass

    table = deltaic.Table.create(root, SCHEMA)
    table.append(Frame({"x": [1, 2]}, index=pd.RangeIndex(10, 12, name="event_id")))
    table.append(pl.from_pandas(KEPT["a range"], include_index=True))
    assert table.snapshot().scan().to_arrow().to_pylist() == ROWS * 2


def test_a_range_does_not_remain_in_for_a_column_of_its_name(root: Path) -> None:
    """`rename_axis` names the default range index; the values are in the column."""
    frame = pd.DataFrame({"event_id": [10, 11], "x": [1, 2]}).rename_axis("event_id")
    table = deltaic.Table.create(root, SCHEMA)
    table.append(frame)
    assert table.snapshot().scan().to_arrow().to_pylist() == ROWS


def test_two_levels_of_one_name_are_refused(root: Path) -> None:
    levels = pd.MultiIndex.from_arrays([[10, 11], [20, 21]], names=["event_id", "event_id"])
    table = deltaic.Table.create(root, SCHEMA)
    with pytest.raises(deltaic.SchemaMismatch, match="Two levels of the index are named 'event_id'"):
        table.append(indexed(levels))


class Exporting(pd.DataFrame):
    """A frame with its own Arrow export."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table({"event_id": [42], "x": [7]}).__arrow_c_stream__(requested_schema)


def test_a_subclass_that_exports_its_rows_itself_is_not_changed(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    table.append(Exporting({"x": [1, 2]}, index=pd.Index([10, 11], name="event_id")))
    assert table.snapshot().scan().to_arrow().to_pylist() == [{"event_id": 42, "x": 7}]
