"""How many files of a table a query opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row


def indexes_of(frame: DataFrame) -> list[Any]:
    """Returns the indexes of deltaic in the plan of a frame."""
    leaves: Any = cast("Any", frame)._jdf.queryExecution().analyzed().collectLeaves()
    found = [leaves.apply(number) for number in range(leaves.size())]
    relations = [leaf.relation() for leaf in found if leaf.getClass().getSimpleName() == "LogicalRelation"]
    locations = [relation.location() for relation in relations if hasattr(relation, "location")]
    return [index for index in locations if index.getClass().getSimpleName() == "SnapshotIndex"]


def opened(frame: DataFrame) -> tuple[list[Row], int]:
    """Runs the query of a frame of one table; returns its rows and the number of files that it opens."""
    rows = frame.collect()
    [index] = indexes_of(frame)
    return rows, index.listed()
