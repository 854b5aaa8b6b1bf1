"""Whether a predicate's meaning depends on the session's time zone, which the data source does not know."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

__all__ = ["depends_on_time_zone", "is_utc", "names_current_time"]

_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Zulu", "Etc/Zulu", "Universal", "UCT", "+00:00"})
_OF_NOW = frozenset(
    {
        "current_date",
        "curdate",
        "current_timestamp",
        "current_time",
        "localtimestamp",
        "now",
        "unix_timestamp",
    }
)
_INSTANTS = ("timestamp", "timestamp_nanos")


def is_utc(zone: str | None) -> bool:
    """Whether a zone is UTC by Spark's names: deltaic interprets times without a zone as UTC."""
    return zone in _UTC


def names_current_time(text: str) -> bool:
    """Whether an expression may depend on the current time or date.

    >>> names_current_time("day = current_date()"), names_current_time("day = '2026-11-01'")
    (True, False)
    """
    return not _OF_NOW.isdisjoint(re.findall(r"\w+", text.lower()))


def depends_on_time_zone(schema_json: str, predicate: str) -> bool:
    """Whether a predicate may contain a time without a zone: it uses a timestamp or a timestamp column.

    >>> schema = '{"type":"struct","fields":[{"name":"at","type":"timestamp"},{"name":"day","type":"date"}]}'
    >>> [depends_on_time_zone(schema, text) for text in ("day = '2026-11-01'", "at = '2026-11-01'")]
    [False, True]
    """
    words = set(re.findall(r"\w+", predicate.lower()))
    if any("timestamp" in word for word in words):
        return True
    # Field names alone are compared: a predicate contains the name of each field that it uses.
    named = _names_of_instants(json.loads(schema_json), "")
    return any(set(re.findall(r"\w+", name.lower())) <= words for name in named)


def _names_of_instants(declared: Any, name: str) -> Iterator[str]:
    """Yields the names of timestamp fields, including arrays and maps of timestamps."""
    if declared in _INSTANTS:
        yield name
    if not isinstance(declared, dict):
        return
    kind: dict[str, Any] = declared  # pyright: ignore[reportUnknownVariableType] - JSON
    for each in kind.get("fields", ()):
        yield from _names_of_instants(each.get("type"), each.get("name", ""))
    for part in ("elementType", "keyType", "valueType"):
        yield from _names_of_instants(kind.get(part), name)
