"""The retention properties of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from deltaic.advice.facts import TableFacts
from deltaic.advice.recommendation import Recommendation

__all__ = ["check_retention", "deleted_file_retention_ms", "interval_ms"]

_LOG = "delta.logRetentionDuration"
_FILES = "delta.deletedFileRetentionDuration"
_CLEANUP = "delta.enableExpiredLogCleanup"
_DAY = 86_400_000
_VERY_LONG = 365 * _DAY
# The longest interval that writers accept: they compute microseconds with 64 bits.
_LONGEST = 106_751_991 * _DAY
_UNITS = {
    "week": 7 * _DAY,
    "day": _DAY,
    "hour": 3_600_000,
    "minute": 60_000,
    "second": 1000,
    "millisecond": 1,
}
_PART = re.compile(r"([+-]?[0-9]{1,12}(?:\.[0-9]{1,9})?)\s+(week|day|hour|minute|second|millisecond)s?")


def interval_ms(text: str) -> int | None:
    """Parses an interval of weeks to milliseconds; None if it has another form or is negative.

    An interval of more than 106,751,991 days has that length.

    >>> interval_ms("interval 1 week"), interval_ms("1 day 12 hours"), interval_ms("PT1H")
    (604800000, 129600000, None)
    """
    rest = text.strip().lower().removeprefix("interval").strip()
    if not re.fullmatch(rf"(?:{_PART.pattern}\s*)+", rest):
        return None
    length = int(sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(rest)))
    return min(length, _LONGEST) if length >= 0 else None


def deleted_file_retention_ms(properties: Mapping[str, str]) -> int | None:
    """How long a vacuum retains removed files; None if the property cannot be interpreted."""
    return interval_ms(properties.get(_FILES, "interval 1 week"))


def check_retention(facts: TableFacts) -> Iterator[Recommendation]:
    """Compares the retention of the log with that of removed files."""
    properties = facts.snapshot.properties
    log = interval_ms(properties.get(_LOG, "interval 30 days"))
    files = deleted_file_retention_ms(properties)
    figures = {"log_retention_ms": log, "deleted_file_retention_ms": files}
    if log is not None and files is not None and log < files:
        yield Recommendation(
            "LOG_RETENTION_TOO_SHORT",
            "warning",
            f"the log is retained for {_days(log)}, removed files for {_days(files)}",
            f"Versions older than {_days(log)} cannot be read, although their files still exist; and a "
            "vacuum may lack the tombstones that protect files of readable versions.",
            f"versions can be read for {_days(files)}",
            _set(_LOG, files),
            "",
            figures,
        )
    for name, value, what in ((_LOG, log, "the log"), (_FILES, files, "removed files")):
        if value is not None and value > _VERY_LONG:
            default = 30 * _DAY if name == _LOG else 7 * _DAY
            yield Recommendation(
                "LONG_RETENTION",
                "info",
                f"{what} {'is' if name == _LOG else 'are'} retained for {_days(value)}",
                "Old commits make listing the log slower."
                if name == _LOG
                else "Removed files use space until they expire.",
                f"they expire after {_days(default)}, the default; older versions can then not be read",
                _set(name, default),
                "",
                {"property": name, "retention_ms": value},
            )
    if properties.get(_CLEANUP, "true").strip().lower() == "false":
        yield Recommendation(
            "NO_LOG_CLEANUP",
            "info",
            f"{_CLEANUP} is false: expired log files remain",
            "Listing the log becomes slower with each commit.",
            "expired log files are deleted after checkpoints",
            f'table.alter(deltaic.alter.SetProperties({{"{_CLEANUP}": "true"}}))',
            "",
            {"property": _CLEANUP},
        )


def _set(name: str, millis: int) -> str:
    days, rest = divmod(millis, _DAY)
    text = f"interval {days} days" if not rest else f"interval {-(-millis // 3_600_000)} hours"
    return f'table.alter(deltaic.alter.SetProperties({{"{name}": "{text}"}}))'


def _days(millis: int) -> str:
    days = millis / _DAY
    return "1 day" if days == 1 else f"{days:,.4g} days" if days < 1000 else f"{days:,.0f} days"
