from collections.abc import Sequence
from typing import final

from .arrow_table import ArrowTable
from .commit import Commit
from .dry_run import DryRun
from .snapshot import Snapshot

@final
class Transaction:
    """Staged changes of a table, committed once (protocol: Requirements for Writers)."""

    @property
    def snapshot(self) -> Snapshot:
        """The version that it starts from."""

    @property
    def is_done(self) -> bool:
        """Whether the application's version is already recorded (protocol: Transaction Identifiers)."""

    @property
    def keeps_files(self) -> bool:
        """Whether a version may reference the files written for a commit, even if the commit failed."""

    @property
    def staged(self) -> tuple[int, int]:
        """The numbers of files to add and to remove."""

    def read(self, *, predicate: str | None = None) -> None:
        """Records the rows of a predicate as read; all rows without one.

        Raises:
            InvalidPredicate, UnsupportedExpression.
        """

    def files(self, *, predicate: str | None = None, stats: bool = False) -> ArrowTable:
        """Returns the files that may match and records them as read; columns as `Snapshot.files`.

        Raises:
            InvalidPredicate, UnsupportedExpression.
        """

    def read_app(self, app_id: str) -> int | None:
        """Returns the last recorded version of an application and records it as read."""

    def append(self, data: object, *, schema_mode: str = "keep") -> int:
        """Writes data files, stages them and returns the number of their rows.

        Raises:
            SchemaMismatch, ConstraintViolation, UnsupportedFeature, StorageError.
        """

    def add(self, files: str) -> None:
        """Stages files that another engine wrote (protocol: Add File and Remove File).

        Args:
            files: The text of a JSON array of objects: `path`, `size` in bytes, `partition_values` (texts by
                column), `modification_time` (milliseconds since the epoch), `stats` (JSON text),
                `data_change`.

        Raises:
            ValueError, PathEscape, UnsupportedFeature, StorageError.
        """

    def alter(self, changes: str, types: Sequence[object]) -> None:
        """Stages changes of the table's metadata (protocol: Change Metadata, Protocol Evolution).

        Args:
            changes: A JSON list of the changes, as `deltaic.writing.alter` writes it.
            types: The Arrow types that the text references by index, each with `__arrow_c_schema__`.

        Raises:
            ValueError, SchemaMismatch, ConstraintViolation, InvalidPredicate, UnsupportedExpression,
            UnsupportedFeature.
        """

    def remove(self, paths: list[str], *, data_change: bool = True) -> None:
        """Stages the removal of live files (protocol: Add File and Remove File).

        Args:
            paths: As in the log.
            data_change: Whether their rows are removed from the table.

        Raises:
            ValueError, ConstraintViolation, UnsupportedFeature.
        """

    def overwrite(
        self,
        data: object,
        *,
        predicate: str | None,
        partitions: str,
        schema_mode: str = "keep",
        partition_by: list[str] | None = None,
    ) -> int:
        """Stages the replacement of rows by those of a stream; returns the number of new rows.

        Raises:
            ValueError, InvalidPredicate, SchemaMismatch, ConstraintViolation, UnsupportedFeature,
            StorageError.
        """

    def delete(self, *, predicate: str | None) -> int | None:
        """Stages the deletion of matching rows, or of all; returns their number if the log has it.

        Raises:
            InvalidPredicate, ValueError, UnsupportedFeature, ConstraintViolation, CorruptData, StorageError.
        """

    def update(self, *, values: list[tuple[str, str]], predicate: str | None) -> int | None:
        """Stages new values for columns of matching rows, or of all; returns the number of rows if known.

        Raises:
            ValueError, InvalidPredicate, UnsupportedExpression, SchemaMismatch, ConstraintViolation,
            UnsupportedFeature, CorruptData, StorageError.
        """

    def merge(self, data: object, *, request: dict[str, object]) -> int:
        """Stages a merge of rows; returns the number of rows that it updates, deletes or inserts.

        Args:
            data: The rows, which are read once.
            request: As for `Table.merge`.

        Raises:
            ValueError, InvalidPredicate, UnsupportedExpression, SchemaMismatch, ConstraintViolation,
            UnsupportedFeature, CorruptData, StorageError.
        """

    def delete_rows(self, rows: dict[str, list[int]]) -> int:
        """Stages row deletions by position from 0 in each file; returns how many were not yet deleted.

        Raises:
            ValueError, UnsupportedFeature, ConstraintViolation, CorruptData, StorageError.
        """

    def commit(self) -> Commit | None:
        """Commits the staged changes; returns None if there are none.

        Raises:
            CommitConflict, CommitUnknown, StorageError.
        """

    def dry_run(self) -> DryRun:
        """Returns what a commit would do. The transaction was started with `dry_run`.

        Raises:
            ConstraintViolation, UnsupportedFeature.
        """

    def abandon(self) -> None:
        """Deletes the written files; commits nothing."""
