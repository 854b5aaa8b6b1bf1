"""Whether what a predicate means depends on a session's time zone, which the data source is not told."""

from __future__ import annotations

import re

__all__ = ["is_utc", "speaks_of_instants"]

_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Zulu", "Etc/Zulu", "Universal", "UCT", "+00:00"})
_TIMESTAMPS = re.compile(r'"name"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,\s*"type"\s*:\s*"timestamp"')


def is_utc(zone: str | None) -> bool:
    """Whether a zone, named as Spark has it, is UTC: the zone in which deltaic reads times that name none."""
    return zone in _UTC


def speaks_of_instants(schema_json: str, predicate: str) -> bool:
    """Whether a predicate may name a moment without its zone: it has a timestamp in it, or a column of such.

    >>> schema = '{"type":"struct","fields":[{"name":"at","type":"timestamp"},{"name":"day","type":"date"}]}'
    >>> [speaks_of_instants(schema, text) for text in ("day = '2026-11-01'", "at = '2026-11-01'")]
    [False, True]
    """
    words = {word.lower() for word in re.findall(r"\w+", predicate)}
    if any("timestamp" in word for word in words):
        return True
    # Any field of any struct: a predicate names it somewhere by its own name.
    names = _TIMESTAMPS.findall(schema_json)
    return any(set(re.findall(r"\w+", name.lower())) <= words for name in names)
