"""Handmade tables with variants, shredded or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import deltaic

from .handmade_log import Action, HandmadeTable, field, metadata, protocol, schema
from .naive_variant import metadata as dictionary
from .naive_variant import to_json, variant

PLAIN = ["variantType"]
SHREDDED = ["variantType", "variantShredding"]
STORED = pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())])
EXTENSION = {b"ARROW:extension:name": b"arrow.parquet.variant", b"ARROW:extension:metadata": b""}
IN_A_FILE = pa.struct(
    [pa.field("value", pa.binary(), nullable=False), pa.field("metadata", pa.binary(), nullable=False)]
)


def table_of(
    root: Path,
    text: str,
    *files: pa.Table,
    features: Sequence[str] = PLAIN,
    configuration: dict[str, str] | None = None,
    write: Callable[[pa.Table, Path], None] = pq.write_table,
) -> deltaic.Table:
    table = HandmadeTable(root / "t")
    adds: list[Action] = []
    for index, rows in enumerate(files):
        add = table.data(f"{index}.parquet", rows)
        write(rows, table.root / f"{index}.parquet")
        add["add"]["size"] = (table.root / f"{index}.parquet").stat().st_size
        adds.append(add)
    table.commit(
        protocol(3, 7, features, features),
        metadata(text, configuration=configuration or {}),
        *adds,
    )
    return deltaic.Table(table.root)


def column(values: Sequence[Any], kind: pa.DataType = IN_A_FILE) -> pa.Table:
    return pa.table({"v": pa.array(values, kind)})


V = schema(field("v", "variant"))


def texts(table: deltaic.Table) -> list[str | None]:
    """Returns the variants as JSON, after checking that their bytes have the same value."""
    snapshot = table.snapshot()
    found: list[str | None] = snapshot.scan(["v"], variant="json").to_arrow()["v"].to_pylist()
    rows = snapshot.scan(["v"]).to_arrow()["v"].to_pylist()
    assert found == [None if row is None else to_json(row["metadata"], row["value"]) for row in rows]
    return found


def nested(of: Any) -> str:
    return schema(
        field("id"),
        field("s", {"type": "struct", "fields": [field("v", of), field("n", "integer")]}),
        field("l", {"type": "array", "elementType": of, "containsNull": True}),
        field("m", {"type": "map", "keyType": "string", "valueType": of, "valueContainsNull": True}),
        field("later", of),
    )


def nested_rows() -> pa.Table:
    a, null = variant({"a": [1]}), variant(None)
    inner = pa.struct([("v", IN_A_FILE), ("n", pa.int32())])
    return pa.table(
        {
            "id": [0, 1, 2, 3],
            "s": pa.array([{"v": a, "n": 1}, {"v": None, "n": 2}, {"v": null, "n": 3}, None], inner),
            "l": pa.array([[a, None, null], [], None, [null]], pa.list_(IN_A_FILE)),
            "m": pa.array(
                [[("x", a), ("y", None)], [], None, [("z", null)]], pa.map_(pa.string(), IN_A_FILE)
            ),
        }
    )


def shredded(*parts: pa.Field, null_value: bool = True) -> pa.DataType:
    return pa.struct(
        [
            pa.field("metadata", pa.binary(), nullable=False),
            pa.field("value", pa.binary(), nullable=null_value),
            *parts,
        ]
    )


def part(kind: pa.DataType) -> pa.DataType:
    """Returns a field of an object, or an element: bytes, or a value of a type."""
    return pa.struct([("value", pa.binary()), ("typed_value", kind)])


NAMES = dictionary(["a", "b"])
