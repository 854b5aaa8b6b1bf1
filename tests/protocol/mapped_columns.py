"""Columns with physical names and ids: in the schema, in the metadata and in data files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from .handmade_log import Action, HandmadeTable, field, metadata, protocol, schema

LISTED = protocol(3, 7, ["columnMapping"], ["columnMapping"])


def mapped(name: str, number: int, kind: Any = "long", **others: Any) -> dict[str, Any]:
    """Returns a column of the table's schema."""
    mapping = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"col-{number}"}
    return field(name, kind, **{**mapping, **others})


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def array(element: Any) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": True}


def map_of(key: Any, value: Any) -> dict[str, Any]:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def held(
    number: int, kind: pa.DataType | None = None, *, name: str = "", id_is: int | None = None
) -> pa.Field:
    """Returns a column of a file: by default with its physical name and id; without an id if it is 0."""
    told = number if id_is is None else id_is
    ids = {"PARQUET:field_id": str(told)} if told else None
    return pa.field(name or f"col-{number}", kind or pa.int64(), metadata=ids)


def settings(mode: str) -> dict[str, str]:
    return {"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "99"}


def change(mode: str, *columns: dict[str, Any], partition_by: Sequence[str] = ()) -> Action:
    return metadata(schema(*columns), partition_by, settings(mode))


def file_of(table: HandmadeTable, name: str, columns: dict[pa.Field, list[Any]], **others: Any) -> Action:
    arrays = [pa.array(values, column.type) for column, values in columns.items()]
    return table.data(name, pa.Table.from_arrays(arrays, schema=pa.schema(list(columns))), **others)
