"""Default Columns: rows that lack a column get its current default."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import AddColumn, SetDefault

from .handmade_log import HandmadeTable, field, ids, metadata, protocol, schema

NEEDS = protocol(1, 7, None, ["allowColumnDefaults"])


def made(
    root: Path, data_type: str | dict[str, Any], default: str, *, nullable: bool = True
) -> deltaic.Table:
    table = HandmadeTable(root)
    column = field("d", data_type, CURRENT_DEFAULT=default)
    column["nullable"] = nullable
    table.commit(NEEDS, metadata(schema(field("id"), column)))
    return deltaic.Table(root)


def values(table: deltaic.Table) -> list[object]:
    return table.snapshot().scan().to_arrow().sort_by("id")["d"].to_pylist()


@pytest.mark.parametrize(
    ("data_type", "default", "value"),
    [
        ("long", "7", 7),
        ("short", "-7", -7),
        ("double", "1.5", 1.5),
        ("decimal(8,2)", "1.5", Decimal("1.50")),
        ("string", "'a''b'", "a'b"),
        ("boolean", "true", True),
        ("date", "DATE '2026-11-01'", dt.date(2026, 11, 1)),
        ("long", "2 * 21", 42),
        ("long", "NULL", None),
        ("string", "CAST(5 AS STRING)", "5"),
        ("string", "upper(concat('a', 1 + 1))", "A2"),
        ("boolean", "current_timestamp() > TIMESTAMP '2020-01-01'", True),
        ("boolean", "CURRENT_DATE > DATE '2020-01-01'", True),
        ({"type": "array", "elementType": "long", "containsNull": True}, "NULL", None),
    ],
)
def test_a_missing_column_gets_its_default(
    tmp_path: Path, data_type: Any, default: str, value: object
) -> None:
    """protocol: default-columns.2, default-columns.4, default-columns.5."""
    table = made(tmp_path / "t", data_type, default)
    table.append(ids(1, 2))
    assert values(table) == [value, value]


def test_an_explicit_value_is_kept(tmp_path: Path) -> None:
    """NULL too.

    protocol: default-columns.5
    """
    table = made(tmp_path / "t", "long", "7")
    table.append(pa.table({"id": [1, 2], "d": pa.array([None, 3], pa.int64())}))
    assert values(table) == [None, 3]


def test_a_column_that_may_not_be_null_may_be_missing(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "long", "7", nullable=False)
    table.append(ids(1))
    assert values(table) == [7]


def test_existing_rows_do_not_change(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64())]))
    table.append(ids(1))
    table.alter(AddColumn("d", pa.int32()))
    table.alter(SetDefault("d", "5"))
    table.append(ids(2))
    assert values(table) == [None, 5]
    table.update({"id": "id + 10"}, "id = 1")
    assert values(table) == [5, None]


@pytest.mark.parametrize(
    ("data_type", "default", "error"),
    [
        ("long", "'a'", deltaic.SchemaMismatch),
        ("byte", "300", deltaic.SchemaMismatch),
        ("string", "uuid()", deltaic.UnsupportedExpression),
        ("long", "id", deltaic.InvalidPredicate),
        ("long", "(", deltaic.InvalidPredicate),
    ],
)
def test_a_default_that_cannot_be_computed(
    tmp_path: Path, data_type: str, default: str, error: type[deltaic.DeltaicError]
) -> None:
    """Only rows that lack the column need it."""
    table = made(tmp_path / "t", data_type, default)
    with pytest.raises(error) as caught:
        table.append(ids(1))
    assert caught.value.context["default_of"] == "d"
    table.append(pa.table({"id": [1], "d": pa.array([None], pa.null())}))
    assert values(table) == [None]


def test_without_the_feature_there_is_no_default(tmp_path: Path) -> None:
    """protocol: default-columns.2."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 2), metadata(schema(field("id"), field("d", CURRENT_DEFAULT="7"))))
    handle = deltaic.Table(table.root)
    handle.append(ids(1))
    assert values(handle) == [None]
