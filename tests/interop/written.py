"""The tables that deltaic writes for other implementations, by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import deltaic

from .values import PARTITION_VALUES, every_type

DEMO = ["airlines", "airports", "flights", "planes", "weather"]


class Content(NamedTuple):
    """The rows of a table, written in two appends."""

    rows: pa.Table
    partition_by: list[str]


def contents() -> dict[str, Content]:
    """Returns every table by the name of its folder."""
    return dict(_contents())


def _contents() -> Iterator[tuple[str, Content]]:
    yield "every type", Content(every_type(), [])
    for kind, values in PARTITION_VALUES.items():
        rows = {"id": pa.array(range(len(values) + 1), pa.int64()), "p": _with_null(values)}
        yield f"by {kind}", Content(pa.table(rows), ["p"])
    rows = {"b": _with_null(PARTITION_VALUES["boolean"]), "s": ["ü/é", "a b", None], "id": [1, 2, 3]}
    yield "by two columns", Content(pa.table(rows), ["s", "b"])
    # Too long for a folder name: one value alone, and four together.
    rows = {"id": pa.array(range(5), pa.int64()), "p": ["x" * 253, "x" * 254, "ü" * 127, "%" * 5_000, None]}
    yield "by long texts", Content(pa.table(rows), ["p"])
    parts = {f"p{number}": ["y" * 200, "é/" * 100] for number in range(4)}
    yield "by many long texts", Content(pa.table({**parts, "id": [1, 2]}), list(parts))


def _with_null(values: pa.Array) -> pa.Array:
    return pa.concat_arrays([values, pa.nulls(1, values.type)])


def write(folder: Path) -> None:
    """Writes all tables."""
    for name, content in contents().items():
        table = deltaic.Table.create(folder / name, content.rows.schema, partition_by=content.partition_by)
        half = content.rows.num_rows // 2
        table.append(content.rows.slice(0, half))
        table.append(content.rows.slice(half))
