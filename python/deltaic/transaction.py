"""A transaction: several changes of a table in one commit, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Literal

from deltaic import _rust
from deltaic.alter import Change, SetProperties
from deltaic.commit import Commit, announced
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.exceptions import CommitConflict, CommitUnknown, DeltaicError, InternalError
from deltaic.reading.arrow_table import ArrowTable
from deltaic.reading.scan import Scan
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag, names, text, whole_number
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.values.pandas_index import with_index
from deltaic.values.read_once import UsedIterators, again, kept
from deltaic.writing.added_files import files_to_json
from deltaic.writing.alter import properties_set, to_json
from deltaic.writing.assignments import NewValue, to_assignments
from deltaic.writing.dry_run import DryRun, dry_run_from_rust
from deltaic.writing.ignored_properties import warn_of_ignored
from deltaic.writing.merge import MergeCondition, StagedMerge

__all__ = ["CalledTransaction", "Transaction"]


class Transaction:
    """Staged changes of a table, created by `Table.transaction` and used in a ``with`` block.

    Its methods stage changes; the end of the block commits all of them at once. A block that raises commits
    nothing, and deletes the files that it wrote. A block that staged nothing commits nothing, unless it has
    an ``app_transaction`` to record.

    A transaction belongs to the process that began it. In a child of ``fork`` each of its methods and the end
    of the block raise a `ValueError`: the child commits nothing, and deletes nothing that its parent staged.

    Reads through the transaction (`read`, `files`, `read_app`) are recorded: if another writer changes what
    was read before the commit, the commit raises a `CommitConflict`. Reads through `snapshot` are not
    recorded.

    >>> import deltaic, pyarrow
    >>> orders = pyarrow.table({"id": [1, 2], "paid": [True, False]})
    >>> table = deltaic.Table.create("orders", orders.schema)
    >>> commit = table.append(orders)
    >>> with table.transaction() as tx:
    ...     unpaid = tx.read("NOT paid").to_arrow()
    ...     tx.remove(tx.files())
    ...     tx.append(unpaid)
    1
    >>> tx.committed.version, table.snapshot().num_rows
    (2, 1)
    """

    __slots__ = (
        "_committed",
        "_dry_run",
        "_is_dry_run",
        "_iterators",
        "_operation",
        "_rust",
        "_snapshot",
        "_state",
    )

    def __init__(
        self,
        rust: _rust.Transaction,
        operation: str,
        *,
        is_dry_run: bool = False,
        iterators: UsedIterators | None = None,
    ) -> None:
        self._rust = rust
        self._operation = operation
        self._snapshot = Snapshot(rust.snapshot)
        self._state = "new"
        self._committed: Commit | None = None
        self._is_dry_run = is_dry_run
        self._iterators = iterators or UsedIterators()
        self._dry_run: DryRun | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The version that the transaction starts from. Reads through it are not recorded."""
        return self._snapshot

    @property
    def committed(self) -> Commit | None:
        """After the block: its commit; None if it staged nothing or failed."""
        return self._committed

    @property
    def dry_run(self) -> DryRun | None:
        """After the block of a transaction with ``dry_run=True``: what its commit would do; otherwise None.

        >>> import deltaic, pyarrow
        >>> rows = pyarrow.table({"id": [1, 2, 3]})
        >>> table = deltaic.write("barges", rows)
        >>> with table.transaction(dry_run=True) as tx:
        ...     count = tx.delete("id = 2")
        ...     count = tx.append(pyarrow.table({"id": [4, 5]}))
        >>> print(str(tx.dry_run).splitlines()[0])
        TRANSACTION on version 0 would delete or update 1 row and add 2 rows:
        """
        return self._dry_run

    @property
    def is_lost(self) -> bool:
        """After the block: whether it conflicted with another writer's commit and can be run again."""
        return self._state == "lost"

    @property
    def is_done(self) -> bool:
        """Whether the table already records the version of ``app_transaction`` or a later one.

        If so, nothing is staged, data is not read, and the block commits nothing.
        """
        return self._rust.is_done

    def read(self, predicate: Predicate | None = None, columns: Sequence[str] | None = None) -> Scan:
        """Returns rows of the snapshot and records them as read.

        Args:
            predicate: The rows; all when None. Its conditions on partition columns alone, and the files that
                may hold a matching row, limit which concurrent changes conflict.
            columns: The columns to read; all when None.

        Raises:
            InvalidPredicate: The predicate does not parse or names an unknown column.
        """
        self._ensure_open()
        scan = self._snapshot.scan(columns, predicate)
        self._rust.read(predicate=to_sql(predicate, self._snapshot.schema))
        return scan

    def files(self, predicate: Predicate | None = None, *, stats: bool = False) -> ArrowTable:
        """Returns the live files that may hold a matching row and records them as read.

        Args:
            predicate: As for `read`.
            stats: Add the files' statistics.

        Returns:
            The columns of `Snapshot.files`.
        """
        self._ensure_open()
        sql = to_sql(predicate, self._snapshot.schema)
        return ArrowTable(self._rust.files(predicate=sql, stats=stats))

    def read_app(self, app_id: str) -> int | None:
        """Returns the last recorded version of an application, or None, and records it as read.

        If another run of the application records a later version before the commit, the commit raises a
        `ConcurrentTransaction`.
        """
        self._ensure_open()
        return self._rust.read_app(text("app_id", app_id))

    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
    ) -> int:
        """Writes rows to data files immediately, stages them and returns their number.

        Args:
            data: Anything Arrow, as for `Table.append`.
            schema_mode: ``"merge"`` adds new columns to the table, as for `Table.append`.

        Raises:
            SchemaMismatch: The data does not fit the table's columns, or is not valid Arrow data: text that
                is not UTF-8, a decimal with too many digits. ``field`` and ``row`` give the place.
            ConstraintViolation: A row has NULL in a column that is NOT NULL.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            StorageError: The store cannot be written to.
        """
        self._ensure_open()
        mode = text("schema_mode", schema_mode)
        return self._rust.append(self._rows(checked_data(data), mode), schema_mode=mode)

    def add(self, files: ArrowStreamExportable | Iterable[Mapping[str, object]]) -> None:
        """Stages data files that another engine wrote under the table's root, such as Spark's executors.

        Each file must exist with the given size. Its contents are not read, so its writer is responsible for
        its columns, NOT NULL constraints and statistics. They are not deleted if the transaction fails.

        If the table has mapped or generated columns, variants or partition columns in its files, only files
        that `Snapshot.write_task` wrote for it are added, and only while its schema, properties and protocol
        are unchanged.

        Args:
            files: One mapping per file, or an Arrow table (with pyarrow) with a row for each: ``path``
                (relative to the table, URI-encoded), ``size`` in bytes, ``modification_time`` (int, ms since
                the epoch), ``partition_values`` (a mapping by column; text as in the log, or an int, a bool
                or a date), ``stats`` (the text of a JSON object, as in the log) and ``data_change`` (True by
                default; False if its rows come from removed files, see `remove`). `WriteTask.write` also sets
                ``written_for``.

        Raises:
            ValueError: A file is live or staged already, does not exist or has another size, its partition
                values or statistics are invalid, or the table changed since its task was made. Nothing of the
                call is staged.
            PathEscape: A path is outside of the table.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
        """
        self._ensure_open()
        self._iterators.use("files", files)
        self._rust.add(files_to_json(files))

    def alter(self, *changes: Change) -> None:
        """Stages changes of the table's metadata, in their order; all of them or none.

        Only changes that do not affect how files are written can share a commit with files: a name, a
        description, custom properties, properties of log maintenance, domains. Commit any other change first,
        with `Table.alter`.

        Args:
            changes: Values of `deltaic.alter`.

        Raises:
            ValueError: A change names something that the table does not have, gives an invalid value, or is
                incompatible with the staged files.
            SchemaMismatch: The table's own rules forbid the change; ``field`` or ``feature`` names the
                reason.
            ConstraintViolation: Rows of the table violate a new constraint.
            UnsupportedFeature: The table or a change requires a feature that is not implemented.

        >>> import deltaic, pyarrow
        >>> from deltaic.alter import SetDescription, SetDomain
        >>> day = pyarrow.table({"id": [1, 2]})
        >>> table = deltaic.Table.create("ferry_days", day.schema)
        >>> with table.transaction() as tx:
        ...     tx.alter(SetDescription("one file a day"))
        ...     tx.append(day)
        2
        >>> table.snapshot().metadata.description, table.snapshot().num_rows
        ('one file a day', 2)
        """
        self._stage_changes(changes)

    def set_properties(self, properties: Mapping[str, str]) -> None:
        """Stages new values of properties: `alter` with a `deltaic.alter.SetProperties`."""
        self._stage_changes((SetProperties(properties),))

    def _stage_changes(self, changes: tuple[Change, ...]) -> None:
        self._ensure_open()
        if not changes:
            raise ValueError("alter takes at least one change, such as deltaic.alter.SetName('rides')")
        changes_json, types = to_json(changes)
        self._rust.alter(changes_json, types)
        warn_of_ignored(properties_set(changes), stacklevel=3)

    def remove(self, paths: Iterable[str] | ArrowTable, *, data_change: bool = True) -> None:
        """Stages the removal of live files, with all of their rows.

        Args:
            paths: As in the log: a list, an Arrow column, or what `files` returns.
            data_change: False if the same rows are in files that are added with ``data_change`` False: the
                table's rows stay the same, and no change is recorded in the change data feed. The commit
                raises ``ConstraintViolation`` if the numbers of removed and added rows differ.

        Raises:
            ValueError: A path is not a live file, or is staged already; nothing of the call is staged.
            ConstraintViolation: The table is append-only.
            UnsupportedFeature: A feature of the table that affects removals is not implemented. Constraints
                do not: they apply to written rows.
        """
        self._ensure_open()
        if isinstance(paths, str):
            raise TypeError(f"paths must be a list of paths: write remove([{paths!r}])")
        if isinstance(paths, ArrowTable):
            paths = paths.to_arrow()["path"]
        to_pylist = getattr(paths, "to_pylist", None)  # of an Arrow column
        self._iterators.use("paths", paths)
        listed = names("paths", paths if to_pylist is None else to_pylist(), what="paths")
        self._rust.remove(listed, data_change=flag("data_change", data_change))

    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
    ) -> int:
        """Stages the replacement of rows by others, as `Table.overwrite`; returns the number of new rows.

        Args:
            data: Anything Arrow, as for `Table.append`.
            where: The rows to replace; all rows of the snapshot when None.
            partitions: ``"dynamic"``: replace the partitions that the new rows are in, and no others.
            schema_mode: What happens to the schema, as for `Table.overwrite`.
            partition_by: The new partition columns, with ``schema_mode="replace"``.
        """
        self._ensure_open()
        mode = text("schema_mode", schema_mode)
        return self._rust.overwrite(
            self._rows(checked_data(data), mode),
            predicate=to_sql(where, self._snapshot.schema),
            partitions=text("partitions", partitions),
            schema_mode=mode,
            partition_by=None if partition_by is None else names("partition_by", partition_by),
        )

    def delete(self, where: Predicate | None = None) -> int | None:
        """Stages the deletion of the rows for which a predicate is true, as `Table.delete`.

        Rows that this transaction stages are not deleted. If another writer's commit changes a row that
        matches, the commit conflicts.

        Args:
            where: The rows; every row of the snapshot when None.

        Returns:
            The number of rows; None if the log does not have it.

        Raises:
            InvalidPredicate: The predicate does not parse or names an unknown column.
            ConstraintViolation: The table is append-only.
            ValueError: A file with matching rows is already staged to be removed or changed.
            UnsupportedFeature: The table requires a writer feature that is not implemented.

        >>> import deltaic, pyarrow
        >>> stock = pyarrow.table({"sku": [1, 2], "left": [0, 5]})
        >>> table = deltaic.Table.create("stock", stock.schema)
        >>> commit = table.append(stock)
        >>> with table.transaction() as tx:
        ...     deleted, appended = tx.delete("left = 0"), tx.append(stock.slice(1))
        >>> deleted, table.snapshot().num_rows
        (1, 2)
        """
        self._ensure_open()
        return self._rust.delete(predicate=to_sql(where, self._snapshot.schema))

    def update(self, set: Mapping[str, NewValue], where: Predicate | None = None) -> int | None:  # noqa: A002
        """Stages new values for columns of the rows for which a predicate is true, as `Table.update`.

        Args:
            set: The new value of each column.
            where: The rows; every row of the snapshot when None.

        Returns:
            The number of rows; None if the log does not have it.
        """
        self._ensure_open()
        sql = to_sql(where, self._snapshot.schema)
        return self._rust.update(values=to_assignments(set), predicate=sql)

    def merge(
        self,
        source: ArrowStreamExportable | ArrowArrayExportable,
        on: MergeCondition,
        *,
        target_alias: str = "target",
        source_alias: str = "source",
        schema_mode: Literal["keep", "merge"] = "keep",
    ) -> StagedMerge:
        """Starts a merge, as `Table.merge`; its `execute` stages it.

        Rows of the snapshot are matched. As for `delete`, rows that this transaction stages are neither
        matched nor changed, and a row of the snapshot matches although the transaction deletes it.

        Args:
            source: The rows, as for `Table.merge`.
            on: The condition on which two rows match.
            target_alias: The name of the table in expressions.
            source_alias: The name of the source in expressions.
            schema_mode: What happens to the schema, as for `Table.merge`.

        >>> import deltaic, pyarrow
        >>> racks = pyarrow.table({"rack": [1, 2], "bikes": [5, 2]})
        >>> table = deltaic.Table.create("racks", racks.schema)
        >>> commit = table.append(racks)
        >>> counted = pyarrow.table({"rack": [2, 3], "bikes": [4, 1]})
        >>> with table.transaction() as tx:
        ...     merge = tx.merge(counted, on="target.rack = source.rack")
        ...     changed = merge.when_matched_update_all().when_not_matched_insert_all().execute()
        ...     appended = tx.append(pyarrow.table({"rack": [4], "bikes": [0]}))
        >>> changed, table.snapshot().scan().to_arrow().sort_by("rack")["bikes"].to_pylist()
        (2, [5, 4, 1, 0])
        """
        self._ensure_open()
        rows = checked_data(source)

        def stage(request: dict[str, object]) -> int:
            self._ensure_open()
            return self._rust.merge(self._rows(rows, "merge"), request=request)

        return StagedMerge(stage, on, (target_alias, source_alias), schema_mode)

    def delete_rows(self, rows: Mapping[str, Iterable[int]]) -> int:
        """Stages the deletion of single rows: their files remain and get deletion vectors.

        A file whose rows are all deleted is removed.

        Two transactions that delete different rows of one file both succeed, unless ``row_level=False`` is
        set, or rows were read through the transaction: the winner's deletions may then change the decision.

        Args:
            rows: For each path as in the log, the positions of the rows in the file, counted from 0.

        Returns:
            The number of rows that were not yet deleted.

        Raises:
            UnsupportedFeature: Deletion vectors are not enabled (``delta.enableDeletionVectors``).
            ValueError: A path is not a live file or is staged already, or its file has no such row; nothing
                of the call is staged.
            ConstraintViolation: The table is append-only.
            CorruptData: An existing deletion vector of the file is damaged.
            VersionNotFound: The version that the transaction read was cleaned up from the log.
        """
        self._ensure_open()
        # Checked for callers without a type checker.
        if not isinstance(rows, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            expected = f"not {type(rows).__name__}: write delete_rows({{path: [0, 7]}})"
            raise TypeError(f"rows must be a mapping of paths to positions, {expected}")
        named = {text("a path of rows", path): self._positions(path, at) for path, at in rows.items()}
        return self._rust.delete_rows(named)

    def __enter__(self) -> Transaction:
        if self._state != "new":
            raise ValueError("a transaction is used once: start another with table.transaction()")
        self._state = "open"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._state = "failed"
            self._rust.abandon()
            return
        if self._is_dry_run:
            self._state = "failed"
            self._dry_run = dry_run_from_rust("TRANSACTION", self._snapshot.version, self._rust.dry_run())
            self._state = "ended"
            return
        # Anything that interrupts a commit, such as Ctrl-C, may do so after the commit landed.
        self._state = "unknown"
        try:
            commit = self._rust.commit()
        except CommitConflict:
            # If the winning commit added the same file, it may be our own commit.
            if not self._rust.keeps_files:
                self._state = "lost"
            raise
        except (CommitUnknown, InternalError):
            raise
        except (DeltaicError, ValueError):
            self._state = "failed"
            raise
        self._state = "ended"
        self._committed = None if commit is None else announced(commit, stacklevel=3)

    def _rows(self, data: object, schema_mode: str) -> object:
        """Returns the rows as the core takes them."""
        data = kept(data) if self._is_dry_run else again(data)
        return with_index(data, self._rust.snapshot, adds_columns=schema_mode != "keep")

    def _positions(self, path: str, positions: Iterable[int]) -> list[int]:
        # Checked for callers without a type checker.
        if isinstance(positions, str) or not isinstance(positions, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            expected = f"not {type(positions).__name__}: write delete_rows({{{path!r}: [0, 7]}})"
            raise TypeError(f"the rows of {path!r} must be a list of positions, {expected}")
        self._iterators.use(f"the positions of {path!r}", positions)
        found = [whole_number("a position", position) for position in positions]
        lowest = min(found, default=0)
        if lowest < 0 or max(found, default=0) >= 1 << 63:
            raise ValueError(
                f"positions must be between 0 and 2**63 - 1; {path!r} has "
                f"{lowest if lowest < 0 else max(found)}"
            )
        return found

    def _ensure_open(self) -> None:
        if self._state == "new":
            raise ValueError("a transaction is used in a block: with table.transaction() as tx")
        if self._state != "open":
            raise ValueError("the transaction has ended: start another with table.transaction()")

    def __repr__(self) -> str:
        return (
            f"<deltaic.Transaction {self._operation} on {self._rust.snapshot.uri} "
            f"at version {self._snapshot.version}: {self._shown_state()}>"
        )

    def _shown_state(self) -> str:
        if self._committed is not None:
            word = "skipped, done by" if self._committed.skipped else "committed as"
            return f"{word} version {self._committed.version}"
        if self._state in ("ended", "failed", "lost"):
            return "nothing committed"
        if self._state == "unknown":
            return "whether it is committed is unknown: check table.history()"
        try:
            added, removed = self._rust.staged
        except ValueError:  # after a fork, in the child
            return "of another process"
        return f"{added:,} files to add, {removed:,} to remove"


class CalledTransaction(Transaction):
    """A transaction whose changes a function stages and whose commit is up to the caller."""

    __slots__ = ()

    def stage(self, function: Callable[[Transaction], object]) -> None:
        """Calls the function; afterwards nothing more can be staged."""
        self._state = "open"
        try:
            function(self)
        finally:
            self._state = "ended"
