"""The effect of each commit on a stream: files to read, none, or an error."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaic.exceptions import DeltaicError, DeltaicWarning, UnsupportedFeature, VersionNotFound
from deltaic.reading.scan import ScanTask
from deltaic.spark.stream.options import StreamOptions

if TYPE_CHECKING:
    from deltaic import _rust

__all__ = ["StreamCommits", "StreamFile", "VersionFiles"]

_COMMITS_AT_ONCE = 64


@dataclass(frozen=True)
class StreamFile:
    """One file of a batch."""

    task: ScanTask
    inserted: tuple[int, int] | None = None
    """Set for the initial snapshot of a change data feed, whose rows are all inserts: its version and its
    time in milliseconds since the epoch."""


@dataclass(frozen=True)
class VersionFiles:
    """The files of one version."""

    version: int
    files: Sequence[StreamFile | None]
    """None in place of skipped files."""
    whole: bool = False
    """Whether all files must be in one batch."""
    refused: DeltaicError | None = None
    """Why a stream cannot read the version."""


class StreamCommits:
    """The commits of a table, each read once and cached while needed.

    Args:
        table: The table.
        options: The stream's options.
        columns: The table's columns to read, in this order; all of them when None.
        rows_as: The snapshot that determines the columns of the rows.
    """

    def __init__(
        self, table: _rust.Table, options: StreamOptions, columns: list[str] | None, rows_as: _rust.Snapshot
    ) -> None:
        self._table = table
        self._options = options
        self._columns = columns
        self._rows_as = rows_as
        self._known: dict[int, VersionFiles] = {}
        self._last_read: _rust.CommitFiles | None = None

    def next_of(self, version: int, last: int) -> VersionFiles | None:
        """Returns the files of a version; of the next existing one, up to the last, if data loss is allowed.

        Args:
            version: The version.
            last: The last version requested.

        Raises:
            TableNotFound, VersionNotFound, SchemaMismatch, UnsupportedFeature: The stream cannot continue.
        """
        if version not in self._known:
            version = self._read(version, min(last, version + _COMMITS_AT_ONCE - 1))
        if version > last:
            return None
        if version not in self._known:
            self._read(version, version)
        found = self._known[version]
        if found.refused is not None:
            raise found.refused
        return found

    def forget_before(self, version: int) -> None:
        """Drops older versions, which are not requested again."""
        for known in [known for known in self._known if known < version]:
            del self._known[known]

    def _read(self, first: int, last: int) -> int:
        """Reads commits ahead, at least the first; returns its version, or that of the next existing one."""
        try:
            commits = self._commits(first, last)
        except DeltaicError as error:
            if first < last:
                # An error of a later commit must not prevent reading the earlier ones.
                return self._read(first, first)
            oldest = error.context.get("oldest")
            if (
                self._options.fail_on_data_loss
                or not isinstance(error, VersionNotFound)
                or not isinstance(oldest, int)
                or oldest <= first
            ):
                raise
            warnings.warn(
                f"versions {first} to {oldest - 1} of {self._table.uri} are no longer in the log; the stream "
                "passes them over, since failOnDataLoss is false",
                DeltaicWarning,
                stacklevel=2,
            )
            return oldest
        for commit in commits:
            self._known[commit.version] = self._files(commit)
            self._last_read = commit
        return first

    def _commits(self, first: int, last: int) -> list[_rust.CommitFiles]:
        return self._table.commit_files(
            first,
            last,
            rows_as=self._rows_as,
            before=self._last_read,
            columns=self._columns,
            feed=self._options.read_change_feed,
        )

    def _files(self, commit: _rust.CommitFiles) -> VersionFiles:
        options, tasks = self._options, commit.tasks()
        if options.read_change_feed:
            return VersionFiles(commit.version, self._chosen(tasks), whole=True)
        if commit.removed is not None:
            if options.skip_change_commits:
                tasks = []
            elif not options.ignore_changes and not (options.ignore_deletes and not tasks):
                return VersionFiles(commit.version, (), refused=self._change(commit, rewrites=bool(tasks)))
        return VersionFiles(commit.version, self._chosen(tasks))

    def _chosen(self, tasks: list[_rust.ScanTask]) -> list[StreamFile | None]:
        """Returns the files, with None in place of excluded ones."""
        exclude = self._options.exclude
        return [
            None if exclude is not None and exclude.search(task.path) else StreamFile(ScanTask(task))
            for task in tasks
        ]

    def _change(self, commit: _rust.CommitFiles, *, rewrites: bool) -> UnsupportedFeature:
        what = "rewrote rows" if rewrites else "deleted rows"
        which = "ignoreChanges to get rewritten files again" if rewrites else "ignoreDeletes to skip it"
        return UnsupportedFeature(
            f"version {commit.version} {what}: it removed data file {commit.removed}, and a stream takes in "
            "new rows only",
            context={"path": commit.removed, "version": commit.version, "table": self._table.uri},
            hint=f"set skipChangeCommits to skip such commits, {which}, or read a change feed "
            "with readChangeFeed",
        )
