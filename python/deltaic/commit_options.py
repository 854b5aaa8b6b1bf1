"""The options that every writing verb takes, proved at the door."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Literal, cast

from deltaic.arguments import at_most, flag
from deltaic.commit import to_app_transaction, to_commit_info

__all__ = ["Isolation", "time_left", "to_options"]

Isolation = Literal["Serializable", "WriteSerializable", "SnapshotIsolation"]
"""What may come between what a transaction read and what it commits."""

_MOST_MILLIS = (1 << 63) - 1


def to_options(
    *,
    commit_info: Mapping[str, object] | None,
    app_transaction: tuple[str, int] | None,
    max_attempts: int,
    deadline: float | timedelta | None,
    isolation: Isolation | None,
    row_level: bool,
    upkeep: bool,
) -> dict[str, object]:
    """The options as the core takes them.

    Raises:
        TypeError: One is of another type.
        ValueError: One makes no sense.

    >>> given = {"commit_info": None, "app_transaction": None, "isolation": None}
    >>> given |= {"row_level": True, "upkeep": False}
    >>> to_options(max_attempts=3, deadline=1.5, **given)["deadline_ms"]
    1500
    """
    # The type says so already; a caller without a type checker gets the sentence.
    if isolation is not None and not isinstance(isolation, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"isolation is the name of a level, not {type(isolation).__name__}")
    return {
        "commit_info": to_commit_info(commit_info),
        "app_transaction": to_app_transaction(app_transaction),
        "max_attempts": at_most("max_attempts", max_attempts, least=1),
        "deadline_ms": None if deadline is None else _to_millis(deadline),
        "isolation": isolation,
        "row_level": flag("row_level", row_level),
        "upkeep": flag("upkeep", upkeep),
    }


def time_left(deadline: float | timedelta | None) -> Iterator[float | None]:
    """How many seconds are left of a deadline whenever it is asked, without end; None where there is none.

    >>> next(time_left(None)) is None, next(time_left(0))
    (True, 0.0)
    """
    ends = None if deadline is None else time.monotonic() + _to_seconds(deadline)
    while True:
        yield None if ends is None else max(0.0, ends - time.monotonic())


def _to_seconds(deadline: float | timedelta) -> float:
    """A deadline, given in seconds or as a timedelta, in seconds."""
    seconds = cast("object", deadline.total_seconds() if isinstance(deadline, timedelta) else deadline)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"deadline is a number of seconds or a timedelta, not {type(deadline).__name__}")
    if math.isnan(seconds) or seconds < 0:
        raise ValueError(f"deadline counts from now, and {deadline} lies before it")
    return min(float(seconds), _MOST_MILLIS / 1000)


def _to_millis(deadline: float | timedelta) -> int:
    return min(int(_to_seconds(deadline) * 1000), _MOST_MILLIS)
