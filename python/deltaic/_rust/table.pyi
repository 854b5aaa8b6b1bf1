from collections.abc import Callable, Sequence
from typing import final

from .changes import Changes
from .check import Report
from .commit import Commit
from .commit_files import CommitFiles
from .convert import ConvertPreview
from .dry_run import DryRun
from .log_maintenance import CheckpointWritten, CleanedUp, Compacted
from .restore import RestorePreview
from .shallow_clone import ClonePreview
from .snapshot import Snapshot
from .transaction import Transaction
from .vacuum import Vacuumed
from .write_job import WriteJob

@final
class Table:
    """A handle on a Delta table. Creating a handle does no I/O."""

    def __new__(
        cls,
        uri: str,
        *,
        storage_options: dict[str, str] | None = None,
        allowed_roots: list[str] = ...,
        max_line_bytes: int = ...,
    ) -> Table:
        """Creates the handle.

        Args:
            uri: A path or a URI.
            storage_options: Settings of the store, under the names of `object_store` or of Hadoop.
            allowed_roots: Further locations whose files the log may reference.
            max_line_bytes: The longest line accepted in a commit file, in bytes; 256 MiB by default.

        Raises:
            ValueError: The URI or a storage option is not known, or two options contradict each other.
        """

    @property
    def uri(self) -> str:
        """The root, normalised and ending in a slash; never contains a secret."""

    def exists(self) -> bool:
        """Whether there is a `_delta_log` with a commit or checkpoint.

        Raises:
            StorageError: The store cannot be accessed.
        """

    def probe(self) -> None:
        """Tests commits in a separate folder, and deletes it (protocol: Delta Log Entries).

        Raises:
            StorageError: The store does not guarantee what a commit requires, or cannot be reached.
        """

    def plan_create(
        self,
        schema_json: str,
        *,
        partition_by: list[str],
        cluster_by: list[str],
        properties: dict[str, str],
        if_exists: str,
        settings: str,
    ) -> WriteJob:
        """Plans the creation of a table with rows that other processes write.

        Args:
            schema_json: The columns, as JSON of a Delta schema.
            partition_by: The partition columns.
            cluster_by: The clustering columns.
            properties: The properties.
            if_exists: `"error"` or `"ignore"`.
            settings: The settings of the tasks, as JSON.

        Raises:
            ValueError, SchemaMismatch, UnsupportedFeature.
        """

    def create_with_rows(
        self,
        data: object,
        *,
        partition_by: list[str],
        properties: dict[str, str],
        if_exists: str,
        options: dict[str, object],
    ) -> Commit | None:
        """Writes version 0 with rows, whose columns become those of the table.

        Returns:
            The commit; None if a table exists and `if_exists` is `"ignore"`.

        Raises:
            TableExists, SchemaMismatch, ConstraintViolation, UnsupportedFeature, StorageError.
        """

    def preview_create(
        self,
        data: object,
        *,
        partition_by: list[str],
        properties: dict[str, str],
        options: dict[str, object],
    ) -> DryRun:
        """Returns what `create_with_rows` would do. The rows are validated and encoded.

        Raises:
            SchemaMismatch, ConstraintViolation, UnsupportedFeature.
        """

    def create(
        self,
        schema: object | None,
        columns: str | None,
        types: Sequence[object],
        *,
        partition_by: list[str],
        cluster_by: list[str],
        properties: dict[str, str],
        name: str | None,
        description: str | None,
        constraints: dict[str, str],
        if_exists: str,
        options: dict[str, object],
    ) -> Commit | None:
        """Writes version 0: protocol, metadata and domains (protocol: Change Metadata, Protocol Evolution).

        Args:
            schema: Anything with `__arrow_c_schema__`; None for `columns`.
            columns: The columns as JSON; a type is SQL text or an index into `types`.
            types: Arrow types.
            partition_by: Top-level columns, outermost first.
            cluster_by: Columns, and fields of structs, named as in predicates.
            properties: The configuration, and properties that request features and a protocol.
            name: The table's name.
            description: The table's description.
            constraints: CHECK constraints by name, in SQL.
            if_exists: `"error"`, `"ignore"` or `"replace"`.
            options: As for `transaction`.

        Returns:
            None if the table exists and `if_exists` is `"ignore"`.

        Raises:
            TableExists, SchemaMismatch, UnsupportedFeature, InvalidPredicate, UnsupportedExpression,
            StorageError, ValueError.
        """

    def convert(
        self,
        schema: object | None,
        columns: str | None,
        types: Sequence[object],
        *,
        statistics: bool,
        options: dict[str, object],
    ) -> Commit:
        """Creates a table of the Parquet files in the folder (protocol: Data Files).

        Args:
            schema: The partition columns: anything with `__arrow_c_schema__`; None for `columns`.
            columns: The partition columns as JSON; a type is SQL text or an index into `types`.
            types: Arrow types.
            statistics: Whether the statistics of the footers become those of the table.
            options: As for `transaction`.

        Raises:
            TableExists, SchemaMismatch, CorruptData, CommitUnknown, StorageError, ValueError.
        """

    def preview_convert(
        self,
        schema: object | None,
        columns: str | None,
        types: Sequence[object],
        *,
        statistics: bool,
        options: dict[str, object],
    ) -> ConvertPreview:
        """Returns what `convert` would do.

        Raises:
            TableExists, SchemaMismatch, CorruptData, StorageError, ValueError.
        """

    def snapshot(self, *, version: int | None = None, timestamp_ms: int | None = None) -> Snapshot:
        """Loads a version, or the newest one committed at or before a time (protocol: Action Reconciliation).

        Raises:
            TableNotFound, VersionNotFound, UnsupportedFeature, CorruptLog, StorageError.
        """

    def changes(
        self,
        *,
        first_version: int | None,
        first_ms: int | None,
        last_version: int | None,
        last_ms: int | None,
        columns: list[str] | None,
        infer: bool,
    ) -> Changes:
        """Plans a read of the row-level changes of a range of versions.

        Raises:
            VersionNotFound, UnsupportedFeature, SchemaMismatch, CorruptLog.
            ValueError: An unknown name in `columns`, or a range that ends before it starts.
        """

    def commit_files(
        self,
        first: int,
        last: int,
        *,
        rows_as: Snapshot,
        before: CommitFiles | None,
        columns: list[str] | None,
        feed: bool,
    ) -> list[CommitFiles]:
        """Reads the files of each commit of a range (protocol: Add File and Remove File, Add CDC File).

        Args:
            first: The first version.
            last: The last version (inclusive).
            rows_as: The snapshot that determines the columns of the rows.
            before: The commit before the first, if it was read: it holds the state of the table before the
                range.
            columns: The columns to read, in this order; all of them when None.
            feed: Whether to read the rows of the change data feed.

        Raises:
            VersionNotFound: A commit is not, or no longer, in the log.
            TableNotFound: A commit replaced the table by another one.
            SchemaMismatch: A commit after `rows_as` changed the columns, or those of an older one do not fit.
            UnsupportedFeature, CorruptLog, StorageError.
        """

    def version_since(self, timestamp_ms: int) -> int:
        """Returns the oldest version in the log that was committed at or after a time.

        Raises:
            VersionNotFound: The newest version is older.
        """

    def history(self, limit: int | None = None) -> list[Commit]:
        """Returns the commits of the log, newest first (protocol: Commit Provenance Information)."""

    def checkpoint(self) -> CheckpointWritten:
        """Writes a checkpoint of the newest version (protocol: Checkpoints).

        Raises:
            TableNotFound, UnsupportedFeature, CorruptLog, VersionNotFound, StorageError.
        """

    def compact_log(self, start: int, end: int | None = None) -> Compacted | None:
        """Writes the compaction file of a range of commits, inclusive (protocol: Log Compaction Files).

        Raises:
            ValueError, VersionNotFound, UnsupportedFeature, CorruptLog, StorageError.
        """

    def clean_up(self, *, dry_run: bool = False) -> CleanedUp:
        """Deletes expired log files (protocol: Metadata Cleanup).

        Raises:
            UnsupportedFeature, CorruptLog, StorageError.
        """

    def vacuum(
        self,
        known: Snapshot,
        *,
        request: dict[str, object],
        clones: Sequence[Table | str],
        options: dict[str, object],
    ) -> Vacuumed:
        """Deletes files that the table no longer needs (protocol: Vacuum Protocol Check).

        Args:
            known: The snapshot to start from.
            request: ``retention_ms``, ``mode`` (``"full"`` or ``"lite"``), ``inventory`` (Arrow data or
                None), ``keep_versions``, ``force`` and ``dry_run``.
            clones: Tables whose logs name files of this one, or their locations.
            options: The commit options.

        Raises:
            UnsupportedFeature, CorruptLog, VersionNotFound, TableNotFound, CommitConflict, StorageError.
        """

    def check(
        self,
        *,
        deep: bool = False,
        progress: tuple[Callable[[str, int, int], object], Callable[[], object] | None] | None = None,
    ) -> Report:
        """Checks the whole table and reports every problem; writes nothing.

        Args:
            deep: Whether to check the data files too.
            progress: Called from time to time, and after a success, with `"log"` or `"files"`, the number of
                completed steps and the total; and a function that is called at the end. An exception that one
                raises ends the check.

        Raises:
            TableNotFound, StorageError.
        """

    def transaction(
        self, known: Snapshot, *, operation: str, options: dict[str, object], dry_run: bool
    ) -> Transaction:
        """Starts a transaction on a snapshot (protocol: Requirements for Writers).

        Args:
            known: The snapshot.
            operation: The operation recorded in the log: `WRITE`, `DELETE` …
            options: The commit options: `commit_info` (the text of a JSON object or None),
                `app_transaction` (a name and a version, or None), `max_attempts`, `deadline_ms` (milliseconds
                from now, or None), `isolation` (a level's name or None), `row_level`, `upkeep`,
                `empty_text_is_null`, `memory` (bytes or None) and `progress` (as for `check`, or None).
            dry_run: Whether nothing is written.

        Raises:
            ValueError, CorruptLog.
        """

    def run_transaction(
        self,
        known: Snapshot,
        function: Callable[[Transaction], object],
        *,
        operation: str,
        max_runs: int,
        options: dict[str, object],
    ) -> Commit | None:
        """Calls a function with a transaction, and again with a new one after each conflict.

        The function is called on this thread. Its exceptions end the call. None if it staged nothing.

        Args:
            known: The snapshot of the first call.
            function: Stages changes in the transaction that it is given.
            operation: As for `transaction`.
            max_runs: Maximum number of calls.
            options: As for `transaction`; the deadline applies to all calls together.

        Raises:
            CommitConflict, CommitUnknown.
        """

    def restore(
        self,
        known: Snapshot,
        *,
        version: int | None,
        timestamp_ms: int | None,
        ignore_missing_files: bool,
        options: dict[str, object],
    ) -> Commit:
        """Restores an earlier version in one commit (protocol: Add File and Remove File, Change Metadata).

        Args:
            known: The newest snapshot.
            version: The version to restore; exactly one of it and `timestamp_ms` is not None.
            timestamp_ms: Selects the newest version committed at or before this time.
            ignore_missing_files: Whether to leave out files that are gone.
            options: As for `transaction`.

        Raises:
            VersionNotFound, CorruptData, ConstraintViolation, UnsupportedFeature, SchemaMismatch,
            CommitConflict, CommitUnknown, StorageError, ValueError.
        """

    def preview_restore(
        self,
        known: Snapshot,
        *,
        version: int | None,
        timestamp_ms: int | None,
        ignore_missing_files: bool,
        options: dict[str, object],
    ) -> RestorePreview:
        """Returns what `restore` would do.

        Raises:
            VersionNotFound, CorruptData, ConstraintViolation, UnsupportedFeature, SchemaMismatch,
            StorageError, ValueError.
        """

    def shallow_clone(
        self, known: Snapshot, target: Table | str, *, request: dict[str, object], options: dict[str, object]
    ) -> tuple[Commit, Table]:
        """Makes a table that refers to the files of this one (protocol: Add File and Remove File).

        Args:
            known: The version to clone.
            target: A handle, or a location on the store of this table.
            request: `properties`, `if_exists` (`"error"` or `"replace"`) and `verify_files`.
            options: As for `transaction`.

        Returns:
            The commit, and the clone, which may read the files of this table.

        Raises:
            TableExists, UnsupportedFeature, SchemaMismatch, CorruptData, CommitConflict, CommitUnknown,
            StorageError, ValueError.
        """

    def preview_clone(
        self,
        known: Snapshot,
        target: Table | str,
        *,
        request: dict[str, object],
        options: dict[str, object],
    ) -> ClonePreview:
        """Returns what `shallow_clone` would do.

        Raises:
            TableExists, UnsupportedFeature, SchemaMismatch, CorruptData, StorageError, ValueError.
        """

    def repair(self, known: Snapshot, *, options: dict[str, object]) -> tuple[list[str], Commit]:
        """Removes the entries of data files that are gone (protocol: Add File and Remove File).

        Args:
            known: The snapshot to start from.
            options: As for `transaction`.

        Returns:
            The paths of the removed files, and the commit, which is skipped without any.

        Raises:
            CorruptData, ConstraintViolation, UnsupportedFeature, CommitConflict, CommitUnknown, StorageError.
        """

    def missing_files(self, known: Snapshot, *, options: dict[str, object]) -> list[str]:
        """Returns the paths that `repair` would remove.

        Raises:
            CorruptData, ConstraintViolation, UnsupportedFeature, StorageError.
        """

    def symlink_manifest(self, known: Snapshot, *, dry_run: bool) -> tuple[list[str], list[str]]:
        """Writes symlink manifests of a snapshot, and deletes those of partitions without files.

        Returns:
            The written and the deleted manifests, relative to the root.

        Raises:
            UnsupportedFeature, PathEscape, StorageError.
        """

    def alter(
        self, changes: str, types: Sequence[object], *, options: dict[str, object], known: Snapshot
    ) -> Commit:
        """Changes the table's metadata (protocol: Change Metadata, Protocol Evolution).

        Args:
            changes: A JSON list of the changes, as `deltaic.writing.alter` writes it.
            types: The Arrow types that the text references by index, each with `__arrow_c_schema__`.
            options: As for `transaction`; with `row_level`, the changes are planned again if another commit
                changed the table.
            known: The snapshot to start from.

        Raises:
            SchemaMismatch, ConstraintViolation, InvalidPredicate, UnsupportedExpression, UnsupportedFeature,
            CommitConflict, CommitUnknown, StorageError, ValueError.
        """

    def overwrite(
        self,
        data: object,
        *,
        known: Snapshot,
        predicate: str | None,
        partitions: str,
        schema_mode: str,
        partition_by: list[str] | None,
        options: dict[str, object],
    ) -> Commit:
        """Replaces rows in one commit (protocol: Add File and Remove File).

        Args:
            data: As for `append`.
            known: The snapshot to start from.
            predicate: SQL; the rows to replace.
            partitions: `"static"` or `"dynamic"`.
            schema_mode: `"keep"`, `"merge"` or `"replace"`.
            partition_by: With `"replace"`: the new partition columns; None keeps them.
            options: As for `transaction`.

        Raises:
            ValueError, InvalidPredicate, SchemaMismatch, ConstraintViolation, UnsupportedFeature,
            CommitConflict, CommitUnknown, StorageError.
        """

    def delete(self, known: Snapshot, *, predicate: str | None, options: dict[str, object]) -> Commit:
        """Deletes matching rows in one commit (protocol: Add File and Remove File, Deletion Vectors).

        Args:
            known: The snapshot to start from.
            predicate: SQL; every row if None.
            options: As for `transaction`.

        Raises:
            InvalidPredicate, ConstraintViolation, UnsupportedFeature, CommitConflict, CommitUnknown,
            CorruptData, StorageError.
        """

    def merge(
        self, data: object, known: Snapshot, *, request: dict[str, object], options: dict[str, object]
    ) -> Commit:
        """Merges rows in one commit (protocol: Add File and Remove File, Add CDC File).

        Args:
            data: The rows, which are read once.
            known: The snapshot to start from.
            request: ``on``, ``target_alias``, ``source_alias``, ``schema_mode`` and ``clauses``: tuples of a
                kind, an action, a condition and the values of columns.
            options: As for `transaction`.

        Raises:
            ValueError, InvalidPredicate, UnsupportedExpression, SchemaMismatch, ConstraintViolation,
            UnsupportedFeature, CommitConflict, CommitUnknown, CorruptData, StorageError.
        """

    def optimize(self, known: Snapshot, *, request: dict[str, object], options: dict[str, object]) -> Commit:
        """Rewrites files without changing rows (protocol: Add File and Remove File, `dataChange`).

        Args:
            known: A version of the table.
            request: `predicate`, as SQL or None, `target_file_size`, as text or None, `zorder_by`, `full`,
                and `purge`: whether exactly the files with deleted rows or dropped columns are rewritten.
            options: As for `transaction`.

        Raises:
            DeltaicError: As for `Table.optimize`.
        """

    def recompute_statistics(
        self, known: Snapshot, *, request: dict[str, object], options: dict[str, object]
    ) -> Commit:
        """Adds live files again with the statistics of their rows (protocol: Per-file Statistics).

        Args:
            known: A version of the table.
            request: `columns`, names or None, and `predicate`, as SQL or None.
            options: As for `transaction`.

        Raises:
            DeltaicError: As for `Table.recompute_statistics`.
        """

    def preview_statistics(
        self, known: Snapshot, *, request: dict[str, object], options: dict[str, object]
    ) -> DryRun:
        """Returns what computing statistics would do; the arguments and errors are the same."""

    def update(
        self,
        known: Snapshot,
        *,
        values: list[tuple[str, str]],
        predicate: str | None,
        options: dict[str, object],
    ) -> Commit:
        """Sets columns of matching rows in one commit (protocol: Add File and Remove File, Add CDC File).

        Args:
            known: The snapshot to start from.
            values: Columns, and SQL expressions for their new values.
            predicate: SQL; every row if None.
            options: As for `transaction`.

        Raises:
            ValueError, InvalidPredicate, UnsupportedExpression, SchemaMismatch, ConstraintViolation,
            UnsupportedFeature, CommitConflict, CommitUnknown, CorruptData, StorageError.
        """

    def append(
        self,
        data: object,
        *,
        options: dict[str, object],
        schema_mode: str = "keep",
        known: Snapshot | None = None,
    ) -> Commit:
        """Writes data files and commits them as a blind append (protocol: Add File and Remove File).

        Args:
            data: Anything with `__arrow_c_stream__` or `__arrow_c_array__`; a stream is read once.
            options: As for `transaction`.
            schema_mode: `"keep"` or `"merge"`.
            known: The snapshot to start from; the newest if None.

        Raises:
            SchemaMismatch, ConstraintViolation, UnsupportedFeature, CommitConflict, CommitUnknown,
            StorageError.
        """
