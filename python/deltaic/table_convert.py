"""The method that makes a table of existing Parquet files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, overload

from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.handle import Handle, open_location
from deltaic.reading.schema import Schema
from deltaic.values.arguments import flag
from deltaic.values.column import columns_json
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.schema_of import TableSchema, table_schema
from deltaic.writing.convert import ConvertPreview

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TableConvert"]


class TableConvert(Handle):
    """The method of `Table` that converts a folder of Parquet files."""

    __slots__ = ()

    @overload
    @staticmethod
    def convert(
        uri: str | os.PathLike[str],
        partition_schema: TableSchema | None = None,
        *,
        statistics: bool = True,
        storage_options: Mapping[str, str] | None = None,
        dry_run: Literal[False] = False,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    @staticmethod
    def convert(
        uri: str | os.PathLike[str],
        partition_schema: TableSchema | None = None,
        *,
        statistics: bool = True,
        storage_options: Mapping[str, str] | None = None,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> ConvertPreview: ...

    @overload
    @staticmethod
    def convert(
        uri: str | os.PathLike[str],
        partition_schema: TableSchema | None = None,
        *,
        statistics: bool = True,
        storage_options: Mapping[str, str] | None = None,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | ConvertPreview: ...

    @staticmethod
    def convert(
        uri: str | os.PathLike[str],
        partition_schema: TableSchema | None = None,
        *,
        statistics: bool = True,
        storage_options: Mapping[str, str] | None = None,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | ConvertPreview:
        """Makes a Delta table of the Parquet files in a folder, in place and in one commit.

        Only the footers of the files are read, and no data file is written or moved. The columns are those of
        all files together; each has one type. Files and folders whose names begin with ``_`` or ``.`` are
        left out, except partition folders such as ``_day=1``. Nothing else may write there concurrently.

        Args:
            uri: The folder.
            partition_schema: The columns of partition folders such as ``day=2026-11-01/city=Oslo`` with their
                types, outermost first, in any form that `Table.create` takes; None if there are no such
                folders.
            statistics: Whether the minimum and maximum values and NULL counts in the footers become
                statistics of the table, as far as they are certain. The number of rows always does.
            storage_options: Settings of the store.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for CONVERT.

        Raises:
            TableExists: The folder is a Delta table already.
            SchemaMismatch: A column has different types in two files, or a type that Delta does not have, or
                a partition value is not of its column's type; ``path`` and ``field`` name both.
            CorruptData: A file is not a Parquet file, or is damaged.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be accessed.
            ValueError: There is no file, the folder contains another Delta table or a link to a folder, its
                folders are not those of `partition_schema`, or a column's name or an argument is invalid.

        >>> import deltaic, pathlib, pyarrow, pyarrow.parquet
        >>> for day in (1, 2):
        ...     pathlib.Path(f"barges/day={day}").mkdir(parents=True)
        ...     rows = pyarrow.table({"id": [day * 10, day * 10 + 1]})
        ...     pyarrow.parquet.write_table(rows, f"barges/day={day}/a.parquet")
        >>> days = pyarrow.schema([("day", pyarrow.int32())])
        >>> commit = deltaic.Table.convert("barges", days)
        >>> commit.version, commit.operation, commit.metrics
        (0, 'CONVERT', {'numConvertedFiles': 2})
        >>> deltaic.Table("barges").snapshot().scan(predicate="day = 2 AND id > 20").to_arrow().to_pylist()
        [{'id': 21, 'day': 2}]
        """
        schema = [] if partition_schema is None else table_schema(partition_schema)
        definition, types = columns_json(schema) if isinstance(schema, list) else (None, [])
        arrow = None if isinstance(schema, list) else schema
        rust = open_location(uri, storage_options)
        given, with_statistics = to_options("convert", **options), flag("statistics", statistics)
        if flag("dry_run", dry_run):
            found = rust.preview_convert(arrow, definition, types, statistics=with_statistics, options=given)
            return ConvertPreview(found.files, found.bytes, found.rows, Schema(found.schema))
        commit = rust.convert(arrow, definition, types, statistics=with_statistics, options=given)
        return announced_commit(commit, stacklevel=3)
