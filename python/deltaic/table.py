"""A Delta table: the handle that everything starts from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from deltaic import _rust
from deltaic.alter import Change
from deltaic.alter_json import properties_set, to_json
from deltaic.arguments import at_most, flag, names, place, text
from deltaic.arguments import options as text_options
from deltaic.capsule import (
    ArrowArrayExportable,
    ArrowSchemaExportable,
    ArrowStreamExportable,
    proved_data,
    schema_remedy,
)
from deltaic.check import Report
from deltaic.check import from_rust as from_rust_report
from deltaic.commit import Commit, from_rust
from deltaic.commit import announced as announced_commit
from deltaic.commit_options import CommitOptions, to_options
from deltaic.pandas_index import with_index
from deltaic.run_again import run_again
from deltaic.scan import Scan
from deltaic.snapshot import Snapshot, announced
from deltaic.times import to_millis
from deltaic.transaction import Transaction
from deltaic.unheeded import warn_of_unheeded
from deltaic.upkeep import (
    Checkpoint,
    CleanUp,
    LogCompaction,
    checkpoint_from_rust,
    clean_up_from_rust,
    compaction_from_rust,
)
from deltaic.versions import to_end, to_version

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Table"]

_MAX_LINE_BYTES = 1 << 28


class Table:
    """A handle on a Delta table. Making one reads nothing.

    The handle keeps the newest snapshot it has seen, so that `snapshot` reads only what is new.

    Args:
        uri: Where the table lies: a path, or a URI such as ``file:///data/events``,
            ``s3://bucket/events``, ``abfss://container@account.dfs.core.windows.net/events`` or
            ``gs://bucket/events``.
        storage_options: Settings of the store, by name: ``{"aws_region": "eu-west-1"}``, or as
            Spark has them, ``{"fs.s3a.access.key": …}``. What they leave open the environment says. They
            are kept out of every repr and error. ``docs/reference/storage-options.md`` lists them.
        allowed_roots: Other places that the log may name files in (shallow clones do); none by default.
        max_line_bytes: The longest line of a commit that is read, in bytes; 256 MiB unless told.

    Raises:
        ValueError: The URI or a storage option is not known, two of them contradict each other, or another
            argument makes no sense.

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
            raise TypeError("allowed_roots is a list of places: write allowed_roots=[…]")
        roots = [place("allowed_roots", root) for root in allowed_roots]
        self._rust = _open(uri, storage_options, allowed_roots=roots, max_line_bytes=max_line_bytes)
        self._newest: _rust.Snapshot | None = None

    @property
    def uri(self) -> str:
        """The table's root, normalised and ending in a slash; never holds a secret."""
        return self._rust.uri

    @staticmethod
    def exists(uri: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None) -> bool:
        """Whether there is a Delta table at this place. A plain folder of Parquet files is none.

        Raises:
            StorageError: The store cannot be asked.

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
        """Makes an empty table, as version 0 of its log.

        Args:
            uri: Where it will lie.
            schema: The columns: anything with ``__arrow_c_schema__``, such as a `pyarrow.Schema`, or
                `Snapshot.schema` of another table.
            partition_by: The columns that data is laid out by, outermost first.
            cluster_by: The columns that files are arranged by, at most four; not beside `partition_by`.
            properties: The table's properties, such as ``{"delta.appendOnly": "true"}``. The table gets the
                features that they need; ``delta.feature.<name>`` asks for one by name. Those that ask for
                what only other writers do are kept, and a `DeltaicWarning` names them.
            name: A name for people.
            description: A description for people.
            constraints: CHECK constraints by name: what must be true in each row, in SQL.
            if_exists: ``"error"``, ``"ignore"`` to leave a table that is already there as it is, or
                ``"replace"`` to put the new one in its place: its rows, columns, properties and domains go,
                its history and its features stay, and earlier versions can still be read.
            storage_options: Settings of the store.
            commit: How the commit is made: see `CommitOptions`.

        Raises:
            TableExists: There is a table already, and `if_exists` is ``"error"``.
            CommitConflict: Other writers went on changing a table that was to be replaced.
            ValueError: A column is not in the schema, a property has a value that it cannot have, or an
                argument is wrong otherwise.
            SchemaMismatch: A column has a type that Delta does not have, or what is asked for does not go
                together.
            InvalidPredicate, UnsupportedExpression: A constraint is no condition on the columns.
            UnsupportedFeature: A property asks for what is not implemented.
            StorageError: The store cannot be written.

        >>> import deltaic, pyarrow
        >>> schema = pyarrow.schema([("day", pyarrow.date32()), ("amount", pyarrow.decimal128(10, 2))])
        >>> table = deltaic.Table.create("sales", schema, partition_by=["day"], name="sales of all shops")
        >>> table.snapshot().metadata.name
        'sales of all shops'
        """
        # The type says so already; a caller without a type checker gets the sentence.
        if not isinstance(schema, ArrowSchemaExportable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(
                "a schema is anything with __arrow_c_schema__, such as pyarrow.schema(…), "
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
            warn_of_unheeded((properties or {}).items(), stacklevel=2)
        return Table(uri, storage_options=storage_options)

    def snapshot(self, version: int | None = None, timestamp: str | datetime | None = None) -> Snapshot:
        """The table at its newest version, or at an earlier one.

        Args:
            version: The version to go to.
            timestamp: The newest version committed at or before this time: ISO 8601 text with a zone, or an
                aware datetime.

        Raises:
            TableNotFound: There is no table here.
            VersionNotFound: The version or time lies outside of what the log holds (a time after the newest
                commit too); the range is given.
            UnsupportedFeature: The table needs a feature that is not implemented; it is named.
            CorruptLog: The log is damaged.
            ValueError: Both arguments are given, or the time has no zone.
            TypeError: An argument is something else than a version or a time.

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
        """The rows that came and went from one version to another.

        Each row has the table's columns, as they are at the last version, and ``_change_type`` (``insert``,
        ``delete``, ``update_preimage`` or ``update_postimage``), ``_commit_version`` and
        ``_commit_timestamp``. A version's rows stand together, the oldest version's first.

        Args:
            start: The first version, or a time: the first version that was committed at or after it.
            end: The last version, which is among them, or a time: the last version that was committed at or
                before it. The newest version when None.
            columns: The top-level columns to read, in this order; all of them when None. Those that tell the
                change are added when they are not named.
            infer: Whether to tell the changes from the files that each version added and removed, as a table
                needs that keeps no change feed; what was recorded is passed over. Rows that were rewritten
                and stayed what they were are no change; an update is a ``delete`` and an ``insert``. Rows of
                files that one version rewrote are held in memory together.

        Raises:
            VersionNotFound: The log does not hold the range, or no longer; the range that it holds is given.
            UnsupportedFeature: The table keeps no change feed at one of the versions, and `infer` is not set;
                or it needs a feature that is not implemented.
            SchemaMismatch: A column had another type in the range, which its last type does not hold.
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
        """The commits that the log still holds, newest first.

        Args:
            limit: At most this many.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("trams", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1]}), commit_info={"job": "nightly"})
        >>> [(commit.version, commit.operation) for commit in table.history()]
        [(1, 'WRITE'), (0, 'CREATE TABLE')]
        >>> table.history(limit=1)[0].info["job"]
        'nightly'
        """
        most = None if limit is None else at_most("limit", limit, least=0)
        return [from_rust(commit) for commit in self._rust.history(most)]

    def checkpoint(self) -> Checkpoint:
        """Writes a checkpoint of the newest version, so that readers need not start from the first commit.

        Which kind it is, and which statistics stand in it, is the table's to say
        (``delta.checkpointPolicy``, ``delta.checkpoint.writeStatsAsJson``, ``…writeStatsAsStruct``). One that
        is there already is left as it is.

        Raises:
            TableNotFound: There is no table here.
            UnsupportedFeature: The table has a feature that is not known.
            StorageError: The store cannot be written.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("catamarans", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1]}))
        >>> table.checkpoint().path
        '_delta_log/00000000000000000001.checkpoint.parquet'
        """
        return checkpoint_from_rust(self._rust.checkpoint())

    def compact_log(self, start: int, end: int | None = None) -> LogCompaction | None:
        """Writes one file that stands for a range of commits; the commits stay.

        Args:
            start: The first version.
            end: The last version, which is among them; the newest when None.

        Returns:
            The file; None where the commits say nothing that a table keeps.

        Raises:
            ValueError: The range is not one of two versions or more, or reaches past the newest.
            VersionNotFound: A commit of it is not there any more.
            UnsupportedFeature: The table has a feature that is not known.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("cabs", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commits = [table.append(pyarrow.table({"id": [n]})) for n in range(3)]
        >>> table.compact_log(1).path
        '_delta_log/00000000000000000001.00000000000000000003.compacted.json'
        """
        last = None if end is None else at_most("end", end, least=0)
        compacted = self._rust.compact_log(at_most("start", start, least=0), last)
        return None if compacted is None else compaction_from_rust(compacted)

    def clean_up(self, *, dry_run: bool = False) -> CleanUp:
        """Deletes what has expired of the log: never what a version needs that can still be read.

        Commits, checkpoints and checksums go that are older than ``delta.logRetentionDuration`` (30 days) and
        for which a newer checkpoint stands; sidecars that no checkpoint names; and what stopped writers left.
        Data files stay.

        Args:
            dry_run: Whether only to say what would go.

        Raises:
            UnsupportedFeature: The table's catalog manages it, or it has a feature that is not known.
            CorruptLog: The log is damaged; nothing of it is deleted.
            StorageError: The store cannot be asked, or does not delete.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("barges", pyarrow.schema([("id", pyarrow.int64())]))
        >>> print(table.clean_up())
        nothing to delete: nothing has expired
        """
        return clean_up_from_rust(self._rust.clean_up(dry_run=flag("dry_run", dry_run)))

    def check(
        self, *, deep: bool = False, progress: Callable[[str, int, int], object] | None = None
    ) -> Report:
        """Looks for everything that is wrong with the table, and says what it means and what to do.

        It does not stop at damage and raises for none. Every file of the log is read: each commit line by
        line, each checkpoint in full, and whatever the log says twice is compared. Nothing is written.

        Args:
            deep: Whether the data files of the newest version are looked at too: whether they are there,
                their sizes, footers and numbers of rows.
            progress: Called now and then while the check is at work, and once at its end: with ``"log"`` or
                ``"files"``, how many steps of it are done, and how many there are. What it raises ends the
                check and comes out of it.

        Raises:
            TableNotFound: There is no table here.
            StorageError: The store cannot be asked.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("lorries", pyarrow.schema([("id", pyarrow.int64())]))
        >>> table.check().is_healthy
        True
        """
        # The type says so already; a caller without a type checker gets the sentence.
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is a function of three arguments, not {type(progress).__name__}")
        return from_rust_report(self._rust.check(deep=deep, progress=progress))

    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        **options: Unpack[CommitOptions],
    ) -> Commit:
        """Adds rows, in one commit: all of them or none.

        Columns are matched by name, whatever their order. A column of the table that the data lacks is
        filled with NULL where the table allows NULL. When another writer commits first and changes neither
        schema nor protocol, the commit is made again at the next version.

        Args:
            data: The rows: anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as a
                `pyarrow.Table`, a polars or pandas data frame or a DuckDB relation. A stream is read once.
                The index of a pandas frame is a column if the table has one of its name; a range without a
                name is left out.
            options: How the commit is made: see `CommitOptions`.

        Raises:
            SchemaMismatch: The data does not fit the table's columns, or is no valid Arrow data: text that is
                not UTF-8, a decimal with too many digits. ``field`` and ``row`` say where.
            ConstraintViolation: A row has NULL where the table forbids it.
            UnsupportedFeature: The table asks of its writers what is not implemented; nothing was written.
            MetadataChanged: Another writer changed the table's metadata meanwhile.
            ProtocolChanged: Another writer changed the table's protocol meanwhile.
            ConcurrentWrite: Other writers were faster `max_attempts` times, or the deadline passed.
            ConcurrentTransaction: Another run of the same application brought an earlier version meanwhile.
            CommitUnknown: The store did not say whether the commit landed.
            StorageError: The store cannot be written.

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
        proved_data(data)
        known = self._refreshed()
        commit = self._rust.append(with_index(data, known), options=given, known=known)
        return announced_commit(commit, stacklevel=3)

    def transaction(
        self,
        *,
        operation: str = "WRITE",
        **options: Unpack[CommitOptions],
    ) -> Transaction:
        """Several changes in one commit: all of them or none. Use it in a ``with`` block.

        Args:
            operation: What the commit calls itself: ``"WRITE"``, ``"STREAMING UPDATE"``, ``"DELETE"``,
                ``"UPDATE"``, ``"MERGE"``, ``"TRUNCATE"``, ``"OPTIMIZE"`` or ``"RESTORE"``.
            options: How the commit is made: see `CommitOptions`.

        Raises:
            TableNotFound: There is no table here.
            ValueError: An argument makes no sense.
            CommitConflict: Of the block's end: another writer did what this commit cannot follow; the class
                says what. Nothing was committed.
            CommitUnknown: Of the block's end: the store did not say whether the commit landed.

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
        """Runs a function in a transaction, and again in a fresh one where the commit met a conflict.

        The function must decide by what it reads of its transaction: each run sees the table as it is by
        then. What an earlier run wrote is removed before the next.

        Args:
            function: Called with the transaction; what it returns does not matter. What it raises ends all.
            max_runs: How often it is run.
            operation: As for `transaction`.
            options: How each commit is made: see `CommitOptions`. The deadline is for all runs together.

        Returns:
            The commit; its ``conflicts_resolved`` tells why there were more runs than one. None where the
            last run staged nothing.

        Raises:
            CommitConflict: The last run's, when there may be no further one.
            CommitUnknown: The store did not say whether a commit landed: it is not run again.

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

        def begin(left: float | None) -> Transaction:
            return self.transaction(operation=operation, **{**options, "deadline": left})

        return run_again(
            function, begin, max_runs=max_runs, deadline=options.get("deadline"), pause=self._rust.pause
        )

    def alter(
        self,
        *changes: Change,
        **options: Unpack[CommitOptions],
    ) -> Commit:
        """Changes what the table says of itself, in one commit: all changes in their order, or none of them.

        Changes that change nothing commit nothing: ``skipped`` is set then. Another writer who appends
        meanwhile does not stand in the way, unless the rows were looked at. One who changes the table too
        does not either: the changes are made anew for the version that won.

        Args:
            changes: What to change, each a value of `deltaic.alter`. Of properties that ask for what only
                other writers do a `DeltaicWarning` says so.
            options: How the commit is made: see `CommitOptions`.

        Raises:
            ValueError: A change names what the table has not, or gives a value that cannot be.
            SchemaMismatch: The table's own rules stand in the way; ``field`` or ``feature`` says which.
            ConstraintViolation: Rows of the table break a new constraint.
            InvalidPredicate, UnsupportedExpression: A constraint is no condition on the table's columns.
            UnsupportedFeature: The table or a change needs what is not implemented.
            MetadataChanged, ProtocolChanged, ConcurrentAppend, ConcurrentTransaction, ConcurrentWrite: Other
                writers stood in the way, too often or with `row_level` off.
            CommitUnknown: The store did not say whether the commit landed.
            StorageError: The store cannot be written.

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
        told, types = to_json(changes)
        commit = self._rust.alter(told, types, options=given, known=self._refreshed())
        warn_of_unheeded(properties_set(changes), stacklevel=2)
        return announced_commit(commit, stacklevel=3)

    def _refreshed(self) -> _rust.Snapshot:
        # What the handle knows already is not read again: many appends stay as quick as the first.
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
        max_line_bytes=at_most("max_line_bytes", max_line_bytes, least=1),
    )
