"""Random programs of DataFrame writes, for deltaic and delta-spark alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

    from deltaic.spark.frame_write.writer import Writer

__all__ = ["Program", "Step", "program"]

_VALUES = "IF(id % 7 = 0, NULL, CONCAT('v', id))"
_COLUMNS = {
    "id": "id",
    "p": "CASE id % 4 WHEN 0 THEN 'a' WHEN 1 THEN 'b ü' WHEN 2 THEN NULL ELSE 'c/=' END",
    "x": "CAST(id AS double) / 3",
    "s": "NAMED_STRUCT('a', id, 'b', CAST(id AS string))",
    "t": _VALUES,
}
_NEW = {"n": "CAST(id % 5 AS int)", "m": "MAP('k', id)"}
_PROPERTIES = (
    {},
    {"delta.enableChangeDataFeed": "true"},
    {"delta.columnMapping.mode": "name"},
    {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"},
    {"delta.enableRowTracking": "true"},
)


@dataclass(frozen=True)
class Step:
    """One write."""

    mode: str
    start: int
    rows: int
    columns: dict[str, str]
    options: dict[str, str] = field(default_factory=dict[str, str])
    where: str = "true"

    def frame(self, spark: SparkSession) -> DataFrame:
        """Returns the rows."""
        select = [f"{sql} AS {name}" for name, sql in {**_COLUMNS, **self.columns}.items()]
        numbers = spark.range(self.start, self.start + self.rows, 1, 2)
        return numbers.selectExpr(*select).where(self.where).select(*self.columns).alias("new")

    def of(self, writer: DataFrameWriter | Writer, program: Program, path: str) -> None:
        """Writes by a writer of the frame."""
        writer = writer.mode(self.mode).options(**{**program.properties, **self.options})
        writer.partitionBy(*program.partition_by).save(path)


@dataclass(frozen=True)
class Program:
    """A table, and writes to it; the first one creates it."""

    properties: dict[str, str]
    partition_by: list[str]
    steps: list[Step]

    @property
    def has_feed(self) -> bool:
        """Whether the table records changes."""
        return "delta.enableChangeDataFeed" in self.properties


def program(chance: Random, size: int = 5) -> Program:
    """Returns a random program."""
    partition_by = chance.choice([[], ["p"], ["p", "x"]])
    made = Program(dict(chance.choice(_PROPERTIES)), partition_by, [])
    made.steps.append(Step("append", 0, 12, dict(_COLUMNS)))
    for number in range(1, size):
        made.steps.append(_step(chance, number * 100, partition_by))
    return made


def _step(chance: Random, start: int, partition_by: list[str]) -> Step:
    rows = chance.choice([0, 1, 5, 12])
    columns = dict(_COLUMNS)
    if chance.random() < 0.3:
        columns.pop(chance.choice(["t", "s", "x" if "x" not in partition_by else "t"]))
    options: dict[str, str] = {}
    if chance.random() < 0.3:
        name = chance.choice(list(_NEW))
        columns[name] = _NEW[name]
        if chance.random() < 0.7:
            options["mergeSchema"] = "true"
    kind = chance.choice(
        ["append", "append", "all", "where", "where", "dynamic", "using", "on", "error", "ignore", "schema"]
    )
    match kind:
        case "where":
            column = chance.choice(["p = 'a'", "p IS NULL", "id > 100", "x < 50 AND id > 3"])
            where = column if chance.random() < 0.8 else "true"
            return Step("overwrite", start, rows, columns, {**options, "replaceWhere": column}, where)
        case "dynamic":
            options["partitionOverwriteMode"] = "dynamic"
            return Step("overwrite", start, rows, columns, options)
        case "using":
            # Rows of the step before have these numbers.
            using = chance.choice(["id", "id, p", "P", "x", "nope"])
            return Step("overwrite", start - 95, rows, columns, {**options, "replaceUsing": using})
        case "on":
            on = chance.choice(
                [
                    "old.id = new.id",
                    "old.p <=> new.p AND old.id < new.id",
                    "old.id = 3",
                    "id = 3",
                    "old.x < new.x",
                ]
            )
            matching = {"replaceOn": on, "targetAlias": "old"}
            return Step("overwrite", start - 95, rows, columns, {**options, **matching})
        case "schema":
            columns["t"] = "id * 2"
            return Step("overwrite", start, rows, columns, {"overwriteSchema": "true"})
        case "all":
            return Step("overwrite", start, rows, columns, options)
        case _:
            return Step(kind, start, rows, columns, options)
