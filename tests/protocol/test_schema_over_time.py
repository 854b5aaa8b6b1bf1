"""Files with an older or different schema: missing columns are NULL, fields are reordered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from .handmade_log import HandmadeTable, field, metadata, protocol, schema


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def array(element: Any, *, nullable: bool = True) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": nullable}


def map_of(key: Any, value: Any) -> dict[str, Any]:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def table_of(root: Path, columns: list[dict[str, Any]], *files: pa.Table) -> HandmadeTable:
    table = HandmadeTable(root)
    adds = [table.data(f"{at}.parquet", rows) for at, rows in enumerate(files)]
    kinds = str(columns)
    needs = protocol(3, 7, ["timestampNtz"], ["timestampNtz"]) if "timestamp_ntz" in kinds else protocol()
    table.commit(needs, metadata(schema(*columns)), *adds)
    return table


def read(table: HandmadeTable, **how: Any) -> list[dict[str, Any]]:
    return deltaic.Table(table.root).snapshot().scan(**how).to_arrow().to_pylist()


TYPES: list[Any] = [
    "string",
    "long",
    "integer",
    "short",
    "byte",
    "float",
    "double",
    "decimal(38,10)",
    "boolean",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
    "void",
    struct(field("x"), field("y", array("string"))),
    array(map_of("string", struct(field("x")))),
    map_of("long", array("date")),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_column_of_any_type_that_a_file_lacks_is_null(tmp_path: Path, kind: Any) -> None:
    # protocol: consistency-between-table-metadata-and-data-files.3,
    # consistency-between-table-metadata-and-data-files.4
    columns = [field("id"), field("later", kind)]
    table = table_of(tmp_path / "t", columns, pa.table({"id": [1, 2]}))
    assert read(table) == [{"id": 1, "later": None}, {"id": 2, "later": None}]
    assert read(table, columns=["later"]) == [{"later": None}] * 2
    assert read(table, columns=["id"], predicate="id = 2") == [{"id": 2}]
    schema_of = deltaic.Table(table.root).snapshot().schema.to_arrow()
    assert deltaic.Table(table.root).snapshot().scan().to_arrow().schema == schema_of


def test_missing_nested_fields_are_null(tmp_path: Path) -> None:
    """In nested structs, elements, keys and values; a struct that is NULL stays NULL.

    protocol: consistency-between-table-metadata-and-data-files.4
    """
    old = pa.struct([("x", pa.int64())])
    rows = pa.table(
        {
            "s": pa.array([{"i": {"x": 1}}, {"i": None}, None], pa.struct([("i", old)])),
            "l": pa.array([[{"x": 1}, None], [], None], pa.list_(old)),
            "m": pa.array([[({"x": 1}, {"x": 2})], [({"x": 3}, None)], None], pa.map_(old, old)),
        }
    )
    new = struct(field("before", "string"), field("x"), field("after", array("long")))
    columns = [
        field("s", struct(field("i", new), field("j"))),
        field("l", array(new)),
        field("m", map_of(new, new)),
    ]
    table = table_of(tmp_path / "t", columns, rows)

    def filled(x: int) -> dict[str, Any]:
        return {"before": None, "x": x, "after": None}

    assert read(table) == [
        {"s": {"i": filled(1), "j": None}, "l": [filled(1), None], "m": [(filled(1), filled(2))]},
        {"s": {"i": None, "j": None}, "l": [], "m": [(filled(3), None)]},
        {"s": None, "l": None, "m": None},
    ]
    assert read(table, columns=["l"], predicate="s.i.before IS NULL AND s.i.x = 1") == [
        {"l": [filled(1), None]}
    ]


def test_a_struct_of_which_a_file_has_nothing_is_there_all_the_same(tmp_path: Path) -> None:
    """Its fields are NULL, but not the struct itself: the file has other, dropped fields of it."""
    rows = pa.table({"s": pa.array([{"gone": 1}, None], pa.struct([("gone", pa.int64())]))})
    table = table_of(tmp_path / "t", [field("s", struct(field("x")))], rows)
    assert read(table) == [{"s": {"x": None}}, {"s": None}]


def test_fields_in_another_order(tmp_path: Path) -> None:
    """At every depth, with fields of the same type, which could be confused."""
    held = pa.struct([("c", pa.int64()), ("a", pa.int64()), ("b", pa.int64())])
    value = {"c": 3, "a": 1, "b": 2}
    rows = pa.table(
        {
            "z": pa.array([26]),
            "m": pa.array([[(value, value)]], pa.map_(held, held)),
            "l": pa.array([[value]], pa.list_(held)),
            "s": pa.array([value], held),
            "a": pa.array([1]),
        }
    )
    wanted = struct(field("a"), field("b"), field("c"))
    columns = [
        field("a"),
        field("s", wanted),
        field("l", array(wanted)),
        field("m", map_of(wanted, wanted)),
        field("z"),
    ]
    table = table_of(tmp_path / "t", columns, rows)
    right = {"a": 1, "b": 2, "c": 3}
    found = deltaic.Table(table.root).snapshot().scan().to_arrow()
    assert found.to_pylist() == [{"a": 1, "s": right, "l": [right], "m": [(right, right)], "z": 26}]
    assert found.schema.field("s").type.field(0).name == "a"
    assert read(table, columns=["z", "s", "a"]) == [{"z": 26, "s": right, "a": 1}]


def test_names_in_another_case(tmp_path: Path) -> None:
    """Names are case-insensitive, and the result uses the table's spelling."""
    inner = pa.struct([("FIELD", pa.int64())])
    rows = pa.table({"ID": [1], "NESTED": pa.array([{"FIELD": 2}], inner)})
    table = table_of(tmp_path / "t", [field("id"), field("Nested", struct(field("Field")))], rows)
    assert read(table) == [{"id": 1, "Nested": {"Field": 2}}]
    assert read(table, predicate="ID = 1 AND nested.field = 2") == [{"id": 1, "Nested": {"Field": 2}}]


def test_void_is_null_in_every_row(tmp_path: Path) -> None:
    """Files omit the column or contain only nulls; it can become a column of any type.

    protocol: beyond:void.1, beyond:void.3
    """
    rows = pa.table({"id": [1, 2]})
    held = pa.table({"id": [3], "v": pa.nulls(1)})
    columns = [field("id"), field("v", "void"), field("s", struct(field("v", "void"), field("x")))]
    table = table_of(tmp_path / "t", columns, rows, held)
    found = deltaic.Table(table.root).snapshot().scan().to_arrow()
    assert found.schema.field("v").type == pa.null()
    assert [row["v"] for row in found.to_pylist()] == [None] * 3
    assert deltaic.Table(table.root).snapshot().scan(columns=["v"]).count() == 3
    table.commit(
        metadata(schema(field("id"), field("v", "date"), field("s", struct(field("v"), field("x")))))
    )
    later = deltaic.Table(table.root).snapshot().scan().to_arrow()
    assert later.schema.field("v").type == pa.date32()
    assert later["v"].null_count == 3


def test_void_within_a_struct_is_null(tmp_path: Path) -> None:
    """protocol: beyond:void.1."""
    rows = pa.table({"s": pa.array([{"x": 1}, None], pa.struct([("x", pa.int64())]))})
    wanted = struct(field("v", "void"), field("x"))
    table = table_of(tmp_path / "t", [field("s", wanted)], rows)
    assert read(table) == [{"s": {"v": None, "x": 1}}, {"s": None}]


NOT_STORABLE = {
    "alone": [field("v", "void")],
    "alone beside partition columns": [field("p"), field("v", "void")],
    "in an array": [field("id"), field("c", array("void"))],
    "in a struct in an array": [field("id"), field("c", array(struct(field("x"), field("v", "void"))))],
    "in a map": [field("id"), field("c", map_of("string", "void"))],
    "alone in a struct": [field("id"), field("c", struct(field("v", "void")))],
    "alone in nested structs": [field("id"), field("c", struct(field("s", struct(field("v", "void")))))],
    "not null": [field("id"), field("v", "void", nullable=False)],
}


@pytest.mark.parametrize("columns", NOT_STORABLE.values(), ids=NOT_STORABLE)
@pytest.mark.parametrize("way", ["append", "transaction", "given file"])
def test_void_that_data_files_cannot_hold_refuses_every_write(
    tmp_path: Path, columns: list[dict[str, Any]], way: str
) -> None:
    """Such a file would have no columns, or elements without a type.

    protocol: beyond:void.2
    """
    partition_by = [column["name"] for column in columns if column["name"] == "p"]
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(), metadata(schema(*columns), partition_by))
    handle = deltaic.Table(table.root)
    name = columns[0]["name"]
    rows = pa.table({name: pa.nulls(1) if name == "v" else [1]})
    file = table.root / "given.parquet"
    pq.write_table(pa.table({"id": [1]}), file)
    given = {"path": file.name, "size": file.stat().st_size, "modification_time": 5}

    def write() -> None:
        if way == "append":
            handle.append(rows)
            return
        with handle.transaction() as tx:
            if way == "transaction":
                tx.append(rows)
            else:
                tx.add([{**given, "partition_values": dict.fromkeys(partition_by, "1")}])

    with pytest.raises(deltaic.UnsupportedFeature) as caught:
        write()
    assert caught.value.context["feature"] == "void"
    assert handle.snapshot().version == 0
    assert list(table.root.rglob("*.parquet")) == [file]


def test_written_files_omit_void(tmp_path: Path) -> None:
    """With or without these columns in the appended rows, also within structs.

    protocol: beyond:void.1
    """
    inner = struct(field("v", "void"), field("x"))
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(), metadata(schema(field("v", "void"), field("id"), field("s", inner))))
    handle = deltaic.Table(table.root)
    given = pa.array([{"v": None, "x": 1}], pa.struct([("v", pa.null()), ("x", pa.int64())]))
    handle.append(pa.table({"s": given, "v": pa.nulls(1), "id": [1]}))
    handle.append(pa.table({"id": [2], "s": [{"x": 2}]}))
    files = list(table.root.glob("*.parquet"))
    assert len(files) == 2
    for file in files:
        assert [column.path for column in pq.ParquetFile(file).schema] == ["id", "s.x"]
    expected = [{"v": None, "id": number, "s": {"v": None, "x": number}} for number in (1, 2)]
    assert sorted(read(table), key=lambda row: row["id"]) == expected
    assert read(table, predicate="s.x = 2 AND v IS NULL") == expected[1:]
    assert handle.check().is_healthy


def test_a_void_partition_column_is_null_in_the_log(tmp_path: Path) -> None:
    """Its value is not in data files, and the log must have a value for each partition column.

    protocol: beyond:void.1
    """
    table = HandmadeTable(tmp_path / "t")
    columns = schema(field("p", "void"), field("id"), field("q", "void"))
    table.commit(protocol(), metadata(columns, partitionColumns=["p"]))
    handle = deltaic.Table(table.root)
    handle.append(pa.table({"id": [1]}))
    handle.append(pa.table({"p": pa.nulls(1), "id": [2]}))
    expected = [{"p": None, "id": number, "q": None} for number in (1, 2)]
    assert sorted(read(table), key=lambda row: row["id"]) == expected
    assert handle.check().is_healthy


def test_a_default_is_for_new_rows_and_not_for_old_files(tmp_path: Path) -> None:
    """Missing values are NULL, whatever default new rows would get.

    protocol: consistency-between-table-metadata-and-data-files.4
    """
    later = field("later", "string", CURRENT_DEFAULT="'x'", EXISTS_DEFAULT="'x'")
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(1, 7, None, ["allowColumnDefaults"]),
        metadata(schema(field("id"), later)),
        table.data("a.parquet", pa.table({"id": [1]})),
    )
    assert read(table) == [{"id": 1, "later": None}]
    assert read(table, predicate="later = 'x'") == []


def test_collated_text_is_read_as_its_bytes(tmp_path: Path) -> None:
    """protocol: beyond:collations.1."""
    texts = ["a", "A", "é", "e\u0301", None]
    column = field("c", "string", __COLLATIONS={"c": "icu.en_US.75.1"})
    table = table_of(tmp_path / "t", [column], pa.table({"c": texts}))
    assert read(table) == [{"c": text} for text in texts]


LENGTHS = {
    "as string": lambda name: field("c", "string", __CHAR_VARCHAR_TYPE_STRING=name),
    "by their names": lambda name: field("c", name),
}


@pytest.mark.parametrize("kind", ["char(5)", "varchar(5)"])
@pytest.mark.parametrize("told", LENGTHS)
def test_char_and_varchar_are_read_as_they_are_held(tmp_path: Path, told: str, kind: str) -> None:
    """Also padded and longer ones: only writers check the length. Those of `char(n)` are padded."""
    texts = ["a", "a    ", "longer than five", "", None]
    table = table_of(tmp_path / "t", [LENGTHS[told](kind)], pa.table({"c": texts}))
    if (told, kind) == ("as string", "char(5)"):
        texts = ["a    ", "a    ", "longer than five", "     ", None]
    found = deltaic.Table(table.root).snapshot().scan().to_arrow()
    assert found["c"].to_pylist() == texts
    assert found.schema.field("c").type == pa.string()
    # Constants are padded to the length of a column that Spark declared.
    assert read(table, predicate="c = 'a'") == [{"c": text} for text in texts if text in ("a", texts[0])]


@pytest.mark.parametrize("in_file", [True, False])
@pytest.mark.parametrize("in_table", [True, False])
def test_required_columns_may_be_optional_in_files(tmp_path: Path, *, in_table: bool, in_file: bool) -> None:
    """A nullable column of the file without NULLs is as good as one that is not nullable."""
    inner = pa.struct([pa.field("x", pa.int64(), nullable=in_file)])
    held = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=in_file),
            pa.field("s", inner, nullable=in_file),
            pa.field("l", pa.list_(pa.field("element", pa.int64(), nullable=in_file)), nullable=in_file),
        ]
    )
    rows = pa.Table.from_pylist([{"id": 1, "s": {"x": 2}, "l": [3]}], held)
    columns = [
        field("id", nullable=in_table),
        field("s", struct(field("x", nullable=in_table)), nullable=in_table),
        field("l", array("long", nullable=in_table), nullable=in_table),
    ]
    table = table_of(tmp_path / "t", columns, rows)
    found = deltaic.Table(table.root).snapshot().scan().to_arrow()
    assert found.to_pylist() == [{"id": 1, "s": {"x": 2}, "l": [3]}]
    assert found.schema.field("id").nullable == in_table


def test_null_where_the_table_forbids_it_is_an_error_that_states_where(tmp_path: Path) -> None:
    """Returning it with a non-nullable schema would violate that schema."""
    rows = pa.table({"id": pa.array([1, None], pa.int64())})
    table = table_of(tmp_path / "t", [field("id", nullable=False)], pa.table({"id": [0]}), rows)
    with pytest.raises(deltaic.CorruptData) as caught:
        read(table)
    assert caught.value.context["path"] == "1.parquet"


def test_a_column_that_the_table_has_no_more_is_not_read(tmp_path: Path) -> None:
    """Even if its pages are damaged or of an unknown kind."""
    rows = pa.table({"gone": ["x" * 100] * 100, "id": list(range(100))})
    table = HandmadeTable(tmp_path / "t")
    file = table.data("a.parquet", rows)
    path = table.root / "a.parquet"
    pq.write_table(rows, path, compression="none", use_dictionary=False, write_statistics=False)
    table.create(file)
    path.write_bytes(path.read_bytes().replace(b"x" * 100, b"\xff" * 100))
    assert [row["id"] for row in read(table)] == list(range(100))


@pytest.mark.parametrize("name", ["a.b", "`a`", "a b", "ünï", " ", "a\nb", "_metadata", "CON", "0", '"'])
def test_names_of_every_kind(tmp_path: Path, name: str) -> None:
    rows = pa.table({name: [1], "s": pa.array([{name: 2}], pa.struct([(name, pa.int64())]))})
    table = table_of(tmp_path / "t", [field(name), field("s", struct(field(name)))], rows)
    assert read(table) == [{name: 1, "s": {name: 2}}]
    assert read(table, columns=[name]) == [{name: 1}]
