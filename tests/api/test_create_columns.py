"""`Table.create` with columns, and with the schema of rows."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deltaic
from deltaic import Column, Identity
from deltaic.alter import AddColumn, ChangeType, SetDefault


def fields(table: deltaic.Table) -> dict[str, Any]:
    return {field["name"]: field for field in json.loads(table.snapshot().schema.to_json())["fields"]}


def test_columns_have_all_their_parts(root: Path) -> None:
    table = deltaic.Table.create(
        root,
        [
            Column("id", "bigint", identity=Identity(start=10, step=-5, always=False)),
            Column("day", pa.date32(), nullable=False, comment="local time"),
            Column("price", "decimal(10,2)", default="1.50"),
            Column("twice", "decimal(11,2)", generated="price + price"),
            Column("code", "varchar(5)"),
            Column("codes", "struct<a: char(3) COMMENT 'first', b: array<int>>"),
        ],
        partition_by=["day"],
    )
    made = fields(table)
    assert made["id"]["metadata"] == {
        "delta.identity.start": 10,
        "delta.identity.step": -5,
        "delta.identity.allowExplicitInsert": True,
    }
    assert made["day"]["type"] == "date"
    assert made["day"]["nullable"] is False
    assert made["day"]["metadata"] == {"comment": "local time"}
    assert made["price"]["metadata"] == {"CURRENT_DEFAULT": "1.50"}
    assert made["twice"]["metadata"] == {"delta.generationExpression": "price + price"}
    assert made["code"] == {
        "name": "code",
        "type": "string",
        "nullable": True,
        "metadata": {"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"},
    }
    assert made["codes"]["metadata"] == {"__CHAR_VARCHAR_TYPE_STRING": "struct<a:char(3),b:array<int>>"}
    protocol = table.snapshot().protocol
    assert protocol.min_writer_version == 7
    assert {"allowColumnDefaults", "generatedColumns", "identityColumns"} <= protocol.writer_features


@pytest.mark.parametrize(
    ("columns", "versions", "feature"),
    [
        ([Column("id", "bigint", identity=Identity())], (1, 7), "identityColumns"),
        ([Column("a", "int"), Column("b", "int", generated="a")], (1, 7), "generatedColumns"),
        ([Column("a", "int", comment="c")], (1, 2), None),
        ([Column("a", "int", default="1")], (1, 7), "allowColumnDefaults"),
        ([Column("a", "variant")], (3, 7), "variantType"),
    ],
)
def test_the_protocol_has_what_the_columns_need(
    root: Path, columns: list[Column], versions: tuple[int, int], feature: str | None
) -> None:
    protocol = deltaic.Table.create(root, columns).snapshot().protocol
    assert (protocol.min_reader_version, protocol.min_writer_version) == versions
    assert feature is None or feature in protocol.writer_features


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ([Column("a", "integre")], ValueError, "a type is expected"),
        ([Column("a", "int"), Column("A", "int")], ValueError, "two columns"),
        ([Column("a", "int", default="'x'")], deltaic.InvalidPredicate, "x"),
        ([Column("a", "int", generated="b")], deltaic.InvalidPredicate, "b"),
        ([Column("a", "int", identity=Identity())], deltaic.SchemaMismatch, "bigint"),
        ([Column("a", "bigint", identity=Identity(step=0))], ValueError, "step"),
        ([Column("a", "bigint", default="1", identity=Identity())], ValueError, "one of"),
        ([Column("a", "bigint", identity=Identity(start=1 << 63))], ValueError, "not a bigint"),
        ([Column("a", "int", default=7)], TypeError, "SQL text"),  # pyright: ignore[reportArgumentType]
        (["a"], TypeError, "deltaic.Column"),
        (Column("a", "int"), TypeError, "list of columns"),
        ([Column("a", 7)], TypeError, "SQL text"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_wrong_columns_are_refused(root: Path, columns: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        deltaic.Table.create(root, columns)
    assert not deltaic.Table.exists(root)


@pytest.mark.parametrize(
    ("kind", "expression", "found"),
    [
        ("bigint", "n", "int"),
        ("int", "NULL", "void"),
        ("string", "n * 2", "int"),
        (pa.decimal128(10, 2), "price + price", "decimal(11,2)"),
        ("date", "at", "timestamp"),
    ],
)
@pytest.mark.parametrize("if_exists", ["error", "replace"])
def test_a_generated_column_has_the_type_of_its_expression(
    root: Path, kind: Any, expression: str, found: str, if_exists: Any
) -> None:
    """delta-spark refuses every later change of the metadata otherwise."""
    if if_exists == "replace":
        deltaic.Table.create(root, [Column("n", "int")])
    sources = [Column("n", "int"), Column("price", "decimal(10,2)"), Column("at", "timestamp")]

    def create(expression: str) -> deltaic.Table:
        columns = [*sources, Column("made", kind, generated=expression)]
        return deltaic.Table.create(root, columns, if_exists=if_exists)

    name = kind if isinstance(kind, str) else "decimal(10,2)"
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        create(expression)
    error = caught.value
    assert str(error).startswith(
        f"the generated column made is {name}, but its expression {expression} is {found}"
    )
    assert error.context["field"] == "made"
    assert error.hint == f"write CAST({expression} AS {name})"
    assert deltaic.Table.exists(root) == (if_exists == "replace")
    table = create(f"CAST({expression} AS {name})")
    table.append(pa.table({"n": pa.array([1], pa.int32())}))
    assert table.snapshot().num_rows == 1


def test_a_table_is_not_partitioned_by_an_identity_column(root: Path) -> None:
    columns = [Column("id", "bigint", identity=Identity()), Column("a", "int")]
    with pytest.raises(ValueError, match="identity column"):
        deltaic.Table.create(root, columns, partition_by=["id"])


def test_defaults_are_written(root: Path) -> None:
    table = deltaic.Table.create(root, [Column("id", "int"), Column("n", "int", default="7")])
    table.append(pa.table({"id": pa.array([1], pa.int32())}))
    assert table.snapshot().scan().to_arrow().to_pylist() == [{"id": 1, "n": 7}]


@pytest.mark.parametrize(
    "rows",
    [
        pa.table({"id": [1]}),
        pa.record_batch({"id": [1]}),
        pa.table({"id": [1]}).to_reader(),
        pl.DataFrame({"id": [1]}),
        pd.DataFrame({"id": [1]}),
        pd.DataFrame(index=pd.Index([1], name="id")),
    ],
    ids=["table", "batch", "reader", "polars", "pandas", "pandas index"],
)
def test_a_frame_is_a_schema(root: Path, rows: Any) -> None:
    table = deltaic.Table.create(root, rows)
    assert table.snapshot().schema.to_arrow() == pa.schema([("id", pa.int64())])
    assert table.snapshot().num_rows == 0


def test_a_pandas_index_is_a_column_or_refused(root: Path) -> None:
    named = pd.DataFrame({"n": [5, 6]}, index=pd.RangeIndex(2, name="id"))
    assert deltaic.write(root, named).snapshot().scan().to_arrow().to_pylist() == [
        {"id": 0, "n": 5},
        {"id": 1, "n": 6},
    ]
    unnamed = pd.DataFrame({"n": [5]}, index=[7])
    for call in (deltaic.Table.create, deltaic.write):
        with pytest.raises(deltaic.SchemaMismatch, match="has no name") as caught:
            call(root / "other", unnamed)
        assert "reset_index" in (caught.value.hint or "")
    plain = pd.DataFrame({"n": [5]})
    assert deltaic.write(root / "plain", plain).snapshot().schema.names == ["n"]


def test_alter_takes_the_same_types(root: Path) -> None:
    table = deltaic.Table.create(root, [Column("a", "int")], properties={"delta.enableTypeWidening": "true"})
    table.alter(AddColumn("b", "varchar(3)", comment="short"), ChangeType("a", "bigint"))
    made = fields(table)
    assert made["a"]["type"] == "long"
    assert made["b"]["metadata"] == {"__CHAR_VARCHAR_TYPE_STRING": "varchar(3)", "comment": "short"}


@pytest.mark.parametrize("text", ["current_timestamp()", "CURRENT_TIMESTAMP", "now()"])
def test_the_time_of_the_write_is_a_default(root: Path, text: str) -> None:
    columns = [Column("id", "int"), Column("at", "timestamp", default=text), Column("day", "date")]
    table = deltaic.Table.create(root, columns)
    table.alter(SetDefault("day", "current_date()"))
    before = dt.datetime.now(dt.timezone.utc)
    table.append(pa.table({"id": pa.array([1], pa.int32())}))
    [row] = table.to_arrow().to_pylist()
    assert before <= row["at"] <= dt.datetime.now(dt.timezone.utc)
    assert before.date() <= row["day"] <= dt.datetime.now(dt.timezone.utc).date()
    assert fields(table)["at"]["metadata"]["CURRENT_DEFAULT"] == text


@pytest.mark.parametrize(
    ("kind", "default"), [("int", "1.5"), ("tinyint", "300"), ("int", "'5'"), ("date", "'2026-11-01'")]
)
def test_a_default_that_its_column_cannot_hold_is_refused(root: Path, kind: str, default: str) -> None:
    """Every append without the column would fail."""
    with pytest.raises((deltaic.SchemaMismatch, deltaic.InvalidPredicate)) as caught:
        deltaic.Table.create(root, [Column("id", "int"), Column("c", kind, default=default)])
    assert caught.value.context["field"] == "c"
    table = deltaic.Table.create(root, [Column("id", "int"), Column("c", kind)])
    with pytest.raises((deltaic.SchemaMismatch, deltaic.InvalidPredicate)):
        table.alter(SetDefault("c", default))


@pytest.mark.parametrize(
    ("kind", "default", "value"),
    [
        ("float", "3.14159265358979", pytest.approx(3.1415927)),
        ("double", "0.12345678901234567890", pytest.approx(0.12345678901234568)),
        ("decimal(10,2)", "1.005", Decimal("1.01")),
    ],
)
def test_a_default_is_rounded_as_in_spark(root: Path, kind: str, default: str, value: Any) -> None:
    table = deltaic.Table.create(root, [Column("id", "int"), Column("c", kind, default=default)])
    table.append(pa.table({"id": pa.array([1], pa.int32())}))
    assert table.to_arrow()["c"].to_pylist() == [value]
