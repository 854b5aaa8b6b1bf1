"""Writes data to a table that may not exist yet."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, overload

from deltaic.arguments import flag, text
from deltaic.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.commit_options import CommitOptions
from deltaic.dry_run import DryRun
from deltaic.exceptions import TableExists
from deltaic.schema_of import schema_and_rows
from deltaic.table import Table

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["write"]

_MODES = ("error", "append", "overwrite", "ignore")
_SCHEMA_MODES = ("keep", "merge", "replace")


@overload
def write(
    uri: str | os.PathLike[str],
    data: ArrowStreamExportable | ArrowArrayExportable,
    mode: Literal["error", "append", "overwrite", "ignore"] = "append",
    *,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
    schema_mode: Literal["keep", "merge", "replace"] = "keep",
    storage_options: Mapping[str, str] | None = None,
    **options: Unpack[CommitOptions],
) -> Table: ...


@overload
def write(
    uri: str | os.PathLike[str],
    data: ArrowStreamExportable | ArrowArrayExportable,
    mode: Literal["error", "append", "overwrite", "ignore"] = "append",
    *,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
    schema_mode: Literal["keep", "merge", "replace"] = "keep",
    storage_options: Mapping[str, str] | None = None,
    dry_run: Literal[True],
    **options: Unpack[CommitOptions],
) -> DryRun: ...


@overload
def write(
    uri: str | os.PathLike[str],
    data: ArrowStreamExportable | ArrowArrayExportable,
    mode: Literal["error", "append", "overwrite", "ignore"] = "append",
    *,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
    schema_mode: Literal["keep", "merge", "replace"] = "keep",
    storage_options: Mapping[str, str] | None = None,
    dry_run: bool,
    **options: Unpack[CommitOptions],
) -> Table | DryRun: ...


def write(
    uri: str | os.PathLike[str],
    data: ArrowStreamExportable | ArrowArrayExportable,
    mode: Literal["error", "append", "overwrite", "ignore"] = "append",
    *,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] | None = None,
    schema_mode: Literal["keep", "merge", "replace"] = "keep",
    storage_options: Mapping[str, str] | None = None,
    dry_run: bool = False,
    **options: Unpack[CommitOptions],
) -> Table | DryRun:
    """Writes rows to a table, and creates the table if there is none.

    Args:
        uri: The table's folder or URI.
        data: The rows, as for `Table.append`.
        mode: If the table exists: ``"append"`` adds the rows, ``"overwrite"`` replaces all rows, ``"ignore"``
            does nothing, and ``"error"`` raises `TableExists`.
        partition_by: The partition columns of a new table, or with ``schema_mode="replace"``.
        properties: The properties of a new table.
        schema_mode: What happens to the schema of an existing table, as for `Table.append` and
            `Table.overwrite`.
        storage_options: Settings of the store, as for `Table`.
        dry_run: Whether to return only what would be done, as for `Table.append`. A new table is created in a
            temporary folder.
        options: How the rows are committed: see `CommitOptions`.

    Returns:
        The table; with `dry_run`, what would be done.

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
    if text("schema_mode", schema_mode) not in _SCHEMA_MODES:
        raise ValueError(f"schema_mode must be one of {', '.join(_SCHEMA_MODES)}, not {schema_mode!r}")
    if schema_mode == "replace" and mode == "append":
        raise ValueError('schema_mode="replace" needs mode="overwrite": an append cannot replace the schema')
    checked_data(data)
    flag("dry_run", dry_run)
    exists = Table.exists(uri, storage_options=storage_options)
    table = Table(uri, storage_options=storage_options)
    if exists:
        if mode == "ignore":
            return DryRun("APPEND", table.snapshot().version, 0) if dry_run else table
        if mode == "error":
            raise TableExists(
                f"there is a table at {table.uri}",
                context={"path": table.uri},
                hint='pass mode="append" or mode="overwrite"',
            )
        columns = table.snapshot().partition_columns
        if schema_mode != "replace" and partition_by and list(partition_by) != columns:
            raise ValueError(f"the table is partitioned by {columns}, not by {list(partition_by)}")
    else:
        schema, data = schema_and_rows(data)
        if dry_run:
            with tempfile.TemporaryDirectory() as folder:
                new = Table.create(folder, schema, partition_by=partition_by, properties=properties or {})
                found = new.append(data, dry_run=True, **options)
            return replace(found, operation="CREATE", version=None)
        table = Table.create(
            uri,
            schema,
            partition_by=partition_by,
            properties=properties or {},
            # Another writer may create it first.
            if_exists="error" if mode == "error" else "ignore",
            storage_options=storage_options,
        )
    if mode == "overwrite":
        new = (partition_by or None) if schema_mode == "replace" and exists else None
        made = table.overwrite(data, schema_mode=schema_mode, partition_by=new, dry_run=dry_run, **options)
    else:
        merges: Literal["merge", "keep"] = "merge" if schema_mode == "merge" else "keep"
        made = table.append(data, schema_mode=merges, dry_run=dry_run, **options)
    return made if isinstance(made, DryRun) else table
