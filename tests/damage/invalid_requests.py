"""Invalid requests to a healthy table."""

from __future__ import annotations

import pyarrow as pa

import deltaic

from . import broken
from .case import TABLE, Case, request

KEPT: dict[str, object] = {"oldest": 0, "newest": 1, "table": TABLE}
DEEP = "(" * 50_000 + "id = 1" + ")" * 50_000

REQUESTS = [
    request(
        "a version after the last", broken.travelled(version=2), deltaic.VersionNotFound, version=2, **KEPT
    ),
    request("a version past 64 bits", broken.travelled(version=2**63), ValueError, "the highest version"),
    request("a negative version", broken.travelled(version=-1), ValueError, "start at 0"),
    request("a far version", broken.travelled(version=2**62), deltaic.VersionNotFound, version=2**62, **KEPT),
    request(
        "a time before the first commit",
        broken.travelled(timestamp="1999-01-01T00:00:00Z"),
        deltaic.VersionNotFound,
        "1999",
        timestamp_ms=915_148_800_000,
        **KEPT,
    ),
    request("a time without a zone", broken.travelled(timestamp="2026-01-01T00:00:00"), ValueError, "zone"),
    request("a time that is none", broken.travelled(timestamp="yesterday"), ValueError, "yesterday"),
    request("an unknown column in columns=", broken.projected("id", "nmae"), ValueError, "nmae", "name"),
    request("a column twice in columns=", broken.projected("id", "id"), ValueError, "id"),
    request(
        "an unknown column in a predicate",
        broken.selected("nmae = 'x'"),
        deltaic.InvalidPredicate,
        "nmae",
        "name",
        field="nmae",
    ),
    request(
        "an unknown nested column in a predicate",
        broken.selected("id.deep = 1"),
        deltaic.InvalidPredicate,
        "id",
        field="id.deep",
    ),
    request(
        "a predicate that breaks off", broken.selected("id >"), deltaic.InvalidPredicate, predicate="id >"
    ),
    request(
        "a predicate of nonsense", broken.selected("id = = 3"), deltaic.InvalidPredicate, predicate="id = = 3"
    ),
    request("an open quote", broken.selected("name = 'x"), deltaic.InvalidPredicate, predicate="name = 'x"),
    request("an empty predicate", broken.selected(" "), deltaic.InvalidPredicate, predicate=" "),
    request(
        "a predicate that is not a truth value", broken.selected("id"), deltaic.InvalidPredicate, field="id"
    ),
    request(
        "a text compared with a number",
        broken.selected("id = 'one'"),
        deltaic.InvalidPredicate,
        "one",
        field="id",
    ),
    request(
        "a date that is none",
        broken.selected("day = DATE '2026-02-30'"),
        deltaic.InvalidPredicate,
        predicate="day = DATE '2026-02-30'",
        line=1,
        column=7,
    ),
    request(
        "several statements",
        broken.selected("id = 1; DROP TABLE x"),
        deltaic.InvalidPredicate,
        predicate="id = 1; DROP TABLE x",
    ),
    request("a deep predicate", broken.selected(DEEP), deltaic.InvalidPredicate, predicate=DEEP[:200] + " …"),
    request(
        "a subquery",
        broken.selected("id IN (SELECT 1)"),
        deltaic.UnsupportedExpression,
        predicate="id IN (SELECT 1)",
        line=1,
        column=8,
    ),
    request(
        "files by an unknown column",
        broken.files_selected("dya IS NULL"),
        deltaic.InvalidPredicate,
        "dya",
        "day",
        field="dya",
    ),
]


def rows_case(name: str, meet: broken.Meeting, field: str) -> Case:
    """Rows that do not match the schema; the error names the column."""
    return request(name, meet, deltaic.SchemaMismatch, field=field, table=TABLE, version=1)


ONE_DAY = pa.array([20_000], pa.date32())
APPENDS = [
    rows_case(
        "an extra column",
        broken.appended_rows(id=[1], name=["x"], day=ONE_DAY, more=[1]),
        "more",
    ),
    rows_case(
        "a column of another type",
        broken.appended_rows(id=["one"], name=["x"], day=ONE_DAY),
        "id",
    ),
    rows_case(
        "a column that would lose digits",
        broken.appended_rows(id=[1.5], name=["x"], day=ONE_DAY),
        "id",
    ),
    rows_case(
        "a column that cannot be null is missing",
        broken.appended_rows(id=[1], day=ONE_DAY),
        "name",
    ),
    Case(
        "NULL where it is forbidden",
        broken.nothing,
        broken.appended_rows(id=[1, 2], name=["x", None], day=pa.array([1, 2], pa.date32())),
        deltaic.ConstraintViolation,
        ("name",),
        {"field": "name"},
    ),
    rows_case(
        "a name in another case",
        broken.appended_rows(ID=[1], name=["x"], day=ONE_DAY, id=[2]),
        "id",
    ),
    rows_case("no columns at all", broken.appended_rows(), "name"),
]
