"""Rows of a reference, and of a table, in the form in which they are compared."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .reference import Content


def as_read(content: Content, actual: pa.Table) -> pa.Table:
    """Returns the expected rows; void columns, which the reference stores as strings, become nulls."""
    expected = content.read()
    for name in actual.column_names:
        if pa.types.is_null(actual.schema.field(name).type):
            nulls = pa.nulls(expected.num_rows)
            if name in expected.column_names:
                column = expected.column_names.index(name)
                assert expected[name].null_count == expected.num_rows
                expected = expected.set_column(column, name, nulls)
            else:
                expected = expected.append_column(name, nulls)
    return expected


def padded(actual: pa.Table, schema: dict[str, Any]) -> pa.Table:
    """Pads CHAR columns: Spark does so when it reads, but the protocol has no such type."""
    for index, name in enumerate(actual.column_names):
        notes = next((field["metadata"] for field in schema["fields"] if field["name"] == name), {})
        if char := re.fullmatch(r"char\((\d+)\)", notes.get("__CHAR_VARCHAR_TYPE_STRING", "")):
            actual = actual.set_column(index, name, pc.utf8_rpad(actual[name], int(char[1])))
    return actual
