from collections.abc import Sequence
from typing import final

from .arrow_table import ArrowTable
from .commit import Commit
from .snapshot import Snapshot

@final
class Transaction:
    """What is to become of a table: staged, and committed once (protocol: Requirements for Writers)."""

    @property
    def snapshot(self) -> Snapshot:
        """The version that it starts from."""

    @property
    def is_done(self) -> bool:
        """Whether the application is as far already (protocol: Transaction Identifiers)."""

    @property
    def keeps_files(self) -> bool:
        """Whether a version may name the files that were written for a commit, also if the commit failed."""

    @property
    def staged(self) -> tuple[int, int]:
        """How many files are to come, and to go."""

    def read(self, *, predicate: str | None = None) -> None:
        """Notes that the rows of a predicate are read, all without one.

        Raises:
            InvalidPredicate, UnsupportedExpression.
        """

    def files(self, *, predicate: str | None = None, stats: bool = False) -> ArrowTable:
        """The files that may hold a row of the predicate, noted as read; columns as of `Snapshot.files`.

        Raises:
            InvalidPredicate, UnsupportedExpression.
        """

    def read_app(self, app_id: str) -> int | None:
        """How far an application has come, noted as read."""

    def append(self, data: object) -> int:
        """Writes data files and stages them; how many rows they hold.

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
        """Stages changes of what the table says of itself (protocol: Change Metadata, Protocol Evolution).

        Args:
            changes: A JSON list of the changes, as `deltaic.alter_json` writes it.
            types: The Arrow types that the text names by their place, each with `__arrow_c_schema__`.

        Raises:
            ValueError, SchemaMismatch, ConstraintViolation, InvalidPredicate, UnsupportedExpression,
            UnsupportedFeature.
        """

    def remove(self, paths: list[str], *, data_change: bool = True) -> None:
        """Stages that live files go (protocol: Add File and Remove File).

        Args:
            paths: As the log has them.
            data_change: Whether rows go with them.

        Raises:
            ValueError, ConstraintViolation, UnsupportedFeature.
        """

    def delete_rows(self, rows: dict[str, list[int]]) -> int:
        """Stages that rows go by deletion vectors: positions in each file from 0; how many were still there.

        Raises:
            ValueError, UnsupportedFeature, ConstraintViolation, CorruptData, StorageError.
        """

    def commit(self) -> Commit | None:
        """Commits what is staged; None where nothing is.

        Raises:
            CommitConflict, CommitUnknown, StorageError.
        """

    def abandon(self) -> None:
        """Removes what was written; nothing is committed."""
