"""What keeps a table's log short: checkpoints, compaction files, and the cleanup of what has expired."""

from __future__ import annotations

from dataclasses import dataclass, field

from deltaic import _rust
from deltaic.sizes import readable_size

__all__ = ["Checkpoint", "CleanUp", "DeletedFile", "LogCompaction"]


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that stands: readers start from it, and not from the first commit."""

    version: int
    """The version that it holds."""

    path: str
    """Its file below the table's root; with sidecars, the one that names them."""

    size_in_bytes: int
    """Of all its files."""

    actions: int | None = None
    """How many actions it holds; None where one that was there before does not say."""

    sidecars: list[str] = field(default_factory=list[str], repr=False)
    """Its other files."""

    is_new: bool = True
    """Whether it was written now; else it was there."""


@dataclass(frozen=True)
class LogCompaction:
    """A file that stands for a range of commits, so that readers fetch one instead of many."""

    path: str
    """Below the table's root."""

    actions: int
    """How many actions it holds; 0 where it was there before."""

    size_in_bytes: int
    """0 where it was there before."""

    is_new: bool = True
    """Whether it was written now; else it was there."""


@dataclass(frozen=True)
class DeletedFile:
    """A file of the log that a cleanup deleted, or would."""

    path: str
    """Below the table's root."""

    size_in_bytes: int
    reason: str


@dataclass(frozen=True)
class CleanUp:
    """What a cleanup of the log deleted, or would. `str()` gives one line a file."""

    files: list[DeletedFile]
    """In the order in which they go."""

    oldest_version: int | None = None
    """The oldest version that can be read afterwards; None where the log is not cut."""

    kept: str | None = None
    """Why the log is not cut, where it is not."""

    passed_over: list[str] = field(default_factory=list[str])
    """What was left although it may have expired, and why."""

    @property
    def size_in_bytes(self) -> int:
        """Of all the files."""
        return sum(file.size_in_bytes for file in self.files)

    def __str__(self) -> str:
        """One line for all, and one for each file."""
        if not self.files:
            return self._in_short()
        lines = [f"  {file.path}  {readable_size(file.size_in_bytes)}  {file.reason}" for file in self.files]
        return "\n".join([self._in_short(), *lines, *(f"  left: {text}" for text in self.passed_over)])

    def __repr__(self) -> str:
        return f"<deltaic.CleanUp {self._in_short()}>"

    def _in_short(self) -> str:
        if not self.files:
            return f"nothing to delete: {self.kept or 'nothing has expired'}"
        cut = "" if self.oldest_version is None else f"; the oldest version is {self.oldest_version}"
        files = "1 file" if len(self.files) == 1 else f"{len(self.files):,} files"
        return f"{files}, {readable_size(self.size_in_bytes)}{cut}"


def checkpoint_from_rust(rust: _rust.CheckpointWritten) -> Checkpoint:
    """The Python view of a checkpoint."""
    return Checkpoint(
        rust.version, rust.path, rust.size_in_bytes, rust.actions, rust.sidecars, is_new=rust.is_new
    )


def compaction_from_rust(rust: _rust.Compacted) -> LogCompaction:
    """The Python view of a compaction file."""
    return LogCompaction(rust.path, rust.actions, rust.size_in_bytes, is_new=rust.is_new)


def clean_up_from_rust(rust: _rust.CleanedUp) -> CleanUp:
    """The Python view of a cleanup."""
    files = [DeletedFile(path, size, reason) for path, size, reason in rust.files]
    return CleanUp(files, rust.oldest_kept, rust.kept, rust.passed_over)
