"""Faults in Arrow C data structures are refused by column and row; unusual but valid data are accepted."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import deltaic
from deltaic.exceptions import ConstraintViolation, SchemaMismatch
from tests.damage.exported import (
    ArrowArray,
    ArrowArrayStream,
    ArrowSchema,
    Changed,
    ChangedStream,
    below,
)
from tests.damage.tree import tree

TEXTS = pa.array(["a", "b", "c"])
STRUCTS = pa.StructArray.from_arrays([TEXTS], ["f"])
LISTS = pa.ListArray.from_arrays([0, 1, 1, 3], TEXTS)
MAPS = pa.MapArray.from_arrays([0, 1, 1, 3], TEXTS, TEXTS)

# The column, the child indices of the changed part, and the path that the error names.
PARTS: dict[str, tuple[pa.Array, tuple[int, ...], str]] = {
    "column": (TEXTS, (), "c"),
    "struct field": (STRUCTS, (0,), "c.f"),
    "list item": (LISTS, (0,), "c.element"),
    "fixed-size list item": (pa.FixedSizeListArray.from_arrays(TEXTS, 1), (0,), "c.element"),
    "list view item": (pa.ListViewArray.from_arrays([2, 0, 0], [1, 1, 1], TEXTS), (0,), "c.element"),
    "map key": (MAPS, (0, 0), "c.key"),
    "map value": (MAPS, (0, 1), "c.value"),
    "field of a struct in a list": (pa.ListArray.from_arrays([0, 1, 1, 3], STRUCTS), (0, 0), "c.element.f"),
    "item of a list in a struct": (pa.StructArray.from_arrays([LISTS], ["f"]), (0, 0), "c.f.element"),
    "run's value": (pa.RunEndEncodedArray.from_arrays([1, 2, 3], TEXTS), (1,), "c"),
}


def one_more_buffer(part: ArrowArray) -> None:
    part.n_buffers += 1


def no_buffers(part: ArrowArray) -> None:
    part.buffers = None


def negative_length(part: ArrowArray) -> None:
    part.length = -1


def huge_offset(part: ArrowArray) -> None:
    part.offset = 2**63 - 1


def wrong_null_count(part: ArrowArray) -> None:
    part.null_count = 7


def negative_null_count(part: ArrowArray) -> None:
    part.null_count = -(2**40)


def one_more_child(part: ArrowArray) -> None:
    part.n_children += 1


def no_release(part: ArrowArray) -> None:
    part.release = None


def no_offsets(part: ArrowArray) -> None:
    part.buffers[1] = None


LIES = [
    one_more_buffer,
    no_buffers,
    negative_length,
    huge_offset,
    wrong_null_count,
    negative_null_count,
    one_more_child,
    no_release,
    no_offsets,
]


def table_type(array: pa.Array) -> pa.DataType:
    if pa.types.is_run_end_encoded(array.type):
        return array.type.value_type
    return array.type


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "table"


def refused(table: deltaic.Table, root: Path, data: Any) -> SchemaMismatch:
    before = tree(root)
    with pytest.raises(SchemaMismatch) as raised:
        table.append(data)
    assert tree(root) == before
    return raised.value


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.__name__)
@pytest.mark.parametrize("part", PARTS)
def test_a_lie_about_an_array_names_the_path_of_its_part(
    root: Path, part: str, lie: Callable[[ArrowArray], None]
) -> None:
    column, steps, path = PARTS[part]
    batch = pa.record_batch({"c": column})
    table = deltaic.Table.create(root, pa.schema([("c", table_type(column))]))
    error = refused(table, root, Changed(batch, lambda array, _: lie(below(array, 0, *steps))))
    assert error.context.get("field") == path
    assert re.search(rf"column {re.escape(path)}\b", str(error))


def test_a_lie_about_a_dictionary_names_its_column(root: Path) -> None:
    batch = pa.record_batch({"c": TEXTS.dictionary_encode()})
    table = deltaic.Table.create(root, pa.schema([("c", pa.string())]))
    for change in (
        lambda array: setattr(array, "dictionary", None),
        lambda array: setattr(array.dictionary.contents, "n_buffers", 2),
        lambda array: setattr(array.dictionary.contents, "release", None),
    ):
        error = refused(table, root, Changed(batch, lambda array, _, change=change: change(below(array, 0))))
        assert error.context.get("field") == "c"


@pytest.mark.parametrize(
    "change",
    [
        lambda schema: setattr(schema, "format", b"\xff"),
        lambda schema: setattr(schema, "format", b"_pli128"),
        lambda schema: setattr(schema, "format", None),
        lambda schema: setattr(schema, "release", None),
        lambda schema: setattr(schema, "n_children", -1),
        lambda schema: setattr(schema, "n_children", 5),
    ],
    ids=["not UTF-8", "unknown", "none", "released", "negative children", "children without pointers"],
)
@pytest.mark.parametrize("part", [part for part in PARTS if "map" not in part])
def test_a_lie_about_a_schema_names_the_path_of_its_part(
    root: Path, part: str, change: Callable[[ArrowSchema], None]
) -> None:
    column, steps, path = PARTS[part]
    batch = pa.record_batch({"c": column})
    table = deltaic.Table.create(root, pa.schema([("c", table_type(column))]))
    error = refused(table, root, Changed(batch, lambda _, schema: change(below(schema, 0, *steps))))
    assert error.context.get("field") == path


def offsets(*values: int) -> pa.Buffer:
    return pa.py_buffer(b"".join(value.to_bytes(4, "little", signed=True) for value in values))


def within(type_: pa.DataType, *parts: pa.Array) -> pa.Array:
    """Returns three rows around a part that pyarrow itself would refuse."""
    buffers = [None] if pa.types.is_struct(type_) else [None, offsets(0, 1, 1, 3)]
    return pa.Array.from_buffers(type_, 3, buffers, children=list(parts))


@pytest.mark.parametrize(
    ("type_", "path"),
    [
        (pa.string(), "c"),
        (pa.struct([("f", pa.string())]), "c.f"),
        (pa.list_(pa.string()), "c.element"),
    ],
    ids=["column", "struct", "list"],
)
def test_a_negative_last_offset_is_found_in_its_row(root: Path, type_: pa.DataType, path: str) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", type_)]))
    schema = pa.schema([("c", type_)])
    good = pa.RecordBatch.from_arrays([pa.nulls(4, type_)], schema=schema)
    # pyarrow checks the last offset, so it is changed afterwards.
    ends = bytearray(offsets(0, 5, 7, 9))
    column = pa.Array.from_buffers(pa.string(), 3, [None, pa.py_buffer(ends), pa.py_buffer(b"helloworld")])
    bad = pa.RecordBatch.from_arrays(
        [within(type_, column) if type_ != pa.string() else column], schema=schema
    )
    ends[12:] = (-3).to_bytes(4, "little", signed=True)
    error = refused(table, root, pa.RecordBatchReader.from_batches(schema, [good, bad]))
    assert (error.context.get("field"), error.context.get("row")) == (path, 6)


def test_rows_that_are_null_as_a_whole_are_found(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("a", pa.int64())]))
    rows = pa.array([{"a": 1}, {"a": 2}, None], pa.struct([("a", pa.int64())]))
    error = refused(table, root, rows)
    assert error.context.get("row") == 2
    assert "drop" in str(error)


def test_the_parts_of_a_map_are_key_and_value_whatever_their_names(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", MAPS.type)]))
    fields = [pa.field("keys", pa.string(), nullable=False), pa.field("vals", pa.string())]
    values = pa.array([b"a", b"\xff", b"b"]).view(pa.string())
    entries = pa.StructArray.from_arrays([TEXTS, values], fields=fields)
    column = within(pa.map_(*fields), entries)
    error = refused(table, root, pa.record_batch({"c": column}))
    assert (error.context.get("field"), error.context.get("row")) == ("c.value", 2)


@pytest.mark.parametrize("function", ["get_schema", "get_next"])
def test_a_stream_without_a_function_is_refused(root: Path, function: str) -> None:
    table = deltaic.Table.create(root, pa.schema([("a", pa.int64())]))
    data = ChangedStream([pa.record_batch({"a": [1]})], lambda stream: setattr(stream, function, None))
    assert function in str(refused(table, root, data))


def test_a_stream_that_was_released_is_refused(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("a", pa.int64())]))

    def release(stream: ArrowArrayStream) -> None:
        stream.release = None

    with pytest.raises(TypeError, match="once"):
        table.append(ChangedStream([pa.record_batch({"a": [1]})], release))


def test_a_length_that_overflows_its_type_is_refused(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", pa.binary())]))

    def change(array: ArrowArray, schema: ArrowSchema) -> None:
        below(schema, 0).format = b"w:2147483647"
        array.length = below(array, 0).length = 2**40

    error = refused(table, root, Changed(pa.record_batch({"c": pa.array([b"ab"], pa.binary(2))}), change))
    assert error.context["field"] == "c"


def unaligned(width: int, *values: int, by: int = 1) -> pa.Buffer:
    """Returns numbers in a buffer at the given distance from an aligned address."""
    numbers = b"".join(value.to_bytes(width, "little") for value in values)
    return pa.py_buffer(bytes(by) + numbers).slice(by)


VALUES = pa.py_buffer(b"helloworld")
UNALIGNED = {
    "string": pa.Array.from_buffers(pa.string(), 2, [None, unaligned(4, 0, 5, 10), VALUES]),
    "large string": pa.Array.from_buffers(pa.large_string(), 2, [None, unaligned(8, 0, 5, 10, by=4), VALUES]),
    "binary": pa.Array.from_buffers(pa.binary(), 2, [None, unaligned(4, 0, 5, 10, by=3), VALUES]),
    "large binary": pa.Array.from_buffers(pa.large_binary(), 2, [None, unaligned(8, 0, 5, 10), VALUES]),
    "a slice": pa.Array.from_buffers(pa.string(), 3, [None, unaligned(4, 0, 2, 5, 10), VALUES])[1:],
    "long": pa.Array.from_buffers(pa.int64(), 2, [None, unaligned(8, 1, 2)]),
    "list": pa.Array.from_buffers(
        pa.list_(pa.int64()), 2, [None, unaligned(4, 0, 1, 3)], children=[pa.array([1, 2, 3])]
    ),
    "string in a list": pa.ListArray.from_arrays(
        [0, 1, 2], pa.Array.from_buffers(pa.string(), 2, [None, unaligned(4, 0, 5, 10), VALUES])
    ),
}


@pytest.mark.parametrize("case", UNALIGNED)
def test_buffers_that_are_not_aligned_are_accepted(root: Path, case: str) -> None:
    column = UNALIGNED[case]
    table = deltaic.Table.create(root, pa.schema([("c", column.type)]))
    table.append(pa.record_batch({"c": column}))
    assert table.snapshot().scan().to_arrow()["c"].to_pylist() == column.to_pylist()


NULLS: dict[str, tuple[pl.DataFrame, list[Any]]] = {
    "column": (pl.DataFrame({"c": [None] * 3}), [None] * 3),
    "slice": (pl.DataFrame({"c": [None] * 3})[1:], [None] * 2),
    "no rows": (pl.DataFrame({"c": [None]})[:0], []),
    "list": (pl.DataFrame({"c": [[None], [], None, [None, None]]}), [[None], [], None, [None, None]]),
    "struct": (pl.DataFrame({"c": [{"x": None}] * 2}), [{"x": None}] * 2),
}


@pytest.mark.parametrize("case", NULLS)
def test_null_columns_of_polars_are_null(root: Path, case: str) -> None:
    frame, expected = NULLS[case]
    types = {"list": pa.list_(pa.int64()), "struct": pa.struct([("x", pa.int64())])}
    table = deltaic.Table.create(root, pa.schema([("c", types.get(case, pa.string()))]))
    table.append(frame)
    assert table.snapshot().scan().to_arrow()["c"].to_pylist() == expected


def test_a_null_column_of_polars_is_refused_where_the_table_allows_no_nulls(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([pa.field("c", pa.int64(), nullable=False)]))
    with pytest.raises(ConstraintViolation, match="must not be NULL") as raised:
        table.append(pl.DataFrame({"c": [None]}))
    assert raised.value.context["field"] == "c"


def test_a_type_that_arrow_does_not_have_is_named_by_column(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", pa.int64())]))
    error = refused(table, root, pl.DataFrame({"c": [1]}, schema={"c": pl.Int128}))
    assert error.context["field"] == "c"
    assert "not supported" in str(error)
