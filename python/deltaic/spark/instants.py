"""Timestamps in options, parsed without a Spark session."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

__all__ = ["instant", "path_time"]

# The texts that Spark casts to a timestamp, limited to dates and complete timestamps.
_TEXT = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r"\s*(?P<zone>[A-Za-z+\-][A-Za-z0-9/_+:\-]*)?)?",
    re.ASCII,
)
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?", re.ASCII)
_UTC = ("Z", "UTC", "GMT", "UT")
_PATH_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{3})", re.ASCII)


def instant(name: str, value: object, time_zone: str | None) -> datetime:
    """Parses the timestamp of an option, which must contain a zone unless a default zone is given.

    A Python data source runs in a process without access to the session's time zone, so a text without a zone
    is ambiguous there. At DST changes Spark's rules apply: a nonexistent time is shifted by the gap, and of
    two ambiguous times the earlier is used.

    Args:
        name: The option, for the error.
        value: Its text.
        time_zone: The zone of texts without one.

    Raises:
        ValueError: It is not a time, or has no zone.

    >>> instant("timestampAsOf", "2026-11-01 13:00:00+01:00", None).isoformat()
    '2026-11-01T12:00:00+00:00'
    >>> instant("timestampAsOf", "2026-11-01", "Asia/Tokyo").isoformat()
    '2026-10-31T15:00:00+00:00'
    """
    text = str(value).strip()
    found = _TEXT.fullmatch(text)
    if found is None:
        raise _no_time(name, value)
    parts = found.groupdict(default="0")
    fraction = parts["fraction"].ljust(9, "0")[:6]
    numbers = [int(parts[part]) for part in ("year", "month", "day", "hour", "minute", "second")]
    return _in_utc(name, value, [*numbers, int(fraction)], found["zone"] or time_zone)


def path_time(text: str, time_zone: str | None) -> datetime:
    """Parses the timestamp after the ``@`` of a path: ``yyyyMMddHHmmssSSS`` in that zone.

    Raises:
        ValueError: It is not a time, or no zone is given.

    >>> path_time("20261101120000000", "UTC").isoformat()
    '2026-11-01T12:00:00+00:00'
    """
    found = _PATH_TIME.fullmatch(text)
    if found is None:
        raise _no_time("the path's time", text)
    numbers = [int(part) for part in found.groups()]
    return _in_utc("the path's time", text, [*numbers[:6], numbers[6] * 1000], time_zone)


def _in_utc(name: str, value: object, numbers: list[int], zone: str | None) -> datetime:
    if zone is None:
        raise ValueError(
            f"{name} has no time zone, so it is not one moment: {value!r}; a data source does not know the "
            "session's time zone: add 'Z' or an offset such as '+01:00' to a time of day, or say "
            "option('timeZone', 'Europe/Rome')"
        )
    try:
        # Raises for a day or hour out of range; fold=0 selects the earlier of two ambiguous times.
        local = datetime(*numbers, tzinfo=_zone(zone))
        return local.astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise _no_time(name, value) from error
    except ZoneInfoNotFoundError as error:
        raise ValueError(f"{name} {value!r} is in no time zone that is known: {zone!r}") from error


def _zone(name: str) -> tzinfo:
    if name.upper() in _UTC:
        return timezone.utc
    if offset := _OFFSET.fullmatch(name):
        size = timedelta(hours=int(offset["hours"]), minutes=int(offset["minutes"] or 0))
        return timezone(size if offset["sign"] == "+" else -size)
    return ZoneInfo(name)


def _no_time(name: str, value: object) -> ValueError:
    return ValueError(
        f"{name} is not a time: {value!r}; write it as '2026-11-01T12:30:00Z' or '2026-11-01 12:30:00+01:00'"
    )
