"""The methods of a table that read its history and maintain its log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from deltaic.commit import Commit, from_rust
from deltaic.handle import Handle
from deltaic.maintenance.check import Report
from deltaic.maintenance.check import from_rust as from_rust_report
from deltaic.maintenance.log_maintenance import (
    Checkpoint,
    CleanUp,
    LogCompaction,
    checkpoint_from_rust,
    clean_up_from_rust,
    compaction_from_rust,
)
from deltaic.reading.scan import Scan
from deltaic.values.arguments import bounded_int, flag, names
from deltaic.values.foreign_names import elsewhere
from deltaic.values.progress import Progress, to_progress
from deltaic.values.versions import to_end

__all__ = ["TableLog"]


class TableLog(Handle):
    """The methods of `Table` that read its history and maintain its log."""

    __slots__ = ()

    @elsewhere(
        starting_version="start=…, a version or a time",
        starting_timestamp="start=…, a version or a time",
        ending_version="end=…, a version or a time",
        ending_timestamp="end=…, a version or a time",
        startingVersion="start=…, a version or a time",
        endingVersion="end=…, a version or a time",
    )
    def changes(
        self,
        start: int | str | datetime,
        end: int | str | datetime | None = None,
        columns: Sequence[str] | None = None,
        *,
        infer: bool = False,
    ) -> Scan:
        """Returns the row-level changes between two versions, as a scan.

        Each row has the table's columns, with the schema of the last version, and ``_change_type``
        (``insert``, ``delete``, ``update_preimage`` or ``update_postimage``), ``_commit_version`` and
        ``_commit_timestamp``. Rows are grouped by version, the oldest version first.

        Args:
            start: The first version, or a time: the first version that was committed at or after it.
            end: The last version (inclusive), or a time: the last version that was committed at or before it.
                The newest version when None.
            columns: The top-level columns to read, in this order; all of them when None. The three change
                columns are added if they are not listed.
            infer: Whether to compute the changes from the files that each version added and removed; required
                for tables without a change data feed. Recorded change data is ignored. Rows that were
                rewritten unchanged are not reported; an update is a ``delete`` and an ``insert``. Rows of the
                files that one version rewrote are held in memory together.

        Raises:
            VersionNotFound: The log does not hold the range, or no longer does; the message gives the range
                that it contains.
            UnsupportedFeature: The change data feed is not enabled at one of the versions, and `infer` is not
                set; or the table needs a feature that is not implemented.
            SchemaMismatch: A column had another type in the range, which its last type cannot represent.
            ValueError: The range ends before it starts, a time has no zone, or a column is not known.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("kites", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1, 2]}))
        >>> changes = table.changes(1, infer=True).to_arrow()
        >>> changes["id"].to_pylist(), changes["_change_type"].to_pylist()
        ([1, 2], ['insert', 'insert'])
        """
        wanted = None if columns is None else names("columns", columns)
        first_version, first_ms = to_end("start", start, round_up=True)
        last_version, last_ms = (None, None) if end is None else to_end("end", end, round_up=False)
        return Scan(
            self._rust.changes(
                first_version=first_version,
                first_ms=first_ms,
                last_version=last_version,
                last_ms=last_ms,
                columns=wanted,
                infer=infer,
            )
        )

    def history(self, limit: int | None = None) -> list[Commit]:
        """Returns the commits that the log still holds, newest first.

        Args:
            limit: Maximum number of commits.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("trams", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1]}), commit_info={"job": "nightly"})
        >>> [(commit.version, commit.operation) for commit in table.history()]
        [(1, 'WRITE'), (0, 'CREATE TABLE')]
        >>> table.history(limit=1)[0].info["job"]
        'nightly'
        """
        most = None if limit is None else bounded_int("limit", limit, minimum=0)
        return [from_rust(commit) for commit in self._rust.history(most)]

    def checkpoint(self) -> Checkpoint:
        """Writes a checkpoint of the newest version, so that readers need not replay every commit.

        The table's properties determine its kind and which statistics it contains
        (``delta.checkpointPolicy``, ``delta.checkpoint.writeStatsAsJson``, ``…writeStatsAsStruct``). An
        existing checkpoint is not rewritten.

        Raises:
            TableNotFound: There is no table at this location.
            UnsupportedFeature: The table has an unknown feature.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("catamarans", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1]}))
        >>> table.checkpoint().path
        '_delta_log/00000000000000000001.checkpoint.parquet'
        """
        return checkpoint_from_rust(self._rust.checkpoint())

    def compact_log(self, start: int, end: int | None = None) -> LogCompaction | None:
        """Writes a compacted log file for a range of commits; the commits remain.

        Args:
            start: The first version.
            end: The last version (inclusive); the newest when None.

        Returns:
            The file; None if the commits hold no action that a log compaction would contain.

        Raises:
            ValueError: The range has fewer than two versions, or extends past the newest.
            VersionNotFound: A commit of the range no longer exists.
            UnsupportedFeature: The table has an unknown feature.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("cabs", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commits = [table.append(pyarrow.table({"id": [n]})) for n in range(3)]
        >>> table.compact_log(1).path
        '_delta_log/00000000000000000001.00000000000000000003.compacted.json'
        """
        last = None if end is None else bounded_int("end", end, minimum=0)
        compacted = self._rust.compact_log(bounded_int("start", start, minimum=0), last)
        return None if compacted is None else compaction_from_rust(compacted)

    def clean_up(self, *, dry_run: bool = False) -> CleanUp:
        """Deletes expired log files, but none that a readable version needs.

        Deletes commits, checkpoints, compaction files and checksums that are older than
        ``delta.logRetentionDuration`` (30 days) and precede a newer checkpoint; sidecars that no checkpoint
        references; and files that interrupted writers left. Data files are not touched.

        Args:
            dry_run: Whether to report only what would be deleted.

        Raises:
            UnsupportedFeature: The table is catalog-managed, or it has an unknown feature.
            CorruptLog: The log is damaged; none of its files is deleted.
            StorageError: The store cannot be accessed, or a deletion fails.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("barges", pyarrow.schema([("id", pyarrow.int64())]))
        >>> print(table.clean_up())
        nothing to delete: nothing has expired
        """
        return clean_up_from_rust(self._rust.clean_up(dry_run=flag("dry_run", dry_run)))

    def check(self, *, deep: bool = False, progress: Progress | bool | None = None) -> Report:
        """Checks the whole table and reports every problem, what it means and how to fix it.

        Damage is reported, never raised. Every file of the log is read: each commit line by line, each
        checkpoint in full, and redundant information is compared. Nothing is written.

        Args:
            deep: Whether to check the data files of the newest version too: whether they exist, their sizes,
                footers and numbers of rows.
            progress: Called from time to time during the check, and once at its end: with ``"log"`` or
                ``"files"``, the number of completed steps, and the total. An exception that it raises ends
                the check and is passed to the caller. True shows a line on stderr, if that is a terminal.

        Raises:
            TableNotFound: There is no table at this location.
            StorageError: The store cannot be accessed.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("lorries", pyarrow.schema([("id", pyarrow.int64())]))
        >>> table.check().is_healthy
        True
        """
        return from_rust_report(self._rust.check(deep=deep, progress=to_progress(progress)))
