"""`Table.clone`: a shallow clone of a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Generic, TypeVar

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.values.arguments import flag, place, text
from deltaic.values.arguments import options as text_options
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.location import open_location
from deltaic.values.sizes import counted, readable_size
from deltaic.values.times import to_millis
from deltaic.values.versions import to_version
from deltaic.writing.ignored_properties import warn_of_ignored

__all__ = ["CloneCommit", "ClonePreview", "clone_table"]


Handle = TypeVar("Handle")


@dataclass(frozen=True, repr=False)
class CloneCommit(Commit, Generic[Handle]):
    """The commit of a shallow clone: the result of `Table.clone`."""

    table: Handle = field(kw_only=True, compare=False)
    """The clone, which may read the files of its source: they are in its ``allowed_roots``."""


@dataclass(frozen=True)
class ClonePreview:
    """What a shallow clone would do: the result of `Table.clone` with ``dry_run=True``.

    >>> print(ClonePreview(7, 3, 4096, removed_files=1, removed_bytes=900))
    CLONE of version 7 would refer to 3 files (4.0 KiB), and remove 1 file (900 B) of the replaced table
    >>> print(ClonePreview(7, 1, 900))
    CLONE of version 7 would refer to 1 file (900 B)
    """

    source_version: int
    """The version that would be cloned."""

    files: int
    """The number of files that the clone would have."""

    size_in_bytes: int
    """The size of these files in bytes. None of them would be read or copied."""

    removed_files: int = 0
    """The number of files that would be removed from the table that is replaced."""

    removed_bytes: int = 0
    """The size of these files in bytes."""

    def __str__(self) -> str:
        line = (
            f"CLONE of version {self.source_version} would refer to {counted(self.files, 'file')} "
            f"({readable_size(self.size_in_bytes)})"
        )
        if self.removed_files:
            removed = f"{counted(self.removed_files, 'file')} ({readable_size(self.removed_bytes)})"
            line += f", and remove {removed} of the replaced table"
        return line


def clone_table(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    target: str | os.PathLike[str] | _rust.Table,
    version: int | None,
    timestamp: str | datetime | None,
    *,
    if_exists: str,
    properties: Mapping[str, str] | None,
    storage_options: Mapping[str, str] | None,
    dry_run: bool,
    as_table: Callable[[_rust.Table], Handle],
    options: CommitOptions,
) -> CloneCommit[Handle] | ClonePreview:
    """Makes the clone of `Table.clone`, or returns what that would do."""
    if version is not None and timestamp is not None:
        raise ValueError("give version or timestamp, not both")
    given = to_options("clone", **options)
    dry = flag("dry_run", dry_run)
    request: dict[str, object] = {
        "properties": text_options("properties", properties),
        "if_exists": text("if_exists", if_exists),
        # Files of the newest version exist, unless the table is damaged.
        "verify_files": version is not None or timestamp is not None,
    }
    rust = _to_target(target, storage_options)
    if version is not None:
        known = table.snapshot(version=to_version(version))
    elif timestamp is not None:
        known = table.snapshot(timestamp_ms=to_millis(timestamp))
    else:
        known = refresh()
    if dry:
        return _preview_from_rust(
            known.version, table.preview_clone(known, rust, request=request, options=given)
        )
    made, clone = table.shallow_clone(known, rust, request=request, options=given)
    warn_of_ignored((properties or {}).items(), stacklevel=3)
    commit = announced(made, stacklevel=4)
    values = {value.name: getattr(commit, value.name) for value in fields(commit)}
    return CloneCommit(**values, table=as_table(clone))


def _to_target(
    target: str | os.PathLike[str] | _rust.Table, storage_options: Mapping[str, str] | None
) -> _rust.Table | str:
    if isinstance(target, _rust.Table):
        if storage_options is not None:
            raise ValueError("omit storage_options: the target is a table, which has its own")
        return target
    uri = place("target", target)
    return uri if storage_options is None else open_location(uri, storage_options)


def _preview_from_rust(source_version: int, found: _rust.ClonePreview) -> ClonePreview:
    return ClonePreview(
        source_version,
        found.files,
        found.bytes,
        removed_files=found.removed_files,
        removed_bytes=found.removed_bytes,
    )
