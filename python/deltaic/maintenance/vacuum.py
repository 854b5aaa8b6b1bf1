"""`Table.vacuum`: files that the table no longer needs, which are deleted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from deltaic import _rust
from deltaic.maintenance.check import printable
from deltaic.values.arguments import bounded_int, flag, place, text
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.sizes import counted, readable_size

__all__ = ["Vacuum", "VacuumedFile", "vacuum_files"]


@dataclass(frozen=True)
class VacuumedFile:
    """A file that a vacuum deleted, or would delete."""

    path: str
    """Relative to the table's root, not encoded."""

    size_in_bytes: int
    """In mode ``"lite"`` as in the log; 0 if the log does not have it."""


@dataclass(frozen=True, repr=False)
class Vacuum:
    """The files that a vacuum deleted, or would delete. `str()` gives one line per file.

    >>> print(Vacuum([VacuumedFile("a.parquet", 2048)], timedelta(days=7), is_dry_run=True))
    1 file would be deleted (2.0 KiB), retention 7 days:
      a.parquet  2.0 KiB
    """

    files: list[VacuumedFile]
    """The files that were not needed, sorted by path."""

    retention: timedelta
    """How long files are retained."""

    deleted_files: int = 0
    """The number of files that were deleted: 0 after a dry run. Files that another client deleted first are
    not counted."""

    deleted_folders: int = 0
    """The number of empty folders that were removed, of a local table."""

    versions: tuple[int, int] | None = None
    """The versions that record the start and the end; None after a dry run."""

    is_dry_run: bool = False
    """Whether nothing was deleted."""

    @property
    def paths(self) -> list[str]:
        """The paths of the files, relative to the table's root."""
        return [file.path for file in self.files]

    @property
    def size_in_bytes(self) -> int:
        """The total size of the files."""
        return sum(file.size_in_bytes for file in self.files)

    def __str__(self) -> str:
        lines = [f"  {printable(file.path)}  {readable_size(file.size_in_bytes)}" for file in self.files]
        return "\n".join([f"{self._in_short()}{':' if lines else ''}", *lines])

    def __repr__(self) -> str:
        return f"<deltaic.Vacuum {self._in_short()}>"

    def _in_short(self) -> str:
        number = len(self.files) if self.is_dry_run else self.deleted_files
        size = f" ({readable_size(self.size_in_bytes)})" if number else ""
        folders = f", {counted(self.deleted_folders, 'folder')} removed" if self.deleted_folders else ""
        verb = "would be deleted" if self.is_dry_run else "deleted"
        return f"{counted(number, 'file')} {verb}{size}{folders}, retention {_spelled(self.retention)}"


def vacuum_files(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    retention: timedelta | None,
    mode: str,
    inventory: ArrowStreamExportable | ArrowArrayExportable | None,
    *,
    dry_run: bool,
    force: bool,
    clones: object,
    keep_versions: object,
    options: CommitOptions,
) -> Vacuum:
    """Deletes the files of `Table.vacuum`, or returns which would be deleted."""
    if options.get("app_transaction") is not None:
        raise ValueError("vacuum() cannot record an app_transaction: it can be repeated safely")
    given = to_options("vacuum", **options)
    request: dict[str, object] = {
        "retention_ms": _to_millis(retention),
        "mode": text("mode", mode),
        "inventory": None if inventory is None else checked_data(inventory),
        "keep_versions": _to_versions(keep_versions),
        "force": flag("force", force),
        "dry_run": flag("dry_run", dry_run),
    }
    given_clones = _to_clones(clones)
    vacuumed = table.vacuum(refresh(), request=request, clones=given_clones, options=given)
    return _vacuum_from_rust(vacuumed, is_dry_run=dry_run)


def _to_clones(clones: object) -> list[_rust.Table | str]:
    if isinstance(clones, (str, os.PathLike, _rust.Table)) or not isinstance(clones, Sequence):
        raise TypeError("clones must be a list of tables or locations: write clones=[…]")
    given = cast("Sequence[_rust.Table | str]", clones)
    return [one if isinstance(one, _rust.Table) else place("clones", one) for one in given]


def _to_versions(versions: object) -> list[int]:
    if isinstance(versions, str) or not isinstance(versions, Iterable):
        raise TypeError("keep_versions must be a list of versions: write keep_versions=[…]")
    given = cast("Iterable[object]", versions)
    return [bounded_int("keep_versions", version, minimum=0) for version in given]


def _to_millis(retention: object) -> int | None:
    if retention is None:
        return None
    if not isinstance(retention, timedelta):
        raise TypeError(
            "retention must be a datetime.timedelta, such as timedelta(days=7), "
            f"not {type(retention).__name__}"
        )
    return retention // timedelta(milliseconds=1)


def _vacuum_from_rust(rust: _rust.Vacuumed, *, is_dry_run: bool) -> Vacuum:
    return Vacuum(
        [VacuumedFile(path, size) for path, size in rust.files],
        timedelta(milliseconds=rust.retention_ms),
        rust.deleted_files,
        rust.deleted_folders,
        rust.versions,
        is_dry_run=is_dry_run,
    )


def _spelled(duration: timedelta) -> str:
    """Formats a duration in the largest unit that represents it exactly.

    >>> _spelled(timedelta(days=1)), _spelled(timedelta(hours=36)), _spelled(timedelta(0))
    ('1 day', '36 hours', '0 seconds')
    """
    seconds = duration.total_seconds()
    for unit, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds and seconds % unit == 0:
            return counted(int(seconds // unit), noun)
    return f"{seconds:g} seconds"
