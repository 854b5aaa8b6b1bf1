"""Predicates on rows: the results of a scan compared with a plain evaluation in Python.

The plain evaluation has SQL's three-valued logic (None for NULL) and Spark's order of floating-point numbers:
NaN equals itself and is greater than all other values, and -0.0 equals 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltaic
from deltaic import Expression, col
from tests.protocol.handmade_log import HandmadeTable, field, metadata, protocol, schema

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("p", pa.int32()),
        ("i", pa.int64()),
        ("x", pa.float64()),
        ("f", pa.float32()),
        ("s", pa.string()),
        ("b", pa.binary()),
        ("d", pa.date32()),
        ("t", pa.timestamp("us", "UTC")),
        ("n", pa.timestamp("us")),
        ("m", pa.decimal128(10, 2)),
        ("flag", pa.bool_()),
        ("r", pa.struct([("a", pa.int32()), ("b.c", pa.string())])),
    ]
)
UTC = timezone.utc
# 0.1 as a float differs from 0.1 as a double: detects comparisons in the wrong precision.
NEAR_A_TENTH: float = pa.scalar(0.1, pa.float32()).as_py()
VALUES: dict[str, list[Any]] = {
    "p": [None, 1, 2, 3],
    "i": [None, -5, 0, 7, 2**53 + 1, -(2**63), 2**63 - 1],
    "x": [None, math.nan, -math.inf, math.inf, -0.0, 0.0, 1.5, -2.25, 5e-324],
    "f": [None, math.nan, -math.inf, -0.0, NEAR_A_TENTH, 1.5],
    "s": [
        None,
        "",
        "a",
        "ab",
        "a%",
        "b_c",
        "it's",
        "a\\b",
        "Straße",
        "x" * 32 + "y",
        "x" * 32 + "z",
        "\U0010ffff",
    ],
    "b": [None, b"", b"\x00", b"\xff\x00"],
    "d": [None, date(1, 1, 1), date(1969, 12, 31), date(2026, 11, 1)],
    "t": [
        None,
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 11, 1, 12, 0, 0, 999_999, tzinfo=UTC),
        datetime(2026, 11, 1, 12, 0, 1, tzinfo=UTC),
    ],
    "n": [None, datetime(1960, 1, 1, 0, 0, 0, 1), datetime(2026, 11, 1, 12, 0, 0, 999_999)],  # noqa: DTZ001
    "m": [None, Decimal("-0.01"), Decimal("0.00"), Decimal("99999999.99")],
    "flag": [None, True, False],
    "a": [None, -1, 4],
    "b.c": [None, "x", "y"],
}


def made_rows() -> list[dict[str, Any]]:
    """Rows that combine the values of the columns in varying ways; some structs are NULL."""
    rows: list[dict[str, Any]] = []
    for number in range(120):
        row: dict[str, Any] = {
            name: values[(number * (2 * place + 1) + number // len(values)) % len(values)]
            for place, (name, values) in enumerate(VALUES.items())
        }
        inner = {"a": row.pop("a"), "b.c": row.pop("b.c")}
        rows.append({"id": number, **row, "r": inner if number % 5 else None})
    return rows


ROWS = made_rows()


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> deltaic.Snapshot:
    """The rows in three commits, partitioned by p: files with narrow and with wide statistics."""
    table = deltaic.Table.create(tmp_path_factory.mktemp("answers") / "table", SCHEMA, partition_by=["p"])
    ordered = sorted(ROWS, key=lambda row: (row["i"] is not None, row["i"]))
    for start in range(0, len(ordered), 40):
        table.append(pa.Table.from_pylist(ordered[start : start + 40], schema=SCHEMA))
    return table.snapshot()


Truth = bool | None


@dataclass(frozen=True)
class Condition:
    """A predicate and its plain evaluation."""

    expression: Expression
    holds: Callable[[dict[str, Any]], Truth]

    def __repr__(self) -> str:
        return str(self.expression)


def value_of(row: dict[str, Any], name: str) -> Any:
    if not name.startswith("r."):
        return row[name]
    return None if row["r"] is None else row["r"][name.removeprefix("r.").strip("`")]


def order(value: Any) -> Any:
    """Returns a sort key in Spark's order."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value + 0.0)
    return value.encode() if isinstance(value, str) else value


COMPARISONS: dict[str, tuple[Callable[[Expression, Any], Expression], Callable[[Any, Any], bool]]] = {
    "=": (lambda a, b: a == b, lambda a, b: a == b),
    "!=": (lambda a, b: a != b, lambda a, b: a != b),
    "<": (lambda a, b: a < b, lambda a, b: a < b),
    "<=": (lambda a, b: a <= b, lambda a, b: a <= b),
    ">": (lambda a, b: a > b, lambda a, b: a > b),
    ">=": (lambda a, b: a >= b, lambda a, b: a >= b),
}


def compare(name: str, operator: str, literal: Any) -> Condition:
    build, test = COMPARISONS[operator]

    def holds(row: dict[str, Any]) -> Truth:
        value = value_of(row, name)
        return None if value is None else test(order(value), order(literal))

    return Condition(build(col(name), literal), holds)


def null_safe(name: str, literal: Any) -> Condition:
    def holds(row: dict[str, Any]) -> Truth:
        value = value_of(row, name)
        return value is literal if value is None or literal is None else order(value) == order(literal)

    return Condition(col(name).eq_null_safe(literal), holds)


def is_in(name: str, literals: list[Any]) -> Condition:
    def holds(row: dict[str, Any]) -> Truth:
        value = value_of(row, name)
        if not literals:
            return False
        if value is None:
            return None
        found = any(literal is not None and order(value) == order(literal) for literal in literals)
        return True if found else None if None in literals else False

    return Condition(col(name).is_in(literals), holds)


def is_null(name: str) -> Condition:
    return Condition(col(name).is_null(), lambda row: value_of(row, name) is None)


def is_not_null(name: str) -> Condition:
    return Condition(col(name).is_not_null(), lambda row: value_of(row, name) is not None)


def between(name: str, low: Any, high: Any) -> Condition:
    both = conjunction(compare(name, ">=", low), compare(name, "<=", high))
    return Condition(col(name).between(low, high), both.holds)


def starts_with(name: str, prefix: str) -> Condition:
    def holds(row: dict[str, Any]) -> Truth:
        value = value_of(row, name)
        return None if value is None else value.startswith(prefix)

    return Condition(col(name).starts_with(prefix), holds)


def negation(inner: Condition) -> Condition:
    def holds(row: dict[str, Any]) -> Truth:
        truth = inner.holds(row)
        return None if truth is None else not truth

    return Condition(~inner.expression, holds)


def conjunction(left: Condition, right: Condition) -> Condition:
    def holds(row: dict[str, Any]) -> Truth:
        truths = (left.holds(row), right.holds(row))
        return False if False in truths else None if None in truths else True

    return Condition(left.expression & right.expression, holds)


def disjunction(left: Condition, right: Condition) -> Condition:
    def holds(row: dict[str, Any]) -> Truth:
        truths = (left.holds(row), right.holds(row))
        return True if True in truths else None if None in truths else False

    return Condition(left.expression | right.expression, holds)


COLUMNS = {**{name: VALUES[name] for name in SCHEMA.names if name in VALUES}, "r.a": VALUES["a"]}
COLUMNS["r.`b.c`"] = VALUES["b.c"]


@st.composite
def leaves(draw: st.DrawFn) -> Condition:
    name = draw(st.sampled_from(sorted(COLUMNS)))
    value = st.sampled_from([value for value in COLUMNS[name] if value is not None])
    kind = draw(st.sampled_from(["compare", "null safe", "in", "null", "not null", "between", "starts"]))
    match kind:
        case "null safe":
            return null_safe(name, draw(st.none() | value))
        case "in":
            return is_in(name, draw(st.lists(st.none() | value, max_size=3)))
        case "null":
            return is_null(name)
        case "not null":
            return is_not_null(name)
        case "between":
            return between(name, draw(value), draw(value))
        case "starts" if name == "s":
            return starts_with(name, draw(value)[: draw(st.integers(0, 33))])
        case _:
            return compare(name, draw(st.sampled_from(sorted(COMPARISONS))), draw(value))


def branches(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    return st.one_of(
        st.builds(negation, inner), st.builds(conjunction, inner, inner), st.builds(disjunction, inner, inner)
    )


def answers(snapshot: deltaic.Snapshot, predicate: str | Expression) -> list[int]:
    return sorted(snapshot.scan(["id"], predicate).to_arrow()["id"].to_pylist())


@settings(max_examples=150)
@given(condition=st.recursive(leaves(), branches, max_leaves=5))
def test_a_scan_answers_like_plain_evaluation(snapshot: deltaic.Snapshot, condition: Condition) -> None:
    expected = [row["id"] for row in ROWS if condition.holds(row) is True]
    scan = snapshot.scan(["id"], condition.expression)
    assert sorted(scan.to_arrow()["id"].to_pylist()) == expected, str(condition)
    assert scan.count() == len(expected)


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_every_comparison_with_every_value(snapshot: deltaic.Snapshot, name: str) -> None:
    """Each operator is also negated, with one of the values."""
    literals = [literal for literal in COLUMNS[name] if literal is not None]
    conditions = [compare(name, operator, literal) for literal in literals for operator in COMPARISONS]
    conditions += [
        negation(compare(name, operator, literal))
        for operator, literal in zip(COMPARISONS, cycle(literals), strict=False)
    ]
    for condition in conditions:
        expected = [row["id"] for row in ROWS if condition.holds(row) is True]
        assert answers(snapshot, condition.expression) == expected, str(condition)


@pytest.mark.parametrize(
    ("sql", "condition"),
    [
        ("i > 6", compare("i", ">", 6)),
        ("I > 6", compare("i", ">", 6)),
        ("`i` >= 7L", compare("i", ">=", 7)),
        ("6 < i", compare("i", ">", 6)),
        ("x > 1.0", compare("x", ">", 1.0)),
        ("x = 1.5", compare("x", "=", 1.5)),
        ("x > 1", compare("x", ">", 1.0)),
        ("i = 7.0", compare("i", "=", 7)),
        ("i > 6.5", compare("i", ">", 6)),
        ("m > 0", compare("m", ">", Decimal(0))),
        ("m = -0.010", compare("m", "=", Decimal("-0.01"))),
        ("m > 0.005", compare("m", ">", Decimal(0))),
        ("d = '2026-11-01'", compare("d", "=", date(2026, 11, 1))),
        ("d >= DATE '1969-12-31'", compare("d", ">=", date(1969, 12, 31))),
        ("t = '2026-11-01T12:00:01Z'", compare("t", "=", datetime(2026, 11, 1, 12, 0, 1, tzinfo=UTC))),
        (
            "t = TIMESTAMP '2026-11-01 12:00:01'",
            compare("t", "=", datetime(2026, 11, 1, 12, 0, 1, tzinfo=UTC)),
        ),
        (
            "t = TIMESTAMP '2026-11-01 14:00:01+02:00'",
            compare("t", "=", datetime(2026, 11, 1, 12, 0, 1, tzinfo=UTC)),
        ),
        ("p = '2'", compare("p", "=", 2)),
        ("flag", compare("flag", "=", True)),
        ("NOT flag", compare("flag", "=", False)),
        ("flag = false", compare("flag", "=", False)),
        ("s = 'it''s'", compare("s", "=", "it's")),
        ('s = "it\'s"', compare("s", "=", "it's")),
        ("s NOT IN ('a', 'ab')", negation(is_in("s", ["a", "ab"]))),
        ("s NOT IN ('a', NULL)", negation(is_in("s", ["a", None]))),
        ("i NOT BETWEEN 0 AND 7", negation(between("i", 0, 7))),
        ("r.a = 4", compare("r.a", "=", 4)),
        ("r.`b.c` = 'y'", compare("r.`b.c`", "=", "y")),
        ("r.a IS NULL", is_null("r.a")),
        ("b = X'FF00'", compare("b", "=", b"\xff\x00")),
        ("i = NULL", Condition(col("i"), lambda _: None)),
        ("NOT (i = NULL)", Condition(col("i"), lambda _: None)),
        ("i = 7 OR NULL", compare("i", "=", 7)),
        ("f = 0.1F", compare("f", "=", NEAR_A_TENTH)),
        ("f = 0.1D", compare("f", "=", 0.1)),
        ("f > 0.1D", compare("f", ">", 0.1)),
        ("f <= 0.1D", compare("f", "<=", 0.1)),
        ("i = 1 AND i = 7 OR d IS NULL", is_null("d")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_sql_text_answers_like_plain_evaluation(
    snapshot: deltaic.Snapshot, sql: str, condition: Condition
) -> None:
    assert answers(snapshot, sql) == [row["id"] for row in ROWS if condition.holds(row) is True]


def test_two_columns_can_be_compared(tmp_path: Path) -> None:
    data = pa.table({"id": [1, 2, 3, 4], "a": [1, 5, None, 7], "b": [2, 5, 1, 6]})
    table = deltaic.Table.create(tmp_path / "table", data.schema)
    table.append(data)
    assert answers(table.snapshot(), "a < b") == [1]
    assert answers(table.snapshot(), col("a") >= col("b")) == [2, 4]
    assert answers(table.snapshot(), col("a").eq_null_safe(col("b"))) == [2]


def test_names_with_dots_and_blanks_are_quoted(tmp_path: Path) -> None:
    data = pa.table({"id": [1, 2], "a.b": [1, 2], "two words": ["x", "y"], "tick`": [3, 4]})
    # New tables cannot use such names, but tables of other writers may.
    columns = [field(name, "string" if name == "two words" else "long") for name in data.column_names]
    HandmadeTable(tmp_path / "table").commit(protocol(), metadata(schema(*columns)))
    table = deltaic.Table(tmp_path / "table")
    table.append(data)
    assert answers(table.snapshot(), "`a.b` = 2") == [2]
    assert answers(table.snapshot(), col("`a.b`") == 1) == [1]
    assert answers(table.snapshot(), col("two words") == "y") == [2]
    assert answers(table.snapshot(), col("`tick```") == 3) == [1]
    with pytest.raises(deltaic.InvalidPredicate, match="a"):
        answers(table.snapshot(), "a.b = 2")


@pytest.mark.parametrize(
    ("sql", "error", "says"),
    [
        ("", deltaic.InvalidPredicate, ""),
        ("i >", deltaic.InvalidPredicate, "i >"),
        ("i > 1 s", deltaic.InvalidPredicate, "s"),
        ("i = 'x", deltaic.InvalidPredicate, "'x"),
        ("idd > 1", deltaic.InvalidPredicate, "id"),
        ("r.c = 1", deltaic.InvalidPredicate, "c"),
        ("i.a = 1", deltaic.InvalidPredicate, "i"),
        ("s ILIKE '%x'", deltaic.UnsupportedExpression, "ILIKE"),
        ("s LIKE 'x/' ESCAPE '/'", deltaic.InvalidPredicate, "line 1, column 8"),
        ("i > 1 AND\n  nope = 2", deltaic.InvalidPredicate, "line 2, column 3"),
        ("i = 1 / 0", deltaic.InvalidPredicate, "line 1, column 5"),
        ("frobnicate(s) = 'X'", deltaic.UnsupportedExpression, "frobnicate"),
        ("i + s = DATE '2026-01-01'", deltaic.InvalidPredicate, ""),
        ("i & 1 = 2", deltaic.UnsupportedExpression, "&"),
        ("i IN (SELECT 1)", deltaic.UnsupportedExpression, "SELECT"),
    ],
)
def test_syntax_errors_point_at_their_position(
    snapshot: deltaic.Snapshot, sql: str, error: type[deltaic.DeltaicError], says: str
) -> None:
    with pytest.raises(error) as caught:
        snapshot.scan(predicate=sql)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "sql", ["i", "s", "i AND flag", "NOT s", "r = 1", "flag > DATE '2026-01-01'", "d = 'x'"]
)
def test_types_that_do_not_fit_are_an_error(snapshot: deltaic.Snapshot, sql: str) -> None:
    with pytest.raises((deltaic.InvalidPredicate, deltaic.UnsupportedExpression)):
        snapshot.scan(predicate=sql).to_arrow()
