"""Rules about clauses, names and values of merges, as a table.

The table has the rows `ROWS`, the source `SOURCE_ROWS`; their aliases are t and s. A clause is a method of
`deltaic.Table.merge(…)` with its arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

UNRESOLVED = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
AMBIGUOUS = "AMBIGUOUS_REFERENCE"
SEVERAL = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
SET_TWICE = "DELTA_CONFLICT_SET_COLUMN"
NOT_LAST = "DELTA_NON_LAST_{}_CLAUSE_OMIT_CONDITION"

POINT = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string())])
SCHEMA = pa.schema({"id": pa.int32(), "a": pa.int32(), "b": pa.string(), "p": POINT})
ROWS = [(1, 10, "x", {"x": 1, "y": "p"}), (2, 20, "y", None), (3, 30, "z", {"x": 3, "y": "q"})]
SOURCE_ROWS = [(1, 100, "n", {"x": 9, "y": "w"}), (4, 400, "m", None)]
TWICE = [(1, 100, "n", None), (1, 200, "m", None), (4, 400, "k", None)]
"""A source with two rows that match a row of the table."""

Call = tuple[str, dict[str, str] | None, str | None]
Rows = list[tuple[int | None, ...]]


def update(values: dict[str, str], condition: str | None = None) -> Call:
    return "when_matched_update", values, condition


def update_all(condition: str | None = None) -> Call:
    return "when_matched_update_all", None, condition


def delete(condition: str | None = None) -> Call:
    return "when_matched_delete", None, condition


def insert(values: dict[str, str], condition: str | None = None) -> Call:
    return "when_not_matched_insert", values, condition


def insert_all(condition: str | None = None) -> Call:
    return "when_not_matched_insert_all", None, condition


def update_rest(values: dict[str, str], condition: str | None = None) -> Call:
    return "when_not_matched_by_source_update", values, condition


def delete_rest(condition: str | None = None) -> Call:
    return "when_not_matched_by_source_delete", None, condition


def table_of(rows: Sequence[tuple[object, ...]]) -> pa.Table:
    """Returns rows with all columns as Arrow data."""
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


@dataclass(frozen=True)
class Rule:
    """A merge, and the error or the columns `id` and `a` that follow."""

    clauses: list[Call]
    refused: str | None = None
    """The condition of delta-spark's error."""
    rows: Rows | None = None
    """None if the table stays as it is."""
    on: str = "t.id = s.id"
    source: list[tuple[object, ...]] = field(default_factory=lambda: SOURCE_ROWS)
    columns: list[str] = field(default_factory=lambda: SCHEMA.names)
    """The columns of the source."""


OLD = [(row[0], row[1]) for row in ROWS]
UPDATED: Rows = [(1, 100), (2, 20), (3, 30)]

RULES: dict[str, Rule] = {
    # Which clauses there are, and which of them may have no condition.
    "no clause": Rule([], "DELTA_MERGE_MISSING_WHEN"),
    "a condition after none, matched": Rule([update_all(), delete("s.a = 1")], NOT_LAST.format("MATCHED")),
    "two matched without a condition": Rule([update_all(), delete()], NOT_LAST.format("MATCHED")),
    "two inserts without a condition": Rule([insert_all(), insert_all()], NOT_LAST.format("NOT_MATCHED")),
    "two by source without a condition": Rule(
        [delete_rest(), update_rest({"a": "1"})], NOT_LAST.format("NOT_MATCHED_BY_SOURCE")
    ),
    "kinds in any order": Rule(
        [
            delete_rest("t.id = 2"),
            insert_all("s.id = 9"),
            delete("s.id = 9"),
            insert({"id": "s.id"}),
            update({"a": "s.a"}),
            update_rest({"a": "-1"}),
        ],
        rows=[(1, 100), (3, -1), (4, None)],
    ),
    "the first clause that applies": Rule(
        [update({"a": "1"}, "s.a > 50"), delete("s.a > 60")], rows=[(1, 1), (2, 20), (3, 30)]
    ),
    "an insert without columns": Rule([insert({})], rows=[*OLD, (None, None)]),
    # Names.
    "insert condition on the table": Rule([insert_all("t.a = 1")], UNRESOLVED),
    "insert value of the table": Rule([insert({"id": "t.id"})], UNRESOLVED),
    "by source condition on the source": Rule([delete_rest("s.a = 1")], UNRESOLVED),
    "by source value of the source": Rule([update_rest({"a": "s.a"})], UNRESOLVED),
    "unqualified names of an insert": Rule([insert({"id": "id", "a": "a"}, "a > 5")], rows=[*OLD, (4, 400)]),
    "unqualified names of a by source clause": Rule(
        [update_rest({"a": "a + 1"}, "a > 20")], rows=[(1, 10), (2, 20), (3, 31)]
    ),
    "unqualified name in a matched value": Rule([update({"a": "a + 1"})], AMBIGUOUS),
    "unqualified name in a matched condition": Rule([delete("a > 1")], AMBIGUOUS),
    "unqualified name in the join": Rule([delete()], AMBIGUOUS, on="id = s.id"),
    "unknown column to set": Rule([update({"nope": "1"})], UNRESOLVED),
    "unknown column to insert": Rule([insert({"nope": "1"})], UNRESOLVED),
    "unknown column in a condition": Rule([delete("s.nope = 1")], UNRESOLVED),
    "unknown alias": Rule([delete("x.a = 1")], UNRESOLVED),
    "unknown column in the join": Rule([delete()], UNRESOLVED, on="t.nope = s.id"),
    "column of the source to set": Rule([update({"s.a": "1"})], UNRESOLVED),
    "qualified column to set": Rule([update({"t.a": "s.a"})], rows=UPDATED),
    "names and aliases in another case": Rule([update({"A": "S.A"})], rows=UPDATED, on="T.ID = S.Id"),
    "a column set twice": Rule([update({"a": "1", "A": "2"})], SET_TWICE),
    "a struct and its field": Rule([update({"p": "NULL", "p.x": "1"})], SET_TWICE),
    "a field to insert": Rule(
        [insert({"id": "1", "p.x": "1"})], "DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION"
    ),
    "update all without a column": Rule([update_all()], UNRESOLVED, columns=["id", "a", "b"]),
    "insert all without a column": Rule([insert_all()], UNRESOLVED, columns=["id", "a", "b"]),
    "columns in another order": Rule([update_all()], rows=UPDATED, columns=["p", "b", "a", "id"]),
    # Several source rows that match a row.
    "several, update": Rule([update_all()], SEVERAL, source=TWICE),
    "several, a condition that distinguishes them": Rule([update_all("s.a = 100")], SEVERAL, source=TWICE),
    "several, a condition that is never true": Rule([update_all("s.a = 1")], SEVERAL, source=TWICE),
    "several, a condition that is always true": Rule([delete("true")], SEVERAL, source=TWICE),
    "several, the last of two deletes": Rule([delete("s.a = 100"), delete()], SEVERAL, source=TWICE),
    "several, by source only": Rule([delete_rest()], SEVERAL, source=TWICE),
    "several, by source and insert": Rule([insert_all(), delete_rest()], SEVERAL, source=TWICE),
    "several, delete": Rule([delete()], rows=[(2, 20), (3, 30)], source=TWICE),
    "several, delete and others": Rule(
        [delete(), insert_all(), update_rest({"a": "0"})], rows=[(2, 0), (3, 0), (4, 400)], source=TWICE
    ),
    "several, insert only": Rule([insert_all()], rows=[*OLD, (4, 400)], source=TWICE),
    "several tell the join apart": Rule(
        [update_all()], rows=UPDATED, source=TWICE, on="t.id = s.id AND s.a < 200"
    ),
    # Conditions and values.
    "rand() in a condition": Rule([delete("rand() < 2")], "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED"),
    "an aggregate in a condition": Rule([delete("max(s.a) > 1")], "DELTA_AGGREGATION_NOT_SUPPORTED"),
    "a number as a condition": Rule([delete("s.a")], "CANNOT_UP_CAST_DATATYPE"),
    "a number as the join": Rule([delete()], "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", on="t.id"),
    "a value that is too large": Rule(
        [update({"a": "s.a + 3000000000"})], "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"
    ),
    "overflow in a clause that does not apply": Rule([update({"a": "s.a + 2147483647"}, "s.a < 0")]),
    "old values": Rule([update({"id": "t.a", "a": "t.id"})], rows=[(10, 1), (2, 20), (3, 30)]),
    # Nothing changes.
    "no match": Rule([update_all()], on="t.id = s.id + 100"),
    "all match": Rule([insert_all()], on="t.id <= s.id OR s.id = 1"),
}
