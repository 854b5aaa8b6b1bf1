"""Log maintenance: checkpoints, log compaction, and cleanup of expired files."""

from __future__ import annotations

from dataclasses import dataclass, field

from deltaic import _rust
from deltaic.values.arguments import bounded_int, flag
from deltaic.values.sizes import readable_size

__all__ = [
    "Checkpoint",
    "CleanUp",
    "DeletedFile",
    "LogCompaction",
    "clean_up_log",
    "compact_commits",
    "write_checkpoint",
]


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint: readers start from it instead of the first commit."""

    version: int
    """The version that it represents."""

    path: str
    """Its file relative to the table's root; with sidecars, the file that references them."""

    size_in_bytes: int
    """The total size of its files."""

    actions: int | None = None
    """The number of its actions; None if an existing checkpoint does not specify it."""

    sidecars: list[str] = field(default_factory=list[str], repr=False)
    """Its other files."""

    is_new: bool = True
    """Whether it was written by this call; otherwise it already existed."""

    reused_sidecars: int = 0
    """How many of the sidecars, the first ones, were not written again as an older checkpoint has them;
    0 if the checkpoint already existed."""


@dataclass(frozen=True)
class LogCompaction:
    """A log compaction file: replaces a range of commits, so that readers fetch one file instead of many."""

    path: str
    """Relative to the table's root."""

    actions: int
    """The number of its actions; 0 if it already existed."""

    size_in_bytes: int
    """0 if it already existed."""

    is_new: bool = True
    """Whether it was written by this call; otherwise it already existed."""


@dataclass(frozen=True)
class DeletedFile:
    """A log file that a cleanup deleted, or would delete."""

    path: str
    """Relative to the table's root."""

    size_in_bytes: int
    reason: str


@dataclass(frozen=True)
class CleanUp:
    """The files that a log cleanup deleted, or would delete. `str()` gives one line per file."""

    files: list[DeletedFile]
    """In the order of deletion."""

    oldest_version: int | None = None
    """The oldest version that can be read afterwards; None if no commit is deleted."""

    kept: str | None = None
    """Why no commit is deleted, if none is."""

    not_deleted: list[str] = field(default_factory=list[str])
    """Files that may have expired but were not deleted, and why."""

    @property
    def size_in_bytes(self) -> int:
        """The total size of all files."""
        return sum(file.size_in_bytes for file in self.files)

    def __str__(self) -> str:
        """Returns a summary line, and one line for each file."""
        if not self.files:
            return self._in_short()
        lines = [f"  {file.path}  {readable_size(file.size_in_bytes)}  {file.reason}" for file in self.files]
        return "\n".join([self._in_short(), *lines, *(f"  left: {text}" for text in self.not_deleted)])

    def __repr__(self) -> str:
        return f"<deltaic.CleanUp {self._in_short()}>"

    def _in_short(self) -> str:
        if not self.files:
            return f"nothing to delete: {self.kept or 'nothing has expired'}"
        cut = "" if self.oldest_version is None else f"; the oldest version is {self.oldest_version}"
        files = "1 file" if len(self.files) == 1 else f"{len(self.files):,} files"
        return f"{files}, {readable_size(self.size_in_bytes)}{cut}"


def write_checkpoint(table: _rust.Table) -> Checkpoint:
    """Writes the checkpoint of `Table.checkpoint`."""
    written = table.checkpoint()
    return Checkpoint(
        written.version,
        written.path,
        written.size_in_bytes,
        written.actions,
        written.sidecars,
        is_new=written.is_new,
        reused_sidecars=written.reused_sidecars,
    )


def compact_commits(table: _rust.Table, start: int, end: int | None) -> LogCompaction | None:
    """Writes the log compaction file of `Table.compact_log`."""
    last = None if end is None else bounded_int("end", end, minimum=0)
    compacted = table.compact_log(bounded_int("start", start, minimum=0), last)
    if compacted is None:
        return None
    return LogCompaction(compacted.path, compacted.actions, compacted.size_in_bytes, is_new=compacted.is_new)


def clean_up_log(table: _rust.Table, *, dry_run: bool) -> CleanUp:
    """Deletes the log files of `Table.clean_up`, or returns which would be deleted."""
    cleaned = table.clean_up(dry_run=flag("dry_run", dry_run))
    files = [DeletedFile(path, size, reason) for path, size, reason in cleaned.files]
    return CleanUp(files, cleaned.oldest_kept, cleaned.kept, cleaned.not_deleted)
