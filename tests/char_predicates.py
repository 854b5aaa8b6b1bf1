"""Predicates on columns of the type `char(n)`, and the rows that Spark 4.3 finds."""

from __future__ import annotations

from typing import Any

ROWS: list[dict[str, Any]] = [
    {"i": 1, "c": "ab", "d": "ab", "s": "ab"},
    {"i": 2, "c": "abc", "d": "abc", "s": "abc"},
    {"i": 3, "c": None, "d": None, "s": None},
    {"i": 4, "c": "a\tb", "d": "a", "s": "x"},
]
# The rows that Spark 4.3 finds.
ANSWERS: dict[str, list[int]] = {
    "c = 'ab'": [1],
    "'ab' = c": [1],
    "c <> 'ab'": [2, 4],
    "c <=> 'ab'": [1],
    "NOT (c <=> 'ab')": [2, 3, 4],
    "c < 'ab'": [4],
    "c <= 'ab'": [1, 4],
    "c > 'ab'": [2],
    "c >= 'ab'": [1, 2],
    "c > 'a'": [1, 2],
    "'a' < c": [1, 2],
    "c IN ('ab', 'zz')": [1],
    "c NOT IN ('ab')": [2, 4],
    "c IN ('abcdefgh', 'ab')": [1],
    "c IN ('ab', NULL)": [],
    "c = 'ab       '": [1],
    "c = 'abcdefgh'": [],
    "c < 'abcdefgh'": [1, 2, 4],
    "c = concat('a', 'b')": [1],
    "c = CAST('ab' AS STRING)": [1],
    "CASE WHEN c = 'ab' THEN TRUE ELSE FALSE END": [1],
    "CASE c WHEN 'ab' THEN TRUE ELSE FALSE END": [1],
    "CASE c WHEN d THEN TRUE ELSE FALSE END": [1, 2],
    "c IN (d)": [1, 2],
    "c NOT IN (d, d)": [4],
    "c = d": [1, 2],
    "c <=> d": [1, 2, 3],
    "c <> d": [4],
    "c < d": [4],
    # No padding.
    "c BETWEEN 'ab' AND 'ab'": [],
    "c NOT BETWEEN 'ab' AND 'ab'": [1, 2, 4],
    "c LIKE 'ab'": [],
    "c LIKE 'ab%'": [1, 2],
    "length(c) = 5": [1, 2, 4],
    "startswith(c, 'ab')": [1, 2],
    "trim(c) = 'ab'": [1],
    "coalesce(c, 'x') = 'ab'": [],
    "greatest(c, 'ab') = 'ab'": [3, 4],
    "c = s": [],
    "c IN (d, s)": [],
    "nullif(c, 'ab') IS NULL": [3],
    "endswith(c, 'b  ')": [4],
    "contains(c, 'ab ')": [1],
}
