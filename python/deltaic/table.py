"""A Delta table: the entry point of the API."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal, overload

from deltaic import _rust
from deltaic.alter import Change
from deltaic.alter_json import properties_set, to_json
from deltaic.arguments import bounded_int, flag, names, place, text
from deltaic.arguments import options as text_options
from deltaic.assignments import NewValue, to_assignments
from deltaic.capsule import (
    ArrowArrayExportable,
    ArrowSchemaExportable,
    ArrowStreamExportable,
    checked_data,
    schema_remedy,
)
from deltaic.check import Report
from deltaic.check import from_rust as from_rust_report
from deltaic.commit import Commit, from_rust
from deltaic.commit import announced as announced_commit
from deltaic.commit_options import CommitOptions, to_options
from deltaic.dry_run import DryRun
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.ignored_properties import warn_of_ignored
from deltaic.log_maintenance import (
    Checkpoint,
    CleanUp,
    LogCompaction,
    checkpoint_from_rust,
    clean_up_from_rust,
    compaction_from_rust,
)
from deltaic.pandas_index import with_index
from deltaic.scan import Scan
from deltaic.snapshot import Snapshot, announced
from deltaic.times import to_millis
from deltaic.transaction import CalledTransaction, Transaction
from deltaic.versions import to_end, to_version

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Table"]

_MAX_LINE_BYTES = 1 << 28


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

    __slots__ = ("_newest", "_rust")

    def __init__(
        self,
        uri: str | os.PathLike[str],
        *,
        storage_options: Mapping[str, str] | None = None,
        allowed_roots: Iterable[str | os.PathLike[str]] = (),
        max_line_bytes: int = _MAX_LINE_BYTES,
    ) -> None:
        if isinstance(allowed_roots, (str, os.PathLike)):
            raise TypeError("allowed_roots must be a list of paths or URIs: write allowed_roots=[…]")
        roots = [place("allowed_roots", root) for root in allowed_roots]
        self._rust = _open(uri, storage_options, allowed_roots=roots, max_line_bytes=max_line_bytes)
        self._newest: _rust.Snapshot | None = None

    @property
    def uri(self) -> str:
        """The table's root, normalised and ending in a slash; never contains a secret."""
        return self._rust.uri

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
        return _open(uri, storage_options).exists()

    @staticmethod
    def create(
        uri: str | os.PathLike[str],
        schema: ArrowSchemaExportable,
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
            schema: The columns: anything with ``__arrow_c_schema__``, such as a `pyarrow.Schema`, or
                `Snapshot.schema` of another table.
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
        # Checked for callers without a type checker.
        if not isinstance(schema, ArrowSchemaExportable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                "a schema must have __arrow_c_schema__, such as pyarrow.schema(…), "
                f"not {type(schema).__name__}{schema_remedy(schema)}"
            )
        made = _open(uri, storage_options).create(
            schema,
            partition_by=names("partition_by", partition_by),
            cluster_by=names("cluster_by", cluster_by),
            properties=text_options("properties", properties),
            name=None if name is None else text("name", name),
            description=None if description is None else text("description", description),
            constraints=text_options("constraints", constraints),
            if_exists=text("if_exists", if_exists),
            options=to_options("create", **commit),
        )
        if made is not None:
            announced_commit(made, stacklevel=3)
            warn_of_ignored((properties or {}).items(), stacklevel=2)
        return Table(uri, storage_options=storage_options)

    def snapshot(self, version: int | None = None, timestamp: str | datetime | None = None) -> Snapshot:
        """Returns the table at its newest version, or at an earlier one.

        Args:
            version: The version to read.
            timestamp: Selects the newest version committed at or before this time: ISO 8601 text with a zone,
                or an aware datetime.

        Raises:
            TableNotFound: There is no table at this location.
            VersionNotFound: The version or time is outside of the range that the log contains, for example
                after the newest commit; the message gives the range.
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
        if version is not None and timestamp is not None:
            raise ValueError("give version or timestamp, not both")
        if version is not None:
            return announced(self._rust.snapshot(version=to_version(version)), stacklevel=3)
        if timestamp is not None:
            return announced(self._rust.snapshot(timestamp_ms=to_millis(timestamp)), stacklevel=3)
        return announced(self._refreshed(), stacklevel=3)

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
        wanted = None if columns is None else names("columns", columns)
        first_version, first_ms = to_end("start", start, round_up=True)
        last_version, last_ms = (None, None) if end is None else to_end("end", end, round_up=False)
        return Scan(
            self._rust.changes(
                first_version=first_version,
                first_ms=first_ms,
                last_version=last_version,
                last_ms=last_ms,
                columns=wanted,
                infer=infer,
            )
        )

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
        most = None if limit is None else bounded_int("limit", limit, minimum=0)
        return [from_rust(commit) for commit in self._rust.history(most)]

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
        return checkpoint_from_rust(self._rust.checkpoint())

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
        last = None if end is None else bounded_int("end", end, minimum=0)
        compacted = self._rust.compact_log(bounded_int("start", start, minimum=0), last)
        return None if compacted is None else compaction_from_rust(compacted)

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
        >>> table = deltaic.Table.create("barges", pyarrow.schema([("id", pyarrow.int64())]))
        >>> print(table.clean_up())
        nothing to delete: nothing has expired
        """
        return clean_up_from_rust(self._rust.clean_up(dry_run=flag("dry_run", dry_run)))

    def check(
        self, *, deep: bool = False, progress: Callable[[str, int, int], object] | None = None
    ) -> Report:
        """Checks the whole table and reports every problem, what it means and how to fix it.

        Damage is reported, never raised. Every file of the log is read: each commit line by line, each
        checkpoint in full, and redundant information is compared. Nothing is written.

        Args:
            deep: Whether to check the data files of the newest version too: whether they exist, their sizes,
                footers and numbers of rows.
            progress: Called from time to time during the check, and once at its end: with ``"log"`` or
                ``"files"``, the number of completed steps, and the total. An exception that it raises ends
                the check and is passed to the caller.

        Raises:
            TableNotFound: There is no table at this location.
            StorageError: The store cannot be accessed.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("lorries", pyarrow.schema([("id", pyarrow.int64())]))
        >>> table.check().is_healthy
        True
        """
        # Checked for callers without a type checker.
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function of three arguments, not {type(progress).__name__}")
        return from_rust_report(self._rust.check(deep=deep, progress=progress))

    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        **options: Unpack[CommitOptions],
    ) -> Commit:
        """Appends rows in one commit: all of them or none.

        Columns are matched by name, in any order. Columns that the data lacks are filled with NULL if the
        table allows NULL. If another writer commits first and changes neither schema nor protocol, the commit
        is retried at the next version.

        Args:
            data: The rows: anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as a
                `pyarrow.Table`, a polars or pandas data frame or a DuckDB relation. A stream is read once.
                The index of a pandas frame is written if the table has a column of its name; an unnamed range
                index is dropped.
            options: How the commit is made: see `CommitOptions`.

        Raises:
            SchemaMismatch: The data does not fit the table's columns, or is not valid Arrow data: text that
                is not UTF-8, a decimal with too many digits. ``field`` and ``row`` give the place.
            ConstraintViolation: A row has NULL in a column that is NOT NULL.
            UnsupportedFeature: The table requires a writer feature that is not implemented. Nothing
                was written.
            MetadataChanged: Another writer changed the table's metadata concurrently.
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
        given = to_options("append", **options)
        checked_data(data)
        known = self._refreshed()
        commit = self._rust.append(with_index(data, known), options=given, known=known)
        return announced_commit(commit, stacklevel=3)

    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        **options: Unpack[CommitOptions],
    ) -> Commit:
        """Replaces rows by others in one commit. The schema, properties and history of the table remain.

        Args:
            data: The new rows, as for `append`.
            where: Replace the rows for which this is true, as `delete` would delete them; each new row must
                match it too. All rows when None.
            partitions: ``"dynamic"``: replace the partitions that the new rows are in, and no others.
            options: How the commit is made: see `CommitOptions`.

        Raises:
            ConstraintViolation: A new row does not match `where`, or violates a constraint of the table; or
                the table is append-only.
            SchemaMismatch: The data does not fit the table's columns, as for `append`.
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Another writer changed the rows that would be replaced.
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
        given = to_options("overwrite", **options)
        checked_data(data)
        known = self._refreshed()
        commit = self._rust.overwrite(
            with_index(data, known),
            known=known,
            predicate=to_sql(where, Snapshot(known).schema),
            partitions=text("partitions", partitions),
            options=given,
        )
        return announced_commit(commit, stacklevel=3)

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
        given = to_options("delete", **options)
        known = self._refreshed()
        predicate = to_sql(where, Snapshot(known).schema)
        if flag("dry_run", dry_run):
            rows, removed, changed, rewritten, size = known.preview_delete(predicate=predicate)
            return DryRun("DELETE", known.version, rows, removed, changed, rewritten, size)
        commit = self._rust.delete(known, predicate=predicate, options=given)
        return announced_commit(commit, stacklevel=3)

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
            dry_run: Whether to return only what would be done.
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
        given = to_options("update", **options)
        values = to_assignments(set)
        known = self._refreshed()
        predicate = to_sql(where, Snapshot(known).schema)
        if flag("dry_run", dry_run):
            rows, removed, changed, rewritten, size = known.preview_delete(predicate=predicate)
            return DryRun("UPDATE", known.version, rows, removed, changed, rewritten, size)
        commit = self._rust.update(known, values=values, predicate=predicate, options=given)
        return announced_commit(commit, stacklevel=3)

    def transaction(
        self,
        *,
        operation: str = "WRITE",
        **options: Unpack[CommitOptions],
    ) -> Transaction:
        """Starts a transaction: several changes in one commit, all or none. Use it in a ``with`` block.

        Args:
            operation: The operation recorded in the commit: ``"WRITE"``, ``"STREAMING UPDATE"``,
                ``"DELETE"``, ``"UPDATE"``, ``"MERGE"``, ``"TRUNCATE"``, ``"OPTIMIZE"`` or ``"RESTORE"``.
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
        given = to_options("transaction", **options)
        operation = text("operation", operation)
        rust = self._rust.transaction(self._refreshed(), operation=operation, options=given)
        return Transaction(rust, operation)

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
        newest version. Files that an earlier run wrote are deleted before the next.

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
        runs = bounded_int("max_runs", max_runs, minimum=1)
        given = to_options("run_transaction", **options)
        operation = text("operation", operation)
        commit = self._rust.run_transaction(
            self._refreshed(),
            lambda rust: CalledTransaction(rust, operation).stage(function),
            operation=operation,
            max_runs=runs,
            options=given,
        )
        return None if commit is None else announced_commit(commit, stacklevel=3)

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
        if not changes:
            raise ValueError("alter takes at least one change, such as deltaic.alter.SetName('rides')")
        given = to_options("alter", **options)
        changes_json, types = to_json(changes)
        commit = self._rust.alter(changes_json, types, options=given, known=self._refreshed())
        warn_of_ignored(properties_set(changes), stacklevel=2)
        return announced_commit(commit, stacklevel=3)

    def _refreshed(self) -> _rust.Snapshot:
        # Reads only what is new: many appends stay as fast as the first.
        self._newest = self._rust.snapshot() if self._newest is None else self._newest.refresh()
        return self._newest

    def __repr__(self) -> str:
        return f"<deltaic.Table {self.uri}>"


def _open(
    uri: str | os.PathLike[str],
    storage_options: Mapping[str, str] | None,
    *,
    allowed_roots: list[str] | None = None,
    max_line_bytes: int = _MAX_LINE_BYTES,
) -> _rust.Table:
    return _rust.Table(
        place("uri", uri),
        storage_options=text_options("storage_options", storage_options),
        allowed_roots=allowed_roots or [],
        max_line_bytes=bounded_int("max_line_bytes", max_line_bytes, minimum=1),
    )
