"""Variant columns: JSON texts in the model, the binary encoding in Arrow data."""

from __future__ import annotations

import json

import pyarrow as pa

from tests.protocol.handmade_variants import EXTENSION, STORED
from tests.protocol.naive_variant import to_json, variant

from .values import VARIANT


def encoded(rows: pa.Table) -> pa.Table:
    """Returns rows of the model with encoded variants."""
    schema = encoded_schema(rows.schema)
    columns = [
        pa.array([None if text is None else variant(json.loads(text)) for text in column.to_pylist()], STORED)
        if column.type == VARIANT
        else column
        for column in rows.columns
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def encoded_schema(schema: pa.Schema) -> pa.Schema:
    """Returns the schema of rows with encoded variants."""
    return pa.schema(
        pa.field(column.name, STORED, column.nullable, EXTENSION) if column.type == VARIANT else column
        for column in schema
    )


def decoded(rows: pa.Table) -> pa.Table:
    """Returns rows that were read, with variants as in the model."""
    for index, column in enumerate(rows.columns):
        names = [part.name for part in column.type] if pa.types.is_struct(column.type) else []
        if sorted(names) == ["metadata", "value"]:
            texts = [
                one if one is None else to_json(one["metadata"], one["value"]) for one in column.to_pylist()
            ]
            rows = rows.set_column(index, rows.field(index).name, pa.array(texts, VARIANT))
    return rows
