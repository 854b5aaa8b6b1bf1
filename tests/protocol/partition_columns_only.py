"""Data files of a table with only partition columns, and its rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .handmade_log import Action, HandmadeTable, add, field, schema
from .handmade_parquet import write_without_columns

ALL = schema(field("p", "string"), field("q", "integer"))

Write = Callable[[Path, int], None]


def counted(path: Path, rows: int) -> None:
    """No columns; the footer counts the rows in two row groups."""
    write_without_columns(path, 1, rows - 1)


def uncounted(path: Path, rows: int) -> None:
    """No columns, as pyarrow writes it: the footer counts no rows, and only `numRecords` does."""
    pq.write_table(pa.table({"x": range(rows)}).select([]), path)
    assert pq.read_metadata(path).num_rows == 0


def with_values(path: Path, rows: int) -> None:
    """The partition columns themselves."""
    pq.write_table(pa.table({"p": ["x"] * rows, "q": pa.array([7] * rows, pa.int32())}), path)


def with_others(path: Path, rows: int) -> None:
    """A column that is not in the table."""
    pq.write_table(pa.table({"other": range(rows)}), path)


def file_of(table: HandmadeTable, write: Write, rows: int, *, stats: bool = True, **others: object) -> Action:
    """Writes a data file with a number of rows, in its own partition."""
    name = f"{rows}.parquet"
    write(table.root / name, rows)
    told = {"stats": json.dumps({"numRecords": rows})} if stats else {}
    values = {"p": f"of {rows}", "q": str(rows)}
    size = (table.root / name).stat().st_size
    return add(name, size=size, values=values, **told, **others)


def expected(*counts: int) -> pa.Table:
    """Returns the rows of files with these row counts."""
    q = [count for count in counts for _ in range(count)]
    return pa.table(
        {"p": pa.array([f"of {count}" for count in q], pa.string()), "q": pa.array(q, pa.int32())}
    )
