"""`Table.symlink_manifest`: manifests by which engines without Delta support find the files of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deltaic import _rust
from deltaic.values.arguments import flag
from deltaic.values.sizes import counted

__all__ = ["SymlinkManifest", "write_symlink_manifests"]


@dataclass(frozen=True)
class SymlinkManifest:
    """The manifests of a version: the result of `Table.symlink_manifest`.

    >>> print(SymlinkManifest(3, ["_symlink_format_manifest/manifest"]))
    version 3: 1 manifest written, 0 deleted
    """

    version: int
    """The version whose files they list."""

    written: Sequence[str]
    """The manifests, relative to the root of the table."""

    deleted: Sequence[str] = ()
    """The manifests of partitions that have no files any more."""

    is_dry_run: bool = False
    """Whether nothing was written or deleted."""

    def __str__(self) -> str:
        verb = " would be" if self.is_dry_run else ""
        manifests = counted(len(self.written), "manifest")
        return f"version {self.version}: {manifests}{verb} written, {len(self.deleted):,} deleted"


def write_symlink_manifests(
    table: _rust.Table, refresh: Callable[[], _rust.Snapshot], *, dry_run: bool
) -> SymlinkManifest:
    """Writes the manifests of `Table.symlink_manifest`, or returns which would be written."""
    known = refresh()
    only_shows = flag("dry_run", dry_run)
    written, deleted = table.symlink_manifest(known, dry_run=only_shows)
    return SymlinkManifest(known.version, written, deleted, only_shows)
