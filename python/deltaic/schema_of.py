"""The schema of a new table, from columns, a schema or rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, cast

from deltaic.capsule import (
    ArrowArrayExportable,
    ArrowSchemaExportable,
    ArrowStreamExportable,
    schema_remedy,
)
from deltaic.column import Column
from deltaic.exceptions import SchemaMismatch
from deltaic.optional import require
from deltaic.pandas_index import exports_itself

__all__ = ["TableSchema", "schema_and_rows", "table_schema"]

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
        return schema_and_rows(schema)[0]
    # Checked for callers without a type checker.
    if not isinstance(schema, ArrowSchemaExportable):
        raise TypeError(
            "a schema must be a list of deltaic.Column, a data frame, or have __arrow_c_schema__, such as "
            f"pyarrow.schema(…), not {type(schema).__name__}{schema_remedy(schema)}"
        )
    return schema


def schema_and_rows(
    data: ArrowStreamExportable | ArrowArrayExportable,
) -> tuple[ArrowSchemaExportable, ArrowStreamExportable | ArrowArrayExportable]:
    """Returns the schema of rows, and the rows: a stream that can be read once is not consumed.

    The named index of a pandas data frame is part of the schema.

    Raises:
        SchemaMismatch: The data is a pandas data frame whose index has no name and is not a range.

    >>> import pyarrow
    >>> schema, rows = schema_and_rows(pyarrow.table({"id": [1]}))
    >>> schema, rows.num_rows
    (id: int64, 1)
    """
    pandas: Any = sys.modules.get("pandas")
    if isinstance(data, getattr(pandas, "DataFrame", ())) and not exports_itself(data, pandas):
        pyarrow = require("pyarrow", "the schema of a pandas data frame")
        frame = _with_named_index(data, pandas)
        return pyarrow.Schema.from_pandas(frame, preserve_index=False), data
    schema = getattr(data, "schema", None)
    if isinstance(schema, ArrowSchemaExportable):
        return schema, data
    pyarrow = require("pyarrow", "the schema of this data")
    if isinstance(data, ArrowStreamExportable):
        reader = pyarrow.RecordBatchReader.from_stream(data)
        return cast("ArrowSchemaExportable", reader.schema), cast("ArrowStreamExportable", reader)
    batch = pyarrow.record_batch(data)
    return cast("ArrowSchemaExportable", batch.schema), cast("ArrowArrayExportable", batch)


def _with_named_index(frame: Any, pandas: Any) -> Any:
    index = frame.index
    unnamed = [number for number, name in enumerate(index.names) if name is None]
    if not unnamed:
        return frame.reset_index()
    if isinstance(index, pandas.RangeIndex):
        return frame
    hint = "call df.reset_index(drop=True), or name the index: df.rename_axis(…)"
    raise SchemaMismatch("The index has no name, so it cannot be a column", context={}, hint=hint)
