"""Conversion of values to JSON and to the cells of a table."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, cast

from deltaic.values.times import from_millis, shown_millis

__all__ = ["cell", "json_value", "utc", "utc_of_millis"]

_LONGEST_CELL = 60


def utc(moment: datetime) -> str:
    """Formats a time as ISO 8601 in UTC, with milliseconds unless they are zero.

    >>> utc(datetime(2026, 11, 1, tzinfo=timezone.utc))
    '2026-11-01T00:00:00Z'
    """
    precision = "milliseconds" if moment.microsecond else "seconds"
    return moment.astimezone(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


def utc_of_millis(millis: int) -> str:
    """Formats milliseconds since 1970 like `utc`; as a number if no datetime can represent them."""
    try:
        return utc(from_millis(millis))
    except OverflowError:
        return shown_millis(millis)


def json_value(value: object) -> Any:  # Any: whatever json.dump takes
    """Converts a value of a row to JSON.

    Dates and times become ISO 8601 text (timestamps with a zone in UTC, with a ``Z``), decimals text, bytes
    Base64, NaN and the infinities their names, maps lists of pairs.

    >>> json_value({"day": date(2026, 11, 1), "price": Decimal("9.50"), "raw": b"hi", "x": float("nan")})
    {'day': '2026-11-01', 'price': '9.50', 'raw': 'aGk=', 'x': 'NaN'}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return _not_finite(value)
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            return value.isoformat()
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return {name: json_value(inner) for name, inner in fields.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(inner) for inner in cast("Sequence[object]", value)]
    return value


def cell(value: object) -> str:
    """Formats a value of a row for a table: NULL for None; long texts are truncated with an ellipsis.

    >>> cell(None), cell("tram"), cell([1, 2])
    ('NULL', 'tram', '[1, 2]')
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        text = value
    elif isinstance(value, bytes):
        text = f"0x{value.hex()}"
    else:
        plain = json_value(value)
        text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
