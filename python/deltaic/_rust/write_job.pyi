from typing import final

from .commit import Commit
from .write_task import WriteTask

@final
class WriteJob:
    """A planned write, whose data files other processes write."""

    @property
    def uri(self) -> str:
        """The root of the table."""

    @property
    def schema_json(self) -> str:
        """The schema of the table with the rows, as JSON."""

    @property
    def partition_columns(self) -> list[str]:
        """The partition columns of the table with the rows."""

    @property
    def expressions_in_use(self) -> tuple[bool, bool]:
        """Whether writers compute generated columns, and whether they apply defaults."""

    def conditions(self) -> list[tuple[str, str, str]]:
        """Returns the conditions of rows: ``constraint`` or ``field``, its name, and the SQL text."""

    def ensure_takes(self, schema_json: str) -> None:
        """Verifies that the tasks will take rows of these columns.

        Raises:
            SchemaMismatch, UnsupportedFeature, UnsupportedExpression, ValueError.
        """

    def is_done(self, options: dict[str, object]) -> bool:
        """Whether the table records the application transaction: the commit will be skipped."""

    def task(self) -> WriteTask:
        """Returns what other processes need to write files."""

    def parquet_form(self) -> str | None:
        """Returns what an engine that knows Parquet needs to write files, as JSON; None if it cannot.

        Raises:
            UnsupportedFeature, CorruptLog, ValueError.
        """

    def given_files(self, files: str) -> str:
        """Converts the JSON of files of such an engine to that of `commit`.

        Raises:
            ValueError: The text is no array of files.
            InternalError: A bound has no value of its type.
        """

    def commit(self, files: str, options: dict[str, object], *, data_change: bool = True) -> Commit | None:
        """Commits the files of the tasks, as JSON; returns None if another writer created the table first.

        After a failure they are deleted, unless a version may reference them.

        Raises:
            ValueError: A file does not exist here, or without `data_change` a file is replaced in part.
            ConstraintViolation: Without `data_change`, as many rows are not removed as added.
            TableExists, CommitConflict, CommitUnknown, SchemaMismatch, UnsupportedFeature, StorageError.
        """

    def discard(self, files: str) -> None:
        """Deletes files of the tasks, as JSON, if nothing will be committed."""

    def to_bytes(self) -> bytes:
        """Serializes the job, including the storage options."""

    @staticmethod
    def from_bytes(data: bytes) -> WriteJob:
        """The inverse of `to_bytes`; loads the version that the write was planned on.

        Raises:
            ValueError: The bytes are not a job of this release.
        """
