"""Writes data to a table that may not exist yet."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

from deltaic.arguments import text
from deltaic.capsule import ArrowArrayExportable, ArrowSchemaExportable, ArrowStreamExportable, checked_data
from deltaic.commit_options import CommitOptions
from deltaic.exceptions import TableExists
from deltaic.optional import require
from deltaic.table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["write"]

_MODES = ("error", "append", "overwrite", "ignore")


def write(
    uri: str | os.PathLike[str],
    data: ArrowStreamExportable | ArrowArrayExportable,
    mode: Literal["error", "append", "overwrite", "ignore"] = "append",
    *,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
    **options: Unpack[CommitOptions],
) -> Table:
    """Writes rows to a table, and creates the table if there is none.

    Args:
        uri: The table's folder or URI.
        data: The rows, as for `Table.append`.
        mode: If the table exists: ``"append"`` adds the rows, ``"overwrite"`` replaces all rows, ``"ignore"``
            does nothing, and ``"error"`` raises `TableExists`.
        partition_by: The partition columns of a new table.
        properties: The properties of a new table.
        storage_options: Settings of the store, as for `Table`.
        options: How the rows are committed: see `CommitOptions`.

    Returns:
        The table.

    Raises:
        TableExists: The table exists and `mode` is ``"error"``.
        ValueError: `mode` is unknown, or `partition_by` differs from the columns of an existing table.
        SchemaMismatch, ConstraintViolation, UnsupportedFeature, CommitConflict, CommitUnknown, StorageError:
            As for `Table.append` and `Table.overwrite`.

    >>> import deltaic, pyarrow
    >>> table = deltaic.write("crossings", pyarrow.table({"id": [1, 2]}))
    >>> table = deltaic.write("crossings", pyarrow.table({"id": [3]}), mode="append")
    >>> table.snapshot().num_rows
    3
    >>> deltaic.write("crossings", pyarrow.table({"id": [4]}), mode="overwrite").snapshot().num_rows
    1
    """
    if text("mode", mode) not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {mode!r}")
    checked_data(data)
    table = Table(uri, storage_options=storage_options)
    if Table.exists(uri, storage_options=storage_options):
        if mode == "ignore":
            return table
        if mode == "error":
            raise TableExists(
                f"there is a table at {table.uri}",
                context={"path": table.uri},
                hint='pass mode="append" or mode="overwrite"',
            )
        columns = table.snapshot().partition_columns
        if partition_by and list(partition_by) != columns:
            raise ValueError(f"the table is partitioned by {columns}, not by {list(partition_by)}")
    else:
        table = Table.create(
            uri,
            _schema_of(data),
            partition_by=partition_by,
            properties=properties or {},
            # Another writer may create it first.
            if_exists="error" if mode == "error" else "ignore",
            storage_options=storage_options,
        )
    if mode == "overwrite":
        table.overwrite(data, **options)
    else:
        table.append(data, **options)
    return table


def _schema_of(data: ArrowStreamExportable | ArrowArrayExportable) -> ArrowSchemaExportable:
    """Returns the schema of data without consuming a stream that can be read once."""
    schema = getattr(data, "schema", None)
    if isinstance(schema, ArrowSchemaExportable):
        return schema
    if isinstance(data, ArrowStreamExportable):
        pyarrow = require("pyarrow", "deltaic.write() of this data")
        return cast("ArrowSchemaExportable", pyarrow.RecordBatchReader.from_stream(data).schema)
    pyarrow = require("pyarrow", "deltaic.write() of this data")
    return cast("ArrowSchemaExportable", pyarrow.record_batch(data).schema)
