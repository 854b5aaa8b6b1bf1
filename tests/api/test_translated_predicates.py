"""Translated pyarrow and polars expressions give the same result for every row as in their own library."""

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
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import deltaic
from deltaic.engines.from_polars import translate_polars
from deltaic.engines.from_pyarrow import translate_pyarrow
from deltaic.engines.substrait import read_expression
from tests.api.edge_values import NEAR_A_TENTH, UTC, VALUES, edge_rows, edge_table
from tests.protocol.handmade_log import HandmadeTable, field, metadata, protocol, schema

ROWS = edge_rows()
FRAME = pl.from_arrow(ROWS)
NAN = math.nan
COLUMNS = [name for name in VALUES if name not in ("a", "b.c", "l")]
# Further literals: other types, other widths, and values between those of the column.
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
PROPERTY = settings(max_examples=80)


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
    """A comparison, membership test or NULL test."""
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
        ask = draw(st.sampled_from([pc.starts_with, pc.ends_with, pc.match_substring, pc.match_like]))
        if ask is pc.match_like:
            text = draw(st.sampled_from([text, f"{text}%", f"%{text}", f"%{text}%", f"{text}_%"]))
        return ask(ds.field("s"), text, ignore_case=draw(st.sampled_from([False, False, False, True])))
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
    """Conditions combined with AND, OR and NOT."""
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
    """Returns the ids that a scan with the expression returns, None if it is refused."""
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


def of_which_none_is_null(name: str, values: list[Any]) -> Any:
    """Returns the expression that DuckDB generates for IN."""
    field, null = ds.field(name), pc.scalar(pa.scalar(None, pa.bool_()))
    return pc.if_else(field.is_valid(), field.isin(pa.array(values, ROWS.schema.field(name).type)), null)


@pytest.mark.parametrize(
    "expression",
    [
        *(
            compare(ds.field(name), value)
            for name in ("x", "f")
            for value in (0.5, NAN)
            for compare in COMPARE
        ),
        *(compare(ds.field(name), math.inf) for name in ("x", "f") for compare in COMPARE),
        of_which_none_is_null("p", [None]),
        of_which_none_is_null("p", [1, None]),
        ds.field("p").isin([2]),
        ds.field("tiny").isin(pa.array([1], pa.int8())),
        ds.field("x").isin([0.0]),
        ds.field("x").isin([-0.0, NAN]),
        ds.field("x").isin([1.5]),
        ds.field("f").isin(pa.array([1.5], pa.float32())),
        # Unlike SQL, NULL if either operand is NULL.
        pc.Expression._call("and", [ds.field("flag"), ds.field("id") < 0]),
        pc.Expression._call("or", [ds.field("flag"), ds.field("id") >= 0]),
        pc.and_not(ds.field("id") >= 0, ds.field("flag")),
        pc.match_like(ds.field("s"), "a_"),
        pc.starts_with(ds.field("s"), "A", ignore_case=True),
    ],
    ids=str,
)
def test_rules_of_pyarrow(snapshot: deltaic.Snapshot, expression: Any) -> None:
    dataset = snapshot.to_pyarrow_dataset()
    for asked in (expression, ~expression):
        expected = ids(ROWS.filter(asked))
        assert ids(dataset.to_table(["id"], filter=asked)) == expected
        assert as_argument(snapshot, asked) in (expected, None)


@pytest.mark.parametrize(
    "expression",
    [
        *(compare(pl.col(name), value) for name in ("x", "f") for value in (0.5, 0.1) for compare in COMPARE),
        *(compare(pl.col("f"), 2**24 + 1) for compare in COMPARE),
        *(compare(pl.col("x"), 2**53 + 1) for compare in COMPARE),
        pl.col("x").is_in([NAN, 0.0]),
        pl.col("f").is_in([0.1, 1.5]),
        pl.col("p").is_in([1, None]),
        pl.col("p").is_in([1, None], nulls_equal=True),
        pl.col("p").is_in([1], nulls_equal=True),
        pl.col("p").is_in([]),
        pl.col("flag").eq_missing(None),
        pl.col("i").ne_missing(7),
    ],
    ids=str,
)
def test_rules_of_polars(snapshot: deltaic.Snapshot, expression: pl.Expr) -> None:
    for asked in (expression, ~expression):
        expected = ids(FRAME.filter(asked))
        assert ids(snapshot.to_polars_lazy().filter(asked).select("id").collect()) == expected
        assert as_argument(snapshot, asked) in (expected, None)


@pytest.mark.parametrize(
    ("conditions", "translate"), [(of_pyarrow(), translate_pyarrow), (of_polars(), translate_polars)]
)
def test_most_conditions_are_translated(
    snapshot: deltaic.Snapshot, conditions: st.SearchStrategy[Any], translate: Callable[..., Any]
) -> None:
    """Otherwise the property tests would pass with a translation that refuses everything."""
    seen: Counter[bool] = Counter()

    @PROPERTY
    @given(expression=conditions)
    def look(expression: Any) -> None:
        seen[translate(expression, snapshot.schema).understood(snapshot.scan).exact] += 1

    look()
    assert seen[True] > 2 * seen[False]


@pytest.mark.parametrize(
    ("expression", "sql"),
    [
        (ds.field("i") >= 5, "`i` >= 5"),
        (pc.less(pc.scalar(5), ds.field("i")), "`i` > 5"),
        (ds.field("tiny") > 1000, "`tiny` > 1000"),
        (ds.field("x") > 1.5, "(`x` > 1.5D) AND (`x` <= CAST('Infinity' AS DOUBLE))"),
        (ds.field("x") < NAN, "(`x` IS NULL) AND (NULL)"),
        (ds.field("x") != NAN, "(`x` IS NOT NULL) OR (NULL)"),
        (ds.field("x").isin([1.5]), "(`x` IN (1.5D)) AND (`x` IS NOT NULL)"),
        (ds.field("r", "b.c") == "ü", "`r`.`b.c` = 'ü'"),
        (ds.field("m") <= Decimal("1.25"), "`m` <= 1.25BD"),
        (ds.field("b") == b"\xff", "`b` = X'FF'"),
        (ds.field("d") == date(2026, 11, 1), "`d` = DATE '2026-11-01'"),
        (ds.field("t") < datetime(2026, 11, 1, tzinfo=UTC), "`t` < TIMESTAMP '2026-11-01 00:00:00Z'"),
        (ds.field("n") < datetime(2026, 11, 1), "`n` < TIMESTAMP_NTZ '2026-11-01 00:00:00'"),  # noqa: DTZ001
        (pl.col("x") > 1.5, "`x` > 1.5D"),
        (pl.col("f") > 0.1, f"`f` > {NEAR_A_TENTH!r}D"),
        (pl.col("i").is_in([1, None], nulls_equal=True), "(`i` IN (1)) OR (`i` IS NULL)"),
        (pc.starts_with(ds.field("s"), "ü%'"), "startswith(`s`, 'ü%''')"),
        (pc.match_like(ds.field("s"), "10 %"), "startswith(`s`, '10 ')"),
        (pc.match_like(ds.field("r", "b.c"), "ü"), "`r`.`b.c` = 'ü'"),
        (ds.field("x").is_null(nan_is_null=True), "(`x` IS NULL) OR (`x` = CAST('NaN' AS DOUBLE))"),
        (pl.col("s").ne_missing("a"), "NOT (`s` <=> 'a')"),
    ],
)
def test_the_sql_of_a_translation(snapshot: deltaic.Snapshot, expression: Any, sql: str) -> None:
    """The libraries differ on NaN: pyarrow compares it as unordered, polars as the greatest value."""
    translate: Callable[..., Any] = translate_polars if isinstance(expression, pl.Expr) else translate_pyarrow
    translation = translate(expression, snapshot.schema)
    assert (translation.sql, translation.rest) == (sql, [])


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ((ds.field("i") > 1) & (pc.utf8_length(ds.field("s")) > 3), "utf8_length"),
        (pc.starts_with(ds.field("s"), "a", ignore_case=True), "case of letters"),
        (ds.field("x").isin([0.0]), "is_in with 0.0 of `x`"),
        (ds.field("x") <= ds.field("x"), "a comparison of `x` and `x`"),
        (pc.match_like(ds.field("s"), "a_c%"), "a_c%"),
        (pc.starts_with(ds.field("b"), b"a"), "a column of type binary"),
        (pl.col("i").is_in([]), "an empty list"),
        (ds.field("zz") > 1, "zz"),
        ((pl.col("i") > 1) & (pl.col("t").dt.year() > 2000), "TemporalExpr"),
        (pl.col("i") > 1.5, "DynFloat"),
        (pl.col("x") > NAN, "DynFloat"),
        (pl.col("i") == pl.col("i").max(), "Agg"),
        (pl.col("zz") > 1, "zz"),
    ],
)
def test_untranslated_conditions_are_named(snapshot: deltaic.Snapshot, expression: Any, part: str) -> None:
    with pytest.raises(deltaic.UnsupportedExpression, match=part) as caught:
        snapshot.scan(predicate=expression)
    assert caught.value.hint is not None
    with pytest.raises(deltaic.UnsupportedExpression):
        snapshot.files(expression)


def test_files_take_them_too(snapshot: deltaic.Snapshot) -> None:
    expected = sorted(snapshot.files("p = 1").to_arrow()["path"].to_pylist())
    assert 0 < len(expected) < snapshot.num_files
    for expression in (ds.field("p") == 1, pl.col("p") == 1):
        assert sorted(snapshot.files(expression).to_arrow()["path"].to_pylist()) == expected


def test_another_object_is_not_a_predicate(snapshot: deltaic.Snapshot) -> None:
    for wrong in (5, ["p = 1"], pl.Series([True]), pa.scalar(True)):
        with pytest.raises(TypeError, match="a predicate must be SQL text, an expression of"):
            snapshot.scan(predicate=wrong)  # type: ignore[arg-type]


def test_long_chains_and_deep_ones(snapshot: deltaic.Snapshot) -> None:
    """Long and deep expressions may be pushed down or not: the rows are the same, and nothing crashes."""
    for library, count in ((ds.field, 300), (pl.col, 300)):
        chain: Any = library("id") >= 0
        either: Any = library("id") == 0
        for number in range(count):
            chain = chain & (library("id") != number)
            either = either | (library("id") == number)
        source: Any = snapshot.to_pyarrow_dataset() if library is ds.field else snapshot.to_polars_lazy()
        for expression, expected in ((chain, 0), (either, ROWS.num_rows), (either & ~chain, ROWS.num_rows)):
            rows = source.filter(expression)
            assert (rows.count_rows() if library is ds.field else rows.collect().height) == expected


def test_more_than_a_predicate_holds_is_left_to_the_library(snapshot: deltaic.Snapshot) -> None:
    wide: Any = ds.field("id") < 10
    for number in range(40):
        listed: Any = ds.field("i") == number
        for other in range(200):
            listed = listed | (ds.field("i") == 1000 * number + other)
        wide = wide & (listed | (ds.field("id") >= 0))
    assert snapshot.to_pyarrow_dataset().count_rows(filter=wide) == 10


def test_names_are_taken_as_they_are(tmp_path: Path) -> None:
    names = ["a.b", "a`b", "A b", "ä'\\", "select"]
    rows = pa.table({name: [place, place + 1] for place, name in enumerate(names)})
    columns = [field(name, "long") for name in names]
    HandmadeTable(tmp_path / "names").commit(protocol(), metadata(schema(*columns)))
    table = deltaic.Table(tmp_path / "names")
    table.append(rows)
    snapshot = table.snapshot()
    for place, name in enumerate(names):
        for expression in (ds.field(name) == place, pl.col(name) == place):
            assert snapshot.scan([name], expression).to_arrow()[name].to_pylist() == [place]


def test_bytes_that_are_not_expression_are_an_error(snapshot: deltaic.Snapshot) -> None:
    schema = snapshot.schema.to_arrow()
    whole = (ds.field("m") > Decimal("1.25")) & ds.field("s").isin(["a"])
    data = bytes(whole.to_substrait(schema, allow_arrow_extensions=True))
    wrong = 0
    for place in range(len(data)):
        for changed in (
            data[:place],
            data[:place] + bytes([data[place] ^ 0x15]) + data[place + 1 :],
            data[:place] + b"\xff" + data[place:],
        ):
            wrong += not is_read(changed)
    assert wrong > len(data)


def is_read(data: bytes) -> bool:
    try:
        read_expression(data)
    except ValueError:
        return False
    return True


def test_no_client_is_imported_who_is_not_there_yet(tmp_path: Path) -> None:
    edge_table(tmp_path / "table")
    code = """
import sys, deltaic
snapshot = deltaic.Table("table").snapshot()
print(snapshot.scan(predicate="p = 1").count(), snapshot.scan(predicate=deltaic.col("p") == 1).count())
try:
    snapshot.scan(predicate=object())
except TypeError:
    print(sorted({"pyarrow", "polars", "duckdb"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "36 36\n[]\n"
