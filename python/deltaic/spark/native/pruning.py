"""Which conditions with Spark's semantics can prune files before Spark plans the read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.exceptions import InvalidPredicate, UnsupportedExpression
from deltaic.spark.session_zone import depends_on_time_zone, is_utc

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaic.reading.snapshot import Snapshot

__all__ = ["changed_meaning", "pruning"]

# Settings by which Spark parses or compares differently from deltaic.
_MEANINGS = (
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.legacy.consecutiveStringLiterals.enabled",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled",
)


def changed_meaning(spark: SparkSession) -> str | None:
    """Returns why no file is pruned in this session: a setting that changes the meaning of conditions."""
    for name in _MEANINGS:
        if str(spark.conf.get(name, "false")).lower() == "true":
            return f"no file is ruled out by conditions while {name} is set"
    return None


def pruning(snapshot: Snapshot, predicate: str | None, zone: str | None) -> tuple[str | None, str | None]:
    """Returns the condition if deltaic evaluates it as Spark does, else why it prunes no file.

    Args:
        snapshot: The snapshot to read.
        predicate: SQL text with Spark's semantics; Spark filters the rows in any case.
        zone: The session's time zone.
    """
    if predicate is None:
        return None, None
    if not is_utc(zone) and depends_on_time_zone(snapshot.schema.to_json(), predicate):
        return None, f"no file is ruled out by a time of day in the session's time zone, {zone}"
    try:
        snapshot.scan(columns=[], predicate=predicate)
    except (InvalidPredicate, UnsupportedExpression) as error:
        return None, f"no file is ruled out by the predicate: {error.message}"
    return predicate, None
