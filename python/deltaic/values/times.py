"""Conversion of times: integer milliseconds since the epoch inside, aware datetimes in the API."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

__all__ = ["from_millis", "shown_millis", "to_millis"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)


def from_millis(millis: int) -> datetime:
    """Converts milliseconds since the epoch to an aware datetime in UTC.

    Raises:
        OverflowError: The time is outside of the years 1 to 9999.

    >>> from_millis(1_793_491_200_000).isoformat()
    '2026-11-01T00:00:00+00:00'
    """
    return _EPOCH + timedelta(milliseconds=millis)


def shown_millis(millis: int) -> str:
    """Formats a time that a datetime cannot represent.

    >>> shown_millis(2**63 - 1)
    '9223372036854775807 ms since 1970'
    """
    return f"{millis} ms since 1970"


def to_millis(when: str | datetime, *, round_up: bool = False) -> int:
    """Converts an ISO 8601 text or a datetime, both with a zone, to milliseconds since the epoch.

    Fractions of a millisecond are truncated, or rounded up for the start of a range: commit times are whole
    milliseconds.

    Raises:
        ValueError: The text is not a time, or no zone is given.
        TypeError: Neither text nor a datetime.

    >>> to_millis("2026-11-01T00:00:00Z")
    1793491200000
    >>> to_millis("2026-11-01T01:00:00+01:00")
    1793491200000
    """
    if isinstance(when, str):
        moment = _parse(when)
    # Checked for callers without a type checker.
    elif isinstance(when, datetime):  # pyright: ignore[reportUnnecessaryIsInstance]
        moment = when
    else:
        raise TypeError(
            f"a time must be an ISO 8601 string with a zone or an aware datetime, not {type(when).__name__}: "
            "give '2026-11-01T00:00:00Z' or datetime(2026, 11, 1, tzinfo=timezone.utc)"
        )
    if moment.utcoffset() is None:
        raise ValueError(
            f"the time {when!s} has no zone, so it is ambiguous: "
            "add 'Z' or an offset such as '+01:00' to a text, tzinfo=timezone.utc to a datetime"
        )
    millis, rest = divmod(moment - _EPOCH, _MILLISECOND)
    return millis + (1 if round_up and rest else 0)


def _parse(text: str) -> datetime:
    # Python 3.10's fromisoformat does not accept Z.
    stripped = text.strip()
    normal = stripped[:-1] + "+00:00" if stripped[-1:] in ("Z", "z") else stripped
    try:
        return datetime.fromisoformat(normal)
    except ValueError as error:
        raise ValueError(
            f"{text!r} is not a time: write it as ISO 8601 with a zone, such as '2026-11-01T00:00:00Z'"
        ) from error
