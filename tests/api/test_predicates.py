"""`deltaic.col`: the SQL text of an expression."""

from __future__ import annotations

import math
import operator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import deltaic
from deltaic import Expression, col

A, B = col("a"), col("b")
ROME = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("expression", "sql"),
    [
        (A == 1, "`a` = 1"),
        (A != 1, "`a` != 1"),
        (A < 1, "`a` < 1"),
        (A <= 1, "`a` <= 1"),
        (A > 1, "`a` > 1"),
        (A >= 1, "`a` >= 1"),
        (operator.lt(1, A), "`a` > 1"),
        (A < B, "`a` < `b`"),
        (A.eq_null_safe(1), "`a` <=> 1"),
        (A.eq_null_safe(None), "`a` <=> NULL"),
        (A.is_null(), "`a` IS NULL"),
        (A.is_not_null(), "`a` IS NOT NULL"),
        (A.is_in([1, 2]), "`a` IN (1, 2)"),
        (A.is_in([1, None]), "`a` IN (1, NULL)"),
        (A.is_in({3}), "`a` IN (3)"),
        (A.is_in([]), "FALSE"),
        (A.between(1, 2), "`a` BETWEEN 1 AND 2"),
        (A.starts_with("x%"), "startswith(`a`, 'x%')"),
        (A.ends_with("_x"), "endswith(`a`, '_x')"),
        (A.contains("it's"), "contains(`a`, 'it''s')"),
        (A.like("x%"), "`a` LIKE 'x%'"),
        (A.like("10\\%"), r"`a` LIKE '10\\%'"),
        (A.like("10!%", escape="!"), "`a` LIKE '10!%' ESCAPE '!'"),
        (A.like("x", escape="'"), "`a` LIKE 'x' ESCAPE ''''"),
        (A.is_nan(), "isnan(`a`)"),
        (~A, "NOT `a`"),
        (A & B, "`a` AND `b`"),
        (A | (B == 2), "`a` OR (`b` = 2)"),
        (~(A == 1), "NOT (`a` = 1)"),
        ((A == 1) & (B == 2) | A.is_null(), "((`a` = 1) AND (`b` = 2)) OR (`a` IS NULL)"),
        (A & B & (A == 1), "`a` AND `b` AND (`a` = 1)"),
        ((A | B) & (A | (B | A)), "(`a` OR `b`) AND (`a` OR `b` OR `a`)"),
        (~(A & B) & A, "(NOT (`a` AND `b`)) AND `a`"),
        ((A == 1) & True, "(`a` = 1) AND (TRUE)"),
        (False | (A == 1), "(FALSE) OR (`a` = 1)"),
    ],
    ids=str,
)
def test_an_expression_is_its_sql(expression: Expression, sql: str) -> None:
    assert str(expression) == expression.sql == sql
    assert repr(expression) == f"<deltaic.Expression {sql}>"


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (True, "TRUE"),
        (np.True_, "TRUE"),
        (-7, "-7"),
        (np.int64(7), "7"),
        (9.5, "9.5D"),
        (1e300, "1e+300D"),
        (-0.0, "-0.0D"),
        (np.float32(1.5), "1.5D"),
        (math.nan, "CAST('NaN' AS DOUBLE)"),
        (math.inf, "CAST('Infinity' AS DOUBLE)"),
        (-math.inf, "CAST('-Infinity' AS DOUBLE)"),
        (Decimal("9.50"), "9.50BD"),
        (Decimal("-1E+3"), "-1000BD"),
        (Decimal("1E-5"), "0.00001BD"),
        ("x", "'x'"),
        ("it's", "'it''s'"),
        ("a\\b", r"'a\\b'"),
        (np.str_("x"), "'x'"),
        (b"\x00\xff", "X'00FF'"),
        (date(2026, 11, 1), "DATE '2026-11-01'"),
        (date(1, 1, 1), "DATE '0001-01-01'"),
        (datetime(2026, 11, 1, 12, tzinfo=timezone.utc), "TIMESTAMP '2026-11-01 12:00:00Z'"),
        (datetime(2026, 11, 1, 1, 0, 0, 5, tzinfo=ROME), "TIMESTAMP '2026-10-31 23:00:00.000005Z'"),
        (datetime(2026, 11, 1, 12), "TIMESTAMP_NTZ '2026-11-01 12:00:00'"),  # noqa: DTZ001
        (pd.Timestamp("2026-11-01T12:00:00Z"), "TIMESTAMP '2026-11-01 12:00:00Z'"),
    ],
    ids=repr,
)
def test_a_value_is_a_literal_of_its_type(value: object, sql: str) -> None:
    assert str(operator.eq(A, value)) == f"`a` = {sql}"
    assert str(operator.lt(value, A)) == f"`a` > {sql}"


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("a", "`a`"),
        ("a.b.c", "`a`.`b`.`c`"),
        ("`a.b`", "`a.b`"),
        ("`a.b`.c", "`a.b`.`c`"),
        ("a b", "`a b`"),
        ("größe", "`größe`"),
        ("`a``b`", "`a``b`"),
    ],
)
def test_a_name_is_quoted(name: str, sql: str) -> None:
    assert str(col(name)) == sql
    assert str(col(name) == 1) == f"{sql} = 1"


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "`a", "a`b", "``", "`a`b"])
def test_invalid_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="column name"):
        col(name)


@pytest.mark.parametrize(
    "value",
    [
        [1],
        {},
        object(),
        UUID(int=1),
        timedelta(1),
        Fraction(1, 2),
        1j,
        np.datetime64("2026-11-01"),
        np.array([True]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_invalid_values_raise_type_errors(value: object) -> None:
    with pytest.raises(TypeError, match="cannot be used in a predicate"):
        operator.eq(A, value)


@pytest.mark.parametrize(
    "value",
    [Decimal("NaN"), Decimal("Infinity"), Decimal("1" * 39), pd.Timestamp(1, unit="ns", tz="UTC")],
    ids=str,
)
def test_a_value_that_sql_cannot_hold_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match=r"digits|number|microsecond"):
        operator.eq(A, value)


def test_an_escape_is_one_character() -> None:
    for escape in ("", "ab"):
        with pytest.raises(ValueError, match="one character"):
            A.like("x", escape=escape)
    with pytest.raises(TypeError, match="a text is expected"):
        A.like(5)  # type: ignore[arg-type]


def test_none_states_what_to_write_instead() -> None:
    with pytest.raises(TypeError, match=r"is_null\(\)"):
        operator.eq(A, None)
    with pytest.raises(TypeError, match=r"is_not_null\(\)"):
        operator.ne(A, None)


def test_and_or_not_state_what_to_write_instead() -> None:
    for wrong in (
        lambda: (A == 1) and (B == 2),
        lambda: (A == 1) or (B == 2),
        lambda: not A,
        lambda: 1 < A < 3,
        lambda: bool(A == 1),
    ):
        with pytest.raises(TypeError, match=r"& \| ~"):
            wrong()


def test_missing_parentheses_are_noticed() -> None:
    with pytest.raises(TypeError):
        (A == 1) & 5  # type: ignore[operator]
    with pytest.raises(TypeError, match="parentheses"):
        (A == 1) | "b"  # type: ignore[operator]


def test_it_cannot_be_hashed_or_iterated() -> None:
    with pytest.raises(TypeError):
        hash(A)
    with pytest.raises(TypeError, match="not a sequence"):
        list(A)
    with pytest.raises(TypeError, match="is_in"):
        A.is_in("abc")


def test_a_scan_refuses_invalid_conditions(numbers: deltaic.Table) -> None:
    with pytest.raises(TypeError, match="SQL text"):
        numbers.snapshot().scan(predicate=True)  # type: ignore[arg-type]
