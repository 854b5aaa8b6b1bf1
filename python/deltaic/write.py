"""Writes data to a table that may not exist yet."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, overload

from deltaic.commit import announced
from deltaic.exceptions import DeltaicWarning, TableExists
from deltaic.table import Table
from deltaic.values.arguments import flag, names, text
from deltaic.values.arguments import options as text_options
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.location import open_location
from deltaic.values.read_once import is_read_again, kept
from deltaic.values.schema_of import rows_of_new_table
from deltaic.writing.dry_run import DryRun, dry_run_from_rust
from deltaic.writing.ignored_properties import warn_of_ignored

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["warn_of_other_properties", "write"]

_MODES = ("error", "append", "overwrite", "ignore")
_SCHEMA_MODES = ("keep", "merge", "replace")
_OF_PROTOCOL = ("delta.feature.", "delta.minreaderversion", "delta.minwriterversion")


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
    """Writes rows to a table; if there is none, one commit creates it with the rows.

    Args:
        uri: The table's folder or URI.
        data: The rows, as for `Table.append`.
        mode: If the table exists: ``"append"`` adds the rows, ``"overwrite"`` replaces all rows, ``"ignore"``
            does nothing, and ``"error"`` raises `TableExists`.
        partition_by: The partition columns of a new table, or with ``schema_mode="replace"``.
        properties: The properties of a new table. If the table exists, a `DeltaicWarning` names those that it
            does not have: they are not set.
        schema_mode: What happens to the schema of an existing table, as for `Table.append` and
            `Table.overwrite`.
        storage_options: Settings of the store, as for `Table`.
        dry_run: Whether to return only what would be done, as for `Table.append`. Nothing is created.
        options: How the rows are committed: see `CommitOptions`.

    Returns:
        The table; with `dry_run`, what would be done.

    Raises:
        TableExists: The table exists and `mode` is ``"error"``, or another writer created it concurrently.
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
    data = checked_data(data)
    flag("dry_run", dry_run)
    given = to_options("write", **options)
    columns = names("partition_by", partition_by)
    wanted = text_options("properties", properties)
    location = open_location(uri, storage_options)
    table = Table(uri, storage_options=storage_options)
    if not location.exists():
        rows = rows_of_new_table(data)
        if dry_run:
            rows = kept(rows, given["memory"])
            found = location.preview_create(rows, partition_by=columns, properties=wanted, options=given)
            return dry_run_from_rust("CREATE", None, found)
        made = location.create_with_rows(
            rows,
            partition_by=columns,
            properties=wanted,
            if_exists="error" if mode == "error" else "ignore",
            options=given,
        )
        if made is not None:
            announced(made, stacklevel=3)
            warn_of_ignored(wanted.items(), stacklevel=2)
            return table
        if mode != "ignore" and not is_read_again(data):
            raise TableExists(
                f"another writer created a table at {table.uri}; nothing was written",
                context={"path": table.uri},
                hint="run the call again, with a new stream",
            )
    if mode == "ignore":
        return DryRun("APPEND", table.snapshot().version, 0) if dry_run else table
    if mode == "error":
        raise TableExists(
            f"there is a table at {table.uri}",
            context={"path": table.uri},
            hint='pass mode="append" or mode="overwrite"',
        )
    metadata = table.snapshot().metadata
    if schema_mode != "replace" and columns and columns != list(metadata.partition_columns):
        raise ValueError(f"the table is partitioned by {list(metadata.partition_columns)}, not by {columns}")
    warn_of_other_properties(wanted, metadata.properties)
    if mode == "overwrite":
        new = (columns or None) if schema_mode == "replace" else None
        made = table.overwrite(data, schema_mode=schema_mode, partition_by=new, dry_run=dry_run, **options)
    else:
        merges: Literal["merge", "keep"] = "merge" if schema_mode == "merge" else "keep"
        made = table.append(data, schema_mode=merges, dry_run=dry_run, **options)
    return made if isinstance(made, DryRun) else table


def warn_of_other_properties(
    wanted: Mapping[str, str], properties: Mapping[str, str], *, stacklevel: int = 3
) -> None:
    """Warns of properties that an existing table does not have. Requested features are not properties."""
    other = sorted(
        name
        for name, value in wanted.items()
        if properties.get(name) != value and not name.lower().startswith(_OF_PROTOCOL)
    )
    if other:
        warnings.warn(
            f"the table exists, so these properties are not set: {', '.join(other)}\n"
            "hint: set them with table.alter(deltaic.alter.SetProperties({…}))",
            DeltaicWarning,
            stacklevel=stacklevel,
        )
