"""What an operation would do to a table, without doing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deltaic import _rust
from deltaic.values.pandas_index import with_index
from deltaic.values.read_once import kept
from deltaic.values.sizes import counted, readable_size

__all__ = ["DryRun", "dry_run_from_rust", "preview_rows"]

# What happens to the rows that an operation finds, and to the new ones.
_VERBS = {
    "DELETE": "delete",
    "UPDATE": "update",
    "OVERWRITE": "replace",
    "MERGE": "update or delete",
    "OPTIMIZE": "copy",
    "REORG": "copy",
    "COMPUTE STATS": "describe",
}


@dataclass(frozen=True)
class DryRun:
    """What an operation would do: the result of a writing method with ``dry_run=True``. Nothing was written.

    >>> print(DryRun("DELETE", 4, 120, removed_files=1, files_with_deletion_vectors=3))
    DELETE of version 4 would delete 120 rows:
      1 file removed
      3 files get a deletion vector
    >>> print(DryRun("APPEND", 4, 0, added_rows=7, added_files=1, added_bytes=900, features=["timestampNtz"]))
    APPEND to version 4 would add 7 rows:
      1 file added (900 B)
      the feature timestampNtz added to the table
    >>> print(DryRun("MERGE", 4, 2, added_rows=1))
    MERGE of version 4 would update or delete 2 rows and add 1 row
    >>> print(DryRun("OPTIMIZE", 4, 90, rewritten_files=9, rewritten_bytes=7000, added_files=1))
    OPTIMIZE of version 4 would copy 90 rows:
      9 files rewritten (6.8 KiB)
      1 file added
    >>> print(DryRun("COMPUTE STATS", 4, 90, files_with_statistics=9))
    COMPUTE STATS of version 4 would describe 90 rows:
      9 files get other statistics
    """

    operation: str
    """``"APPEND"``, ``"OVERWRITE"``, ``"DELETE"``, ``"UPDATE"``, ``"MERGE"``, ``"OPTIMIZE"``,
    ``"REORG"``, ``"COMPUTE STATS"``, ``"TRANSACTION"``, or ``"CREATE"`` for the rows of a new table."""

    version: int | None
    """The version that was read; None if there is no table."""

    rows: int | None
    """The number of rows that would be deleted, replaced, updated or copied, or that are in the files that
    would get other statistics; None if the log does not have it."""

    removed_files: int = 0
    """The number of files whose rows would all be deleted, replaced or updated."""

    files_with_deletion_vectors: int = 0
    """The number of files that would get a deletion vector."""

    files_with_statistics: int = 0
    """The number of files that would get other statistics: those of `Table.recompute_statistics`."""

    rewritten_files: int = 0
    """The number of files whose other rows would be copied to new files."""

    rewritten_bytes: int = 0
    """The size of the rewritten files in bytes."""

    added_rows: int = 0
    """The number of new rows, without those of an update."""

    added_files: int = 0
    """The number of new files of new rows, with those of copied rows. `Table.update` does not compute it."""

    added_bytes: int = 0
    """The size of these files in bytes; 0 for those of `Table.optimize` and
    `Table.purge`, whose size is not known."""

    features: Sequence[str] = ()
    """The features that the table would need and does not have."""

    warnings: Sequence[str] = ()
    """What may take long: a merge whose condition has no equality of both sides."""

    def __str__(self) -> str:
        added = f" ({readable_size(self.added_bytes)})" if self.added_bytes else ""
        parts = [
            (self.removed_files, " removed", " removed", ""),
            (self.files_with_deletion_vectors, " gets a deletion vector", " get a deletion vector", ""),
            (self.files_with_statistics, " gets other statistics", " get other statistics", ""),
            (self.rewritten_files, " rewritten", " rewritten", f" ({readable_size(self.rewritten_bytes)})"),
            (self.added_files, " added", " added", added),
        ]
        lines = [
            f"  {counted(number, 'file')}{one if number == 1 else many}{more}"
            for number, one, many, more in parts
            if number
        ]
        lines += [f"  the feature {name} added to the table" for name in self.features]
        lines += [f"  warning: {text}" for text in self.warnings]
        return "\n".join([f"{self._first_line()}{':' if lines else ''}", *lines])

    def _first_line(self) -> str:
        found = "an unknown number of rows" if self.rows is None else counted(self.rows, "row")
        added = f"add {counted(self.added_rows, 'row')}"
        if self.operation == "CREATE":
            return f"CREATE of a table would {added}"
        if self.operation == "APPEND":
            return f"APPEND to version {self.version} would {added}"
        if self.operation == "TRANSACTION":
            return f"TRANSACTION on version {self.version} would delete or update {found} and {added}"
        change = f"{self.operation} of version {self.version} would {_VERBS[self.operation]} {found}"
        if self.operation == "MERGE":
            return f"{change} and {added}"
        return f"{change} by {self.added_rows:,}" if self.operation == "OVERWRITE" else change


def dry_run_from_rust(operation: str, version: int | None, found: _rust.DryRun) -> DryRun:
    """Converts the result of the Rust core."""
    return DryRun(
        operation,
        version,
        found.rows,
        removed_files=found.removed_files,
        files_with_deletion_vectors=found.files_with_deletion_vectors,
        files_with_statistics=found.files_with_statistics,
        rewritten_files=found.rewritten_files,
        rewritten_bytes=found.rewritten_bytes,
        added_rows=found.added_rows,
        added_files=found.added_files,
        added_bytes=found.added_bytes,
        features=found.features,
        warnings=found.warnings,
    )


def preview_rows(
    operation: str,
    refresh: Callable[[], _rust.Snapshot],
    data: object,
    *,
    replaced: tuple[str | None, str] | None,
    schema_mode: str,
    partition_by: list[str] | None,
    options: dict[str, object],
) -> DryRun:
    """Returns what an append or overwrite of rows would do."""
    data = kept(data, options["memory"])
    known = refresh()
    found = known.preview_rows(
        with_index(data, known, adds_columns=schema_mode != "keep"),
        replaced=replaced,
        schema_mode=schema_mode,
        partition_by=partition_by,
        options=options,
    )
    return dry_run_from_rust(operation, known.version, found)
