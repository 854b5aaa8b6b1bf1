"""The expressions of a table, evaluated by Spark for the rows of a DataFrame before they are written.

Defaults, generated columns and constraints are SQL of Spark. In a session they mean what its time zone and
its ANSI mode say, so Spark evaluates them, not the core.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812 - as in Spark's own documents

from deltaic.exceptions import InvalidPredicate, SchemaMismatch
from deltaic.spark.frame_write.columns import to_delta
from deltaic.spark.frame_write.conversions import converted, is_kept
from deltaic.spark.frame_write.table_columns import TableColumn
from deltaic.spark.frame_write.violations import Condition, Guard, quoted, words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic import _rust

__all__ = ["Evaluation"]

_CASE = "spark.sql.caseSensitive"
_CORRECT = "correct the row, or drop the constraint if it no longer applies"


@dataclass
class Evaluation:
    """The rows of a frame as a planned write takes them.

    Args:
        frame: The rows to write.
        job: The planned write.
        replaced: The condition of the rows that an overwrite replaces: new rows must satisfy it too.
        exactly: Whether the rows must have the table's columns in its order, with exactly their types, and no
            NULL where it is excluded. Otherwise the core sees to it.
    """

    frame: DataFrame
    job: _rust.WriteJob
    replaced: str | None
    exactly: bool
    guards: list[Guard] = field(default_factory=list[Guard])
    """The errors of rows that violate a condition, after `rows`."""

    def __post_init__(self) -> None:
        self._known = TableColumn.all_of(self.job)
        self._given = {name.lower(): name for name in self.frame.columns}

    def rows(self) -> DataFrame:
        """Adds the columns that the frame lacks, and checks the rows when they are computed.

        Raises:
            SchemaMismatch, UnsupportedFeature: The table does not take the columns.
            InvalidPredicate: Spark cannot evaluate an expression of the table.
        """
        with _ignoring_case(self.frame.sparkSession):
            named = self._named()
            if not self.exactly and not self._has_expressions():
                rows = self._converted(named, exactly=False)
                self.job.ensure_takes(to_delta(rows.schema))
                return rows
            try:
                return self._evaluated(named)
            except AnalysisException as error:
                raise InvalidPredicate(
                    f"Spark cannot evaluate an expression of the table: {str(error).splitlines()[0]}",
                    context={"table": self.job.uri},
                    hint="its constraints, defaults and generated columns must be valid in Spark",
                ) from None

    def _has_expressions(self) -> bool:
        """Whether conditions or generated columns depend on the values of other columns."""
        has_generated = any(column.generated is not None for column in self._known.values())
        return has_generated or self.replaced is not None or bool(self.job.conditions())

    def _evaluated(self, named: DataFrame) -> DataFrame:
        # The core sees the types of the frame before Spark converts them.
        shown = self._converted(named, exactly=False)
        missing = [F.lit(None).cast(column.type).alias(column.name) for column in self._missing_generated()]
        self.job.ensure_takes(to_delta(shown.select("*", *missing).schema))
        rows = self._stored(named)
        rows = self._stored(self._with_generated(rows))
        if not self.exactly:
            return self._guarded(rows, self._conditions())
        rows = self._guarded(rows, [*self._not_null(rows), *self._conditions()])
        given = {name.lower() for name in rows.columns}
        in_order = [column.name for lower, column in self._known.items() if lower in given]
        return rows.select(*(F.col(quoted(name)) for name in in_order))

    def _not_null(self, rows: DataFrame) -> list[Condition]:
        return [
            Condition(
                F.col(quoted(part.name)).isNotNull(),
                words(part.name),
                f"the column {part.name} must not be NULL, but is in a row",
                {"field": part.name},
                "fill in the values, or drop the rows",
            )
            for part in rows.schema.fields
            if part.nullable and not self._known[part.name.lower()].is_nullable
        ]

    def _named(self) -> DataFrame:
        """Returns the rows under the table's names, with NULL or defaults in the columns that they lack."""
        known, given = self._known, self._given
        return self.frame.select(
            *(
                F.col(quoted(name)).alias(known[lower].name if lower in known else name)
                for lower, name in given.items()
            ),
            *(
                _missing(column)
                for lower, column in known.items()
                if lower not in given and _is_source(column)
            ),
        )

    def _with_generated(self, rows: DataFrame) -> DataFrame:
        columns = [F.expr(str(column.generated)).alias(column.name) for column in self._missing_generated()]
        return rows.select("*", *columns) if columns else rows

    def _missing_generated(self) -> list[TableColumn]:
        known = self._known.items()
        return [each for lower, each in known if each.generated is not None and lower not in self._given]

    def _stored(self, rows: DataFrame) -> DataFrame:
        """Returns the values that the table stores: expressions are evaluated for these."""
        conditions: list[Condition] = []
        for part in rows.schema.fields:
            column = self._known.get(part.name.lower())
            kept = column and is_kept(F.col(quoted(part.name)), part.dataType, column.type)
            if column is not None and kept is not None:
                conditions.append(
                    Condition(
                        kept,
                        words(part.name),
                        f"a value of the column {part.name} does not fit its type, "
                        f"{column.type.simpleString()}",
                        {"field": part.name},
                        "cast the column, and decide what happens to such values",
                        SchemaMismatch,
                    )
                )
        return self._converted(self._guarded(rows, conditions), exactly=True)

    def _converted(self, rows: DataFrame, *, exactly: bool) -> DataFrame:
        columns: list[Any] = []
        for part in rows.schema.fields:
            values = F.col(quoted(part.name))
            column = self._known.get(part.name.lower())
            if column is not None:
                values = converted(values, part.dataType, column.type, exactly=exactly)
                values = (column.stored(values) if exactly else values).alias(column.name)
            columns.append(values)
        return rows.select(*columns)

    def _guarded(self, rows: DataFrame, conditions: list[Condition]) -> DataFrame:
        guard = Guard(conditions)
        self.guards.append(guard)
        return guard.on(rows)

    def _conditions(self) -> list[Condition]:
        found = [
            Condition.of_sql(
                sql,
                f"a row violates the CHECK constraint {name}: {sql}"
                if kind == "constraint"
                else f"a row violates the invariant of column {name}: {sql}",
                {kind: name},
                _CORRECT,
            )
            for kind, name, sql in self.job.conditions()
            if not self._is_of_generated_identity(sql)
        ]
        for lower, column in self._known.items():
            if column.generated is not None and lower in self._given:
                found.append(_of_supplied(column, column.generated))
        if self.replaced is not None and not self._is_of_generated_identity(self.replaced):
            found.append(
                Condition.of_sql(
                    self.replaced,
                    f"a row does not match the predicate of the overwrite: {self.replaced}",
                    {},
                    "only rows that match the predicate can replace the rows that match it",
                )
            )
        return found

    def _is_of_generated_identity(self, sql: str) -> bool:
        """Whether a condition names a column whose values the tasks generate, which then check it."""
        generated = [
            column for lower, column in self._known.items() if column.is_identity and lower not in self._given
        ]
        return any(words(column.name) <= words(sql) for column in generated)


def _is_source(column: TableColumn) -> bool:
    """Whether a column that the frame lacks has a value before others are generated from it."""
    if column.generated is not None or column.is_identity:
        return False
    # Otherwise the core reports that it is missing.
    return column.default is not None or column.is_nullable


def _missing(column: TableColumn) -> Any:
    value = F.lit(None).cast(column.type) if column.default is None else F.expr(column.default)
    return value.alias(column.name)


def _of_supplied(column: TableColumn, generated: str) -> Condition:
    """Returns the condition that the frame's values of a generated column are those of its expression."""
    computed = column.stored(F.expr(generated).cast(column.type))
    return Condition(
        F.col(quoted(column.name)).eqNullSafe(computed),
        words(generated) | words(column.name),
        f"a value of the generated column {column.name} is not that of its expression: {generated}",
        {"field": column.name, "expression": generated},
        "drop the column from the data: its values are computed then",
    )


@contextmanager
def _ignoring_case(session: SparkSession) -> Generator[None]:
    """Resolves names as Delta tables do, whatever the session says."""
    before: str | None = session.conf.get(_CASE, "false")
    if str(before).lower() != "true":
        yield
        return
    session.conf.set(_CASE, "false")
    try:
        yield
    finally:
        session.conf.set(_CASE, str(before))
