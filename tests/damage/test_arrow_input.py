"""Arrow data that violate Arrow's rules are refused by column and row, and the table is unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.exceptions import CorruptData, SchemaMismatch
from tests.api.log_files import write_commit
from tests.damage.tree import tree

CAFE = b"caf\xe9"  # Latin-1
STRING = pa.string()
LONG = CAFE * 9  # too long to be inlined in a string view


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "table"


def latin(type_: pa.DataType = STRING, values: tuple[bytes | None, ...] = (b"tea", None, CAFE)) -> pa.Array:
    """Returns strings of which the last is invalid UTF-8."""
    binary = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
    }
    return pa.array(values, binary[type_]).view(type_)


def buffer(width: int, *values: int) -> pa.Buffer:
    return pa.py_buffer(b"".join(value.to_bytes(width, "little", signed=True) for value in values))


def too_precise() -> pa.Array:
    wide = pa.array([1, None, 10**20], pa.decimal128(38, 2))
    return pa.Array.from_buffers(pa.decimal128(5, 2), 3, wide.buffers())


def of_offsets(*offsets: int) -> pa.Array:
    buffers = [None, buffer(4, *offsets), pa.py_buffer(b"helloworld")]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


def entries(keys: pa.Array, items: pa.Array) -> pa.Array:
    return pa.MapArray.from_arrays([0, 1, 1, 3], keys, items)


TEXTS = pa.array(["a", "b", "c"])

# The data, and column and row that the error names.
BAD: dict[str, tuple[Callable[[], pa.Array], str, int | None]] = {
    "string": (latin, "c", 2),
    "large string": (lambda: latin(pa.large_string()), "c", 2),
    "string view": (lambda: latin(pa.string_view()), "c", 2),
    "long string view": (lambda: latin(pa.string_view(), (b"tea", None, LONG)), "c", 2),
    "half a character each": (lambda: latin(values=(b"caf", b"\xc3", b"\xa9")), "c", 1),
    "dictionary": (lambda: pa.DictionaryArray.from_arrays([2, 1, 0], latin()), "c", 0),
    "a dictionary's unused value": (lambda: pa.DictionaryArray.from_arrays([0, 0, 0], latin()), "c", None),
    "struct": (lambda: pa.StructArray.from_arrays([latin()], ["f"]), "c.f", 2),
    "struct in struct": (
        lambda: pa.StructArray.from_arrays([pa.StructArray.from_arrays([latin()], ["g"])], ["f"]),
        "c.f.g",
        2,
    ),
    "list": (lambda: pa.ListArray.from_arrays([0, 1, 1, 3], latin()), "c.element", 2),
    "large list": (lambda: pa.LargeListArray.from_arrays([0, 1, 1, 3], latin()), "c.element", 2),
    "list view": (lambda: pa.ListViewArray.from_arrays([2, 0, 0], [1, 1, 1], latin()), "c.element", 0),
    "fixed size list": (lambda: pa.FixedSizeListArray.from_arrays(latin(), 1), "c.element", 2),
    "map key": (lambda: entries(latin(values=(b"a", b"b", CAFE)), TEXTS), "c.key", 2),
    "map value": (lambda: entries(TEXTS, latin()), "c.value", 2),
    "list of structs": (
        lambda: pa.ListArray.from_arrays([0, 1, 1, 3], pa.StructArray.from_arrays([latin()], ["f"])),
        "c.element.f",
        2,
    ),
    "dictionary key without a value": (
        lambda: pa.DictionaryArray.from_arrays(pa.array([0, None, 7]), TEXTS, safe=False),
        "c",
        2,
    ),
    "negative dictionary key": (
        lambda: pa.DictionaryArray.from_arrays(pa.array([0, -1, 0]), TEXTS, safe=False),
        "c",
        1,
    ),
    "decimal": (too_precise, "c", 2),
    "offsets that fall": (lambda: of_offsets(0, 5, 2, 10), "c", 1),
    "list offsets that fall": (
        lambda: pa.Array.from_buffers(
            pa.list_(pa.int64()), 3, [None, buffer(4, 0, 2, 1, 3)], children=[pa.array([1, 2, 3])]
        ),
        "c",
        1,
    ),
    "list view beyond the elements": (
        lambda: pa.Array.from_buffers(
            pa.list_view(pa.int64()),
            3,
            [None, buffer(4, 0, 1, 2), buffer(4, 1, 1, 7)],
            children=[pa.array([1, 2, 3])],
        ),
        "c",
        2,
    ),
    "a NULL in a field without": (
        lambda: pa.StructArray.from_arrays(
            [pa.array([1, None, 3])], fields=[pa.field("f", pa.int64(), nullable=False)]
        ),
        "c.f",
        1,
    ),
    "fewer NULLs than the bitmap says": (
        lambda: pa.Array.from_buffers(
            pa.int64(), 3, [pa.py_buffer(b"\1"), pa.py_buffer(bytes(24))], null_count=1
        ),
        "c",
        None,
    ),
}


def table_type(type_: pa.DataType) -> pa.DataType:
    """Returns the table type for such data."""
    plain = {pa.large_string(): pa.string(), pa.string_view(): pa.string()}
    if pa.types.is_dictionary(type_):
        return table_type(type_.value_type)
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(field.name, table_type(field.type)) for field in type_])
    if pa.types.is_map(type_):
        return pa.map_(pa.string(), pa.string())
    if hasattr(type_, "value_type"):
        return pa.list_(table_type(type_.value_type))
    return plain.get(type_, type_)


def refused(table: deltaic.Table, root: Path, data: Any, error: type[Exception] = SchemaMismatch) -> Any:
    """Asserts that every kind of input is refused alike, and that the table is unchanged and writable."""
    before = tree(root)
    with pytest.raises(error) as by_append:
        table.append(data)
    assert tree(root) == before
    with pytest.raises(error) as by_transaction, table.transaction() as tx:
        tx.append(data)
    assert tree(root) == before
    assert str(by_append.value) == str(by_transaction.value)
    return by_append.value


@pytest.mark.parametrize("case", BAD)
def test_bad_data_are_refused_by_column_and_row(root: Path, case: str) -> None:
    make, column, row = BAD[case]
    bad = make()
    ids = pa.array(range(len(bad)), pa.int64())
    schema = pa.schema([("id", pa.int64()), ("c", table_type(bad.type))])
    table = deltaic.Table.create(root, schema)
    table.append(pa.table({"id": [7]}))
    fields = [pa.field("id", pa.int64()), pa.field("c", bad.type)]
    error = refused(table, root, pa.table([ids, bad], schema=pa.schema(fields)))
    assert (error.context.get("field"), error.context.get("row")) == (column, row)
    assert column in str(error)
    table.append(pa.table({"id": [8]}))
    assert sorted(table.snapshot().scan().to_arrow()["id"].to_pylist()) == [7, 8]


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
def test_a_bad_partition_value_is_refused(root: Path, type_: pa.DataType) -> None:
    table = deltaic.Table.create(
        root, pa.schema([("p", pa.string()), ("id", pa.int64())]), partition_by=["p"]
    )
    error = refused(table, root, pa.table({"p": latin(type_), "id": [1, 2, 3]}))
    assert (error.context["field"], error.context["row"]) == ("p", 2)


def test_rows_are_counted_through_the_batches(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", pa.string())]))
    good, bad = pa.table({"c": ["x"] * 5}), pa.table({"c": latin()})
    error = refused(table, root, pa.concat_tables([good, bad]))
    assert error.context["row"] == 7


def test_values_under_null_are_ignored(root: Path) -> None:
    table = deltaic.Table.create(
        root, pa.schema([("s", pa.string()), ("d", pa.decimal128(5, 2)), ("t", pa.string())])
    )
    hide = pa.py_buffer(b"\x03")
    strings = pa.Array.from_buffers(pa.string(), 3, [hide, *latin(values=(b"a", b"b", CAFE)).buffers()[1:]])
    decimals = pa.Array.from_buffers(pa.decimal128(5, 2), 3, [hide, too_precise().buffers()[1]])
    keys = pa.DictionaryArray.from_arrays(
        pa.Array.from_buffers(pa.int64(), 3, [hide, buffer(8, 0, 1, 99)]), pa.array(["x", "y"]), safe=False
    )
    table.append(pa.table({"s": strings, "d": decimals, "t": keys}))
    rows = table.snapshot().scan().to_arrow()
    assert rows["s"].to_pylist() == ["a", "b", None]
    assert [None if value is None else int(value * 100) for value in rows["d"].to_pylist()] == [100, 0, None]
    assert rows["t"].to_pylist() == ["x", "y", None]


def test_text_that_is_cut_between_characters_is_taken(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", pa.string())]))
    texts = ["caffè", "", "🚋", None, "Straße", "x" * 40 + "é"]
    for type_ in (pa.string(), pa.large_string(), pa.string_view()):
        table.append(pa.table({"c": pa.array(["ä", *texts, "ö"], type_)[1:-1]}))
    assert table.snapshot().scan().to_arrow()["c"].to_pylist() == texts * 3


class Lying:
    """An array of one type with the schema of another."""

    def __init__(self, schema: pa.Schema, data: pa.RecordBatch) -> None:
        self.schema, self.data = schema, data

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        del requested_schema
        return self.schema.__arrow_c_schema__(), self.data.__arrow_c_array__()[1]


@pytest.mark.parametrize(
    ("said", "given"),
    [
        ([("a", pa.int64()), ("b", pa.int64())], [("a", pa.int64())]),
        ([("a", pa.int64())], [("a", pa.int64()), ("b", pa.int64())]),
        ([("a", pa.int64())], [("a", pa.string())]),
        ([("a", pa.string())], [("a", pa.int64())]),
        ([("a", pa.list_(pa.int64()))], [("a", pa.int64())]),
        ([("a", pa.struct([("f", pa.int64())]))], [("a", pa.int64())]),
        ([("a", pa.dictionary(pa.int64(), pa.string()))], [("a", pa.int64())]),
        ([("a", pa.string_view())], [("a", pa.int64())]),
    ],
    ids=str,
)
def test_an_array_of_another_type_than_its_schema_is_refused(root: Path, said: Any, given: Any) -> None:
    given = pa.schema(given)
    table = deltaic.Table.create(root, pa.schema([("a", pa.int64())]))
    before = tree(root)
    data = pa.record_batch([pa.array([None, None], field.type) for field in given], schema=given)
    with pytest.raises(SchemaMismatch):
        table.append(Lying(pa.schema(said), data))
    assert tree(root) == before


def test_deep_nesting_is_refused(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("a", pa.int64())]))
    deep = pa.array([1])
    for _ in range(200):
        deep = pa.StructArray.from_arrays([deep], ["f"])
    error = refused(table, root, pa.table({"a": deep}))
    assert "64 levels" in str(error)


def test_a_name_that_is_not_utf8_is_refused(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("a", pa.int64())]))
    bad = pa.schema([pa.field(CAFE, pa.int64())])
    before = tree(root)
    with pytest.raises(SchemaMismatch):
        table.append(Lying(bad, pa.record_batch({"a": [1]})))
    assert tree(root) == before
    with pytest.raises(SchemaMismatch):
        deltaic.Table.create(root.parent / "new", bad)
    assert not (root.parent / "new").exists()


@pytest.mark.parametrize("dictionary", [False, True])
def test_a_data_file_with_text_that_is_not_utf8_is_corrupt(root: Path, dictionary: bool) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", pa.string())]))
    pq.write_table(pa.table({"c": latin()}), root / "bad.parquet", use_dictionary=dictionary)
    add = {"path": "bad.parquet", "partitionValues": {}, "size": (root / "bad.parquet").stat().st_size}
    write_commit(root, 1, {"add": {**add, "modificationTime": 0, "dataChange": True}})
    for scan in (table.snapshot().scan(), table.snapshot().scan(predicate="c = 'tea'")):
        with pytest.raises(CorruptData) as raised:
            scan.to_arrow()
        assert str(raised.value.context["path"]).endswith("bad.parquet")


def test_statistics_of_appended_text_are_json(root: Path) -> None:
    """The commit of an append contains the same text, and each of its lines is valid JSON."""
    table = deltaic.Table.create(root, pa.schema([("c", pa.string())]))
    table.append(pa.table({"c": ['"\\\n\0', "\u2028é🚋"]}))
    lines = (root / "_delta_log/00000000000000000001.json").read_bytes().decode().split("\n")
    stats = [json.loads(line)["add"]["stats"] for line in lines if '"add"' in line]
    assert json.loads(stats[0])["numRecords"] == 2


def unaddressable(type_: pa.DataType, parts: list[pa.Array] | None = None) -> pa.Array:
    """Returns an array without rows whose buffers have an inaccessible address."""
    nowhere = pa.foreign_buffer(0x40, 0)
    buffers = [None, nowhere] if parts else [None, nowhere, nowhere]
    return pa.Array.from_buffers(type_, 0, buffers, children=parts)


EMPTY = [
    unaddressable(pa.string()),
    unaddressable(pa.large_string()),
    unaddressable(pa.binary()),
    unaddressable(pa.list_(pa.int64()), [pa.array([], pa.int64())]),
    pa.Array.from_buffers(pa.string(), 0, [None, pa.allocate_buffer(0), pa.allocate_buffer(0)]),
    pa.ListArray.from_arrays(pa.array([0, 0, 0], pa.int32()), unaddressable(pa.string())),
]


@pytest.mark.parametrize("array", EMPTY, ids=lambda array: f"{array.type}, {len(array)} rows")
def test_the_offsets_of_an_empty_array_are_not_read(root: Path, array: pa.Array) -> None:
    """Producers may omit them: an array without rows needs no offsets."""
    batch = pa.RecordBatch.from_arrays([array], names=["a"])
    table = deltaic.Table.create(root, batch.schema)
    table.append(pa.RecordBatchReader.from_batches(batch.schema, [batch]))
    assert table.snapshot().scan().to_arrow()["a"].to_pylist() == [[]] * len(array)


def in_slices(table: pa.Table, rows: int) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=rows))


def test_of_a_slice_only_its_own_values_are_looked_at(root: Path) -> None:
    """Unused values are neither written nor checked, although each slice of a batch contains all of them."""
    shared = latin(values=(b"tea", b"milk", CAFE))
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), shared)
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), shared)
    data = pa.table({"list": lists, "key": keys})
    table = deltaic.Table.create(root, pa.schema([("list", pa.list_(pa.string())), ("key", pa.string())]))
    table.append(in_slices(data, 1))
    assert table.snapshot().scan().to_arrow().to_pylist() == [
        {"list": ["tea"], "key": "tea"},
        {"list": ["milk"], "key": "milk"},
    ]
    keys = pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int32()), shared)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), shared)
    for name, column in [("key", keys), ("list", lists)]:
        before = tree(root)
        with pytest.raises(SchemaMismatch) as caught:
            table.append(in_slices(pa.table({name: column}), 1))
        assert caught.value.context["row"] == 1
        assert tree(root) == before


def test_bytes_of_a_null_are_not_text(root: Path) -> None:
    """A required field is NULL if its parent is NULL: the bytes of such a slot are undefined."""
    buffers = [pa.py_buffer(b"\x01"), pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xed")]
    names = pa.Array.from_buffers(pa.string(), 2, buffers)
    rows = pa.StructArray.from_arrays([names], names=["name"], mask=pa.array([False, True]))
    struct = pa.struct([pa.field("name", pa.string(), nullable=False)])
    table = deltaic.Table.create(root, pa.schema([("row", struct)]))
    table.append(pa.table({"row": rows}))
    assert table.snapshot().scan().to_arrow()["row"].to_pylist() == [{"name": "a"}, None]
