"""The options of a stream that reads a Delta table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from deltaic.exceptions import UnsupportedFeature
from deltaic.spark.instants import instant
from deltaic.spark.option_names import READ_OPTIONS_OF_STREAMS, STREAM_OPTIONS, check_store_options
from deltaic.spark.option_values import as_flag

__all__ = ["LATEST", "Limits", "StreamOptions"]

LATEST: Final = "latest"
"""The `startingVersion` of a stream that reads only later commits."""

_DEFAULT_MAX_FILES = 1000

# The documented names; Spark passes them in lower case.
_TAKES = (*READ_OPTIONS_OF_STREAMS, *STREAM_OPTIONS)
_NAMES = {name.lower(): name for name in _TAKES}
_NOT_YET = {
    name.lower(): name
    for name in (
        "allowSourceColumnDrop",
        "allowSourceColumnRename",
        "allowSourceColumnTypeChange",
        "schemaLocation",
        "schemaTrackingLocation",
        "streamingSourceTrackingId",
        "withEventTimeOrder",
    )
}


@dataclass(frozen=True)
class Limits:
    """The limits of one batch. None means no limit."""

    max_files: int | None = None
    max_bytes: int | None = None


@dataclass(frozen=True)
class StreamOptions:
    """The options of one stream."""

    path: str
    starting_version: int | str | None = None
    """A version, `LATEST`, or None."""
    starting_timestamp: datetime | None = None
    limits: Limits = field(default_factory=Limits)
    """The limits set by the user."""
    ignore_deletes: bool = False
    ignore_changes: bool = False
    skip_change_commits: bool = False
    fail_on_data_loss: bool = True
    read_change_feed: bool = False
    exclude: re.Pattern[str] | None = None
    storage_options: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> StreamOptions:
        """Parses options by name, case-insensitively.

        Raises:
            ValueError: An option is not known (the message gives the closest name), has an invalid value, or
                contradicts another one.
            UnsupportedFeature: An option requires a feature that is not implemented.

        Example:
            >>> StreamOptions.parse({"path": "events", "maxFilesPerTrigger": "10"}).limits
            Limits(max_files=10, max_bytes=None)
        """
        found: dict[str, str] = {}
        storage_options: dict[str, str] = {}
        for key, value in options.items():
            name = _NAMES.get(key.lower())
            if name is not None:
                found[name] = value
            elif (not_yet := _NOT_YET.get(key.lower())) is not None:
                raise UnsupportedFeature(
                    f"a stream does not support the option {not_yet} yet",
                    context={"feature": not_yet},
                    hint="leave it out",
                )
            else:
                storage_options[key] = value
        if "path" not in found:
            raise ValueError("a stream needs the path of its table: load(path), or option('path', path)")
        check_store_options("a stream", found["path"], storage_options, _TAKES)
        starting_version = _starting_version(found.get("startingVersion"))
        starting_timestamp = _starting_timestamp(found)
        if starting_version is not None and starting_timestamp is not None:
            raise ValueError("give startingVersion or startingTimestamp, not both")
        return cls(
            path=found["path"],
            starting_version=starting_version,
            starting_timestamp=starting_timestamp,
            limits=Limits(
                max_files=_at_least_one(found, "maxFilesPerTrigger"),
                max_bytes=_size(found, "maxBytesPerTrigger"),
            ),
            ignore_deletes=_flag(found, "ignoreDeletes"),
            ignore_changes=_flag(found, "ignoreChanges") or _flag(found, "ignoreFileDeletion"),
            skip_change_commits=_flag(found, "skipChangeCommits"),
            fail_on_data_loss=_flag(found, "failOnDataLoss", default=True),
            read_change_feed=_flag(found, "readChangeFeed") or _flag(found, "readChangeData"),
            exclude=_regex(found),
            storage_options=storage_options,
        )

    @property
    def default_limits(self) -> Limits:
        """The limits of a batch; a thousand files if the user set none."""
        return self.limits if self.limits != Limits() else Limits(max_files=_DEFAULT_MAX_FILES)


def _starting_version(text: str | None) -> int | str | None:
    if text is None:
        return None
    if text.strip().lower() == LATEST:
        return LATEST
    version = _whole_number("startingVersion", text, f"a version, or '{LATEST}'")
    if version < 0:
        raise ValueError(f"startingVersion must be at least 0, not {version}")
    return version


def _starting_timestamp(found: Mapping[str, str]) -> datetime | None:
    if (text := found.get("startingTimestamp")) is None:
        return None
    return instant("startingTimestamp", text, found.get("timeZone"))


def _at_least_one(found: Mapping[str, str], name: str) -> int | None:
    if (text := found.get(name)) is None:
        return None
    number = _whole_number(name, text, "a whole number")
    if number < 1:
        raise ValueError(f"{name} must be at least 1, not {number}")
    return number


_UNITS = {"": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4, "p": 5, "pb": 5}
_SIZE = re.compile(r"(\d+)\s*([a-z]*)")


def _size(found: Mapping[str, str], name: str) -> int | None:
    """Parses a number of bytes, optionally with a unit as in Spark: `10m` is ten mebibytes."""
    if (text := found.get(name)) is None:
        return None
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise ValueError(f"{name} must be a number of bytes, such as 1048576 or 10m, not {text!r}")
    size = int(match[1]) * 1024 ** _UNITS[match[2]]
    if size < 1:
        raise ValueError(f"{name} must be at least 1, not {size}")
    return size


def _whole_number(name: str, text: str, wanted: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} is {wanted}, not {text!r}") from None


def _flag(found: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    return as_flag(name, found.get(name, default))


def _regex(found: Mapping[str, str]) -> re.Pattern[str] | None:
    if (text := found.get("excludeRegex")) is None:
        return None
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"excludeRegex is not a regular expression: {error}") from error
