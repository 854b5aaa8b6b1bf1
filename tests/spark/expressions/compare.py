"""Evaluates expressions for rows by deltaic and by Spark, and compares values, types and errors."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deltaic import DeltaicError, _rust

from .exceptions import exception

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, SparkSession


NOW = 1_795_600_000_000_000
AT_ONCE = 40

# Only builds for tests have it.
EVALUATE: Any = getattr(_rust, "evaluate_expression", None)


class Raises:
    """The result of a row that raises."""

    def __repr__(self) -> str:
        return "an error"


RAISES = Raises()


@dataclass(frozen=True)
class Result:
    """The type and the values of the rows, or why the expression is refused for all rows."""

    refused: str | None = None
    data_type: str = ""
    values: tuple[Any, ...] = ()
    errors: tuple[str | None, ...] = ()
    now: int = NOW
    """The current time of the query."""


def plain(array: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Returns values that can be compared: of any year, and with the sign of zero."""
    if pa.types.is_date(array.type):
        array = array.cast(pa.int32())
    elif pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        array = array.cast(pa.binary())
        return [None if value is None else value.decode("utf-8", "replace") for value in array.to_pylist()]
    elif pa.types.is_nested(array.type):
        return [None if value is None else repr(value) for value in array.to_pylist()]
    return [repr(value) if isinstance(value, float) else value for value in array.to_pylist()]


def _type(data_type: pa.DataType) -> str:
    if pa.types.is_struct(data_type):
        fields = ", ".join(f"{field.name}: {_type(field.type)}" for field in data_type)
        return f"struct<{fields}>"
    return str(data_type).replace("large_", "").replace("null", "void")


def here(rows: pa.Table, expression: str, now: int = NOW) -> Result:
    """Evaluates an expression by deltaic, at a time in microseconds."""
    try:
        found = pa.table(EVALUATE(rows, expression, now))
    except DeltaicError as error:
        return Result(refused=f"{type(error).__name__}: {error}".splitlines()[0])
    errors = [None if error is None else error.split(" at line ")[0] for error in found["error"].to_pylist()]
    values = plain(found["value"])
    results = tuple(value if error is None else RAISES for value, error in zip(values, errors, strict=True))
    return Result(data_type=_type(found["value"].type), values=results, errors=tuple(errors))


class Evaluator:
    """Evaluates expressions by Spark."""

    def __init__(self, spark: SparkSession, rows: pa.Table) -> None:
        # PySpark takes timestamps without a zone for those of the session.
        columns = [
            f"CAST({field.name} AS TIMESTAMP_NTZ) AS {field.name}"
            if field.type == pa.timestamp("us")
            else field.name
            for field in rows.schema
        ]
        self.spark = spark
        self.count = len(rows)
        self.frame: DataFrame = spark.createDataFrame(rows).selectExpr(*columns).coalesce(1).cache()

    def _attempt(self, expression: str) -> Column:
        """Returns a struct of the value, NULL for rows that raise."""
        from pyspark.sql import functions
        from pyspark.sql.classic.column import Column

        jvm: Any = self.spark._jvm
        bridge = jvm.org.apache.spark.sql.classic.ExpressionUtils
        struct: Any = functions.expr(f"named_struct('value', {expression})")
        tried = jvm.org.apache.spark.sql.catalyst.expressions.TryEval(bridge.expression(struct._jc))
        return Column(bridge.column(tried))

    def _refused(self, expression: str) -> str | None:
        from pyspark.errors import AnalysisException

        try:
            self.frame.selectExpr(f"{expression} AS value")
        except AnalysisException as error:
            return str(error).splitlines()[0]
        return None

    def results(self, expressions: Sequence[str]) -> list[Result]:
        """Returns the result of each expression."""
        from pyspark.sql import functions

        current = functions.expr("unix_micros(current_timestamp())").alias("now")
        refused = {expression: self._refused(expression) for expression in expressions}
        accepted = [expression for expression in expressions if refused[expression] is None]
        found: dict[str, Result] = {}
        for start in range(0, len(accepted), AT_ONCE):
            part = accepted[start : start + AT_ONCE]
            columns = [self._attempt(text).alias(f"c{number}") for number, text in enumerate(part)]
            answer = self.frame.select("id", current, *columns).toArrow()
            now = answer["now"][0].as_py()
            assert answer["id"].to_pylist() == list(range(self.count))
            for number, text in enumerate(part):
                structs = answer[f"c{number}"].combine_chunks()
                values = structs.field("value")
                raises = structs.is_null().to_pylist()
                cells = plain(values)
                results = (
                    RAISES if is_raised else value for value, is_raised in zip(cells, raises, strict=True)
                )
                found[text] = Result(data_type=_type(values.type), values=tuple(results), now=now)
        return [found.get(text) or Result(refused=refused[text]) for text in expressions]


def _is_same_number(one: Any, other: Any, layout: str) -> bool:
    """Whether two spellings are of one number: Java before 19 does not always write the shortest one."""
    try:
        return struct.pack(layout, float(one)) == struct.pack(layout, float(other))
    except (OverflowError, TypeError, ValueError):
        return False


def _is_same(expression: str, ours: Any, theirs: Any) -> bool:
    if type(ours) is type(theirs) and ours == theirs:
        return True
    # Decimals are computed from the spelling of the number as a double.
    cast = re.match(r"(?:TRY_)?(?:CAST\()?f(32|64)(?: AS |::)(STRING|DECIMAL)", expression)
    if cast is None or type(ours) is not type(theirs):
        return False
    is_short = cast[1] == "32" and cast[2] == "STRING"
    return _is_same_number(ours, theirs, "<f" if is_short else "<d")


def difference(rows: pa.Table, expression: str, expected: Result) -> str | None:
    """Returns how deltaic's results of an expression differ from Spark's, with the first rows."""
    used = columns_of(rows, expression)
    rows = rows.select(used or ["id"]).combine_chunks()
    found = here(rows, expression, expected.now)
    if found.refused is not None or expected.refused is not None:
        is_same = (found.refused is None) == (expected.refused is None)
        if is_same or exception(expression, found.refused):
            return None
        return f"{expression}: refused here: {found.refused}, by Spark: {expected.refused}"
    if found.data_type != expected.data_type:
        return f"{expression}: the type is {found.data_type}, in Spark {expected.data_type}"
    errors = found.errors
    if expression.startswith("TRY_"):
        # Why a value is NULL.
        errors = here(rows, expression.removeprefix("TRY_"), expected.now).errors
    pairs = enumerate(zip(found.values, expected.values, strict=True))
    apart = [
        row
        for row, (ours, theirs) in pairs
        if not _is_same(expression, ours, theirs)
        and not (ours in (None, RAISES) and exception(expression, errors[row]))
    ]
    if not apart:
        return None
    shown: list[str] = []
    for row in apart:
        cells = [_cell(rows[name], row) for name in used]
        ours = found.values[row] if found.errors[row] is None else found.errors[row]
        text = f"{cells} is {ours!r}, in Spark {expected.values[row]!r}"
        if text not in shown:
            shown.append(text)
    return f"{expression} ({len(apart)} rows): " + "; ".join(shown[:6])


def _cell(column: pa.ChunkedArray, row: int) -> Any:
    return plain(column.slice(row, 1))[0]


def columns_of(rows: pa.Table, expression: str) -> list[str]:
    """Returns the columns that an expression refers to."""
    words = _words(expression)
    return [name for name in rows.column_names if name in words]


def _words(expression: str) -> set[str]:
    separated = "".join(char if char.isalnum() or char == "_" else " " for char in expression)
    return set(separated.split())
