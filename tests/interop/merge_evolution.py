"""Rules about merges that change the schema, as a table: the same for delta-spark and for deltaic.

The table has the rows `ROWS`; the aliases are t and s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from .merge_rules import Call, delete, insert, insert_all, update, update_all, update_rest

INNER = pa.struct([pa.field("u", pa.int32()), pa.field("v", pa.int32())])
POINT = pa.struct([pa.field("x", pa.int32()), pa.field("y", pa.string()), pa.field("in", INNER)])
LIST = pa.list_(pa.struct([pa.field("k", pa.int32()), pa.field("w", pa.string())]))
MAP = pa.map_(pa.string(), pa.struct([pa.field("x", pa.int32())]))
SCHEMA = pa.schema({"id": pa.int32(), "a": pa.int32(), "b": pa.string(), "p": POINT, "l": LIST, "tags": MAP})
ROWS: dict[int, dict[str, Any]] = {
    1: {"a": 10, "b": "x", "p": {"x": 1, "y": "p", "in": {"u": 5, "v": 6}}, "l": [{"k": 1, "w": "e"}]},
    2: {"a": 20, "b": "y", "p": None, "l": None},
    3: {"a": 30, "b": "z", "p": {"x": 3, "y": None, "in": None}, "l": []},
}
WIDENING = {"delta.enableTypeWidening": "true"}


def struct(**fields: pa.DataType) -> pa.DataType:
    return pa.struct([pa.field(name, kind) for name, kind in fields.items()])


I32, I64, STR = pa.int32(), pa.int64(), pa.string()
BOTH = [update_all(), insert_all()]


@dataclass(frozen=True)
class Evolution:
    """A merge, and the error or the schema and the rows that follow."""

    clauses: list[Call]
    columns: dict[str, pa.DataType]
    """The columns of the source beside `id`."""
    source: dict[int, tuple[Any, ...]]
    """The other values of the rows of the source, by `id`."""
    types: dict[str, pa.DataType] = field(default_factory=dict)
    """The columns that are new or have another type."""
    rows: dict[int, dict[str, Any] | None] = field(default_factory=dict)
    """What differs from `ROWS` by `id`; None for rows that are deleted."""
    refused: str | None = None
    """The condition of delta-spark's error."""
    on: str = "t.id = s.id"
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def table(self) -> pa.Table:
        """The rows of the source."""
        schema = pa.schema({"id": I32, **self.columns})
        rows = [dict(zip(schema.names, (key, *row), strict=True)) for key, row in self.source.items()]
        return pa.Table.from_pylist(rows, schema)

    @property
    def schema(self) -> pa.Schema:
        """The schema that follows."""
        types = {column.name: column.type for column in SCHEMA} | self.types
        return pa.schema(types)

    @property
    def expected(self) -> list[dict[str, Any]]:
        """The rows that follow, by `id`."""
        keys = [key for key in sorted(ROWS | self.rows) if self.rows.get(key, {}) is not None]
        rows = [{"id": key, **ROWS.get(key, {}), **(self.rows.get(key) or {})} for key in keys]
        # Fields that a row lacks are NULL.
        return pa.Table.from_pylist(rows, self.schema).to_pylist()


def grown(**more: pa.DataType) -> pa.DataType:
    """Returns the type of `p` with more fields."""
    return pa.struct([*POINT.fields, *(pa.field(name, kind) for name, kind in more.items())])


UNRESOLVED = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
XZ = struct(x=I32, z=I32)
XZ_ROWS = {1: ({"x": 9, "z": 1},), 2: ({"x": 8, "z": 2},), 3: (None,), 4: ({"x": 7, "z": 4},), 5: (None,)}
IN_Z = struct(**{"in": struct(u=I32, z=I32)})

EVOLUTIONS: dict[str, Evolution] = {
    # New columns.
    "all columns": Evolution(
        BOTH,
        {"n": I32},
        {1: (7,), 4: (8,)},
        {"n": I32},
        {1: {"n": 7}, 4: {"n": 8}},
    ),
    "update all, insert some": Evolution(
        [update_all(), insert({"id": "s.id"})],
        {"n": I32},
        {1: (7,), 4: (8,)},
        {"n": I32},
        {1: {"n": 7}, 4: {}},
    ),
    "a name in another case": Evolution(
        BOTH, {"New": STR, "A": I32}, {1: ("q", 5)}, {"New": STR}, {1: {"New": "q", "a": 5}}
    ),
    "an assignment": Evolution(
        [update({"n": "s.n + 1"})], {"n": I32, "m": I32}, {1: (7, 7)}, {"n": I32}, {1: {"n": 8}}
    ),
    "an assignment of another column": Evolution(
        [insert({"id": "id", "N": "m"})], {"n": I64, "m": I32}, {4: (7, 9)}, {"n": I64}, {4: {"n": 9}}
    ),
    "an assignment of a known column": Evolution(
        [update({"a": "s.n"})], {"n": I32}, {1: (7,)}, rows={1: {"a": 7}}
    ),
    "a deletion": Evolution([delete()], {"n": I32}, {1: (7,)}, rows={1: None}),
    "no match": Evolution([update_all()], {"n": I32}, {4: (7,)}, {"n": I32}),
    "no rows": Evolution(BOTH, {"n": I32}, {}, {"n": I32}),
    "a new struct": Evolution(
        BOTH, {"q": struct(c=I32)}, {1: ({"c": 1},), 3: (None,)}, {"q": struct(c=I32)}, {1: {"q": {"c": 1}}}
    ),
    "an unqualified name is the source's": Evolution(
        [update({"a": "n"}, "n > 1"), insert_all("n > 9")],
        {"n": I32},
        {1: (7,), 4: (8,)},
        {"n": I32},
        {1: {"a": 7}},
        on="t.id = s.id AND n > 2",
    ),
    "columns that the source lacks": Evolution(
        BOTH, {"b": STR}, {1: ("q",), 4: ("r",)}, rows={1: {"b": "q"}, 4: {"b": "r"}}
    ),
    # What is not a column.
    "an assignment of an unknown column": Evolution(
        [update({"z": "1"})], {"n": I32}, {1: (7,)}, refused=UNRESOLVED
    ),
    "a new column with the alias of the table": Evolution(
        [update({"t.n": "s.n"})], {"n": I32}, {1: (7,)}, refused=UNRESOLVED
    ),
    "a new column by source": Evolution(
        [update_all(), update_rest({"n": "3"})], {"n": I32}, {1: (7,)}, refused=UNRESOLVED
    ),
    "a new column in a condition": Evolution(
        [update_all("t.n IS NULL")], {"n": I32}, {1: (7,)}, refused=UNRESOLVED
    ),
    "a new field in a condition": Evolution(
        [update_all("t.p.z IS NULL")], {"p": XZ}, XZ_ROWS, refused="FIELD_NOT_FOUND"
    ),
    "a struct and a number": Evolution(BOTH, {"p": I32}, {1: (7,)}, refused="DELTA_FAILED_TO_MERGE_FIELDS"),
    # Fields of structs.
    "new fields": Evolution(
        BOTH,
        {"p": XZ},
        XZ_ROWS,
        {"p": grown(z=I32)},
        {
            1: {"p": {"x": 9, "y": "p", "in": {"u": 5, "v": 6}, "z": 1}},
            2: {"p": {"x": 8, "y": None, "in": None, "z": 2}},
            3: {"p": {"x": None, "y": None, "in": None, "z": None}},
            4: {"p": {"x": 7, "y": None, "in": None, "z": 4}},
            5: {},
        },
    ),
    "fields of fields": Evolution(
        BOTH,
        {"p": IN_Z},
        {1: ({"in": {"u": 9, "z": 7}},), 2: (None,), 3: ({"in": None},), 4: ({"in": {"u": 8, "z": 6}},)},
        {"p": struct(x=I32, y=STR, **{"in": struct(u=I32, v=I32, z=I32)})},
        {
            1: {"p": {"x": 1, "y": "p", "in": {"u": 9, "v": 6, "z": 7}}},
            4: {"p": {"x": None, "y": None, "in": {"u": 8, "v": None, "z": 6}}},
        },
    ),
    "a struct with all fields": Evolution(
        BOTH,
        {"p": pa.struct([pa.field("z", I32), *reversed(POINT.fields)])},
        {1: (None,), 2: ({"z": 1, "in": None, "y": "g", "x": 2},), 3: (None,)},
        {"p": grown(z=I32)},
        {1: {"p": None}, 2: {"p": {"x": 2, "y": "g", "in": None, "z": 1}}, 3: {"p": None}},
    ),
    "an assignment of a struct": Evolution(
        [update({"p": "s.p"}), insert({"id": "id", "p": "p"})],
        {"p": XZ},
        XZ_ROWS,
        {"p": grown(z=I32)},
        {
            1: {"p": {"x": 9, "y": None, "in": None, "z": 1}},
            2: {"p": {"x": 8, "y": None, "in": None, "z": 2}},
            3: {"p": None},
            4: {"p": {"x": 7, "y": None, "in": None, "z": 4}},
            5: {},
        },
    ),
    "an assignment of a new field": Evolution(
        [update({"p.Z": "s.p.z + 1"})],
        {"p": XZ},
        {1: ({"x": 9, "z": 1},), 2: ({"x": 9, "z": 1},)},
        {"p": grown(z=I32)},
        {
            1: {"p": {"x": 1, "y": "p", "in": {"u": 5, "v": 6}, "z": 2}},
            2: {"p": {"x": None, "y": None, "in": None, "z": 2}},
        },
    ),
    "an assignment of a known field": Evolution(
        [update({"p.x": "s.p.z"})],
        {"p": XZ},
        {1: ({"x": 9, "z": 4},)},
        rows={1: {"p": {"x": 4, "y": "p", "in": {"u": 5, "v": 6}}}},
    ),
    "a new field with the alias of the table": Evolution(
        [update({"t.p.z": "s.p.z"})], {"p": XZ}, XZ_ROWS, refused=UNRESOLVED
    ),
    "structs in lists": Evolution(
        BOTH,
        {"l": pa.list_(struct(z=I32, k=I32))},
        {1: ([{"z": 1, "k": 2}, None],), 4: ([{"z": 3, "k": None}],)},
        {"l": pa.list_(struct(k=I32, w=STR, z=I32))},
        {
            1: {"l": [{"k": 2, "w": None, "z": 1}, None]},
            4: {"l": [{"k": None, "w": None, "z": 3}]},
        },
    ),
    "an assignment of a list with more fields": Evolution(
        [update({"l": "s.l"})],
        {"l": pa.list_(struct(z=I32, k=I32))},
        {1: ([{"z": 1, "k": 2}, None],), 4: (None,)},
        {"l": pa.list_(struct(k=I32, w=STR, z=I32))},
        {1: {"l": [{"k": 2, "w": None, "z": 1}, None]}},
    ),
    "structs in maps": Evolution(
        BOTH,
        {"tags": pa.map_(STR, struct(z=I32, x=I32))},
        {1: ([("k", {"z": 1, "x": 2}), ("n", None)],), 4: ([("k", {"z": 3, "x": None})],)},
        {"tags": pa.map_(STR, struct(x=I32, z=I32))},
        {
            1: {"tags": [("k", {"x": 2, "z": 1}), ("n", None)]},
            4: {"tags": [("k", {"x": None, "z": 3})]},
        },
    ),
    "an assignment of a map with more fields": Evolution(
        [update({"tags": "s.tags"}), insert({"id": "s.id", "tags": "s.tags"})],
        {"tags": pa.map_(STR, struct(z=I32))},
        {1: ([("k", {"z": 1})],), 4: ([],)},
        {"tags": pa.map_(STR, struct(x=I32, z=I32))},
        {1: {"tags": [("k", {"x": None, "z": 1})]}, 4: {"tags": []}},
    ),
    "a struct and a list": Evolution(
        BOTH, {"p": pa.list_(I32)}, {1: ([7],)}, refused="DELTA_FAILED_TO_MERGE_FIELDS"
    ),
    "a list and a map": Evolution(BOTH, {"tags": LIST}, {1: (None,)}, refused="DELTA_FAILED_TO_MERGE_FIELDS"),
    # Wider types.
    "a wider type that is not enabled": Evolution(
        BOTH, {"a": I64}, {1: (7,), 4: (8,)}, rows={1: {"a": 7}, 4: {"a": 8}}
    ),
    "a value that is too large": Evolution(
        BOTH, {"a": I64}, {1: (1 << 40,)}, refused="DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"
    ),
    "a wider type": Evolution(
        BOTH,
        {"a": I64},
        {1: (1 << 40,), 4: (8,)},
        {"a": I64},
        {1: {"a": 1 << 40}, 4: {"a": 8}},
        properties=WIDENING,
    ),
    "an integer becomes a double": Evolution(
        BOTH, {"a": pa.float64()}, {1: (1.5,)}, {"a": pa.float64()}, {1: {"a": 1.5}}, properties=WIDENING
    ),
    "a narrower type": Evolution(BOTH, {"a": pa.int8()}, {1: (7,)}, rows={1: {"a": 7}}, properties=WIDENING),
    "an assignment of a wider column": Evolution(
        [update({"a": "s.a"})],
        {"a": I64},
        {1: (1 << 40,)},
        {"a": I64},
        {1: {"a": 1 << 40}},
        properties=WIDENING,
    ),
    "a wider column of another name": Evolution(
        [update({"a": "s.c"})], {"c": I64}, {1: (7,)}, rows={1: {"a": 7}}, properties=WIDENING
    ),
    "a wider field": Evolution(
        [update({"p.x": "s.p.x"})],
        {"p": struct(x=I64)},
        {1: ({"x": 1 << 40},)},
        {"p": struct(x=I64, y=STR, **{"in": INNER})},
        {1: {"p": {"x": 1 << 40, "y": "p", "in": {"u": 5, "v": 6}}}},
        properties=WIDENING,
    ),
    "wider fields in lists": Evolution(
        BOTH,
        {"l": pa.list_(struct(k=I64))},
        {1: ([{"k": 1 << 40}],)},
        {"l": pa.list_(struct(k=I64, w=STR))},
        {1: {"l": [{"k": 1 << 40, "w": None}]}},
        properties=WIDENING,
    ),
    "wider fields in maps": Evolution(
        [update({"tags": "s.tags"})],
        {"tags": pa.map_(STR, struct(x=I64))},
        {1: ([("k", {"x": 1 << 40})],)},
        {"tags": pa.map_(STR, struct(x=I64))},
        {1: {"tags": [("k", {"x": 1 << 40})]}},
        properties=WIDENING,
    ),
    "a column of a constraint": Evolution(
        BOTH,
        {"a": I64},
        {1: (7,)},
        refused="DELTA_CONSTRAINT_DATA_TYPE_MISMATCH",
        properties={**WIDENING, "delta.constraints.c": "a > 0"},
    ),
}
