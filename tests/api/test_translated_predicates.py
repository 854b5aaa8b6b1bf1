"""Expressions of pyarrow and polars as predicates: for every row they mean what their own library means."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import deltaic
from deltaic.substrait import read_expression
from deltaic.translate_polars import translate_polars
from deltaic.translate_pyarrow import translate_pyarrow
from tests.api.edge_values import NEAR_A_TENTH, UTC, VALUES, edge_rows, edge_table

ROWS = edge_rows()
FRAME = pl.from_arrow(ROWS)
COLUMNS = [name for name in VALUES if name not in ("a", "b.c", "l")]
# Literals besides the column's own values: of other types, other widths, and between the values.
OTHERS: dict[str, list[Any]] = {
    "tiny": [1000, 1.5],
    "i": [1.5, 2**53 - 1],
    "x": [0, 1, 2**53 + 1],
    "f": [0.1, NEAR_A_TENTH, 1, 2**24 + 1],
    "s": ["a" * 41, "ü", "\uffff", "_", "%"],
    "d": [datetime(2026, 11, 1, 12)],  # noqa: DTZ001
    "t": [datetime(2026, 11, 1, 12, tzinfo=UTC), datetime(2026, 11, 1, 14, tzinfo=timezone.utc)],
    "n": [date(2026, 11, 1)],
    "m": [0, Decimal("0.005"), Decimal("1.250"), 1.25],
    "b": [b"\xff"],
    "p": [0, 2**40],
    "flag": [],
}
PROPERTY = settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> deltaic.Snapshot:
    return edge_table(tmp_path_factory.mktemp("translated") / "table").snapshot()


@st.composite
def columns_and_literals(draw: st.DrawFn) -> tuple[str, Any]:
    name = draw(st.sampled_from(COLUMNS))
    return name, draw(st.sampled_from([value for value in VALUES[name] if value is not None] + OTHERS[name]))


COMPARE: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: b < a,
]


@st.composite
def of_pyarrow(draw: st.DrawFn) -> Any:
    """A condition that compares, looks up or asks for NULL."""
    kind = draw(st.sampled_from(["compare", "compare", "compare", "list", "null", "text", "nested", "other"]))
    name, value = draw(columns_and_literals())
    field = ds.field(name)
    if kind == "compare":
        return draw(st.sampled_from(COMPARE))(field, pa.scalar(value))
    if kind == "list":
        values = draw(st.lists(st.sampled_from(VALUES[name]), min_size=1, max_size=4))
        listed = field.isin(pa.array(values, ROWS.schema.field(name).type))
        nothing = pc.scalar(pa.scalar(None, pa.bool_()))
        return draw(st.sampled_from([listed, pc.if_else(field.is_valid(), listed, nothing)]))
    if kind == "null":
        field = draw(st.sampled_from([field, ds.field("l"), ds.field("r"), ds.field("r", "a")]))
        return draw(st.sampled_from([field.is_valid(), field.is_null(), field.is_null(nan_is_null=True)]))
    if kind == "text":
        text = draw(st.sampled_from([value for value in VALUES["s"] if value is not None]))[:2]
        ask = draw(st.sampled_from([pc.starts_with, pc.ends_with, pc.match_substring]))
        return ask(ds.field("s"), text, ignore_case=draw(st.booleans()))
    if kind == "nested":
        inner, values = draw(st.sampled_from([("a", [-1, 0, 4, 2**40]), ("b.c", ["x", "ü", "y"])]))
        return draw(st.sampled_from(COMPARE))(ds.field("r", inner), draw(st.sampled_from(values)))
    others = [
        ds.field("flag"),
        ds.field("flag") == True,  # noqa: E712 (an expression)
        pc.is_nan(ds.field("x")),
        pc.is_nan(ds.field("f")),
        ds.field("i") > ds.field("id"),
        ds.field("x") <= ds.field("x"),
        ds.field("tiny") + ds.field("id") > 100,
        pc.xor(ds.field("flag"), ds.field("x") > 0.0),
        pc.if_else(ds.field("flag"), ds.field("p") > 1, ds.field("x") > 0.0),
        pc.if_else(ds.field("s").is_null(), ds.field("flag"), ds.field("x") > 0.0),
        pc.coalesce(ds.field("flag"), False),
        ds.field("tiny").cast(pa.int64(), safe=False) > 3,
        ds.field("i").cast(pa.int8(), safe=False) > 3,
        pc.scalar(True),
        pc.scalar(False),
        ds.field("x") > pc.scalar(pa.scalar(None, pa.float64())),
    ]
    return draw(st.sampled_from(others))


@st.composite
def of_polars(draw: st.DrawFn) -> pl.Expr:
    """The same for polars."""
    kind = draw(st.sampled_from(["compare", "compare", "compare", "list", "null", "text", "nested", "other"]))
    name, value = draw(columns_and_literals())
    column = pl.col(name)
    if kind == "compare":
        compare = draw(st.sampled_from([*COMPARE, pl.Expr.eq_missing, pl.Expr.ne_missing]))
        return compare(column, value)
    if kind == "list":
        values = draw(st.lists(st.sampled_from(VALUES[name]), max_size=4))
        return column.is_in(values, nulls_equal=draw(st.booleans()))
    if kind == "null":
        column = draw(st.sampled_from([column, pl.col("l"), pl.col("r"), pl.col("r").struct.field("a")]))
        return column.is_null() if draw(st.booleans()) else column.is_not_null()
    if kind == "text":
        text = draw(st.sampled_from([value for value in VALUES["s"] if value is not None]))[:2]
        texts = pl.col("s").str
        whole = texts.contains(text, literal=True)
        return draw(st.sampled_from([texts.starts_with(text), texts.ends_with(text), whole]))
    if kind == "nested":
        inner, values = draw(st.sampled_from([("a", [-1, 0, 4, 2**40]), ("b.c", ["x", "ü", "y"])]))
        return draw(st.sampled_from(COMPARE))(pl.col("r").struct.field(inner), draw(st.sampled_from(values)))
    others = [
        pl.col("flag"),
        pl.col("flag") == True,  # noqa: E712 (an expression)
        pl.col("x").is_nan(),
        pl.col("f").is_not_nan(),
        pl.col("i") > pl.col("id"),
        pl.col("x") <= pl.col("x"),
        pl.col("i") > pl.col("x"),
        pl.col("tiny") + pl.col("id") > 100,
        pl.col("flag") ^ (pl.col("x") > 0),
        pl.when(pl.col("flag")).then(pl.col("p") > 1).otherwise(pl.col("x") > 0),
        pl.when(pl.col("s").is_null()).then(pl.col("flag")).otherwise(pl.col("x") > 0),
        pl.col("x").is_between(-1, 2, closed="left"),
        pl.col("s").str.contains("a|b"),
        pl.col("i") == pl.col("i").max(),
        pl.col("t").dt.year() > 2000,
        pl.col("f") == pl.lit(0.1, pl.Float64),
        pl.col("x") == math.inf,
        pl.lit(True),
        pl.col("x") > pl.lit(None),
    ]
    return draw(st.sampled_from(others))


def combined(conditions: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Conditions under AND, OR and NOT."""
    return st.recursive(
        conditions,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda two: two[0] & two[1]),
            st.tuples(inner, inner).map(lambda two: two[0] | two[1]),
            inner.map(lambda one: ~one),
        ),
        max_leaves=4,
    )


def ids(rows: Any) -> list[int]:
    return sorted(rows["id"].to_pylist() if isinstance(rows, pa.Table) else rows["id"].to_list())


def as_argument(snapshot: deltaic.Snapshot, expression: Any) -> list[int] | None:
    """The ids that a scan with the expression gives; None where it is refused."""
    try:
        return ids(snapshot.scan(["id"], expression).to_arrow())
    except (deltaic.UnsupportedExpression, deltaic.InvalidPredicate):
        return None


@PROPERTY
@given(expression=combined(of_pyarrow()))
def test_a_filter_of_pyarrow_gives_what_pyarrow_gives(snapshot: deltaic.Snapshot, expression: Any) -> None:
    try:
        expected = ids(ROWS.filter(expression))
    except pa.ArrowException:
        assume(False)
    dataset = snapshot.to_pyarrow_dataset()
    assert ids(dataset.to_table(["id"], filter=expression)) == expected
    assert dataset.count_rows(filter=expression) == len(expected)
    assert as_argument(snapshot, expression) in (expected, None)


@PROPERTY
@given(expression=combined(of_polars()))
def test_a_filter_of_polars_gives_what_polars_gives(snapshot: deltaic.Snapshot, expression: pl.Expr) -> None:
    try:
        expected = ids(FRAME.filter(expression))
    except pl.exceptions.PolarsError:
        assume(False)
    assert ids(snapshot.to_polars_lazy().filter(expression).select("id").collect()) == expected
    assert as_argument(snapshot, expression) in (expected, None)


@pytest.mark.parametrize(
    ("conditions", "translate"), [(of_pyarrow(), translate_pyarrow), (of_polars(), translate_polars)]
)
def test_most_conditions_are_translated(
    snapshot: deltaic.Snapshot, conditions: st.SearchStrategy[Any], translate: Callable[..., Any]
) -> None:
    """Otherwise the properties would hold of a translation that refuses everything."""
    seen: Counter[bool] = Counter()

    @PROPERTY
    @given(expression=conditions)
    def look(expression: Any) -> None:
        seen[translate(expression, snapshot.schema).understood(snapshot.scan).exact] += 1

    look()
    assert seen[True] > 2 * seen[False]
