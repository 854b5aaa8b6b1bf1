"""A Delta table: the entry point of the API."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from deltaic import _rust
from deltaic.alter import Change
from deltaic.commit import Commit
from deltaic.engines.predicate_sql import Predicate
from deltaic.maintenance.advise import advise_on_table, report_on_table
from deltaic.maintenance.check import Report, check_table
from deltaic.maintenance.log_maintenance import (
    Checkpoint,
    CleanUp,
    LogCompaction,
    clean_up_log,
    compact_commits,
    write_checkpoint,
)
from deltaic.maintenance.optimize import optimize_files
from deltaic.maintenance.purge import purge_files
from deltaic.maintenance.repair import Repair, remove_missing_files
from deltaic.maintenance.restore import RestorePreview, restore_version
from deltaic.maintenance.statistics import compute_statistics
from deltaic.maintenance.symlink_manifest import SymlinkManifest, write_symlink_manifests
from deltaic.maintenance.vacuum import Vacuum, vacuum_files
from deltaic.reading.arrow_table import ArrowTable
from deltaic.reading.changes import read_changes
from deltaic.reading.history import read_history
from deltaic.reading.scan import Scan
from deltaic.reading.schema import Schema
from deltaic.reading.snapshot import Snapshot
from deltaic.reading.time_travel import snapshot_at
from deltaic.transaction import Transaction
from deltaic.values.arguments import place
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable
from deltaic.values.commit_options import CommitOptions
from deltaic.values.foreign_names import OF_TABLES, elsewhere, missing
from deltaic.values.location import MAX_LINE_BYTES, open_location
from deltaic.values.progress import Progress
from deltaic.values.schema_of import TableSchema
from deltaic.writing.alter import alter_table
from deltaic.writing.append import append_rows
from deltaic.writing.assignments import NewValue
from deltaic.writing.clone import CloneCommit, ClonePreview, clone_table
from deltaic.writing.convert import ConvertPreview, convert_folder
from deltaic.writing.create import create_table
from deltaic.writing.delete import delete_rows
from deltaic.writing.dry_run import DryRun
from deltaic.writing.merge import Merge, MergeCondition, start_merge
from deltaic.writing.overwrite import overwrite_rows
from deltaic.writing.transactions import begin_transaction, run_in_transaction
from deltaic.writing.update import update_rows

if TYPE_CHECKING:
    import polars
    from typing_extensions import Unpack

    from deltaic.advice.advice import Advice

__all__ = ["Table"]


class Table:
    """A handle on a Delta table. Creating a handle does no I/O.

    The handle caches the newest snapshot it has read, so that `snapshot` reads only what is new.

    Args:
        uri: The table's location: a path, or a URI such as ``file:///data/events``,
            ``s3://bucket/events``, ``abfss://container@account.dfs.core.windows.net/events`` or
            ``gs://bucket/events``.
        storage_options: Settings of the store, by name: ``{"aws_region": "eu-west-1"}``, or by Spark's
            names, ``{"fs.s3a.access.key": …}``. Unset options come from environment variables. Values never
            appear in a repr or an error. ``docs/reference/storage-options.md`` lists all options.
        allowed_roots: Further locations whose files the log may reference (as shallow clones do); none by
            default.
        max_line_bytes: The longest line accepted in a commit file, in bytes; 256 MiB by default.

    Raises:
        ValueError: The URI or a storage option is not known, two options contradict each other, or another
            argument is invalid.

    >>> import deltaic, pyarrow
    >>> rides = pyarrow.table({"id": [1, 2, 3], "city": ["Rome", "Oslo", "Rome"]})
    >>> table = deltaic.Table.create("city_rides", rides.schema, partition_by=["city"])
    >>> table.append(rides).version
    1
    >>> deltaic.Table("city_rides").snapshot().scan(predicate="city = 'Rome'").count()
    2
    """

    __slots__ = ("__dict__", "__weakref__", "_newest", "_rust")

    @elsewhere(
        version="deltaic.Table(uri).snapshot(version=…)",
        without_files="deltaic.Table(uri): files are listed only when they are needed",
    )
    def __init__(
        self,
        uri: str | os.PathLike[str],
        *,
        storage_options: Mapping[str, str] | None = None,
        allowed_roots: Iterable[str | os.PathLike[str]] = (),
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        if isinstance(allowed_roots, (str, os.PathLike)):
            raise TypeError("allowed_roots must be a list of paths or URIs: write allowed_roots=[…]")
        roots = [place("allowed_roots", root) for root in allowed_roots]
        self._rust = open_location(uri, storage_options, allowed_roots=roots, max_line_bytes=max_line_bytes)
        self._newest: _rust.Snapshot | None = None

    @classmethod
    def _of(cls, rust: _rust.Table) -> Table:
        table = cls.__new__(cls)
        table._rust = rust  # noqa: SLF001 - one of this class
        table._newest = None  # noqa: SLF001
        return table

    @staticmethod
    def exists(uri: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None) -> bool:
        """Whether a Delta table exists at this location. A plain folder of Parquet files is not a table.

        Raises:
            StorageError: The store cannot be accessed.

        >>> import deltaic, pyarrow
        >>> deltaic.Table.exists("boats")
        False
        >>> table = deltaic.Table.create("boats", pyarrow.schema([("id", pyarrow.int64())]))
        >>> deltaic.Table.exists("boats")
        True
        """
        return open_location(uri, storage_options).exists()

    @staticmethod
    def create(
        uri: str | os.PathLike[str],
        schema: TableSchema,
        *,
        partition_by: Sequence[str] = (),
        cluster_by: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
        name: str | None = None,
        description: str | None = None,
        constraints: Mapping[str, str] | None = None,
        if_exists: Literal["error", "ignore", "replace"] = "error",
        storage_options: Mapping[str, str] | None = None,
        **commit: Unpack[CommitOptions],
    ) -> Table:
        """Creates an empty table, as version 0 of its log.

        Args:
            uri: The table's location.
            schema: The columns: a list of `Column`, which can have defaults, generated values and comments;
                anything with ``__arrow_c_schema__``, such as a `pyarrow.Schema` or `Snapshot.schema` of
                another table; or a data frame, whose rows are not written. The named index of a pandas frame
                becomes a column.
            partition_by: The partition columns, outermost first.
            cluster_by: The clustering columns, at most four; cannot be combined with `partition_by`.
            properties: The table's properties, such as ``{"delta.appendOnly": "true"}``. The features that
                they require are enabled; ``delta.feature.<name>`` enables one by name. Properties that only
                other writers implement are recorded, and a `DeltaicWarning` names them.
            name: The table's name.
            description: The table's description.
            constraints: CHECK constraints by name: SQL conditions that each row must satisfy.
            if_exists: ``"error"``, ``"ignore"`` to leave an existing table unchanged, or ``"replace"`` to
                replace it: its rows, columns, properties and domains are dropped, its history and its
                features remain, and earlier versions can still be read.
            storage_options: Settings of the store.
            commit: How the commit is made: see `CommitOptions`.

        Raises:
            TableExists: The table exists, and `if_exists` is ``"error"``.
            CommitConflict: Other writers kept changing the table to be replaced.
            ValueError: A column is not in the schema, a property has an invalid value, or another argument is
                invalid.
            SchemaMismatch: A column has a type that Delta does not support, or the requested settings
                contradict each other.
            InvalidPredicate, UnsupportedExpression: A constraint is not a condition on the columns.
            UnsupportedFeature: A property requires a feature that is not implemented.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> schema = pyarrow.schema([("day", pyarrow.date32()), ("amount", pyarrow.decimal128(10, 2))])
        >>> table = deltaic.Table.create("sales", schema, partition_by=["day"], name="sales of all shops")
        >>> table.snapshot().metadata.name
        'sales of all shops'
        """
        create_table(
            uri,
            schema,
            partition_by=partition_by,
            cluster_by=cluster_by,
            properties=properties,
            name=name,
            description=description,
            constraints=constraints,
            if_exists=if_exists,
            storage_options=storage_options,
            options=commit,
        )
        return Table(uri, storage_options=storage_options)

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
        return convert_folder(
            uri,
            partition_schema,
            statistics=statistics,
            storage_options=storage_options,
            dry_run=dry_run,
            options=options,
        )

    @property
    def uri(self) -> str:
        """The table's root, normalised and ending in a slash; never contains a secret."""
        return self._rust.uri

    @property
    def version(self) -> int:
        """The newest version.

        >>> import deltaic, pyarrow
        >>> table = deltaic.write("ketches", pyarrow.table({"id": [1]}))
        >>> commit = table.append(pyarrow.table({"id": [2]}))
        >>> table.version, table.schema.names, table.files().num_rows
        (1, ['id'], 2)
        """
        return self._refreshed().version

    @property
    def schema(self) -> Schema:
        """The columns of the newest version, by their logical names."""
        return Schema(self._refreshed().schema)

    @elsewhere(versionAsOf="version=…", timestampAsOf="timestamp=…")
    def snapshot(self, version: int | None = None, timestamp: str | datetime | None = None) -> Snapshot:
        """Returns the table at its newest version, or at an earlier one.

        Args:
            version: The version to read.
            timestamp: Selects the newest version committed at or before this time: ISO 8601 text with a zone,
                or an aware datetime.

        Raises:
            TableNotFound: There is no table at this location.
            VersionNotFound: The log does not have the version, or the time is before its oldest version or in
                the future; the message gives the range.
            UnsupportedFeature: The table needs a feature that is not implemented; the message names it.
            CorruptLog: The log is damaged.
            ValueError: Both arguments are given, or the time has no zone.
            TypeError: An argument is neither a version nor a time.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("ferries", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1]}))
        >>> table.snapshot().num_rows, table.snapshot(version=0).num_rows
        (1, 0)
        """
        return snapshot_at(self._rust, self._refreshed, version, timestamp)

    def files(self, predicate: Predicate | None = None, *, stats: bool = False) -> ArrowTable:
        """Returns the live files of the newest version, as `Snapshot.files`."""
        return Snapshot(self._refreshed()).files(predicate, stats=stats)

    def count(self) -> int:
        """Returns the exact number of rows; from the log alone if that is exact.

        >>> import deltaic, pyarrow
        >>> table = deltaic.write("dories", pyarrow.table({"id": [1, 2]}))
        >>> table.count(), table.snapshot().count()
        (2, 2)
        """
        return self._all_rows().count()

    def to_arrow(self) -> Any:  # Any: pyarrow ships no types
        """Returns all rows as a `pyarrow.Table`; `Snapshot.scan` selects columns and rows.

        >>> import deltaic, pyarrow
        >>> deltaic.write("punts", pyarrow.table({"id": [1, 2]})).to_arrow()["id"].to_pylist()
        [1, 2]
        """
        return self._all_rows().to_arrow()

    def to_pandas(self) -> Any:  # Any: pandas ships no types
        """Returns all rows as a `pandas.DataFrame`."""
        return self._all_rows().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Returns all rows as a `polars.DataFrame`."""
        return self._all_rows().to_polars()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._all_rows().__arrow_c_stream__(requested_schema)

    @elsewhere(
        starting_version="start=…, a version or a time",
        starting_timestamp="start=…, a version or a time",
        ending_version="end=…, a version or a time",
        ending_timestamp="end=…, a version or a time",
        startingVersion="start=…, a version or a time",
        endingVersion="end=…, a version or a time",
    )
    def changes(
        self,
        start: int | str | datetime,
        end: int | str | datetime | None = None,
        columns: Sequence[str] | None = None,
        *,
        infer: bool = False,
    ) -> Scan:
        """Returns the row-level changes between two versions, as a scan.

        Each row has the table's columns, with the schema of the last version, and ``_change_type``
        (``insert``, ``delete``, ``update_preimage`` or ``update_postimage``), ``_commit_version`` and
        ``_commit_timestamp``. Rows are grouped by version, the oldest version first.

        Args:
            start: The first version, or a time: the first version that was committed at or after it.
            end: The last version (inclusive), or a time: the last version that was committed at or before it.
                The newest version when None.
            columns: The top-level columns to read, in this order; all of them when None. The three change
                columns are added if they are not listed.
            infer: Whether to compute the changes from the files that each version added and removed; required
                for tables without a change data feed. Recorded change data is ignored. Rows that were
                rewritten unchanged are not reported; an update is a ``delete`` and an ``insert``. Rows of the
                files that one version rewrote are held in memory together.

        Raises:
            VersionNotFound: The log does not hold the range, or no longer does; the message gives the range
                that it contains.
            UnsupportedFeature: The change data feed is not enabled at one of the versions, and `infer` is not
                set; or the table needs a feature that is not implemented.
            SchemaMismatch: A column had another type in the range, which its last type cannot represent.
            ValueError: The range ends before it starts, a time has no zone, or a column is not known.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("kites", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1, 2]}))
        >>> changes = table.changes(1, infer=True).to_arrow()
        >>> changes["id"].to_pylist(), changes["_change_type"].to_pylist()
        ([1, 2], ['insert', 'insert'])
        """
        return read_changes(self._rust, start, end, columns, infer=infer)

    def history(self, limit: int | None = None) -> list[Commit]:
        """Returns the commits that the log still holds, newest first.

        Args:
            limit: Maximum number of commits.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("trams", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1]}), commit_info={"job": "nightly"})
        >>> [(commit.version, commit.operation) for commit in table.history()]
        [(1, 'WRITE'), (0, 'CREATE TABLE')]
        >>> table.history(limit=1)[0].info["job"]
        'nightly'
        """
        return read_history(self._rust, limit)

    @overload
    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Appends rows in one commit: all of them or none.

        Columns are matched by name, in any order. Columns that the data lacks are filled with NULL if the
        table allows NULL. If another writer commits first and changes neither schema nor protocol, the commit
        is retried at the next version.

        Args:
            data: The rows: anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as a
                `pyarrow.Table`, a polars or pandas data frame, a DuckDB relation, a scan, a snapshot or
                another table; or a dataset or scanner of pyarrow. A stream is read once: its second use
                raises a `ValueError`.
                The index of a pandas frame is written if the table has a column of its name; an unnamed range
                index is dropped.
            schema_mode: ``"merge"`` adds columns and fields of structs that the table does not have, with
                NULL in existing rows, and widens types if ``delta.enableTypeWidening`` is set.
            dry_run: Whether to return only what would be done. The rows are read, validated and encoded;
                those of a stream are kept in memory for the call after it.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit. Data without rows commits nothing, and ``skipped`` is set.

        Raises:
            SchemaMismatch: The data does not fit the table's columns, or is not valid Arrow data: text that
                is not UTF-8, a decimal with too many digits. ``field`` and ``row`` give the place.
            ConstraintViolation: A row has NULL in a column that is NOT NULL.
            UnsupportedFeature: The table requires a writer feature that is not implemented. Nothing
                was written.
            MetadataChanged: Another writer changed the table's metadata concurrently. Appends to a table with
                identity columns change it: rows that can be read twice are then written again.
            ProtocolChanged: Another writer changed the table's protocol concurrently.
            ConcurrentWrite: Other writers won `max_attempts` times, or the deadline passed.
            ConcurrentTransaction: Another run of the same application committed an earlier version
                concurrently.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("bikes", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1, 2]}))
        >>> commit.version, commit.operation
        (1, 'WRITE')
        >>> for _ in range(2):
        ...     commit = table.append(pyarrow.table({"id": [3]}), app_transaction=("nightly", 7))
        >>> commit.version, commit.skipped
        (2, True)
        """
        return append_rows(
            self._rust, self._refreshed, data, schema_mode=schema_mode, dry_run=dry_run, options=options
        )

    @overload
    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Replaces rows by others in one commit. The properties and the history of the table remain.

        Args:
            data: The new rows, as for `append`.
            where: Replace the rows for which this is true, as `delete` would delete them; each new row must
                match it too. All rows when None.
            partitions: ``"dynamic"``: replace the partitions that the new rows are in, and no others.
            schema_mode: ``"merge"`` changes the schema as for `append`. ``"replace"`` makes the schema that
                of the data, if all rows are replaced: comments, defaults, generated and identity columns are
                dropped; with column mapping, columns of the same name and type keep their ids.
            partition_by: With ``schema_mode="replace"``: the new partition columns; None keeps them.
            dry_run: Whether to return only what would be done, as for `append`.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit. If no row is replaced or added, nothing is committed and ``skipped`` is set.

        Raises:
            ConstraintViolation: A new row does not match `where`, or violates a constraint of the table; or
                the table is append-only.
            SchemaMismatch: The data does not fit the table's columns, as for `append`.
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Another writer changed the rows that would be replaced.
            MetadataChanged: Another writer changed the table's metadata concurrently, as for `append`.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> stops = pyarrow.table({"line": ["A", "A", "B"], "stop": [1, 2, 1]})
        >>> table = deltaic.Table.create("stops", stops.schema, partition_by=["line"])
        >>> commit = table.append(stops)
        >>> commit = table.overwrite(pyarrow.table({"line": ["A"], "stop": [9]}), "line = 'A'")
        >>> commit = table.overwrite(pyarrow.table({"line": ["C"], "stop": [5]}), partitions="dynamic")
        >>> table.snapshot().scan().to_arrow().sort_by("line").to_pylist()
        [{'line': 'A', 'stop': 9}, {'line': 'B', 'stop': 1}, {'line': 'C', 'stop': 5}]
        """
        return overwrite_rows(
            self._rust,
            self._refreshed,
            data,
            where,
            partitions=partitions,
            schema_mode=schema_mode,
            partition_by=partition_by,
            dry_run=dry_run,
            options=options,
        )

    @overload
    def delete(self, where: Predicate | None = None, **options: Unpack[CommitOptions]) -> Commit: ...

    @overload
    def delete(
        self, where: Predicate | None = None, *, dry_run: Literal[True], **options: Unpack[CommitOptions]
    ) -> DryRun: ...

    @overload
    def delete(
        self, where: Predicate | None = None, *, dry_run: bool, **options: Unpack[CommitOptions]
    ) -> Commit | DryRun: ...

    def delete(
        self,
        where: Predicate | None = None,
        *,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Deletes the rows for which a predicate is true, not false or NULL, in one commit.

        Files of which no row remains are removed. In other files, rows are deleted by deletion vectors if
        ``delta.enableDeletionVectors`` is set; otherwise the remaining rows are copied to new files, and keep
        their row ids. After a conflict, the rows are searched again in the newest version.

        Args:
            where: The rows, as for `Snapshot.scan`; every row when None.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for DELETE. If no row matches, nothing is committed and
            ``skipped`` is set.

        Raises:
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedExpression: It uses an expression that cannot be evaluated here.
            ConstraintViolation: The table is append-only.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers' commits conflict too often, or with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> scooters = pyarrow.table({"id": [1, 2, 3], "km": [0.0, 12.5, None]})
        >>> table = deltaic.Table.create("scooters", scooters.schema)
        >>> commit = table.append(scooters)
        >>> print(table.delete("km = 0", dry_run=True))
        DELETE of version 1 would delete 1 row:
          1 file rewritten (536 B)
        >>> commit = table.delete(deltaic.col("km") == 0)
        >>> commit.operation, commit.metrics["numDeletedRows"]
        ('DELETE', 1)
        >>> table.snapshot().scan().to_arrow()["id"].to_pylist()
        [2, 3]
        """
        return delete_rows(self._rust, self._refreshed, where, dry_run=dry_run, options=options)

    @overload
    def update(
        self,
        set: Mapping[str, NewValue],
        where: Predicate | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def update(
        self,
        set: Mapping[str, NewValue],
        where: Predicate | None = None,
        *,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def update(
        self,
        set: Mapping[str, NewValue],
        where: Predicate | None = None,
        *,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002 - SQL's word
        where: Predicate | None = None,
        *,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Sets columns of the rows for which a predicate is true, in one commit.

        All new values are computed from the row before the update. The rows keep their row ids. After a
        conflict, the rows are searched again in the newest version.

        Args:
            set: The new value of each column: SQL text (``"price * 2"``, ``"'closed'"``, ``"other_column"``),
                an expression of `deltaic.col`, or a value of Python other than text.
            where: The rows, as for `Snapshot.scan`; every row when None.
            dry_run: Whether to return only what would be done. The new rows are validated and encoded, but
                not written.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for UPDATE. If no row matches, nothing is committed and
            ``skipped`` is set.

        Raises:
            ValueError: A column is unknown or set twice.
            InvalidPredicate: The predicate or an expression does not parse, names an unknown column, or fails
                for a row: overflow, division by zero, an invalid cast.
            UnsupportedExpression: It uses an expression that cannot be evaluated here.
            SchemaMismatch: A new value does not have the type of its column.
            ConstraintViolation: A new row violates a constraint; or the table is append-only.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers' commits conflict too often, or with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> fares = pyarrow.table({"line": ["A", "B"], "cents": [220, 250]})
        >>> table = deltaic.Table.create("fares", fares.schema)
        >>> commit = table.append(fares)
        >>> commit = table.update({"cents": "cents + 10", "line": "'A1'"}, "line = 'A'")
        >>> commit.operation, commit.metrics["numUpdatedRows"]
        ('UPDATE', 1)
        >>> table.snapshot().scan().to_arrow().sort_by("line").to_pylist()
        [{'line': 'A1', 'cents': 230}, {'line': 'B', 'cents': 250}]
        """
        return update_rows(self._rust, self._refreshed, set, where, dry_run=dry_run, options=options)

    @elsewhere(predicate="on=…", condition="on=…")
    def merge(
        self,
        source: ArrowStreamExportable | ArrowArrayExportable,
        on: MergeCondition,
        *,
        target_alias: str = "target",
        source_alias: str = "source",
        schema_mode: Literal["keep", "merge"] = "keep",
    ) -> Merge:
        """Starts a merge: rows that match rows of a source are updated or deleted, others are inserted.

        The clauses are added to the result, which `Merge.execute` runs in one commit. Rows of the source that
        take more than a quarter of its `memory` are kept in temporary files.

        Args:
            source: The rows: anything Arrow as for `append`, a scan, a snapshot, or another table, whose
                newest version is read. With ``table.changes(…)`` of another table, clauses may use
                ``source._change_type``.
            on: The condition on which two rows match, with columns as ``alias.column``. Equalities between
                both sides make it fast: files without their keys are not read.
            target_alias: The name of the table in expressions.
            source_alias: The name of the source in expressions.
            schema_mode: ``"merge"``: columns and fields of structs that clauses set, and that only the source
                has, are added to the table, and types are widened if ``delta.enableTypeWidening`` is set. All
                columns are then those that the source has: others keep their value, or get their default.

        Returns:
            The merge, without clauses.

        >>> import deltaic, pyarrow
        >>> stock = pyarrow.table({"item": ["pen", "ink"], "count": [5, 2]})
        >>> table = deltaic.Table.create("stock", stock.schema)
        >>> commit = table.append(stock)
        >>> news = pyarrow.table({"item": ["ink", "cap"], "count": [9, 1]})
        >>> merge = table.merge(news, on="target.item = source.item")
        >>> commit = merge.when_matched_update_all().when_not_matched_insert_all().execute()
        >>> commit.operation, commit.metrics["numTargetRowsUpdated"], commit.metrics["numTargetRowsInserted"]
        ('MERGE', 1, 1)
        >>> table.snapshot().scan().to_arrow().sort_by("item").to_pylist()
        [{'item': 'cap', 'count': 1}, {'item': 'ink', 'count': 9}, {'item': 'pen', 'count': 5}]

        The changes of one table, merged into another:

        >>> copy = deltaic.Table.create("stock_copy", stock.schema)
        >>> changes = table.changes(1, 1, infer=True)
        >>> merge = copy.merge(changes, on="target.item = source.item")
        >>> merge = merge.when_matched_delete("source._change_type = 'delete'")
        >>> commit = merge.when_not_matched_insert_all("_change_type <> 'delete'").execute()
        >>> commit.metrics["numTargetRowsInserted"]
        2
        """
        return start_merge(
            self._rust, self._refreshed, source, on, (target_alias, source_alias), schema_mode=schema_mode
        )

    def transaction(
        self,
        *,
        operation: str = "WRITE",
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Transaction:
        """Starts a transaction: several changes in one commit, all or none. Use it in a ``with`` block.

        Args:
            operation: The operation recorded in the commit: ``"WRITE"``, ``"STREAMING UPDATE"``,
                ``"DELETE"``, ``"UPDATE"``, ``"MERGE"``, ``"TRUNCATE"``, ``"OPTIMIZE"`` or ``"RESTORE"``.
            dry_run: Whether to write and commit nothing: `Transaction.dry_run` returns what would be done.
            options: How the commit is made: see `CommitOptions`.

        Raises:
            TableNotFound: There is no table at this location.
            ValueError: An argument is invalid.
            CommitConflict: At the end of the block: another writer's commit conflicts with this one; the
                class gives the kind of conflict. Nothing was committed.
            CommitUnknown: At the end of the block: the store gave no definitive response to the commit
                request.

        >>> import deltaic, pyarrow
        >>> rows = pyarrow.table({"id": [1, 2]})
        >>> table = deltaic.Table.create("rafts", rows.schema)
        >>> with table.transaction(app_transaction=("nightly", 7)) as tx:
        ...     count = tx.append(rows) + tx.append(rows)
        >>> count, tx.committed.version
        (4, 1)
        """
        return begin_transaction(self._rust, self._refreshed, operation, dry_run=dry_run, options=options)

    def run_transaction(
        self,
        function: Callable[[Transaction], object],
        *,
        max_runs: int = 10,
        operation: str = "WRITE",
        **options: Unpack[CommitOptions],
    ) -> Commit | None:
        """Runs a function in a transaction, and again in a new transaction after each conflict.

        The function must base its decisions on what it reads through its transaction: each run reads the
        newest version. Files that an earlier run wrote are deleted before the next. Streams of rows and
        iterators that the function uses must be made in it: a second run cannot read them again, and raises.

        Args:
            function: Called with the transaction; its result is ignored. Its exceptions end the call.
            max_runs: Maximum number of runs.
            operation: As for `transaction`.
            options: How each commit is made: see `CommitOptions`. The deadline applies to all runs together.

        Returns:
            The commit; its ``conflicts_resolved`` gives the reason for each further run. None if the last run
            staged nothing.

        Raises:
            CommitConflict: The conflict of the last permitted run.
            CommitUnknown: The store gave no definitive response to a commit request: the function is not run
                again.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("tally", pyarrow.schema([("count", pyarrow.int64())]))
        >>> def add_one(tx):
        ...     counted = tx.read().to_arrow()["count"].to_pylist()
        ...     tx.remove(tx.files().to_arrow()["path"].to_pylist())
        ...     tx.append(pyarrow.table({"count": [sum(counted) + 1]}))
        >>> for _ in range(3):
        ...     commit = table.run_transaction(add_one)
        >>> table.snapshot().scan().to_arrow()["count"].to_pylist()
        [3]
        """
        return run_in_transaction(
            self._rust, self._refreshed, function, max_runs=max_runs, operation=operation, options=options
        )

    def alter(
        self,
        *changes: Change,
        **options: Unpack[CommitOptions],
    ) -> Commit:
        """Changes schema, properties and other metadata in one commit: all changes in their order, or none.

        Changes without effect commit nothing: ``skipped`` is set then. A concurrent append does not conflict,
        unless the changes required reading rows. A concurrent change of the metadata does not either: the
        changes are planned again for the version that won.

        Args:
            changes: What to change, each a value of `deltaic.alter`. Properties that only other writers
                implement cause a `DeltaicWarning`.
            options: How the commit is made: see `CommitOptions`.

        Raises:
            ValueError: A change names something that the table does not have, or gives an invalid value.
            SchemaMismatch: The table's own rules forbid the change; ``field`` or ``feature`` names the
                reason.
            ConstraintViolation: Rows of the table violate a new constraint.
            InvalidPredicate, UnsupportedExpression: A constraint is not a condition on the table's columns.
            UnsupportedFeature: The table or a change requires a feature that is not implemented.
            MetadataChanged, ProtocolChanged, ConcurrentAppend, ConcurrentTransaction, ConcurrentWrite: Other
                writers' commits conflict, too often or with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> from deltaic.alter import AddColumn, AddConstraint, SetComment
        >>> table = deltaic.Table.create("canoes", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.alter(
        ...     AddColumn("length", pyarrow.float64(), comment="in metres"), AddConstraint("known", "id > 0")
        ... )
        >>> commit.version, commit.operation
        (1, 'ALTER TABLE')
        >>> print(table.snapshot().schema)
        root
        |-- id: long
        |-- length: double
        """
        return alter_table(self._rust, self._refreshed, changes, options)

    @overload
    def optimize(
        self,
        where: Predicate | None = None,
        *,
        zorder_by: Sequence[str] = (),
        full: bool = False,
        target_file_size: int | str | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def optimize(
        self,
        where: Predicate | None = None,
        *,
        zorder_by: Sequence[str] = (),
        full: bool = False,
        target_file_size: int | str | None = None,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def optimize(
        self,
        where: Predicate | None = None,
        *,
        zorder_by: Sequence[str] = (),
        full: bool = False,
        target_file_size: int | str | None = None,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def optimize(
        self,
        where: Predicate | None = None,
        *,
        zorder_by: Sequence[str] = (),
        full: bool = False,
        target_file_size: int | str | None = None,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Combines small files into larger ones in one commit, or sorts rows, without changing them.

        In a table with clustering columns, rows are clustered: files that are not clustered yet are
        rewritten, so that rows with near values in all of these columns are in the same files.

        Files that are smaller than the target size are combined within their partition. Files of which more
        than 5% of the rows are deleted by deletion vectors are rewritten without them. Rows keep their row
        ids, and the change data feed reports no change. Appends, and changes of other files, do not conflict;
        after a change of a rewritten file, only the files with its rows are written again.

        Args:
            where: The partitions to optimize, as a predicate on partition columns; all of them when None.
                Clustered tables are optimized as a whole.
            zorder_by: Columns that predicates often use: rows with near values in all of them are put into
                the same files, so that scans skip more files. Then all files of the partitions are rewritten.
                Fields of structs are written as ``"address.city"``. A clustered table has an order of its
                own.
            full: Whether to rewrite files, too, that were clustered by other columns than those of the table,
                or by another implementation.
            target_file_size: The size of the new files in bytes, or as ``"100mb"``. When None, that of the
                property ``delta.targetFileSize``, and 1 GiB without it.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for OPTIMIZE. If no file is to be rewritten, nothing is committed
            and ``skipped`` is set.

        Raises:
            InvalidPredicate: The predicate does not parse, or uses a column that is no partition column; or
                the table is clustered.
            ValueError: The target size is not a size; a column of `zorder_by` is unknown, is a partition
                column or has no statistics, or the table is clustered; or `full` was given and the table has
                no clustering columns.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers change the same files too often, or once with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("parcels", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commits = [table.append(pyarrow.table({"id": [n]})) for n in range(4)]
        >>> print(table.optimize(dry_run=True))
        OPTIMIZE of version 4 would copy 4 rows:
          4 files rewritten (1.2 KiB)
          1 file added
        >>> commit = table.optimize()
        >>> commit.operation, commit.metrics["numRemovedFiles"], commit.metrics["numAddedFiles"]
        ('OPTIMIZE', 4, 1)
        >>> table.optimize().skipped
        True
        """
        return optimize_files(
            self._rust,
            self._refreshed,
            where,
            zorder_by=zorder_by,
            full=full,
            target_file_size=target_file_size,
            dry_run=dry_run,
            options=options,
        )

    @overload
    def purge(
        self,
        where: Predicate | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def purge(
        self,
        where: Predicate | None = None,
        *,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def purge(
        self,
        where: Predicate | None = None,
        *,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def purge(
        self,
        where: Predicate | None = None,
        *,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Rewrites the files that still have deleted rows, dropped columns or narrower types, in one commit.

        A delete by deletion vectors, a dropped column and a widened type leave data files as they are. This
        method copies the remaining rows of such files, with the table's columns, to new files. The footer of
        each file is read.
        Rows keep their row ids, and the change data feed reports no change. The replaced files remain until
        `vacuum` deletes them; only then are the values gone from storage.

        Args:
            where: The partitions, as a predicate on partition columns; all of them when None.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's operation ``REORG`` and its metrics. If there is no such file, nothing is
            committed and ``skipped`` is set.

        Raises:
            InvalidPredicate: The predicate does not parse, or uses a column that is no partition column.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers change the same files too often, or once with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> properties = {"delta.enableDeletionVectors": "true"}
        >>> schema = pyarrow.schema([("id", pyarrow.int64())])
        >>> table = deltaic.Table.create("members", schema, properties=properties)
        >>> commit = table.append(pyarrow.table({"id": range(100)}))
        >>> commit = table.delete("id = 7")
        >>> print(table.purge(dry_run=True))
        REORG of version 2 would copy 99 rows:
          1 file rewritten (537 B)
          1 file added
        >>> commit = table.purge()
        >>> commit.operation, commit.metrics["numDeletionVectorsRemoved"]
        ('REORG', 1)
        >>> table.purge().skipped
        True
        """
        return purge_files(self._rust, self._refreshed, where, dry_run=dry_run, options=options)

    @overload
    def recompute_statistics(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def recompute_statistics(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | None = None,
        *,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def recompute_statistics(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | None = None,
        *,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def recompute_statistics(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | None = None,
        *,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Reads the data files and writes their statistics to the log again, in one commit.

        Statistics let scans skip files. Files lack them if their writer did not collect them, or collected
        them before the table's properties selected other columns; after deletes by deletion vectors, bounds
        may be wider than the remaining rows. Data files, rows, row ids, deletion vectors and tags remain as
        they are, and the change data feed reports no change. Files whose statistics would be the same are
        left alone, but read.

        Args:
            columns: Columns that get statistics, in addition to those that a file has statistics of. Fields
                of structs are written as ``"address.city"``; a struct means all of its fields. When None,
                each file gets statistics of exactly the columns that a writer would collect: those of the
                properties ``delta.dataSkippingStatsColumns`` or ``delta.dataSkippingNumIndexedCols``, and
                the clustering columns.
            where: The partitions, as a predicate on partition columns; all of them when None.
            dry_run: Whether to return only what would be done. The files are read nevertheless.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit; ``metrics`` has the number of files that were read, ``numFilesRead``, and of those
            with other statistics, ``numFilesUpdated``. If no statistics change, nothing is committed and
            ``skipped`` is set.

        Raises:
            InvalidPredicate: The predicate does not parse, or uses a column that is no partition column.
            ValueError: A column is unknown or is a partition column.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers change the same files too often, or once with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be accessed.

        >>> import deltaic, pyarrow
        >>> properties = {"delta.dataSkippingNumIndexedCols": "0"}
        >>> schema = pyarrow.schema([("id", pyarrow.int64())])
        >>> table = deltaic.Table.create("buoys", schema, properties=properties)
        >>> commits = [table.append(pyarrow.table({"id": [n]})) for n in range(3)]
        >>> len(table.snapshot().files("id = 2").to_arrow())
        3
        >>> print(table.recompute_statistics(["id"], dry_run=True))
        COMPUTE STATS of version 3 would describe 3 rows:
          3 files get other statistics
        >>> commit = table.recompute_statistics(["id"])
        >>> commit.operation, commit.metrics["numFilesUpdated"]
        ('COMPUTE STATS', 3)
        >>> len(table.snapshot().files("id = 2").to_arrow())
        1
        """
        return compute_statistics(
            self._rust, self._refreshed, columns, where, dry_run=dry_run, options=options
        )

    def vacuum(
        self,
        retention: timedelta | None = None,
        mode: Literal["full", "lite"] = "full",
        inventory: ArrowStreamExportable | ArrowArrayExportable | None = None,
        *,
        dry_run: bool = False,
        force: bool = False,
        clones: Sequence[str | os.PathLike[str] | Table] = (),
        keep_versions: Iterable[int] = (),
        **options: Unpack[CommitOptions],
    ) -> Vacuum:
        """Deletes files that the newest version does not need and that are older than the retention.

        Data files and deletion vectors remain if the newest version names them, or removed them within the
        retention. Change data files expire too. Files younger than the retention may belong to running
        writers and remain, as do the log, hidden folders (names that begin with ``_`` or ``.``, except those
        of change data and partitions), other tables in folders of this one, and everything outside of the
        table's folder. Older versions whose files are deleted can no longer be read.

        The deletion is recorded by the commits ``VACUUM START`` and ``VACUUM END``.

        Args:
            retention: How long files are retained; the table's ``delta.deletedFileRetentionDuration`` (one
                week) when None.
            mode: ``"full"`` lists the table. ``"lite"`` reads only the log: it deletes the files that commits
                since the last vacuum removed, and none that no commit names.
            inventory: A list of the table's files instead of a listing, with the columns ``path``,
                ``length``, ``isDir`` and ``modificationTime`` (in milliseconds), such as from a store's
                inventory report.
            dry_run: Whether to return only what would be deleted.
            force: Whether a retention shorter than the table's is allowed: only if nothing else writes the
                table, and no older version is read.
            clones: Tables, or their locations, whose logs name files of this table, as those of shallow
                clones do: the files that they need remain.
            keep_versions: Versions whose data files and deletion vectors remain, so that they can be read
                afterwards. Their commits can be cleaned up, as those of other versions.
            options: How the commits are made, and `progress`, which reports ``"files"`` (listed) and
                ``"deletions"``: see `CommitOptions`.

        Raises:
            ValueError: The retention is negative, or shorter than the table's without `force`; or the
                inventory or another argument is invalid.
            UnsupportedFeature: The table is catalog-managed, or has a feature that is not implemented.
            CorruptLog: It cannot be determined which files are needed; nothing is deleted.
            VersionNotFound: A version to keep does not exist; or in mode ``"lite"``, a commit since the last
                vacuum.
            TableNotFound: There is no table here, or at the location of a clone.
            StorageError: A deletion failed; the error's context has the numbers of files that are
                ``deleted`` and ``left``. Another vacuum deletes the rest.
            CommitConflict: Other writers kept committing, or changed the protocol.

        >>> import deltaic, pyarrow
        >>> lighters = pyarrow.table({"id": [1, 2, 3]})
        >>> table = deltaic.Table.create("lighters", lighters.schema)
        >>> commits = [table.overwrite(lighters) for _ in range(2)]
        >>> table.vacuum()
        <deltaic.Vacuum 0 files deleted, retention 7 days>
        >>> table.history(limit=1)[0].operation
        'VACUUM END'
        """
        return vacuum_files(
            self._rust,
            self._refreshed,
            retention,
            mode,
            inventory,
            dry_run=dry_run,
            force=force,
            clones=self._without_tables(clones),
            keep_versions=keep_versions,
            options=options,
        )

    @overload
    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        ignore_missing_files: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        dry_run: Literal[True],
        ignore_missing_files: bool = False,
        **options: Unpack[CommitOptions],
    ) -> RestorePreview: ...

    @overload
    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        dry_run: bool,
        ignore_missing_files: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | RestorePreview: ...

    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        dry_run: bool = False,
        ignore_missing_files: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | RestorePreview:
        """Makes the table as it was at an earlier version, in one commit. The history remains.

        Rows, row ids, schema, partitioning, properties and clustering columns are those of the earlier
        version. The protocol is never lowered; application transactions and user-defined domains remain; row
        ids and values of identity columns that were given since are not given again.

        Args:
            version: The version to restore. Either this or `timestamp` is required.
            timestamp: Selects the newest version committed at or before this time, as for `Table.snapshot`.
            dry_run: Whether to return only what would be done.
            ignore_missing_files: Whether to leave out files of that version that are gone, so that their rows
                are missing. By default, they are an error.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for RESTORE. If the table already is as at that version, nothing
            is committed and ``skipped`` is set.

        Raises:
            VersionNotFound: The log does not hold the version or time; the message gives the range.
            CorruptData: Files of that version are gone, for example after a vacuum.
            ConstraintViolation: The table is append-only, and files would be removed.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Another writer committed concurrently; the class gives the kind of conflict, and
                is `ConcurrentWrite` for a commit that changed neither files nor metadata. Or a vacuum is
                running that may delete the files.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be accessed.
            ValueError: Neither or both of `version` and `timestamp` are given, or the time has no zone.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("gondolas", pyarrow.schema([("id", pyarrow.int64())]))
        >>> for number in (1, 2):
        ...     commit = table.append(pyarrow.table({"id": [number]}))
        >>> commit = table.delete()
        >>> table.restore(2, dry_run=True).restored_files
        2
        >>> commit = table.restore(2)
        >>> commit.version, commit.operation, commit.metrics["numRestoredFiles"]
        (4, 'RESTORE', 2)
        >>> sorted(table.snapshot().scan().to_arrow()["id"].to_pylist())
        [1, 2]
        """
        return restore_version(
            self._rust,
            self._refreshed,
            version,
            timestamp,
            dry_run=dry_run,
            ignore_missing_files=ignore_missing_files,
            options=options,
        )

    @overload
    def clone(
        self,
        target: str | os.PathLike[str] | Table,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        if_exists: Literal["error", "replace"] = "error",
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        dry_run: Literal[False] = False,
        **options: Unpack[CommitOptions],
    ) -> CloneCommit[Table]: ...

    @overload
    def clone(
        self,
        target: str | os.PathLike[str] | Table,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        if_exists: Literal["error", "replace"] = "error",
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> ClonePreview: ...

    @overload
    def clone(
        self,
        target: str | os.PathLike[str] | Table,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        if_exists: Literal["error", "replace"] = "error",
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> CloneCommit[Table] | ClonePreview: ...

    def clone(
        self,
        target: str | os.PathLike[str] | Table,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        if_exists: Literal["error", "replace"] = "error",
        properties: Mapping[str, str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> CloneCommit[Table] | ClonePreview:
        """Makes a shallow clone: a new table with the rows of this one, whose log refers to the same files.

        No data file is read or copied. Schema, partitioning, properties, constraints, protocol and domains
        are those of this table. The id of a new table and row ids are new; name, description and
        application transactions are not copied. Later changes of either table do not affect the other.

        The clone needs the files of this table: name it as one of the ``clones`` of `Table.vacuum`. The
        ``table`` of the result may read them; to open the clone elsewhere, pass this table's location as one
        of the ``allowed_roots``.

        Args:
            target: The location of the clone, on the store of this table.
            version: The version to clone; the newest by default.
            timestamp: Selects the newest version committed at or before this time, as for `Table.snapshot`.
            if_exists: ``"error"``, or ``"replace"`` to replace an existing table: its files are removed in
                the same commit, its history and its features remain.
            properties: Properties of the clone, besides those of this table.
            storage_options: Settings of the store for the target; those of this table by default.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit of the clone, with Spark's metrics for CLONE, and the clone as its ``table``.

        Raises:
            TableExists: The target is a table, and `if_exists` is ``"error"``.
            VersionNotFound: The log does not hold the version or time; the message gives the range.
            CorruptData: A version or time is given, and files of that version are gone.
            UnsupportedFeature: The target is on another store, this table is in memory or catalog-managed, or
                a feature is not implemented.
            SchemaMismatch: The files do not have what a property requires, or the replaced table is
                append-only.
            CommitConflict: Another writer created or changed the target concurrently.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: A store cannot be accessed.
            ValueError: Both `version` and `timestamp` are given, the target is this table, or a property or
                another argument is invalid.

        >>> import deltaic, pyarrow
        >>> kayaks = pyarrow.table({"id": [1, 2, 3]})
        >>> table = deltaic.Table.create("kayaks", kayaks.schema)
        >>> commit = table.append(kayaks)
        >>> commit = table.clone("kayaks_test")
        >>> commit.version, commit.operation, commit.metrics["sourceNumOfFiles"]
        (0, 'CLONE', 1)
        >>> clone = commit.table
        >>> commit = clone.delete("id = 2")
        >>> table.snapshot().num_rows, clone.snapshot().num_rows
        (3, 2)
        >>> deltaic.Table("kayaks_test", allowed_roots=["kayaks"]).snapshot().num_rows
        2
        """
        return clone_table(
            self._rust,
            self._refreshed,
            target._rust if isinstance(target, Table) else target,  # noqa: SLF001 - a table too
            version,
            timestamp,
            if_exists=if_exists,
            properties=properties,
            storage_options=storage_options,
            dry_run=dry_run,
            as_table=Table._of,
            options=options,
        )

    def repair(self, *, dry_run: bool = False, **options: Unpack[CommitOptions]) -> Repair:
        """Removes the entries of data files that are gone from storage, in one commit. Their rows are lost.

        A table with such an entry cannot be read. First try to put the files back from a backup, or to
        `restore` a version whose files exist.

        Args:
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The paths of the files, and the commit. If no file is missing, nothing is committed.

        Raises:
            CorruptData: The deletion vector of an existing file is gone. Without it, deleted rows would be in
                the table again, so nothing is repaired.
            ConstraintViolation: The table is append-only.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers' commits conflict too often, or with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be accessed.

        >>> import deltaic, pathlib, pyarrow
        >>> table = deltaic.Table.create("sledges", pyarrow.schema([("id", pyarrow.int64())]))
        >>> for number in (1, 2):
        ...     commit = table.append(pyarrow.table({"id": [number]}))
        >>> lost = table.snapshot(1).files().to_arrow()["path"][0].as_py()
        >>> pathlib.Path("sledges", lost).unlink()
        >>> table.repair(dry_run=True).missing_files == [lost]
        True
        >>> repaired = table.repair()
        >>> repaired.commit.operation, repaired.commit.metrics["numRemovedFiles"]
        ('FSCK', 1)
        >>> table.snapshot().scan().to_arrow()["id"].to_pylist()
        [2]
        """
        return remove_missing_files(self._rust, self._refreshed, dry_run=dry_run, options=options)

    def symlink_manifest(self, *, dry_run: bool = False) -> SymlinkManifest:
        """Writes the symlink manifests of the newest version, for engines that read Parquet through Hive.

        ``_symlink_format_manifest`` has a file ``manifest`` for the table, or one in the folder of each
        partition: the absolute URIs of its data files, a line each. Manifests of partitions without files are
        deleted. Commits do not update the manifests, so call this again after them.

        Args:
            dry_run: Whether to return only which manifests would be written and deleted.

        Raises:
            UnsupportedFeature: The table has deletion vectors or column mapping, which readers of manifests
                do not know.
            PathEscape: A file is neither in the table nor in an allowed folder.
            StorageError: The store cannot be written to.

        >>> import deltaic, pathlib, pyarrow
        >>> rows = pyarrow.table({"id": [1, 2], "city": ["Rome", "Oslo"]})
        >>> table = deltaic.Table.create("funiculars", rows.schema, partition_by=["city"])
        >>> commit = table.append(rows)
        >>> table.symlink_manifest().written[0]
        '_symlink_format_manifest/city=Oslo/manifest'
        >>> text = pathlib.Path("funiculars/_symlink_format_manifest/city=Oslo/manifest").read_text()
        >>> text.startswith("file:///"), text.count(".parquet")
        (True, 1)
        """
        return write_symlink_manifests(self._rust, self._refreshed, dry_run=dry_run)

    def checkpoint(self) -> Checkpoint:
        """Writes a checkpoint of the newest version, so that readers need not replay every commit.

        The table's properties determine its kind and which statistics it contains
        (``delta.checkpointPolicy``, ``delta.checkpoint.writeStatsAsJson``, ``…writeStatsAsStruct``). An
        existing checkpoint is not rewritten.

        Raises:
            TableNotFound: There is no table at this location.
            UnsupportedFeature: The table has an unknown feature.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("catamarans", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1]}))
        >>> table.checkpoint().path
        '_delta_log/00000000000000000001.checkpoint.parquet'
        """
        return write_checkpoint(self._rust)

    def compact_log(self, start: int, end: int | None = None) -> LogCompaction | None:
        """Writes a compacted log file for a range of commits; the commits remain.

        Args:
            start: The first version.
            end: The last version (inclusive); the newest when None.

        Returns:
            The file; None if the commits hold no action that a log compaction would contain.

        Raises:
            ValueError: The range has fewer than two versions, or extends past the newest.
            VersionNotFound: A commit of the range no longer exists.
            UnsupportedFeature: The table has an unknown feature.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("cabs", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commits = [table.append(pyarrow.table({"id": [n]})) for n in range(3)]
        >>> table.compact_log(1).path
        '_delta_log/00000000000000000001.00000000000000000003.compacted.json'
        """
        return compact_commits(self._rust, start, end)

    def clean_up(self, *, dry_run: bool = False) -> CleanUp:
        """Deletes expired log files, but none that a readable version needs.

        Deletes commits, checkpoints, compaction files and checksums that are older than
        ``delta.logRetentionDuration`` (30 days) and precede a newer checkpoint; sidecars that no checkpoint
        references; and files that interrupted writers left. Data files are not touched.

        Args:
            dry_run: Whether to report only what would be deleted.

        Raises:
            UnsupportedFeature: The table is catalog-managed, or it has an unknown feature.
            CorruptLog: The log is damaged; none of its files is deleted.
            StorageError: The store cannot be accessed, or a deletion fails.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("trawlers", pyarrow.schema([("id", pyarrow.int64())]))
        >>> print(table.clean_up())
        nothing to delete: nothing has expired
        """
        return clean_up_log(self._rust, dry_run=dry_run)

    def check(self, *, deep: bool = False, progress: Progress | bool | None = None) -> Report:
        """Checks the whole table and reports every problem, what it means and how to fix it.

        Damage is reported, never raised. Every file of the log is read: each commit line by line, each
        checkpoint in full, and redundant information is compared. Nothing is written.

        Args:
            deep: Whether to check the data files of the newest version too: whether they exist, their sizes,
                footers and numbers of rows.
            progress: Called from time to time during the check, and once at its end: with ``"log"`` or
                ``"files"``, the number of completed steps, and the total. An exception that it raises ends
                the check and is passed to the caller. True shows a line on stderr, if that is a terminal.

        Raises:
            TableNotFound: There is no table at this location.
            StorageError: The store cannot be accessed.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("lorries", pyarrow.schema([("id", pyarrow.int64())]))
        >>> table.check().is_healthy
        True
        """
        return check_table(self._rust, deep=deep, progress=progress)

    def advise(self, filters: Sequence[str] | None = None) -> Advice:
        """Examines the newest version, and returns what could be improved, how, and with which effect.

        Everything is measured on the log: small files and partitions, statistics and overlap of the files in
        columns, deleted rows, the length of the log, retention properties, removed files, and which known
        clients can read and write the table. No data file is read and nothing is written.

        Args:
            filters: The columns that predicates use, besides the clustering columns: their statistics and
                their clustering are examined. Fields of structs are written as ``"address.city"``.

        Raises:
            ImportError: pyarrow is not installed.
            TableNotFound: There is no table at this location.
            UnsupportedFeature: The table needs a feature that is not implemented.
            CorruptLog: The log is damaged.
            StorageError: The store cannot be accessed.
            ValueError: A column of `filters` does not exist.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("crates", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commits = [table.append(pyarrow.table({"id": [0, 9]})) for _ in range(20)]
        >>> for finding in table.advise(filters=["id"]):
        ...     print(finding)
        SMALL_FILES: 20 of 20 files are smaller than 32.0 MiB
        POOR_CLUSTERING: a value of id is in the range of 20.0 of 20 files
        """
        return advise_on_table(self._rust, filters)

    def html_report(self, filters: Sequence[str] | None = None) -> str:
        """Returns a page about the newest version: one HTML document that loads nothing.

        It has the size over time (of up to 24 versions), the sizes of files, the largest partitions, the
        newest commits, and the advice of `advise`. Apart from the time of writing, the same version gives the
        same page.

        Args:
            filters: As for `advise`.

        Raises:
            DeltaicError: As for `advise`.
            ImportError: pyarrow is not installed.
            ValueError: A column of `filters` does not exist.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("pallets", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1, 2]}))
        >>> page = table.html_report()
        >>> page.splitlines()[0], "Size over time" in page
        ('<!DOCTYPE html>', True)
        """
        return report_on_table(self._rust, filters)

    def _refreshed(self) -> _rust.Snapshot:
        if self._newest is None:
            self._newest = self._rust.snapshot()
        else:
            # Reads only what is new: many appends stay as fast as the first.
            self._newest = self._newest.refresh()
        return self._newest

    def _all_rows(self) -> Scan:
        return Snapshot(self._refreshed()).scan()

    @staticmethod
    def _without_tables(clones: object) -> object:
        """Replaces tables, alone or in a list, by those of the core; leaves other objects to be validated."""
        if isinstance(clones, Table):
            return clones._rust  # noqa: SLF001 - a table too
        if isinstance(clones, Sequence) and not isinstance(clones, (str, bytes)):
            return [Table._without_tables(one) for one in cast("Sequence[object]", clones)]
        return clones

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing("a deltaic.Table", name, OF_TABLES)

    def __repr__(self) -> str:
        return f"<deltaic.Table {self.uri}>"
