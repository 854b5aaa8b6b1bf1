"""The manifests by which engines without Delta support find the files of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltaic.handle import Handle
from deltaic.values.arguments import flag
from deltaic.values.sizes import counted

__all__ = ["SymlinkManifest", "TableManifest"]


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


class TableManifest(Handle):
    """The method of `Table` that writes symlink manifests."""

    __slots__ = ()

    def symlink_manifest(self, *, dry_run: bool = False) -> SymlinkManifest:
        """Writes the symlink manifests of the newest version, for engines that read Parquet through Hive.

        ``_symlink_format_manifest`` has a file ``manifest`` for the table, or one in the folder of each
        partition: the absolute URIs of its data files, a line each. Manifests of partitions without files are
        deleted. Commits do not update the manifests, so call this again after them.

        Args:
            dry_run: Whether to return only which manifests would be written and deleted.

        Raises:
            UnsupportedFeature: The table has deletion vectors or column mapping, which readers of manifests
                do not know.
            PathEscape: A file is neither in the table nor in an allowed folder.
            StorageError: The store cannot be written to.

        >>> import deltaic, pathlib, pyarrow
        >>> rows = pyarrow.table({"id": [1, 2], "city": ["Rome", "Oslo"]})
        >>> table = deltaic.Table.create("funiculars", rows.schema, partition_by=["city"])
        >>> commit = table.append(rows)
        >>> table.symlink_manifest().written[0]
        '_symlink_format_manifest/city=Oslo/manifest'
        >>> text = pathlib.Path("funiculars/_symlink_format_manifest/city=Oslo/manifest").read_text()
        >>> text.startswith("file:///"), text.count(".parquet")
        (True, 1)
        """
        known = self._refreshed()
        only_shows = flag("dry_run", dry_run)
        written, deleted = self._rust.symlink_manifest(known, dry_run=only_shows)
        return SymlinkManifest(known.version, written, deleted, only_shows)
