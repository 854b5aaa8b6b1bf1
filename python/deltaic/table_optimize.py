"""The method of a table that rewrites its files without changing its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.handle import Handle
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import bounded_int, flag, names, text
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TableOptimize"]


class TableOptimize(Handle):
    """The method of `Table` that rewrites its files without changing its rows."""

    __slots__ = ()

    @overload
    def optimize(
        self,
        where: Predicate | None = None,
        *,
        zorder_by: Sequence[str] = (),
        full: bool = False,
        target_file_size: int | str | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def optimize(
        self,
        where: Predicate | None = None,
        *,
        zorder_by: Sequence[str] = (),
        full: bool = False,
        target_file_size: int | str | None = None,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def optimize(
        self,
        where: Predicate | None = None,
        *,
        zorder_by: Sequence[str] = (),
        full: bool = False,
        target_file_size: int | str | None = None,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def optimize(
        self,
        where: Predicate | None = None,
        *,
        zorder_by: Sequence[str] = (),
        full: bool = False,
        target_file_size: int | str | None = None,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Combines small files into larger ones in one commit, or sorts rows, without changing them.

        In a table with clustering columns, rows are clustered: files that are not clustered yet are
        rewritten, so that rows with near values in all of these columns are in the same files.

        Files that are smaller than the target size are combined within their partition. Files of which more
        than 5% of the rows are deleted by deletion vectors are rewritten without them. Rows keep their row
        ids, and the change data feed reports no change. Appends, and changes of other files, do not conflict;
        after a change of a rewritten file, only the files with its rows are written again.

        Args:
            where: The partitions to optimize, as a predicate on partition columns; all of them when None.
                Clustered tables are optimized as a whole.
            zorder_by: Columns that predicates often use: rows with near values in all of them are put into
                the same files, so that scans skip more files. Then all files of the partitions are rewritten.
                Fields of structs are written as ``"address.city"``. A clustered table has an order of its
                own.
            full: Whether to rewrite files, too, that were clustered by other columns than those of the table,
                or by another implementation.
            target_file_size: The size of the new files in bytes, or as ``"100mb"``. When None, that of the
                property ``delta.targetFileSize``, and 1 GiB without it.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for OPTIMIZE. If no file is to be rewritten, nothing is committed
            and ``skipped`` is set.

        Raises:
            InvalidPredicate: The predicate does not parse, or uses a column that is no partition column; or
                the table is clustered.
            ValueError: The target size is not a size; a column of `zorder_by` is unknown, is a partition
                column or has no statistics, or the table is clustered; or `full` was given and the table has
                no clustering columns.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers change the same files too often, or once with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("parcels", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commits = [table.append(pyarrow.table({"id": [n]})) for n in range(4)]
        >>> print(table.optimize(dry_run=True))
        OPTIMIZE of version 4 would copy 4 rows:
          4 files rewritten (1.2 KiB)
          1 file added
        >>> commit = table.optimize()
        >>> commit.operation, commit.metrics["numRemovedFiles"], commit.metrics["numAddedFiles"]
        ('OPTIMIZE', 4, 1)
        >>> table.optimize().skipped
        True
        """
        given = to_options("optimize", **options)
        known = self._refreshed()
        request: dict[str, object] = {
            "predicate": to_sql(where, Snapshot(known).schema),
            "target_file_size": _size(target_file_size),
            "zorder_by": names("zorder_by", zorder_by),
            "full": flag("full", full),
            "purge": False,
        }
        if flag("dry_run", dry_run):
            return dry_run_from_rust("OPTIMIZE", known.version, known.preview_optimize(request=request))
        commit = self._rust.optimize(known, request=request, options=given)
        return announced_commit(commit, stacklevel=3)


def _size(target_file_size: int | str | None) -> str | None:
    """Converts a size to text.

    >>> _size(4096), _size("100mb"), _size(None)
    ('4096', '100mb', None)
    """
    if target_file_size is None:
        return None
    if isinstance(target_file_size, str):
        return text("target_file_size", target_file_size)
    return str(bounded_int("target_file_size", target_file_size, minimum=1))
