"""By what files can be ruled out before Spark sees them, of a condition that has Spark's meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.exceptions import InvalidPredicate, UnsupportedExpression
from deltaic.spark.session_zone import is_utc, speaks_of_instants

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaic.snapshot import Snapshot

__all__ = ["changed_meaning", "pruning"]

# Settings by which Spark reads a condition's text or compares otherwise than deltaic does.
_MEANINGS = (
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.legacy.consecutiveStringLiterals.enabled",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled",
)


def changed_meaning(spark: SparkSession) -> str | None:
    """Why no file is ruled out in this session: a setting of it that changes what conditions mean."""
    for name in _MEANINGS:
        if str(spark.conf.get(name, "false")).lower() == "true":
            return f"no file is ruled out by conditions while {name} is set"
    return None


def pruning(snapshot: Snapshot, predicate: str | None, zone: str | None) -> tuple[str | None, str | None]:
    """The condition if deltaic understands it as Spark does, else why no file is ruled out by it.

    Args:
        snapshot: What is read.
        predicate: SQL text in Spark's own meaning; Spark judges the rows in any case.
        zone: The session's time zone.
    """
    if predicate is None:
        return None, None
    if not is_utc(zone) and speaks_of_instants(snapshot.schema.to_json(), predicate):
        return None, f"no file is ruled out by a time of day in the session's time zone, {zone}"
    try:
        snapshot.scan(columns=[], predicate=predicate)
    except (InvalidPredicate, UnsupportedExpression) as error:
        return None, f"no file is ruled out by the predicate: {error.message}"
    return predicate, None
