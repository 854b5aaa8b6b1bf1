"""The schema of a new table, from columns, a schema or rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, cast

from deltaic.exceptions import SchemaMismatch
from deltaic.values.capsule import (
    ArrowArrayExportable,
    ArrowSchemaExportable,
    ArrowStreamExportable,
    schema_remedy,
)
from deltaic.values.column import Column
from deltaic.values.optional import require
from deltaic.values.pandas_index import exports_itself

__all__ = ["TableSchema", "rows_of_new_table", "table_schema"]

TableSchema = ArrowSchemaExportable | ArrowStreamExportable | ArrowArrayExportable | Sequence[Column]
"""What `Table.create` takes as a schema."""


def table_schema(schema: TableSchema) -> ArrowSchemaExportable | list[Column]:
    """Validates a schema from a caller, and takes the schema of rows.

    Raises:
        TypeError: It describes no columns.
        SchemaMismatch: It is a pandas data frame whose index has no name.

    >>> import pyarrow
    >>> table_schema(pyarrow.table({"id": [1]}))
    id: int64
    """
    if isinstance(schema, (list, tuple)):
        columns = cast("list[object]", list(schema))
        for column in columns:
            if not isinstance(column, Column):
                raise TypeError(
                    f"each of the columns must be a deltaic.Column, not {type(column).__name__}: write "
                    f'deltaic.Column("name", "bigint")'
                )
        return cast("list[Column]", columns)
    if isinstance(schema, Column):
        raise TypeError("a schema is a list of columns: write [deltaic.Column(…)]")
    if isinstance(schema, (ArrowStreamExportable, ArrowArrayExportable)):
        return _schema_of(schema)
    # Checked for callers without a type checker.
    if not isinstance(schema, ArrowSchemaExportable):
        raise TypeError(
            "a schema must be a list of deltaic.Column, a data frame, or have __arrow_c_schema__, such as "
            f"pyarrow.schema(…), not {type(schema).__name__}{schema_remedy(schema)}"
        )
    return schema


def rows_of_new_table(data: ArrowStreamExportable | ArrowArrayExportable) -> object:
    """Returns rows with all columns of the table that is created for them: a pandas frame's named index too.

    Raises:
        SchemaMismatch: The data is a pandas data frame whose index has no name and is not a range.

    >>> import pandas
    >>> frame = pandas.DataFrame({"n": [5]}, index=pandas.Index([7], name="id"))
    >>> list(rows_of_new_table(frame).columns)
    ['id', 'n']
    """
    pandas: Any = sys.modules.get("pandas")
    if isinstance(data, getattr(pandas, "DataFrame", ())) and not exports_itself(data, pandas):
        return _with_named_index(data, pandas)
    return data


def _schema_of(data: ArrowStreamExportable | ArrowArrayExportable) -> ArrowSchemaExportable:
    rows: Any = rows_of_new_table(data)
    if rows is not data:
        pyarrow = require("pyarrow", "the schema of a pandas data frame")
        return pyarrow.Schema.from_pandas(rows, preserve_index=False)
    schema = getattr(data, "schema", None)
    if isinstance(schema, ArrowSchemaExportable):
        return schema
    pyarrow = require("pyarrow", "the schema of this data")
    if isinstance(data, ArrowStreamExportable):
        return cast("ArrowSchemaExportable", pyarrow.RecordBatchReader.from_stream(data).schema)
    return cast("ArrowSchemaExportable", pyarrow.record_batch(data).schema)


def _with_named_index(frame: Any, pandas: Any) -> Any:
    index = frame.index
    unnamed = [number for number, name in enumerate(index.names) if name is None]
    if not unnamed:
        return frame.reset_index()
    if isinstance(index, pandas.RangeIndex):
        return frame
    hint = "call df.reset_index(drop=True), or name the index: df.rename_axis(…)"
    raise SchemaMismatch("The index has no name, so it cannot be a column", context={}, hint=hint)
