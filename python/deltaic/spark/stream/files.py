"""The files between two offsets of a stream, and the end of a batch within its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from deltaic import _rust
from deltaic.exceptions import DeltaicError, TableNotFound, VersionNotFound
from deltaic.reading.snapshot import Snapshot
from deltaic.spark.stream.budget import Budget
from deltaic.spark.stream.commits import StreamCommits, StreamFile, VersionFiles
from deltaic.spark.stream.offset import StreamOffset
from deltaic.spark.stream.options import LATEST, Limits, StreamOptions
from deltaic.values.times import to_millis

__all__ = ["StreamFiles"]


class StreamFiles:
    """The files of a table, version by version, for one stream.

    The columns of the stream are those that the table has when this object is created.

    Args:
        options: The stream's options.
        choose: Returns the names of the snapshot's columns to read, in their order; all of them when None.
    """

    def __init__(self, options: StreamOptions, choose: Callable[[Snapshot], list[str]] | None = None) -> None:
        self._options = options
        self._table = _rust.Table(options.path, storage_options=dict(options.storage_options))
        self._rows_as = self._table.snapshot()
        self._columns = None if choose is None else choose(Snapshot(self._rows_as))
        self._newest = self._rows_as
        self._beginning: StreamOffset | None = None
        self._target: int | None = None
        self._initial: tuple[int, list[StreamFile | None]] | None = None
        self._commits = StreamCommits(self._table, options, self._columns, self._rows_as)

    @property
    def rows_as(self) -> Snapshot:
        """The snapshot that has the columns of the stream."""
        return Snapshot(self._rows_as)

    def newest_version(self) -> int:
        """Returns the version up to which the stream reads."""
        self._newest = self._newest.refresh()
        return self._newest.version if self._target is None else self._target

    def stop_at_newest(self) -> None:
        """Limits the stream to the current newest version."""
        self._target = self.newest_version()

    def beginning(self) -> StreamOffset:
        """Returns the start of the stream; always the same offset.

        Raises:
            VersionNotFound: The table has no such version, or none since that time.
            ValueError: The time is invalid.
        """
        if self._beginning is None:
            version, initial_snapshot = self._first_version()
            self._beginning = StreamOffset(
                self._table_id(self._newest), version, initial_snapshot, version, index=0
            )
        return self._beginning

    def _first_version(self) -> tuple[int, bool]:
        requested, newest = self._options.starting_version, self.newest_version()
        if self._options.starting_timestamp is not None:
            since = to_millis(self._options.starting_timestamp, round_up=True)
            return self._table.version_since(since), False
        if requested is None:
            return newest, True
        if requested == LATEST:
            return newest + 1, False
        version = int(requested)
        if version > newest:
            raise VersionNotFound(
                f"startingVersion is {version}, but the newest version is {newest}",
                context={"path": self._table.uri, "version": version, "newest": newest},
                hint=f"give a startingVersion up to {newest}, or '{LATEST}'",
            )
        return version, False

    def end_of_batch(self, start: StreamOffset, limits: Limits) -> StreamOffset:
        """Returns the end of a batch from an offset: the newest version, or where a limit is reached.

        A batch has at least one file if one exists, regardless of its limits. Batches of a change data feed
        have whole versions only.

        Raises:
            TableNotFound, VersionNotFound, SchemaMismatch, UnsupportedFeature: The next version cannot be
                read. If readable versions precede it, the batch ends there.
        """
        newest = self.newest_version()
        self.ensure_same_table(start)
        budget = Budget(limits)
        end = start
        steps = self._steps_from(start, newest)
        while True:
            try:
                step = next(steps, None)
            except DeltaicError:
                if end == start:
                    raise
                return end
            if step is None:
                return end
            done = start.index if step.version == start.version else 0
            sizes = [None if file is None else file.task.size_in_bytes for file in step.files[done:]]
            taken = budget.take_all(sizes) if step.whole else budget.take(sizes)
            if taken < len(sizes):
                return start.at(step.version, done + taken)
            end = start.at(step.version + 1, 0)

    def between(self, start: StreamOffset, end: StreamOffset) -> list[StreamFile]:
        """Returns the files between two offsets.

        Raises:
            TableNotFound, VersionNotFound, SchemaMismatch, UnsupportedFeature: As for `end_of_batch`.
        """
        self.ensure_same_table(end)
        if start == start.beginning and start.beginning != end.beginning:
            # A stream that stopped in its first batch restarts at the original start, whatever version is
            # newest now.
            start = end.beginning
        if end.is_before(start):
            raise VersionNotFound(
                f"version {end.version} was requested after version {start.version}: streams only read on",
                context={"path": self._table.uri, "version": end.version},
                hint="start with a new checkpointLocation",
            )
        found: list[StreamFile] = []
        if start == end:
            return found
        last = end.version if end.index > 0 else end.version - 1
        for step in self._steps_from(start, last):
            first = start.index if step.version == start.version else 0
            until = end.index if step.version == end.version else len(step.files)
            if until > len(step.files):
                raise VersionNotFound(
                    f"the stream read {until} files of version {step.version}, but the version now has "
                    f"{len(step.files)}",
                    context={"path": self._table.uri, "version": step.version},
                    hint="the log was changed since the stream read it: start with a new checkpointLocation",
                )
            found.extend(file for file in step.files[first:until] if file is not None)
        return found

    def forget_before(self, place: StreamOffset) -> None:
        """Drops data before an offset, which is not requested again."""
        self._commits.forget_before(place.version)
        if self._initial is not None and place.version > self._initial[0]:
            self._initial = None

    def ensure_same_table(self, place: StreamOffset) -> None:
        """Verifies that an offset belongs to this table.

        Raises:
            TableNotFound: It belongs to another table.
            VersionNotFound: The table has not reached the offset's version.
        """
        if place.table_id != (found := self._table_id(self._newest)):
            raise TableNotFound(
                f"the table was replaced since the stream read it: "
                f"the id of {self._table.uri} is {found}, and was {place.table_id}",
                context={"path": self._table.uri},
                hint="start with a new checkpointLocation",
            )
        if place.version > self._newest.version + 1:
            self._newest = self._newest.refresh()
            if place.version > self._newest.version + 1:
                raise VersionNotFound(
                    f"the stream read up to version {place.version - 1}, but the newest version is now "
                    f"{self._newest.version}",
                    context={"path": self._table.uri, "version": place.version - 1},
                    hint="commits were deleted from the log: start with a new checkpointLocation",
                )

    @staticmethod
    def _table_id(snapshot: _rust.Snapshot) -> str:
        return Snapshot(snapshot).metadata.id

    def _steps_from(self, start: StreamOffset, last: int) -> Iterator[VersionFiles]:
        """Yields the versions from an offset to the last one requested (inclusive)."""
        version = start.version
        if start.in_snapshot and version <= last:
            yield VersionFiles(version, self._snapshot_files(version))
            version += 1
        while version <= last:
            files = self._commits.next_of(version, last)
            if files is None:
                return
            yield files
            version = files.version + 1

    def _snapshot_files(self, version: int) -> list[StreamFile | None]:
        """Returns the files of a snapshot, the oldest first: a stable order."""
        if self._initial is not None and self._initial[0] == version:
            return self._initial[1]
        snapshot = self._snapshot(version)
        files: Any = Snapshot(snapshot).files().to_arrow()
        paths: list[str] = files.column("path").to_pylist()
        modified: dict[str, int] = dict(
            zip(paths, files.column("modification_time").to_pylist(), strict=True)
        )
        tasks = Snapshot(snapshot).scan(self._columns).tasks()
        tasks.sort(key=lambda task: (modified[task.path], task.path))
        inserted = (version, snapshot.timestamp_ms) if self._options.read_change_feed else None
        exclude = self._options.exclude
        # None takes the place of an excluded file: the index of an offset counts all files.
        self._initial = (
            version,
            [None if exclude and exclude.search(task.path) else StreamFile(task, inserted) for task in tasks],
        )
        return self._initial[1]

    def _snapshot(self, version: int) -> _rust.Snapshot:
        for known in (self._newest, self._rows_as):
            if known.version == version:
                return known
        return self._table.snapshot(version=version)
