"""The predicates of the operations, from which each peer builds its own."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

# Few files overlap the range: each file's `column_1` spans 1,000 of a million values.
RANGE_COLUMN, RANGE_LOW, RANGE_HIGH = "column_1", 500_000, 500_200
RANGE = f"{RANGE_COLUMN} between {RANGE_LOW} and {RANGE_HIGH}"
DAY = "2025-07-04"
PARTITION = f"day = '{DAY}'"

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}


@dataclass(frozen=True)
class Query:
    """A query for the rows of a table."""

    columns: tuple[str, ...] | None = None
    """None means all."""
    where: tuple[tuple[str, str, int | float | str], ...] = ()
    """Comparisons that must all be true: column, operator, literal."""
    version: int | None = None
    """None means the newest."""

    def condition(self, column: Callable[[str], Any], always: Any = None) -> Any:
        """Builds the comparisons from the columns that `column` returns; `always` without any."""
        found = [COMPARISONS[sign](column(name), literal) for name, sign, literal in self.where]
        return reduce(operator.and_, found) if found else always

    def names(self) -> list[str] | None:
        """Returns the columns as a list."""
        return None if self.columns is None else list(self.columns)

    def sql(self) -> str | None:
        """Returns the comparisons as SQL."""
        return " and ".join(f"{name} {sign} {literal!r}" for name, sign, literal in self.where) or None


COUNT = "count"
# Two files of 40 overlap the range, and neither is within it. The filter selects one row of 200, in each
# file.
IDS = (("id", ">=", 630_000_000), ("id", "<", 670_000_000))
FEW = (("amount", ">", 995.0),)
ALL_QUERIES = {
    "scan": Query(),
    "scan_columns": Query(columns=("customer", "amount", "region")),
    "scan_range": Query(where=IDS),
    "scan_filter": Query(where=FEW),
    "scan_filter_undeleted": Query(where=FEW, version=0),
    "scan_partition": Query(where=(("region", "=", "coast"),)),
    COUNT: Query(columns=()),
}
SCANS = {name: query for name, query in ALL_QUERIES.items() if name != COUNT}
