"""Which verbs of random programs delta-spark runs as the model does, and what it counts otherwise."""

from __future__ import annotations

import math
from datetime import date

import pyarrow as pa

from tests.programs.by_spark import SparkVerb
from tests.programs.comparisons import FEED
from tests.programs.definitions import Definition
from tests.programs.identity import Marks
from tests.programs.model import Effect, Refused
from tests.programs.verbs import Append, Delete, Overwrite, Update

# Of an UPDATE, delta-spark counts files that get a deletion vector as removed, and no removed vectors.
COUNTED_OTHERWISE = {"numRemovedFiles", "numDeletionVectorsRemoved"}
COUNTS_OF_ROWS = {"numDeletedRows", "numCopiedRows", "numOutputRows"}


def can_run(verb: object, definition: Definition) -> bool:
    """Whether delta-spark has a verb and runs it as the model does."""
    if not isinstance(verb, Append | Overwrite | Delete | Update):
        return False
    if isinstance(verb, Append) and verb.raises_at_end:
        return False
    if any("timestamp[us]" in str(kind) for kind in _new_types(verb)):
        return False  # "new column without a time zone"
    if not isinstance(verb, Overwrite):
        return True
    if "BETWEEN" in str(verb.where):
        return False  # "BETWEEN in the condition of an overwrite"
    if verb.replaces is None:
        return True
    if not definition.identities.keys().isdisjoint(verb.columns):
        return False  # "identity column replaced by another column"
    # "columns dropped with a change feed"
    return not (definition.has(FEED) and "delta.columnMapping.mode" in definition.properties)


def _new_types(verb: SparkVerb) -> list[pa.DataType]:
    """Returns the types of the columns that a verb may add."""
    if isinstance(verb, Overwrite) and verb.replaces is not None:
        return [*verb.replaces.schema.types]
    return [verb.added.type] if isinstance(verb, Append) and verb.added is not None else []


def loses_in_pushdown(values: object, verb: object) -> bool:
    """Whether Spark's pushdown into Parquet loses rows with one of some values, or of a verb's literals."""
    return _is_lost(values) or "'-0.0'" in str(verb)


def _is_lost(value: object) -> bool:
    """Whether a value is or has -0.0, or a day of the calendar's gap."""
    if isinstance(value, dict):
        return any(map(_is_lost, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_lost, value))
    if isinstance(value, date):
        return (value.year, value.month) == (1582, 10)
    return isinstance(value, float) and value == 0 and math.copysign(1, value) < 0


def feed_is_exact(effect: Effect) -> bool:
    """Whether the rows of a change feed have no day of the calendar's gap."""
    return "datetime.date(1582" not in repr(effect) and "datetime.datetime(1582" not in repr(effect)


def writes_null_instead(refused: Refused) -> bool:
    """Whether delta-spark accepts a refused row: it writes NULL instead of an empty partition value."""
    return "partition value of" in str(refused)


def counts_otherwise(name: str, verb: SparkVerb, metrics: dict[str, int], definition: Definition) -> bool:
    """Whether delta-spark has another value of a metric, or none."""
    has_vectors = definition.has("delta.enableDeletionVectors")
    if isinstance(verb, Overwrite) and has_vectors:
        return True  # it rewrites the files, deltaic deletes by deletion vectors
    if isinstance(verb, Overwrite) and metrics["numFiles"] == 0 and name in COUNTS_OF_ROWS - metrics.keys():
        return True
    return isinstance(verb, Update) and has_vectors and name in COUNTED_OTHERWISE


def marks(before: Marks, after: Marks, verb: SparkVerb) -> Marks:
    """Returns the high-water marks, which delta-spark does not move past values that rows contain."""
    if not isinstance(verb, Append | Overwrite):
        return after
    kept = {name: before.get(name) if name in verb.columns else mark for name, mark in after.items()}
    return {name: mark for name, mark in kept.items() if mark is not None}
