"""Runs merges by delta-spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import deltaic
from tests.programs.by_spark import frame_of, newest
from tests.programs.values import to_arrow
from tests.programs.verbs import Outcome

from .verb import SOURCE, TARGET, Kind, Merge

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEW = "merged_rows"


def run(spark: SparkSession, root: Path, merge: Merge) -> Outcome:
    """Runs a merge and returns the metrics of its commit."""
    from pyspark.sql.pandas.types import from_arrow_schema

    before = deltaic.Table(root).snapshot().version
    fields = from_arrow_schema(merge.schema, prefer_timestamp_ntz=True).fields
    frame_of(spark, to_arrow(merge.rows, merge.schema), fields).createOrReplaceTempView(VIEW)
    spark.sql(statement(merge, root)).collect()
    return newest(root, before)


def statement(merge: Merge, root: Path) -> str:
    """Returns a merge as SQL, in which the kinds of clauses have a fixed order."""
    clauses = [str(clause) for kind in Kind for clause in merge.of(kind)]
    evolves = " WITH SCHEMA EVOLUTION" if merge.evolves else ""
    head = f"MERGE{evolves} INTO delta.`{root}` AS {TARGET} USING {VIEW} AS {SOURCE} ON {merge.on}"
    return "\n".join([head, *clauses])
