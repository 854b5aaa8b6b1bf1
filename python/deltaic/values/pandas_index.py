"""The index of a pandas data frame as columns: pandas exports it only in part, a range index not at all."""

from __future__ import annotations

import sys
from typing import Any

from deltaic import _rust
from deltaic.exceptions import SchemaMismatch

__all__ = ["with_index"]


def with_index(data: object, known: _rust.Snapshot, *, adds_columns: bool = False) -> object:
    """Returns a pandas data frame with its index as columns of the table; any other data unchanged.

    An unnamed range index, the default of a new frame, is dropped.

    Args:
        data: The rows.
        known: The version that determines the columns.
        adds_columns: Whether a level that is not a column of the table is written as a new column.

    Raises:
        SchemaMismatch: A level of the index is not a column of the table, or a column of the frame has the
            same name and other values.

    >>> import deltaic, pandas, pyarrow
    >>> schema = pyarrow.schema([("id", pyarrow.int64()), ("n", pyarrow.int64())])
    >>> table = deltaic.Table.create("visits", schema)
    >>> commit = table.append(pandas.DataFrame({"n": [5, 6]}, index=pandas.RangeIndex(2, name="id")))
    >>> table.snapshot().scan().to_arrow()["id"].to_pylist()
    [0, 1]
    """
    # pandas data exists only if pandas is imported.
    pandas: Any = sys.modules.get("pandas")
    if not isinstance(data, getattr(pandas, "DataFrame", ())) or exports_itself(data, pandas):
        return data
    frame: Any = data
    index = frame.index
    columns = {name.lower() for name in known.schema.names}
    names = [str(column) for column in frame.columns]
    levels: dict[str, Any] = {}

    def mismatch(column: str, what: str, hint: str) -> SchemaMismatch:
        context = {"field": column, "table": known.uri, "version": known.version}
        where = ", ".join(f"{key}: {value}" for key, value in context.items())
        return SchemaMismatch(
            f"{what} ({where})", context=context, hint=f"call df.reset_index(drop=True){hint}"
        )

    for number, name in enumerate(index.names):
        # pyarrow's name for an unnamed level: a table created from pyarrow.Schema.from_pandas may have it.
        column = f"__index_level_{number}__" if name is None else str(name)
        level = index.get_level_values(number)
        if column in names:
            # A range index only counts rows and has no values of its own.
            if not isinstance(index, pandas.RangeIndex) and not level.equals(
                pandas.Index(frame.iloc[:, names.index(column)])
            ):
                what = f"The index {column!r} has other values than the column of the same name"
                raise mismatch(column, what, "")
        elif column in levels:
            raise mismatch(column, f"Two levels of the index are named {column!r}", "")
        elif column.lower() in columns or (adds_columns and name is not None):
            levels[column] = level
        elif name is not None:
            what = f"The index {column!r} is not a column of the table"
            raise mismatch(column, what, ", or name the index after a column: df.rename_axis(…)")
        elif not isinstance(index, pandas.RangeIndex):
            raise mismatch(column, "The index has no name, so it is not a column of the table", "")
    if isinstance(index, pandas.RangeIndex) and not levels:
        return data
    flat = frame.reset_index(drop=True)
    for column, level in levels.items():
        flat[column] = level
    return flat


def exports_itself(frame: Any, pandas: Any) -> bool:
    """Whether a subclass of the data frame overrides the export of its rows."""
    kind: Any = frame.__class__
    return kind.__arrow_c_stream__ is not pandas.DataFrame.__arrow_c_stream__
