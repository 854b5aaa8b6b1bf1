"""The method of a table that removes deleted rows and dropped columns from its files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.handle import Handle
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TablePurge"]


class TablePurge(Handle):
    """The method of `Table` that removes deleted rows and dropped columns from its files."""

    __slots__ = ()

    @overload
    def purge(
        self,
        where: Predicate | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def purge(
        self,
        where: Predicate | None = None,
        *,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def purge(
        self,
        where: Predicate | None = None,
        *,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def purge(
        self,
        where: Predicate | None = None,
        *,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Rewrites the files that still contain deleted rows or dropped columns, in one commit.

        A delete by deletion vectors and a dropped column leave data files as they are. This method copies the
        remaining rows of such files, with the table's columns, to new files. The footer of each file is read.
        Rows keep their row ids, and the change data feed reports no change. The replaced files remain until
        `vacuum` deletes them; only then are the values gone from storage.

        Args:
            where: The partitions, as a predicate on partition columns; all of them when None.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's operation ``REORG`` and its metrics. If no file has deleted rows or
            dropped columns, nothing is committed and ``skipped`` is set.

        Raises:
            InvalidPredicate: The predicate does not parse, or uses a column that is no partition column.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers change the same files too often, or once with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> properties = {"delta.enableDeletionVectors": "true"}
        >>> schema = pyarrow.schema([("id", pyarrow.int64())])
        >>> table = deltaic.Table.create("members", schema, properties=properties)
        >>> commit = table.append(pyarrow.table({"id": range(100)}))
        >>> commit = table.delete("id = 7")
        >>> print(table.purge(dry_run=True))
        REORG of version 2 would copy 99 rows:
          1 file rewritten (537 B)
          1 file added
        >>> commit = table.purge()
        >>> commit.operation, commit.metrics["numDeletionVectorsRemoved"]
        ('REORG', 1)
        >>> table.purge().skipped
        True
        """
        given = to_options("purge", **options)
        known = self._refreshed()
        request: dict[str, object] = {
            "predicate": to_sql(where, Snapshot(known).schema),
            "target_file_size": None,
            "zorder_by": [],
            "full": False,
            "purge": True,
        }
        if flag("dry_run", dry_run):
            return dry_run_from_rust("REORG", known.version, known.preview_optimize(request=request))
        commit = self._rust.optimize(known, request=request, options=given)
        return announced_commit(commit, stacklevel=3)
