"""Results of log maintenance: checkpoints, log compaction, and cleanup of expired files."""

from __future__ import annotations

from dataclasses import dataclass, field

from deltaic import _rust
from deltaic.values.sizes import readable_size

__all__ = ["Checkpoint", "CleanUp", "DeletedFile", "LogCompaction"]


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


def checkpoint_from_rust(rust: _rust.CheckpointWritten) -> Checkpoint:
    """Converts a checkpoint of the core."""
    return Checkpoint(
        rust.version,
        rust.path,
        rust.size_in_bytes,
        rust.actions,
        rust.sidecars,
        is_new=rust.is_new,
        reused_sidecars=rust.reused_sidecars,
    )


def compaction_from_rust(rust: _rust.Compacted) -> LogCompaction:
    """Converts a log compaction file of the core."""
    return LogCompaction(rust.path, rust.actions, rust.size_in_bytes, is_new=rust.is_new)


def clean_up_from_rust(rust: _rust.CleanedUp) -> CleanUp:
    """Converts a cleanup of the core."""
    files = [DeletedFile(path, size, reason) for path, size, reason in rust.files]
    return CleanUp(files, rust.oldest_kept, rust.kept, rust.not_deleted)
