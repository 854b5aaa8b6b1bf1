"""`Table.append`: accepted inputs, and the contents of the commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import of_kind, write_commit

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("amount", pa.float64())])
ROWS = [
    {"id": 1, "name": "tram", "amount": 1.5},
    {"id": 2, "name": None, "amount": None},
    {"id": 3, "name": "Straßenbahn 🚋", "amount": -0.0},
]


def as_table() -> pa.Table:
    return pa.Table.from_pylist(ROWS, schema=SCHEMA)


SOURCES: dict[str, Callable[[], Any]] = {
    "pyarrow.Table": as_table,
    "pyarrow.Table of several chunks": lambda: pa.concat_tables(
        [as_table().slice(0, 1), as_table().slice(1)]
    ),
    "pyarrow.RecordBatch": lambda: as_table().to_batches()[0],
    "pyarrow.RecordBatchReader": lambda: as_table().to_reader(max_chunksize=1),
    "polars": lambda: pl.DataFrame(ROWS),
    "pandas": lambda: as_table().to_pandas(),
    "pandas with an index": lambda: pd.DataFrame(ROWS).convert_dtypes(),
    "duckdb": lambda: duckdb.connect().from_arrow(as_table()),
}


def rows_of(table: deltaic.Table) -> list[dict[str, Any]]:
    return table.snapshot().scan().to_arrow().sort_by("id").to_pylist()


@pytest.mark.parametrize("source", SOURCES)
def test_anything_arrow_goes_in(root: Path, source: str) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    table.append(SOURCES[source]())
    assert rows_of(table) == ROWS
    assert table.snapshot().scan().to_arrow().schema == SCHEMA


def test_a_table_goes_into_another_without_any_library(tmp_path: Path) -> None:
    first = deltaic.Table.create(tmp_path / "first", SCHEMA)
    first.append(as_table())
    second = deltaic.Table.create(tmp_path / "second", first.snapshot().schema)
    second.append(first.snapshot().scan())
    assert rows_of(second) == ROWS


def test_the_commit_reports_what_was_done(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    commit = table.append(as_table(), commit_info={"job": "nightly", "run": 7})
    assert commit.version == 1
    assert commit.operation == "WRITE"
    assert commit.parameters["mode"] in ("Append", '"Append"')
    assert commit.metrics["numFiles"] == 1
    assert commit.metrics["numOutputRows"] == 3
    assert commit.metrics["numOutputBytes"] == table.snapshot().size_in_bytes
    assert commit.engine is not None
    assert commit.engine.startswith("deltaic")
    assert commit.is_blind_append is True
    assert commit.info["job"] == "nightly"
    assert commit.info["run"] == 7
    assert commit.timestamp.utcoffset() is not None
    assert commit.conflicts_resolved == []
    [in_log] = of_kind(root, 1, "commitInfo")
    assert commit.info == in_log


def test_the_data_file_is_as_the_log_states(root: Path) -> None:
    deltaic.Table.create(root, SCHEMA).append(as_table())
    [add] = of_kind(root, 1, "add")
    file = root / unquote(add["path"])
    assert add["size"] == file.stat().st_size
    assert add["dataChange"] is True
    assert add["partitionValues"] == {}
    assert pq.read_table(file).to_pylist() == ROWS
    assert pq.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"


def test_columns_are_matched_by_name(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    table.append(as_table().select(["amount", "id", "name"]))
    assert rows_of(table) == ROWS


def test_a_missing_column_is_null(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    table.append(as_table().select(["id", "amount"]))
    assert rows_of(table) == [{**row, "name": None} for row in ROWS]


def test_no_rows_commit_nothing(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    commit = table.append(SCHEMA.empty_table())
    assert (commit.version, commit.skipped, table.snapshot().version) == (0, True, 0)
    # A new column, or the progress of an application, is a change.
    more = SCHEMA.append(pa.field("more", pa.int64()))
    assert table.append(more.empty_table(), schema_mode="merge").version == 1
    assert table.append(SCHEMA.empty_table(), app_transaction=("job", 1)).version == 2


def test_partitions_are_folders_and_typed_again(root: Path) -> None:
    schema = pa.schema([("day", pa.date32()), ("kind", pa.string()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["day", "kind"])
    days = [pa.scalar(f"2026-11-0{n}").cast(pa.date32()).as_py() for n in (1, 2, 2, 1)]
    kinds = ["a/b c", None, "é=%", "a/b c"]
    data = pa.table({"day": days, "kind": kinds, "id": [1, 2, 3, 4]}, schema=schema)
    table.append(data)
    assert table.snapshot().num_files == 3
    assert rows_of(table) == data.to_pylist()
    adds = of_kind(root, 1, "add")
    assert {(add["partitionValues"]["day"], add["partitionValues"]["kind"]) for add in adds} == {
        ("2026-11-01", "a/b c"),
        ("2026-11-02", None),
        ("2026-11-02", "é=%"),
    }
    for add in adds:
        file = root / unquote(add["path"])
        assert file.is_file(), add["path"]
        assert file.parent.parent.name == f"day={add['partitionValues']['day']}"


def test_a_partition_value_that_would_read_as_another_is_refused(root: Path) -> None:
    schema = pa.schema([("kind", pa.string()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["kind"])
    for value in ("", "__HIVE_DEFAULT_PARTITION__"):
        with pytest.raises(deltaic.ConstraintViolation, match="NULL"):
            table.append(pa.table({"kind": [value, "x"], "id": [1, 2]}, schema=schema))
    assert table.snapshot().version == 0
    assert list(root.rglob("*.parquet")) == []


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (pa.table({"id": [1], "nmae": ["x"]}), "nmae"),
        (pa.table({"id": ["one"]}), "id"),
        (pa.table({"id": [1], "amount": ["much"]}), "amount"),
        (pa.table({"id": [1], "name": [{"first": "x"}]}), "name"),
    ],
)
def test_data_that_does_not_fit_is_refused_by_column(root: Path, data: pa.Table, names: str) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        table.append(data)
    assert names in str(caught.value)
    assert caught.value.context["field"] == names
    assert table.snapshot().version == 0
    assert [path.name for path in root.iterdir()] == ["_delta_log"]


def test_null_where_the_table_forbids_it_is_refused(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([pa.field("id", pa.int64(), nullable=False)]))
    with pytest.raises((deltaic.ConstraintViolation, deltaic.SchemaMismatch), match="id"):
        table.append(pa.table({"id": [1, None]}))
    assert table.snapshot().version == 0
    table.append(pa.table({"id": [1, 2]}))
    assert table.snapshot().num_rows == 2


def test_integers_that_fit_are_taken_and_others_are_not_cut(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("id", pa.int32())]))
    with pytest.raises(deltaic.SchemaMismatch, match="id"):
        table.append(pa.table({"id": pa.array([2**40], pa.int64())}))
    table.append(pa.table({"id": pa.array([7], pa.int16())}))
    assert rows_of(table) == [{"id": 7}]


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ([{"id": 1}], r"use pyarrow\.Table\.from_pylist\(rows\)"),
        (pl.DataFrame({"id": [1]}).lazy(), r"call \.collect\(\) first"),
        ({"id": [1]}, r"use pyarrow\.table\("),
        ("rows.parquet", r"read the file first"),
        (Path("rows.parquet"), r"read the file first"),
        (None, r"use pyarrow\.table\("),
    ],
)
def test_data_that_is_not_arrow_is_refused_with_a_hint(root: Path, data: Any, remedy: str) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    with pytest.raises(TypeError, match=remedy):
        table.append(data)
    with table.transaction() as tx, pytest.raises(TypeError, match=remedy):
        tx.append(data)


@pytest.mark.parametrize(
    ("kind", "data", "message", "hint"),
    [
        (pa.int64(), pa.array(["a"]), "id is bigint in the table and string in the data", "cast the column"),
        (
            pa.timestamp("us", "UTC"),
            pa.array([0], pa.timestamp("ns")),
            "id is timestamp in the table and timestamp_ntz in the data",
            r"timestamps need a time zone: use .dt.tz_localize\('UTC'\), or a timestamp_ntz column",
        ),
        (
            pa.timestamp("us"),
            pa.array([0], pa.timestamp("us", "UTC")),
            "id is timestamp_ntz in the table and timestamp in the data",
            r"remove the time zone: use .dt.tz_localize\(None\)",
        ),
        (
            pa.date32(),
            pa.array([0], pa.timestamp("ns")),
            "id is date in the table and timestamp_ntz in the data",
            r"use .dt.date",
        ),
        (
            pa.int64(),
            pa.array([1], pa.duration("us")),
            "id is bigint in the table and duration \\(Arrow duration\\) in the data",
            "cast",
        ),
    ],
)
def test_a_type_that_does_not_fit_has_the_name_that_spark_gives_it(
    root: Path, kind: pa.DataType, data: pa.Array, message: str, hint: str
) -> None:
    table = deltaic.Table.create(root, pa.schema([("id", kind)]))
    with pytest.raises(deltaic.SchemaMismatch, match=f"{message}(?s:.*){hint}"):
        table.append(pa.table({"id": data}))


def test_wrong_options_are_refused(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    with pytest.raises(ValueError, match="max_attempts"):
        table.append(as_table(), max_attempts=0)
    with pytest.raises(ValueError, match="txnId"):
        table.append(as_table(), commit_info={"txnId": "mine"})
    with pytest.raises(TypeError, match="commit_info"):
        table.append(as_table(), commit_info={"x": float("nan")})
    assert table.snapshot().version == 0


def test_there_must_be_a_table(tmp_path: Path) -> None:
    with pytest.raises(deltaic.TableNotFound) as caught:
        deltaic.Table(tmp_path / "nothing").append(as_table())
    assert caught.value.hint is not None
    assert not (tmp_path / "nothing").exists()


def test_an_error_of_the_source_comes_out_and_leaves_no_file(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)

    def batches() -> Iterator[pa.RecordBatch]:
        yield from as_table().to_batches()
        raise RuntimeError("the source broke")

    with pytest.raises(Exception, match="the source broke"):
        table.append(pa.RecordBatchReader.from_batches(SCHEMA, batches()))
    assert table.snapshot().version == 0
    assert list(root.rglob("*.parquet")) == []


def interrupted(meanwhile: Callable[[], object]) -> pa.RecordBatchReader:
    """Data that, while being read, calls a function that changes the table."""

    def batches() -> Iterator[pa.RecordBatch]:
        meanwhile()
        yield from as_table().to_batches()

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def test_another_append_meanwhile_is_not_a_conflict(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    commit = table.append(interrupted(lambda: deltaic.Table(root).append(as_table())))
    assert commit.version == 2
    assert len(commit.conflicts_resolved) == 1
    assert "1" in commit.conflicts_resolved[0]
    assert table.snapshot().num_rows == 2 * len(ROWS)


def test_attempts_run_out(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    data = interrupted(lambda: deltaic.Table(root).append(as_table()))
    with pytest.raises(deltaic.ConcurrentWrite) as caught:
        table.append(data, max_attempts=1)
    assert "1" in str(caught.value)
    assert caught.value.hint is not None
    assert table.snapshot().version == 1
    assert table.snapshot().num_rows == len(ROWS)


@pytest.mark.parametrize(
    ("change", "error"),
    [("metaData", deltaic.MetadataChanged), ("protocol", deltaic.ProtocolChanged)],
)
def test_another_schema_or_protocol_meanwhile_is_a_conflict(
    root: Path, change: str, error: type[deltaic.CommitConflict]
) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    [before] = of_kind(root, 0, change)
    unknown = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["noSuchFeature"]}
    schema = {"schemaString": before.get("schemaString", "").replace('"id"', '"renamed"')}
    after = {"metaData": {**before, **schema}, "protocol": unknown}
    action = {change: after[change]}
    with pytest.raises(error) as caught:
        table.append(interrupted(lambda: write_commit(root, 1, action)))
    assert isinstance(caught.value, deltaic.CommitConflict)
    assert caught.value.context["version"] == 1
    assert table.snapshot().version == 1
    assert table.snapshot().num_files == 0


def not_null(name: str, type_: pa.DataType) -> pa.Field:
    return pa.field(name, type_, nullable=False)


LONG = pa.int64()
NESTED: dict[str, tuple[pa.DataType, list[Any], str, list[Any]]] = {
    "an element": (pa.list_(not_null("element", LONG)), [[1, None]], "c.element", [[1], [], None]),
    "the last element of many": (
        pa.list_(not_null("element", LONG)),
        [[1], None, [], [2, None]],
        "c.element",
        [[2, 3]],
    ),
    "a value": (
        pa.map_(pa.string(), not_null("value", LONG)),
        [[("a", 1)], [("b", None)]],
        "c.value",
        [[("a", 1)], [], None],
    ),
    "an element of an element": (
        pa.list_(pa.field("element", pa.list_(not_null("element", LONG)))),
        [[[1], [None]]],
        "c.element.element",
        [[[1], None, []]],
    ),
    "a field of an element": (
        pa.list_(pa.field("element", pa.struct([not_null("x", LONG)]))),
        [[{"x": None}]],
        "c.element.x",
        [[{"x": 1}, None]],
    ),
}
"""Per case: a column type, rows with NULL in a non-nullable field, the field, and valid rows."""


def loose(type_: pa.DataType) -> pa.DataType:
    """Returns the same type with all nested fields nullable."""
    if pa.types.is_map(type_):
        return pa.map_(type_.key_type, loose(type_.item_type))
    if pa.types.is_list(type_):
        return pa.list_(pa.field("item", loose(type_.value_type)))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(field.name, loose(field.type)) for field in type_])
    return type_


@pytest.mark.parametrize("case", NESTED)
@pytest.mark.parametrize("rest", [0, 1], ids=["whole", "sliced"])
def test_null_within_a_column_that_forbids_it_is_refused(root: Path, case: str, rest: int) -> None:
    type_, wrong, field, right = NESTED[case]
    table = deltaic.Table.create(root, pa.schema([("c", type_)]))
    free = loose(type_)
    before = wrong[-1:] * rest  # rows outside of the slice are not checked
    with pytest.raises(deltaic.ConstraintViolation, match="must not be NULL") as caught:
        table.append(pa.table({"c": pa.array(before + wrong, free)}).slice(rest))
    assert caught.value.context["field"] == field
    assert caught.value.hint is not None
    assert table.snapshot().version == 0
    table.append(pa.table({"c": pa.array(before + right, free)}).slice(rest))
    assert table.snapshot().scan().to_arrow()["c"].to_pylist() == right


def test_null_after_a_list_that_is_null_itself_means_nothing(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", pa.list_(not_null("element", LONG)))]))
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 3, 4], pa.int32()), pa.array([1, None, None, 4]), mask=pa.array([False, True, False])
    )
    table.append(pa.table({"c": lists}))
    assert table.snapshot().scan().to_arrow()["c"].to_pylist() == [[1], None, [4]]


EMPTY = pa.struct([])


@pytest.mark.parametrize(
    ("type_", "field"),
    [
        (EMPTY, "c"),
        (pa.struct([("s", EMPTY)]), "c.s"),
        (pa.list_(EMPTY), "c.element"),
        (pa.map_(pa.string(), EMPTY), "c.value"),
    ],
    ids=str,
)
def test_a_struct_without_fields_is_refused_by_name(root: Path, type_: pa.DataType, field: str) -> None:
    schema = pa.schema([("id", LONG), ("c", type_)])
    with pytest.raises(deltaic.SchemaMismatch, match=f"{field} is a struct without fields") as caught:
        deltaic.Table.create(root, schema)
    assert caught.value.context["field"] == field
    assert caught.value.hint is not None
    table = deltaic.Table.create(root, pa.schema([("id", LONG)]))
    with pytest.raises(deltaic.SchemaMismatch, match="a struct without fields"):
        table.alter(deltaic.alter.AddColumn("c", type_))
    assert table.snapshot().version == 0


def test_a_table_that_has_a_struct_without_fields_is_not_appended_to(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("id", LONG), ("c", pa.struct([("x", LONG)]))]))
    log = root / "_delta_log"
    first = log / f"{0:020}.json"
    field = r"{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}"
    text = first.read_text()
    assert field in text
    for checksum in log.glob("*.crc"):
        checksum.unlink()
    first.write_text(text.replace(field, ""))
    table = deltaic.Table(root)
    with pytest.raises(deltaic.UnsupportedFeature, match="c is a struct without fields") as caught:
        table.append(pa.table({"id": [1]}))
    assert caught.value.context["field"] == "c"
    assert list(root.rglob("*.parquet")) == []


@pytest.mark.parametrize(
    ("of_table", "given", "what"),
    [
        (pa.timestamp("us", "UTC"), pa.array([2**60], pa.timestamp("ms", "UTC")), "microseconds"),
        (pa.timestamp("us"), pa.array([-(2**60)], pa.timestamp("s")), "microseconds"),
        (pa.timestamp("us"), pa.array([2**31 - 1], pa.date32()), "microseconds"),
        (pa.date32(), pa.array([2**36 * 86_400_000], pa.date64()), "days"),
    ],
    ids=str,
)
def test_a_time_that_is_too_far_away_does_not_fit(
    root: Path, of_table: pa.DataType, given: pa.Array, what: str
) -> None:
    table = deltaic.Table.create(root, pa.schema([("c", of_table)]))
    with pytest.raises(deltaic.SchemaMismatch, match=f"in the column c is out of range: {what} since") as e:
        table.append(pa.table({"c": given}))
    assert e.value.context["field"] == "c"
    assert e.value.hint is not None
    assert table.snapshot().version == 0


@pytest.mark.parametrize(
    "value", ["x" * 254, "ü" * 200, "/" * 100, "%" * 5_000], ids=["ascii", "two bytes", "escaped", "long"]
)
def test_a_partition_value_too_long_for_a_folders_name(root: Path, value: str) -> None:
    """The log contains the value; the folder name is a hash.

    protocol: partition-value-serialization.1
    """
    rows = pa.table({"p": [value, "short", value], "id": [1, 2, 3]})
    table = deltaic.Table.create(root, rows.schema, partition_by=["p"])
    table.append(rows)
    table.append(rows.slice(2))
    adds = of_kind(root, 1, "add") + of_kind(root, 2, "add")
    folders = {(add["partitionValues"]["p"], add["path"].rsplit("/", 1)[0]) for add in adds}
    assert len(folders) == 2, "a partition has one folder"
    [named] = [folder for spelled, folder in folders if spelled == value]
    assert re.fullmatch("partition-[0-9a-f]{16}", named)
    snapshot = table.snapshot()
    found = snapshot.scan(predicate=f"p = '{value}'").to_arrow()
    assert sorted(found["id"].to_pylist()) == [1, 3, 3]
    assert sorted(snapshot.scan().to_arrow()["id"].to_pylist()) == [1, 2, 3, 3]
    assert table.check().is_healthy
