"""Where deltaic raises a typed error and Spark returns a value: each is documented."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """An error that Spark does not raise."""

    error: str
    """A regular expression for the beginning of deltaic's error."""
    documented: str
    """Words of docs/reference/expressions.md."""
    example: str
    """An expression for which deltaic raises it and Spark does not."""
    expressions: str = ""
    """A regular expression for the expressions that raise it."""


DIFFERENCES = [
    Difference(
        "the date (or time )?is out of range",
        "days and intervals added to a date, and TRUNC, beyond its range",
        "date_add(day, 2147483647)",
    ),
    Difference(
        "the result is out of the range of the type bigint",
        "`DIV` of decimals beyond 64 bits",
        "d38 DIV 1",
        r"\bDIV\b",
    ),
    Difference(
        "the value is out of the range of a timestamp",
        "casts to `timestamp` or `bigint` out of its range",
        "CAST(i64 AS TIMESTAMP)",
    ),
    Difference(
        "the value is out of the range of the type bigint",
        "casts to `timestamp` or `bigint` out of its range",
        "CAST(f64 AS BIGINT)",
        r"CAST\(f\d\d AS BIGINT\)",
    ),
    Difference(
        r"the index -?\d{10,} is out of bounds",
        "`bigint` indexes of arrays beyond 32 bits",
        "list[i64]",
    ),
    Difference(
        ".* cannot be compared: the string needs a cast",
        "comparisons of a string with another type without a cast",
        "text = i32",
    ),
    Difference(
        ".* have too many digits to be compared exactly",
        "decimals whose common type has more than 38 digits",
        "d38 = m38",
    ),
    Difference("casting binary that is not UTF-8", "binary that is not UTF-8", "CAST(raw AS STRING)"),
    Difference(
        '".*" has a time zone that is unknown',
        "names of time zones that the time zone database does not have",
        "TRY_CAST('2026-01-01 10:00:00 Mars' AS TIMESTAMP)",
    ),
    Difference(
        r"'\s*T?\d+:\d+.*' is not a valid timestamp",
        "a time without a date",
        "CAST('10:11:12' AS TIMESTAMP)",
    ),
    Difference(
        r"'[+-]?0[xX].*' is not a valid (float|double)",
        "hexadecimal digits",
        "CAST('0x1p3' AS DOUBLE)",
    ),
    Difference(
        r"'[^\x00-\x7f]+' is not a valid decimal",
        "digits other than 0 to 9",
        "CAST('\u0661' AS DECIMAL(9,2))",
    ),
    Difference(
        "the type string and an interval have no sum",
        "an interval added to a string",
        "dates + INTERVAL 1 DAY",
    ),
    Difference(
        "(hash|xxhash64) of the type (array|struct).* is not implemented",
        "of primitive values",
        "hash(list)",
    ),
    Difference(
        "rounding to NULL places is not implemented", "`round` needs constant places", "round(f64, NULL)"
    ),
    Difference(
        "'.*' is not a valid int",
        "a comparison computes both sides also if one is NULL",
        "i32 < CAST(digits_2 AS INT)",
        r"^i32 < CAST\(digits_2",
    ),
]


def exception(expression: str, error: str | None) -> Difference | None:
    """Returns the documented difference to which an error belongs."""
    if error is None:
        return None
    message = error.split(": ", 1)[1] if re.match(r"\w+: ", error) else error
    return next(
        (
            known
            for known in DIFFERENCES
            if re.match(known.error, message, re.DOTALL) and re.search(known.expressions, expression)
        ),
        None,
    )
