"""The method of a table that computes the statistics of its files again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.handle import Handle
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag, names
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TableStatistics"]


class TableStatistics(Handle):
    """The method of `Table` that computes the statistics of its files again."""

    __slots__ = ()

    @overload
    def recompute_statistics(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def recompute_statistics(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | None = None,
        *,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def recompute_statistics(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | None = None,
        *,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def recompute_statistics(
        self,
        columns: Sequence[str] | None = None,
        where: Predicate | None = None,
        *,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Reads the data files and writes their statistics to the log again, in one commit.

        Statistics let scans skip files. Files lack them if their writer did not collect them, or collected
        them before the table's properties selected other columns; after deletes by deletion vectors, bounds
        may be wider than the remaining rows. Data files, rows, row ids, deletion vectors and tags remain as
        they are, and the change data feed reports no change. Files whose statistics would be the same are
        left alone, but read.

        Args:
            columns: Columns that get statistics, in addition to those that a file has statistics of. Fields
                of structs are written as ``"address.city"``; a struct means all of its fields. When None,
                each file gets statistics of exactly the columns that a writer would collect: those of the
                properties ``delta.dataSkippingStatsColumns`` or ``delta.dataSkippingNumIndexedCols``, and
                the clustering columns.
            where: The partitions, as a predicate on partition columns; all of them when None.
            dry_run: Whether to return only what would be done. The files are read nevertheless.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit; ``metrics`` has the number of files that were read, ``numFilesRead``, and of those
            with other statistics, ``numFilesUpdated``. If no statistics change, nothing is committed and
            ``skipped`` is set.

        Raises:
            InvalidPredicate: The predicate does not parse, or uses a column that is no partition column.
            ValueError: A column is unknown or is a partition column.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers change the same files too often, or once with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be accessed.

        >>> import deltaic, pyarrow
        >>> properties = {"delta.dataSkippingNumIndexedCols": "0"}
        >>> schema = pyarrow.schema([("id", pyarrow.int64())])
        >>> table = deltaic.Table.create("buoys", schema, properties=properties)
        >>> commits = [table.append(pyarrow.table({"id": [n]})) for n in range(3)]
        >>> len(table.snapshot().files("id = 2").to_arrow())
        3
        >>> print(table.recompute_statistics(["id"], dry_run=True))
        COMPUTE STATS of version 3 would describe 3 rows:
          3 files get other statistics
        >>> commit = table.recompute_statistics(["id"])
        >>> commit.operation, commit.metrics["numFilesUpdated"]
        ('COMPUTE STATS', 3)
        >>> len(table.snapshot().files("id = 2").to_arrow())
        1
        """
        given = to_options("recompute_statistics", **options)
        known = self._refreshed()
        request: dict[str, object] = {
            "columns": None if columns is None else names("columns", columns),
            "predicate": to_sql(where, Snapshot(known).schema),
        }
        if flag("dry_run", dry_run):
            found = self._rust.preview_statistics(known, request=request, options=given)
            return dry_run_from_rust("COMPUTE STATS", known.version, found)
        commit = self._rust.recompute_statistics(known, request=request, options=given)
        return announced_commit(commit, stacklevel=3)
