"""`Table.convert`: a table that is made of existing Parquet files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from deltaic.commit import Commit, announced
from deltaic.reading.schema import Schema
from deltaic.values.arguments import flag
from deltaic.values.column import columns_json
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.location import open_location
from deltaic.values.schema_of import TableSchema, table_schema
from deltaic.values.sizes import counted, readable_size

__all__ = ["ConvertPreview", "convert_folder"]


@dataclass(frozen=True)
class ConvertPreview:
    """What `Table.convert` would do: its result with ``dry_run=True``."""

    files: int
    """The number of files of the table."""

    size_in_bytes: int
    """The size of these files in bytes."""

    num_rows: int
    """The number of rows of these files."""

    schema: Schema
    """The columns that the table would have."""

    def __str__(self) -> str:
        first = (
            f"CONVERT would make a table of {counted(self.files, 'file')} "
            f"({readable_size(self.size_in_bytes)}) with {counted(self.num_rows, 'row')}"
        )
        return f"{first}\n{self.schema}"


def convert_folder(
    uri: str | os.PathLike[str],
    partition_schema: TableSchema | None,
    *,
    statistics: bool,
    storage_options: Mapping[str, str] | None,
    dry_run: bool,
    options: CommitOptions,
) -> Commit | ConvertPreview:
    """Makes the table of `Table.convert`, or returns what that would do."""
    schema = [] if partition_schema is None else table_schema(partition_schema)
    definition, types = columns_json(schema) if isinstance(schema, list) else (None, [])
    arrow = None if isinstance(schema, list) else schema
    rust = open_location(uri, storage_options)
    given, with_statistics = to_options("convert", **options), flag("statistics", statistics)
    if flag("dry_run", dry_run):
        found = rust.preview_convert(arrow, definition, types, statistics=with_statistics, options=given)
        return ConvertPreview(found.files, found.bytes, found.rows, Schema(found.schema))
    commit = rust.convert(arrow, definition, types, statistics=with_statistics, options=given)
    return announced(commit, stacklevel=4)
