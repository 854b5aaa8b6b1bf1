"""The method of a table that removes the entries of files that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.commit import announced as announced_commit
from deltaic.handle import Handle
from deltaic.maintenance.repair import Repair
from deltaic.values.arguments import flag
from deltaic.values.commit_options import CommitOptions, to_options

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TableRepair"]


class TableRepair(Handle):
    """The method of `Table` that removes the entries of files that are gone."""

    __slots__ = ()

    def repair(self, *, dry_run: bool = False, **options: Unpack[CommitOptions]) -> Repair:
        """Removes the entries of data files that are gone from storage, in one commit. Their rows are lost.

        A table with such an entry cannot be read. First try to put the files back from a backup, or to
        `restore` a version whose files exist.

        Args:
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The paths of the files, and the commit. If no file is missing, nothing is committed.

        Raises:
            CorruptData: The deletion vector of an existing file is gone. Without it, deleted rows would be in
                the table again, so nothing is repaired.
            ConstraintViolation: The table is append-only.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers' commits conflict too often, or with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be accessed.

        >>> import deltaic, pathlib, pyarrow
        >>> table = deltaic.Table.create("sledges", pyarrow.schema([("id", pyarrow.int64())]))
        >>> for number in (1, 2):
        ...     commit = table.append(pyarrow.table({"id": [number]}))
        >>> lost = table.snapshot(1).files().to_arrow()["path"][0].as_py()
        >>> pathlib.Path("sledges", lost).unlink()
        >>> table.repair(dry_run=True).missing_files == [lost]
        True
        >>> repaired = table.repair()
        >>> repaired.commit.operation, repaired.commit.metrics["numRemovedFiles"]
        ('FSCK', 1)
        >>> table.snapshot().scan().to_arrow()["id"].to_pylist()
        [2]
        """
        given = to_options("repair", **options)
        known = self._refreshed()
        if flag("dry_run", dry_run):
            return Repair(known.version, self._rust.missing_files(known))
        missing, rust = self._rust.repair(known, options=given)
        commit = announced_commit(rust, stacklevel=3)
        return Repair(
            known.version if commit.read_version is None else commit.read_version,
            missing,
            commit if missing else None,
        )
