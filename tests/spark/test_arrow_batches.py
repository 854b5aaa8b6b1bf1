"""Converting batches to the schema that Spark expects does not change their values."""

from __future__ import annotations

import pyarrow as pa
import pytest

import deltaic
from deltaic.spark.arrow_batches import fitted
from deltaic.spark.partitions import balanced, partition_count


def strict(kind: pa.DataType) -> pa.DataType:
    """Returns the type with nothing nullable inside, and with metadata on each field."""
    if pa.types.is_struct(kind):
        return pa.struct([strict_field(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(strict_field(kind.value_field))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_field.with_type(strict(kind.key_type)), strict_field(kind.item_field))
    return kind


def strict_field(field: pa.Field) -> pa.Field:
    return pa.field(
        field.name, strict(field.type), nullable=pa.types.is_null(field.type), metadata={"a": "b"}
    )


DEEP = pa.struct(
    [
        ("n", pa.int32()),
        ("list", pa.list_(pa.field("element", pa.struct([("x", pa.int64()), ("y", pa.string())])))),
        ("map", pa.map_(pa.string(), pa.list_(pa.field("element", pa.float64())))),
        ("none", pa.null()),
    ]
)
DEEP_VALUES = [
    {"n": 1, "list": [{"x": 1, "y": "a"}, {"x": None, "y": "b"}, None], "map": [("k", [1.5, None])]},
    None,
    {"n": None, "list": None, "map": None},
    {"n": 4, "list": [], "map": [("k", None), ("l", [])]},
    {"n": 5, "list": [{"x": 5, "y": None}], "map": []},
]
CASES = {
    "long": (pa.int64(), [1, None, 3, 4, 5]),
    "struct": (DEEP, DEEP_VALUES),
    "list": (pa.list_(pa.field("element", DEEP)), [DEEP_VALUES, None, [], [None], DEEP_VALUES[3:]]),
    "map": (
        pa.map_(pa.int32(), DEEP),
        [[(1, None), (2, DEEP_VALUES[0])], None, [], [(3, DEEP_VALUES[3])], []],
    ),
    "empty struct": (pa.struct([]), [{}, None, {}, {}, None]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("cut", [slice(0, 5), slice(1, 4), slice(2, 2), slice(3, None)])
def test_values_stay(name: str, cut: slice) -> None:
    kind, values = CASES[name]
    wants = pa.schema([pa.field("c", kind)])
    has = pa.schema([pa.field("c", strict(kind), metadata={"x": "y"})])
    whole = pa.array(values, kind)
    # Only the nullability is declared: the values are the same.
    as_strict = next(fitted([pa.record_batch([whole], schema=wants)], wants, has))
    assert as_strict.schema.equals(has)
    some = as_strict.slice(cut.start, len(values[cut]))
    [batch] = fitted([some], has, wants)
    assert batch.schema.equals(wants, check_metadata=True)
    batch.validate(full=True)
    assert batch.column(0).to_pylist() == whole.to_pylist()[cut]


def test_columns_and_fields_that_are_not_wanted_are_left_out() -> None:
    kind = pa.struct(
        [("a", pa.int64()), ("b", pa.string()), ("c", pa.struct([("d", pa.int8()), ("e", pa.int8())]))]
    )
    has = pa.schema([("x", pa.int64()), ("s", pa.list_(pa.field("element", kind)))])
    values = [[{"a": 1, "b": "q", "c": {"d": 1, "e": 2}}, None], None]
    batch = pa.record_batch([pa.array([1, 2]), pa.array(values, has.field("s").type)], schema=has)
    less = pa.struct([("c", pa.struct([("e", pa.int8())])), ("a", pa.int64())])
    wants = pa.schema([("s", pa.list_(pa.field("element", less)))])
    [found] = fitted([batch], has, wants)
    assert found.to_pylist() == [{"s": [{"c": {"e": 2}, "a": 1}, None]}, {"s": None}]


def test_rows_without_columns_are_counted() -> None:
    batch = pa.record_batch([[1, 2, 3]], names=["x"])
    [found] = fitted([batch], batch.schema, pa.schema([]))
    assert (found.num_rows, found.num_columns) == (3, 0)


def test_the_parts_of_a_variant_change_places() -> None:
    parts = {"metadata": b"\x01\x00\x00", "value": b"\x0c\x01"}
    theirs = pa.struct([pa.field("metadata", pa.binary(), nullable=False), ("value", pa.binary())])
    tagged = pa.field("metadata", pa.binary(), nullable=False, metadata={"variant": "true"})
    ours = pa.struct([pa.field("value", pa.binary(), nullable=False), tagged])
    batch = pa.record_batch([pa.array([parts, None], theirs)], names=["v"])
    [found] = fitted([batch], batch.schema, pa.schema([("v", ours)]))
    assert found.schema.field("v").type.field(1).metadata == {b"variant": b"true"}
    assert found.to_pylist() == [{"v": parts}, {"v": None}]


def test_another_type_is_not_a_way_of_telling_it() -> None:
    batch = pa.record_batch([[1, 2, 3]], names=["x"])
    with pytest.raises(deltaic.InternalError, match="column x comes as int64"):
        next(fitted([batch], batch.schema, pa.schema([("x", pa.int32())])))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_partitions_are_balanced(count: int) -> None:
    mega = 1 << 20
    sizes = [(number * 7919) % 97 * mega for number in range(200)]
    packed = balanced(sizes, lambda size: size, count)
    assert sorted(size for some in packed for size in some) == sorted(sizes)
    loads = [sum(some) + len(some) * mega for some in packed]
    assert max(loads) - min(loads) <= max(sizes) + mega


def test_how_many_partitions() -> None:
    giga = 1 << 30
    assert partition_count([], 8) == 1
    assert partition_count([100] * 3, 8) == 1
    assert partition_count([giga] * 4, 2) == 4
    # No partition has more than 128 MiB, unless a single file is larger.
    assert partition_count([giga // 64] * 640, 1) >= 10 * giga // (128 << 20)
    # A small amount of data is distributed over all available cores.
    assert partition_count([giga // 64] * 8, 8) == 8
