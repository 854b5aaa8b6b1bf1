"""Validation of versions: by number, or by a time."""

from __future__ import annotations

from datetime import datetime

from deltaic.values.arguments import whole_number
from deltaic.values.times import to_millis

__all__ = ["to_end", "to_version"]

_MOST = (1 << 63) - 1


def to_version(version: object) -> int:
    """Validates the number of a version.

    Raises:
        ValueError: No version has this number.
        TypeError: It is not an integer.

    >>> to_version(3)
    3
    """
    number = whole_number("version", version)
    return _proved(number, str(number), "give 0 or more, or None for the newest")


def to_end(name: str, end: int | str | datetime, *, round_up: bool) -> tuple[int | None, int | None]:
    """Returns the version, or the time in milliseconds since the epoch, of one end of a range.

    Raises:
        ValueError: No version has this number, or the time has no zone.
        TypeError: It is neither a version nor a time.

    >>> to_end("start", 3, round_up=True), to_end("end", "1970-01-01T00:00:01Z", round_up=False)
    ((3, None), (None, 1000))
    """
    if isinstance(end, (str, datetime)):
        return None, to_millis(end, round_up=round_up)
    number = whole_number(name, end)
    return _proved(number, f"{name}={number}", "give 0 or more"), None


def _proved(number: int, shown: str, instead: str) -> int:
    if number < 0:
        raise ValueError(f"versions start at 0, not {shown}: {instead}")
    if number > _MOST:
        raise ValueError(f"the highest version is {_MOST}, not {shown}")
    return number
