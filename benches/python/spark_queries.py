"""The benchmark queries on a DataFrame, the same for every way to read the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rows import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ALL = tuple(SCHEMA.names)
COAST = "region = 'coast'"
# The ids select 2 %, in two files of 40; the amounts select one row of 200, in every file.
FEW_IDS = "id >= 630000000 and id < 670000000"
# One row at most, in one file.
ONE_ID = "id = 510000017"
FEW_AMOUNTS = "amount > 995.0"
# Independent of the order of rows; the sum cannot exceed 38 digits.
HASH = f"sum(cast(xxhash64({', '.join(ALL)}) as decimal(20, 0)))"


@dataclass(frozen=True)
class Query:
    """An aggregation, over all rows or those that match a filter."""

    figures: tuple[str, ...]
    """SQL aggregates; if empty, the DataFrame is counted."""
    columns: tuple[str, ...]
    """The columns that it requires, for ways that read columns by name."""
    where: str | None = None
    by: str | None = None
    told_before: str = ""
    """The query that this one repeats with the filter applied before `load`, which only deltaic supports."""

    def answer(self, frame: DataFrame) -> list[list[str]]:
        """Runs the query; returns the rows as text in a normalized order, for comparison."""
        from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

        if self.where and not self.told_before:
            frame = frame.where(self.where)
        if not self.figures:
            return [[str(frame.count())]]
        grouped = frame.groupBy(self.by) if self.by else frame.groupBy()
        rows = grouped.agg(*(F.expr(figure) for figure in self.figures)).collect()
        return sorted([str(value) for value in row] for row in rows)


SUM = ("sum(customer)",)
SOME = ("count(*)", "sum(customer)")
ALL_QUERIES = {
    # One narrow column instead of none, for ways that read columns by name.
    "count": Query((), ("paid",)),
    "sum": Query(SUM, ("customer",)),
    "sum_partition": Query(SUM, ("customer", "region"), COAST),
    "sum_partition_told": Query(SUM, ("customer", "region"), COAST, told_before="sum_partition"),
    "group_by": Query(("sum(quantity)", "max(amount)"), ("region", "quantity", "amount"), by="region"),
    "filter": Query(SOME, ("customer", "amount"), FEW_AMOUNTS),
    "range": Query(SOME, ("customer", "id"), FEW_IDS),
    "range_told": Query(SOME, ("customer", "id"), FEW_IDS, told_before="range"),
    "point": Query(SOME, ("customer", "id"), ONE_ID),
    "hash": Query((HASH,), ALL),
    "hash_partition": Query((HASH,), ALL, COAST),
    "hash_partition_told": Query((HASH,), ALL, COAST, told_before="hash_partition"),
}
