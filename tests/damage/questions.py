"""Questions and demands that a healthy table cannot answer."""

from __future__ import annotations

import pyarrow as pa

import deltaic

from . import broken
from .case import Case, question

QUESTIONS = [
    question("a version after the last", broken.travelled(version=2), deltaic.VersionNotFound, "0", "1"),
    question("a version past 64 bits", broken.travelled(version=2**63), ValueError, "above"),
    question("a negative version", broken.travelled(version=-1), ValueError, "below"),
    question("a far version", broken.travelled(version=2**62), deltaic.VersionNotFound, "0", "1"),
    question(
        "a time before the first commit",
        broken.travelled(timestamp="1999-01-01T00:00:00Z"),
        deltaic.VersionNotFound,
        "1999",
    ),
    question("a time without a zone", broken.travelled(timestamp="2026-01-01T00:00:00"), ValueError, "zone"),
    question("a time that is none", broken.travelled(timestamp="yesterday"), ValueError, "yesterday"),
    question("an unknown column in columns=", broken.projected("id", "nmae"), ValueError, "nmae", "name"),
    question("a column twice in columns=", broken.projected("id", "id"), ValueError, "id"),
    question(
        "an unknown column in a predicate",
        broken.selected("nmae = 'x'"),
        deltaic.InvalidPredicate,
        "nmae",
        "name",
    ),
    question(
        "an unknown nested column in a predicate",
        broken.selected("id.deep = 1"),
        deltaic.InvalidPredicate,
        "id",
    ),
    question("a predicate that breaks off", broken.selected("id >"), deltaic.InvalidPredicate, "id >"),
    question("a predicate of nonsense", broken.selected("id = = 3"), deltaic.InvalidPredicate),
    question("an open quote", broken.selected("name = 'x"), deltaic.InvalidPredicate),
    question("an empty predicate", broken.selected(" "), deltaic.InvalidPredicate),
    question("a predicate that is no truth value", broken.selected("id"), deltaic.InvalidPredicate, "id"),
    question("a text compared with a number", broken.selected("id = 'one'"), deltaic.InvalidPredicate, "one"),
    question("a date that is none", broken.selected("day = DATE '2026-02-30'"), deltaic.InvalidPredicate),
    question("several statements", broken.selected("id = 1; DROP TABLE x"), deltaic.InvalidPredicate),
    question(
        "a deep predicate", broken.selected("(" * 50_000 + "id = 1" + ")" * 50_000), deltaic.InvalidPredicate
    ),
    question("a subquery", broken.selected("id IN (SELECT 1)"), deltaic.DeltaicError),
    question(
        "files by an unknown column",
        broken.files_selected("dya IS NULL"),
        deltaic.InvalidPredicate,
        "dya",
        "day",
    ),
]

ONE_DAY = pa.array([20_000], pa.date32())
APPENDS = [
    question(
        "an extra column",
        broken.appended_rows(id=[1], name=["x"], day=ONE_DAY, more=[1]),
        deltaic.SchemaMismatch,
        "more",
    ),
    question(
        "a column of another type",
        broken.appended_rows(id=["one"], name=["x"], day=ONE_DAY),
        deltaic.SchemaMismatch,
        "id",
    ),
    question(
        "a column that would lose digits",
        broken.appended_rows(id=[1.5], name=["x"], day=ONE_DAY),
        deltaic.SchemaMismatch,
        "id",
    ),
    question(
        "a column that cannot be null is missing",
        broken.appended_rows(id=[1], day=ONE_DAY),
        deltaic.SchemaMismatch,
        "name",
    ),
    Case(
        "NULL where it is forbidden",
        broken.nothing,
        broken.appended_rows(id=[1, 2], name=["x", None], day=pa.array([1, 2], pa.date32())),
        deltaic.ConstraintViolation,
        ("name",),
    ),
    question(
        "a name in another case",
        broken.appended_rows(ID=[1], name=["x"], day=ONE_DAY, id=[2]),
        deltaic.SchemaMismatch,
        "id",
    ),
    question("no columns at all", broken.appended_rows(), deltaic.SchemaMismatch, "name"),
]
