"""A Delta table: the entry point of the API."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from deltaic.alter import Change
from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.handle import open_location
from deltaic.maintenance.symlink_manifest import TableManifest
from deltaic.reading.snapshot import Snapshot, announced
from deltaic.table_advise import TableAdvise
from deltaic.table_clone import TableClone
from deltaic.table_convert import TableConvert
from deltaic.table_log import TableLog
from deltaic.table_newest import TableNewest
from deltaic.table_optimize import TableOptimize
from deltaic.table_purge import TablePurge
from deltaic.table_repair import TableRepair
from deltaic.table_restore import TableRestore
from deltaic.table_rows import TableRows
from deltaic.table_statistics import TableStatistics
from deltaic.table_vacuum import TableVacuum
from deltaic.transaction import CalledTransaction, Transaction
from deltaic.values.arguments import bounded_int, flag, names, text
from deltaic.values.arguments import options as text_options
from deltaic.values.column import columns_json
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.foreign_names import elsewhere
from deltaic.values.read_once import UsedIterators
from deltaic.values.schema_of import TableSchema, table_schema
from deltaic.values.times import to_millis
from deltaic.values.versions import to_version
from deltaic.writing.alter import properties_set, to_json
from deltaic.writing.ignored_properties import warn_of_ignored

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Table"]


class Table(
    TableNewest,
    TableRows,
    TableOptimize,
    TablePurge,
    TableStatistics,
    TableRestore,
    TableClone,
    TableConvert,
    TableRepair,
    TableManifest,
    TableLog,
    TableVacuum,
    TableAdvise,
):
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
        columns = table_schema(schema)
        definition, types = columns_json(columns) if isinstance(columns, list) else (None, [])
        made = open_location(uri, storage_options).create(
            None if isinstance(columns, list) else columns,
            definition,
            types,
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
        if version is not None and timestamp is not None:
            raise ValueError("give version or timestamp, not both")
        # `elsewhere` is between the caller and this function.
        if version is not None:
            return announced(self._rust.snapshot(version=to_version(version)), stacklevel=4)
        if timestamp is not None:
            return announced(self._rust.snapshot(timestamp_ms=to_millis(timestamp)), stacklevel=4)
        return announced(self._refreshed(), stacklevel=4)

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
        given = to_options("transaction", **options)
        operation = text("operation", operation)
        rust = self._rust.transaction(
            self._refreshed(), operation=operation, options=given, dry_run=flag("dry_run", dry_run)
        )
        return Transaction(rust, operation, is_dry_run=dry_run)

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
        runs = bounded_int("max_runs", max_runs, minimum=1)
        given = to_options("run_transaction", **options)
        operation = text("operation", operation)
        iterators = UsedIterators()
        commit = self._rust.run_transaction(
            self._refreshed(),
            lambda rust: CalledTransaction(rust, operation, iterators=iterators).stage(function),
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
