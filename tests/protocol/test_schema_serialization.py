"""Heading *Schema Serialization Format*: the schema of the log, to Arrow and back, and in files."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.golden.arrow_schema import arrow_schema, describe

from .handmade_log import HandmadeTable, field, ids, metadata, protocol, read_commit, schema

PRIMITIVES = [
    "string",
    "long",
    "integer",
    "short",
    "byte",
    "float",
    "double",
    "decimal(10,2)",
    "decimal(38,38)",
    "boolean",
    "binary",
    "date",
    "timestamp",
]
STRUCT = {"type": "struct", "fields": [field("d", "integer", nullable=False), field("e", "string")]}
NESTED: dict[str, Any] = {
    "array": {"type": "array", "elementType": "integer", "containsNull": False},
    "array of structs": {"type": "array", "elementType": STRUCT, "containsNull": True},
    "map": {"type": "map", "keyType": "string", "valueType": "string", "valueContainsNull": True},
    "map of arrays": {
        "type": "map",
        "keyType": STRUCT,
        "valueType": {"type": "array", "elementType": "date", "containsNull": True},
        "valueContainsNull": False,
    },
    "struct": STRUCT,
    "empty struct": {"type": "struct", "fields": []},
}


def snapshot_of(root: Path, schema_string: str) -> deltaic.Snapshot:
    table = HandmadeTable(root)
    names = ["timestampNtz"]
    table.commit(protocol(3, 7, names, names), metadata(schema_string))
    return deltaic.Table(table.root).snapshot()


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize(
    "kind", [*PRIMITIVES, "timestamp_ntz", *(pytest.param(k, id=n) for n, k in NESTED.items())]
)
def test_every_type_as_arrow(tmp_path: Path, kind: Any, nullable: bool) -> None:
    text = schema(field("x", kind, nullable=nullable))
    snapshot = snapshot_of(tmp_path / "t", text)
    wanted = describe(arrow_schema(json.loads(text)))
    assert describe(snapshot.schema.to_arrow()) == wanted
    assert describe(pa.schema(snapshot.schema)) == wanted
    assert describe(snapshot.scan().to_arrow().schema) == wanted
    assert snapshot.scan().to_arrow().num_rows == 0
    assert json.loads(snapshot.schema.to_json()) == json.loads(text)


CREATED = {name: kind for name, kind in NESTED.items() if name != "empty struct"}


@pytest.mark.parametrize("kind", [*PRIMITIVES, *(pytest.param(k, id=n) for n, k in CREATED.items())])
def test_a_created_table_has_the_type_it_was_given(tmp_path: Path, kind: Any) -> None:
    wanted = arrow_schema(
        {"type": "struct", "fields": [field("x", kind), field("y", "long", nullable=False)]}
    )
    deltaic.Table.create(tmp_path / "t", wanted)
    (body,) = [action["metaData"] for action in read_commit(tmp_path / "t", 0) if "metaData" in action]
    text = json.loads(body["schemaString"])
    assert text == {"type": "struct", "fields": [field("x", kind), field("y", "long", nullable=False)]}


def test_the_metadata_of_columns_is_retained(tmp_path: Path) -> None:
    notes = {"comment": "wörds", "some.key": {"nested": [1, None, 2.5]}, "CURRENT_DEFAULT": "3"}
    text = schema(field("x", "long", **notes))
    snapshot = snapshot_of(tmp_path / "t", text)
    assert json.loads(snapshot.schema.to_json()) == json.loads(text)
    assert snapshot.schema.to_arrow().field("x").metadata is None


def test_instants_and_wall_clock_times_are_reported_apart_in_files(tmp_path: Path) -> None:
    """protocol: primitive-types.1, primitive-types.3."""
    rows = pa.table(
        {
            "instant": pa.array([datetime(2024, 1, 1, tzinfo=timezone.utc)], pa.timestamp("us", "UTC")),
            "clock": pa.array([datetime(2024, 1, 1)], pa.timestamp("us")),  # noqa: DTZ001
        }
    )
    deltaic.Table.create(tmp_path / "t", rows.schema).append(rows)
    (file,) = (tmp_path / "t").glob("*.parquet")
    columns = pq.ParquetFile(file).schema
    logical = {
        columns.column(index).name: json.loads(columns.column(index).logical_type.to_json())
        for index in (0, 1)
    }
    assert logical["instant"]["isAdjustedToUTC"] is True
    assert logical["clock"]["isAdjustedToUTC"] is False
    assert {kind["timeUnit"] for kind in logical.values()} == {"microseconds"}


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"use_deprecated_int96_timestamps": True}, pa.timestamp("ns")),
        ({"coerce_timestamps": "ms"}, pa.timestamp("ms", "UTC")),
        ({"coerce_timestamps": "us"}, pa.timestamp("us", "UTC")),
        ({"version": "2.6"}, pa.timestamp("ns", "UTC")),
    ],
    ids=["int96", "milliseconds", "microseconds", "nanoseconds"],
)
def test_a_timestamp_is_read_from_every_form(
    tmp_path: Path, options: dict[str, Any], kind: pa.DataType
) -> None:
    """protocol: delta-data-type-to-parquet-type-mappings.2."""
    table = HandmadeTable(tmp_path / "t")
    moment = datetime(2024, 1, 2, 3, 4, 5, 678000, timezone.utc)
    action = table.data("a.parquet", ids(1))
    rows = pa.table(
        {
            "t": pa.array([moment.replace(tzinfo=None), None], pa.timestamp("us"))
            .cast(pa.timestamp(kind.unit))
            .cast(kind)
        }
    )
    pq.write_table(rows, table.root / "a.parquet", **options)
    table.commit(protocol(), metadata(schema(field("t", "timestamp"))), action)
    action["add"]["size"] = (table.root / "a.parquet").stat().st_size
    column = deltaic.Table(table.root).snapshot().scan().to_arrow()["t"]
    assert column.type == pa.timestamp("us", "UTC")
    assert column.to_pylist() == [moment, None]


@pytest.mark.parametrize("width", ["int32", "int64", "fixed"])
def test_a_decimal_is_read_from_every_form(tmp_path: Path, width: str) -> None:
    precision = {"int32": 9, "int64": 18, "fixed": 38}[width]
    kind = pa.decimal128(precision, 2)
    table = HandmadeTable(tmp_path / "t")
    rows = pa.table({"d": pa.array([1, -1, None], pa.int64()).cast(pa.decimal128(38, 2)).cast(kind)})
    action = table.data("a.parquet", ids(1))
    pq.write_table(rows, table.root / "a.parquet", store_decimal_as_integer=width != "fixed")
    table.commit(protocol(), metadata(schema(field("d", f"decimal({precision},2)"))), action)
    assert deltaic.Table(table.root).snapshot().scan().to_arrow()["d"].equals(rows["d"])
