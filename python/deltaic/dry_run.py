"""What an operation would do to a table, without doing it."""

from __future__ import annotations

from dataclasses import dataclass

from deltaic.sizes import readable_size

__all__ = ["DryRun"]


@dataclass(frozen=True)
class DryRun:
    """What an operation would do: the result of a writing method with ``dry_run=True``. Nothing was written.

    >>> print(DryRun("DELETE", 4, 120, removed_files=1, files_with_deletion_vectors=3))
    DELETE of version 4 would delete 120 rows:
      1 file removed
      3 files get a deletion vector
    """

    operation: str
    """The operation, as the commit would record it."""

    version: int
    """The version that was read."""

    rows: int | None
    """The number of rows that would be deleted or updated; None if the log does not have it."""

    removed_files: int = 0
    """The number of files whose rows would all be deleted or updated."""

    files_with_deletion_vectors: int = 0
    """The number of files that would get a deletion vector."""

    rewritten_files: int = 0
    """The number of files whose other rows would be copied to new files."""

    rewritten_bytes: int = 0
    """The size of the rewritten files in bytes."""

    def __str__(self) -> str:
        rows = "an unknown number of rows" if self.rows is None else _counted(self.rows, "row")
        parts = [
            (self.removed_files, " removed", " removed", ""),
            (self.files_with_deletion_vectors, " gets a deletion vector", " get a deletion vector", ""),
            (self.rewritten_files, " rewritten", " rewritten", f" ({readable_size(self.rewritten_bytes)})"),
        ]
        lines = [
            f"  {_counted(number, 'file')}{one if number == 1 else many}{more}"
            for number, one, many, more in parts
            if number
        ]
        verb = self.operation.lower()
        first = f"{self.operation} of version {self.version} would {verb} {rows}{':' if lines else ''}"
        return "\n".join([first, *lines])


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
