"""Tables with variants, their rows, and the JSON text of what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

import deltaic

from .handmade_variants import EXTENSION, STORED
from .naive_variant import to_json, variant

NESTED = pa.schema(
    [
        ("id", pa.int64()),
        ("s", pa.struct([pa.field("v", STORED, metadata=EXTENSION)])),
        ("l", pa.list_(pa.field("element", STORED, metadata=EXTENSION))),
        ("m", pa.map_(pa.string(), pa.field("value", STORED, metadata=EXTENSION))),
    ]
)


def variants(values: list[Any], kind: pa.DataType = STORED) -> pa.Array:
    """None is a NULL; `variant(None)` a variant null."""
    return pa.array([None if value is None else variant(value) for value in values], kind)


def rows(ids: list[int], column: pa.Array) -> pa.Table:
    schema = pa.schema([("id", pa.int64()), pa.field("v", column.type, metadata=EXTENSION)])
    return pa.table([pa.array(ids, pa.int64()), column], schema=schema)


def made(root: Path, **properties: str) -> deltaic.Table:
    return deltaic.Table.create(root, rows([], variants([])).schema, properties=properties)


def texts(table: deltaic.Table) -> list[str | None]:
    scan = table.snapshot().scan(variant="json").to_arrow().sort_by("id")
    return scan["v"].to_pylist()


def expected(values: list[Any]) -> list[str | None]:
    return [
        None if row is None else to_json(row["metadata"], row["value"])
        for row in variants(values).to_pylist()
    ]


def nested_rows(ids: list[int]) -> pa.Table:
    one, null = variant({"k": [1, "x"]}), variant(None)
    row = {"s": {"v": one}, "l": [one, None, null], "m": [("a", one), ("b", None)]}
    return pa.Table.from_pylist([{"id": number, **row} for number in ids], NESTED)
