"""The options of reading a Delta table, for native scans and the data source."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Literal

from deltaic.exceptions import VersionNotFound
from deltaic.reading.scan import Scan
from deltaic.reading.snapshot import Snapshot
from deltaic.spark.instants import instant, path_time
from deltaic.spark.option_names import READ_OPTIONS, STREAM_OPTIONS, check_store_options
from deltaic.spark.option_values import as_flag, as_text, as_version
from deltaic.table import Table
from deltaic.values.times import to_millis

__all__ = ["ChangeRange", "Instant", "ReadOptions", "parse_options"]

Instant = Callable[[str, object], datetime]
"""Parses the timestamp of an option, given its name and value; raises ValueError if it is invalid."""

_PATH_TIME_TRAVEL = re.compile(
    r"(?P<path>.+)@(?:[vV](?P<version>\d+)|(?P<time>\d{17}))", re.ASCII | re.DOTALL
)


@dataclass(frozen=True)
class ChangeRange:
    """The range of versions whose changes are read, inclusive."""

    start: int | datetime | Literal["latest"] | None
    """A version, or the earliest commit time; only a stream allows ``"latest"`` or None."""

    end: int | datetime | None
    """A version, or the latest commit time; the newest version when None."""


@dataclass(frozen=True)
class ReadOptions:
    """Validated options of a read, without contradictions; times are aware datetimes.

    It can be pickled, including the storage options, so a pickle is as secret as they are; its repr is not.
    """

    path: str
    version: int | None = None
    timestamp: datetime | None = None
    changes: ChangeRange | None = None
    predicate: str | None = None
    row_ids: bool = False
    modification_time: bool = False
    """Whether the modification time of each row's file is requested; not supported by the data source."""
    time_zone: str | None = None
    """The zone of timestamps without one, if specified."""
    storage_options: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @classmethod
    def parse(
        cls,
        options: Mapping[str, object],
        instant: Instant,
        *,
        path_instant: Callable[[str], datetime],
        streaming: bool = False,
    ) -> ReadOptions:
        """Parses options by name, case-insensitively; an option that is None is not set.

        Args:
            options: By name, including ``path``. All names that are not read options are storage options.
            instant: Parses ``timestampAsOf`` and similar options.
            path_instant: Parses the 17 digits after the ``@`` of a path.
            streaming: Whether to accept the options and values of streams.

        Raises:
            ValueError: An option is not known (the message gives the closest name), has an invalid value, or
                contradicts another.
            StorageError: Cannot check whether a table exists at the literal path.
        """
        given, others = _sorted_out(options)
        if not streaming:
            _refuse_a_streams(others)
        known = tuple(name.lower() for name in STREAM_OPTIONS)
        store = {name: str(value) for name, value in others.items() if name.lower() not in known}
        path = given.get("path")
        if not isinstance(path, str) or not path:
            raise ValueError("no path was given: write load('data/events') or option('path', 'data/events')")
        check_store_options("a read", path, store, READ_OPTIONS, STREAM_OPTIONS)

        changes = _changes(given, instant, streaming=streaming)
        version = as_version("versionAsOf", given["versionAsOf"]) if "versionAsOf" in given else None
        timestamp = instant("timestampAsOf", given["timestampAsOf"]) if "timestampAsOf" in given else None
        if version is not None and timestamp is not None:
            raise ValueError("versionAsOf and timestampAsOf exclude each other: pass one")
        if suffix := _time_travel_of(path, store):
            if version is not None or timestamp is not None:
                requested = "versionAsOf" if version is not None else "timestampAsOf"
                raise ValueError(
                    f"the path names a version or a time already, and so does {requested}: {path}"
                )
            path = suffix["path"]
            version = int(suffix["version"]) if suffix["version"] else None
            timestamp = path_instant(suffix["time"]) if suffix["time"] else None
        found = cls(
            path,
            version,
            timestamp,
            changes,
            predicate=as_text("predicate", given.get("predicate")),
            row_ids=as_flag("rowIds", given.get("rowIds", False)),
            modification_time=as_flag("fileModificationTime", given.get("fileModificationTime", False)),
            time_zone=as_text("timeZone", given.get("timeZone")),
            storage_options=store,
        )
        found._refuse_contradictions()
        return found

    def _refuse_contradictions(self) -> None:
        if self.changes is None:
            return
        if self.version is not None or self.timestamp is not None:
            raise ValueError(
                "a change feed has no single version: pass startingVersion and endingVersion instead of "
                "versionAsOf, timestampAsOf or a version in the path"
            )
        if self.row_ids:
            raise ValueError("readChangeFeed and rowIds exclude each other: a change feed has no row ids")
        if self.modification_time:
            raise ValueError(
                "readChangeFeed and fileModificationTime exclude each other: a change has no file's time"
            )
        if self.predicate is not None:
            raise ValueError(
                "readChangeFeed and predicate exclude each other: filter the DataFrame by where(…)"
            )

    def table(self) -> Table:
        """Returns the table's handle."""
        return Table(self.path, storage_options=self.storage_options)

    def snapshot(self) -> Snapshot:
        """Returns the requested version; for a change data feed the last one, which determines the columns.

        Raises:
            TableNotFound: There is no table at this location.
            VersionNotFound: The version or time is outside of the table's range.
        """
        table = self.table()
        end = self.changes.end if self.changes else None
        if isinstance(end, int) or self.version is not None:
            return table.snapshot(version=end if isinstance(end, int) else self.version)
        if end is not None:
            return _snapshot_at_end(table, self.path, end)
        return table.snapshot(timestamp=self.timestamp)

    def pinned(self, snapshot: Snapshot) -> ReadOptions:
        """Returns the same options with the version of `snapshot`."""
        if self.changes is not None:
            return replace(self, changes=replace(self.changes, end=snapshot.version))
        return replace(self, version=snapshot.version, timestamp=None)

    def as_options(self, predicate: str | None = None) -> dict[str, str]:
        """Returns the options for the data source, with another predicate, whose times are in UTC."""
        given: dict[str, object] = {"path": self.path, **self.storage_options}
        if self.version is not None:
            given["versionAsOf"] = self.version
        if self.timestamp is not None:
            given["timestampAsOf"] = self.timestamp.isoformat()
        if self.changes is not None:
            given["readChangeFeed"] = "true"
            for which, bound in (("starting", self.changes.start), ("ending", self.changes.end)):
                if isinstance(bound, datetime):
                    given[f"{which}Timestamp"] = bound.isoformat()
                elif bound is not None:
                    given[f"{which}Version"] = bound
        if self.row_ids:
            given["rowIds"] = "true"
        if self.modification_time:
            given["fileModificationTime"] = "true"
        if predicate is not None:
            given.update(predicate=predicate, timeZone="UTC")
        return {name: str(value) for name, value in given.items()}

    def change_scan(self, columns: list[str] | None = None) -> Scan:
        """Returns the scan of the change data feed.

        Raises:
            VersionNotFound: The range is outside of the table's.
            UnsupportedFeature: The change data feed is not enabled at one of the versions.
            ValueError: The range ends before it starts, or has no start.
        """
        changes = self.changes
        if changes is None or changes.start is None or changes.start == "latest":
            raise ValueError(
                "a change feed needs its first version: give startingVersion or startingTimestamp"
            )
        return self.table().changes(changes.start, changes.end, columns)


def _snapshot_at_end(table: Table, path: str, end: datetime) -> Snapshot:
    """Returns the version at the end of a change feed, which has no changes after the newest commit."""
    newest = table.snapshot()
    if to_millis(end) > to_millis(newest.timestamp):
        raise VersionNotFound(
            f"the change feed ends at {end.isoformat()}, after the newest version {newest.version}, "
            f"which was committed at {newest.timestamp.isoformat()}",
            context={"table": path, "timestamp_ms": to_millis(end), "newest": newest.version},
            hint="omit endingTimestamp to read until the newest version",
        )
    return table.snapshot(timestamp=end)


def _sorted_out(options: Mapping[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """Splits options into read options, with canonical names, and the rest."""
    known = {name.lower(): name for name in READ_OPTIONS}
    given: dict[str, object] = {}
    others: dict[str, object] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name.lower() == "paths":
            raise ValueError("only one path can be loaded: load each table and union the DataFrames")
        if name.lower() in known:
            given[known[name.lower()]] = value
        else:
            others[name] = value
    return given, others


def _refuse_a_streams(others: Mapping[str, object]) -> None:
    for name in STREAM_OPTIONS:
        if name.lower() in (other.lower() for other in others):
            raise ValueError(f"option {name!r} is for a stream: spark.readStream.format('deltaic')")


def _changes(given: Mapping[str, object], instant: Instant, *, streaming: bool) -> ChangeRange | None:
    flags = [as_flag(name, given[name]) for name in ("readChangeFeed", "readChangeData") if name in given]
    if len(set(flags)) > 1:
        raise ValueError("readChangeFeed and readChangeData are the same option, but their values differ")
    bounds = [name for name in given if name.startswith(("starting", "ending"))]
    if not any(flags):
        ends = [name for name in bounds if name.startswith("ending") or not streaming]
        if ends:
            raise ValueError(f"{ends[0]} applies to a change feed: add option('readChangeFeed', True)")
        return None
    start = _bound("starting", given, instant, streaming=streaming)
    if start is None and not streaming:
        raise ValueError("readChangeFeed needs a start: give startingVersion or startingTimestamp")
    end = _bound("ending", given, instant, streaming=False)
    return ChangeRange(start, None if end == "latest" else end)


def _bound(
    which: str, given: Mapping[str, object], instant: Instant, *, streaming: bool
) -> int | datetime | Literal["latest"] | None:
    version, time = f"{which}Version", f"{which}Timestamp"
    if version in given and time in given:
        raise ValueError(f"{version} and {time} exclude each other: give one")
    if time in given:
        return instant(time, given[time])
    if version not in given:
        return None
    if str(given[version]).lower() == "latest":
        if streaming:
            return "latest"
        raise ValueError(f"{version} 'latest' is only for the start of a stream: pass a version (0, 1, 2 …)")
    return as_version(version, given[version])


def _time_travel_of(path: str, store: Mapping[str, str]) -> re.Match[str] | None:
    """Parses a ``path@v12`` or ``path@20260101000000000``; None if a table exists at the literal path."""
    found = _PATH_TIME_TRAVEL.fullmatch(path)
    return None if found is None or Table.exists(path, store) else found


def parse_options(options: Mapping[str, str], *, streaming: bool) -> ReadOptions:
    """Parses options in a Spark worker, which does not know the session's time zone."""
    by_lower = {name.lower(): value for name, value in options.items()}
    zone = by_lower.get("timezone")

    def moment(name: str, value: object) -> datetime:
        return instant(name, value, zone)

    return ReadOptions.parse(
        options, moment, path_instant=partial(path_time, time_zone=zone), streaming=streaming
    )
