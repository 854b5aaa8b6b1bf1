"""`Table.restore`: an earlier version that becomes the newest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.values.arguments import flag
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.sizes import counted, readable_size
from deltaic.values.times import to_millis
from deltaic.values.versions import to_version

__all__ = ["RestorePreview", "exchanged_files", "restore_version"]


@dataclass(frozen=True)
class RestorePreview:
    """What restoring a version would do: the result of `Table.restore` with ``dry_run=True``.

    >>> print(RestorePreview(7, 4, restored_files=3, restored_bytes=4096, removed_files=1, removed_bytes=900))
    RESTORE of version 7 to version 4 would leave 0 files (0 B):
      3 files added again (4.0 KiB)
      1 file removed (900 B)
    >>> print(RestorePreview(7, 7, files_after=2, bytes_after=900))
    RESTORE of version 7 to version 7 would leave 2 files (900 B)
    """

    version: int
    """The newest version."""

    restored_version: int
    """The version that would be restored."""

    restored_files: int = 0
    """The number of files that would be added again; those with another deletion vector included."""

    restored_bytes: int = 0
    """The size of these files in bytes."""

    removed_files: int = 0
    """The number of files that would be removed; those with another deletion vector included."""

    removed_bytes: int = 0
    """The size of these files in bytes."""

    files_after: int = 0
    """The number of files of the table afterwards."""

    bytes_after: int = 0
    """The size of these files in bytes."""

    missing_files: Sequence[str] = ()
    """The files of the restored version that are gone and would be left out."""

    changes_metadata: bool = False
    """Whether the schema, the partitioning, properties or other metadata would change."""

    def __str__(self) -> str:
        lines = exchanged_files(
            self.restored_files, self.restored_bytes, self.removed_files, self.removed_bytes
        )
        if self.changes_metadata:
            lines.append("  metadata changed")
        if self.missing_files:
            lines.append(f"  {counted(len(self.missing_files), 'file')} left out: gone from storage")
        first = (
            f"RESTORE of version {self.version} to version {self.restored_version} would leave "
            f"{counted(self.files_after, 'file')} ({readable_size(self.bytes_after)})"
        )
        return "\n".join([f"{first}{':' if lines else ''}", *lines])


def restore_version(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    version: int | None,
    timestamp: str | datetime | None,
    *,
    dry_run: bool,
    ignore_missing_files: bool,
    options: CommitOptions,
) -> Commit | RestorePreview:
    """Restores the version of `Table.restore`, or returns what that would do."""
    given = to_options("restore", **options)
    if (version is None) == (timestamp is None):
        raise ValueError("give the version or the timestamp to restore, and not both")
    number = None if version is None else to_version(version)
    time_ms = None if timestamp is None else to_millis(timestamp)
    ignores = flag("ignore_missing_files", ignore_missing_files)
    known = refresh()
    if flag("dry_run", dry_run):
        found = table.preview_restore(
            known, version=number, timestamp_ms=time_ms, ignore_missing_files=ignores, options=given
        )
        return _preview_from_rust(known.version, found)
    commit = table.restore(
        known, version=number, timestamp_ms=time_ms, ignore_missing_files=ignores, options=given
    )
    return announced(commit, stacklevel=4)


def _preview_from_rust(version: int, found: _rust.RestorePreview) -> RestorePreview:
    return RestorePreview(
        version,
        found.restored_version,
        restored_files=found.restored_files,
        restored_bytes=found.restored_bytes,
        removed_files=found.removed_files,
        removed_bytes=found.removed_bytes,
        files_after=found.files_after,
        bytes_after=found.bytes_after,
        missing_files=found.missing_files,
        changes_metadata=found.changes_metadata,
    )


def exchanged_files(
    restored_files: int, restored_bytes: int, removed_files: int, removed_bytes: int
) -> list[str]:
    """Returns a line for the files that are added again, and one for those that are removed."""
    parts = [(restored_files, "added again", restored_bytes), (removed_files, "removed", removed_bytes)]
    return [
        f"  {counted(number, 'file')} {done} ({readable_size(size)})"
        for number, done, size in parts
        if number
    ]
