"""The expressions of a table, evaluated by Spark for the rows of a DataFrame before they are written.

Defaults, generated columns and constraints are SQL of Spark. In a session they mean what its time zone and
its ANSI mode say, so Spark evaluates them, not the core.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - as in Spark's own documents
from pyspark.sql.types import DataType

from deltaic.spark.frame_write.conversions import converted
from deltaic.spark.frame_write.violations import Condition, Guard, quoted
from deltaic.spark.types import struct_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaic import _rust

__all__ = ["evaluated"]


@dataclass(frozen=True)
class _TableColumn:
    """A column of the table that is written to."""

    name: str
    type: DataType
    is_nullable: bool
    is_identity: bool
    default: str | None
    generated: str | None

    @classmethod
    def all_of(cls, job: _rust.WriteJob) -> dict[str, _TableColumn]:
        """Returns the columns by their names in lower case."""
        schema: Mapping[str, Any] = json.loads(job.schema_json)
        types = struct_type(job.schema_json)
        uses_generated, uses_defaults = job.expressions_in_use
        found: dict[str, _TableColumn] = {}
        for field, typed in zip(schema["fields"], types.fields, strict=True):
            metadata: Mapping[str, Any] = field["metadata"]
            found[typed.name.lower()] = cls(
                typed.name,
                typed.dataType,
                is_nullable=bool(field["nullable"]),
                is_identity="delta.identity.start" in metadata,
                default=metadata.get("CURRENT_DEFAULT") if uses_defaults else None,
                generated=metadata.get("delta.generationExpression") if uses_generated else None,
            )
        return found


def evaluated(frame: DataFrame, job: _rust.WriteJob, replaced: str | None) -> tuple[DataFrame, Guard]:
    """Adds the columns that a frame lacks, and checks its rows when they are computed.

    Args:
        frame: The rows to write.
        job: The planned write.
        replaced: The condition of the rows that an overwrite replaces: new rows must satisfy it too.

    Returns:
        The rows, and the errors of those that violate a condition.

    Raises:
        UnsupportedFeature: The table has a type that Spark lacks.
    """
    known = _TableColumn.all_of(job)
    given = {name.lower(): name for name in frame.columns}
    rows = frame.select(
        *(
            F.col(quoted(name)).alias(known[lower].name if lower in known else name)
            for lower, name in given.items()
        ),
        *(_missing(column) for lower, column in known.items() if lower not in given and _is_source(column)),
    )
    rows = _converted(rows, known)
    computed = [
        F.expr(column.generated).alias(column.name)
        for lower, column in known.items()
        if column.generated is not None and lower not in given
    ]
    if computed:
        rows = _converted(rows.select("*", *computed), known)
    guard = Guard(_conditions(job, known, given, replaced))
    return guard.on(rows), guard


def _is_source(column: _TableColumn) -> bool:
    """Whether a column that the frame lacks has a value before others are generated from it."""
    if column.generated is not None or column.is_identity:
        return False
    # Otherwise the core reports that it is missing.
    return column.default is not None or column.is_nullable


def _missing(column: _TableColumn) -> Any:
    value = F.lit(None).cast(column.type) if column.default is None else F.expr(column.default)
    return value.alias(column.name)


def _converted(rows: DataFrame, known: Mapping[str, _TableColumn]) -> DataFrame:
    columns: list[Any] = []
    for field in rows.schema.fields:
        values = F.col(quoted(field.name))
        column = known.get(field.name.lower())
        columns.append(
            values if column is None else converted(values, field.dataType, column.type).alias(column.name)
        )
    return rows.select(*columns)


def _conditions(
    job: _rust.WriteJob, known: Mapping[str, _TableColumn], given: Mapping[str, str], replaced: str | None
) -> Sequence[Condition]:
    correct = "correct the row, or drop the constraint if it no longer applies"
    found = [
        Condition(
            sql,
            f"a row violates the CHECK constraint {name}: {sql}"
            if kind == "constraint"
            else f"a row violates the invariant of column {name}: {sql}",
            {kind: name},
            correct,
        )
        for kind, name, sql in job.conditions()
    ]
    for lower, column in known.items():
        if column.generated is None or lower not in given:
            continue
        kind = column.type.simpleString()
        found.append(
            Condition(
                f"{quoted(column.name)} <=> CAST(({column.generated}) AS {kind})",
                f"a value of the generated column {column.name} is not that of its expression: "
                f"{column.generated}",
                {"field": column.name, "expression": column.generated},
                "drop the column from the data: its values are computed then",
            )
        )
    if replaced is not None:
        found.append(
            Condition(
                replaced,
                f"a row does not match the predicate of the overwrite: {replaced}",
                {},
                "only rows that match the predicate can replace the rows that match it",
            )
        )
    return found
