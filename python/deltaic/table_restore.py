"""The method of a table that restores an earlier version."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal, overload

from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.handle import Handle
from deltaic.maintenance.restore import RestorePreview, restore_preview_from_rust
from deltaic.values.arguments import flag
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.times import to_millis
from deltaic.values.versions import to_version

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TableRestore"]


class TableRestore(Handle):
    """The method of `Table` that restores an earlier version."""

    __slots__ = ()

    @overload
    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        ignore_missing_files: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        dry_run: Literal[True],
        ignore_missing_files: bool = False,
        **options: Unpack[CommitOptions],
    ) -> RestorePreview: ...

    @overload
    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        dry_run: bool,
        ignore_missing_files: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | RestorePreview: ...

    def restore(
        self,
        version: int | None = None,
        timestamp: str | datetime | None = None,
        *,
        dry_run: bool = False,
        ignore_missing_files: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | RestorePreview:
        """Makes the table as it was at an earlier version, in one commit. The history remains.

        Rows, row ids, schema, partitioning, properties and clustering columns are those of the earlier
        version. The protocol is never lowered; application transactions and user-defined domains remain; row
        ids and values of identity columns that were given since are not given again.

        Args:
            version: The version to restore. Either this or `timestamp` is required.
            timestamp: Selects the newest version committed at or before this time, as for `Table.snapshot`.
            dry_run: Whether to return only what would be done.
            ignore_missing_files: Whether to leave out files of that version that are gone, so that their rows
                are missing. By default, they are an error.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for RESTORE. If the table already is as at that version, nothing
            is committed and ``skipped`` is set.

        Raises:
            VersionNotFound: The log does not hold the version or time; the message gives the range.
            CorruptData: Files of that version are gone, for example after a vacuum.
            ConstraintViolation: The table is append-only, and files would be removed.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Another writer committed concurrently; the class gives the kind of conflict, and
                is `ConcurrentWrite` for a commit that changed neither files nor metadata. Or a vacuum is
                running that may delete the files.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be accessed.
            ValueError: Neither or both of `version` and `timestamp` are given, or the time has no zone.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("gondolas", pyarrow.schema([("id", pyarrow.int64())]))
        >>> for number in (1, 2):
        ...     commit = table.append(pyarrow.table({"id": [number]}))
        >>> commit = table.delete()
        >>> table.restore(2, dry_run=True).restored_files
        2
        >>> commit = table.restore(2)
        >>> commit.version, commit.operation, commit.metrics["numRestoredFiles"]
        (4, 'RESTORE', 2)
        >>> sorted(table.snapshot().scan().to_arrow()["id"].to_pylist())
        [1, 2]
        """
        given = to_options("restore", **options)
        if (version is None) == (timestamp is None):
            raise ValueError("give the version or the timestamp to restore, and not both")
        number = None if version is None else to_version(version)
        time_ms = None if timestamp is None else to_millis(timestamp)
        ignores = flag("ignore_missing_files", ignore_missing_files)
        known = self._refreshed()
        if flag("dry_run", dry_run):
            found = self._rust.preview_restore(
                known, version=number, timestamp_ms=time_ms, ignore_missing_files=ignores
            )
            return restore_preview_from_rust(known.version, found)
        commit = self._rust.restore(
            known, version=number, timestamp_ms=time_ms, ignore_missing_files=ignores, options=given
        )
        return announced_commit(commit, stacklevel=3)
