"""Which random merges delta-spark runs as the model does, and what it counts and commits otherwise."""

from __future__ import annotations

import random

import pyarrow as pa

from tests.programs.comparisons import FEED
from tests.programs.definitions import Definition
from tests.programs.merges.effect import (
    MergeEffect,
    allows_multiple_matches,
    matches_nothing,
    multiple_matches,
)
from tests.programs.merges.evolution import evolved, widens
from tests.programs.merges.random_merge import Merges
from tests.programs.merges.verb import Kind, Merge
from tests.programs.model import Model, Refused
from tests.programs.random_definition import random_definition


def random_table(chance: random.Random) -> Definition:
    """Returns a table that delta-spark merges into as the model does."""
    while True:
        definition = random_definition(chance, for_spark=True)
        # "order of identity values", "dot in the name of a partition column"
        if not (definition.identities or any("." in name for name in definition.partition_by)):
            return definition


def random_merge(model: Model, chance: random.Random) -> Merge:
    """Returns a merge that delta-spark runs as the model does."""
    while True:
        merge = Merges(model, chance).merge()
        if not (loses_rows(model, merge) or lacks_feature(model.definition, merge)):
            return merge


def loses_rows(model: Model, merge: Merge) -> bool:
    """Whether delta-spark loses copied, updated or inserted rows: "rows lost by a merge"."""
    inserts = bool(merge.of(Kind.NOT_MATCHED)) and not merge.inserts_only
    is_several = allows_multiple_matches(merge) and bool(multiple_matches(model.rows, merge))
    return model.definition.has(FEED) and inserts and is_several


def lacks_feature(definition: Definition, merge: Merge) -> bool:
    """Whether a merge adds the first timestamp without a time zone: "new column without a time zone"."""
    schemas = (definition.schema, evolved(definition, merge).schema)
    before, after = (_has_local_time(pa.struct(list(schema))) for schema in schemas)
    return merge.evolves and after and not before


def _has_local_time(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_has_local_time(kind.field(index).type) for index in range(kind.num_fields))
    return pa.types.is_timestamp(kind) and kind.tz is None


def is_internal_error(merge: Merge, message: str) -> bool:
    """Whether delta-spark raised its own error: "BETWEEN in a merge"."""
    return "BETWEEN" in str(merge) and "did not match any merge clause" in message


def computes_narrower(definition: Definition, merge: Merge, refused: Refused) -> bool:
    """Whether only delta-spark refuses a merge: it computes with the type that a widened column had."""
    return "overflow" in str(refused) and widens(definition, merge)


def reads_no_source(model: Model, merge: Merge, merged: MergeEffect) -> bool:
    """Whether delta-spark may count no row of the source: "source that is not read"."""
    inserts_nothing = merge.inserts_only and merged.is_nothing
    return inserts_nothing or matches_nothing(model.rows, merge)


def rewrites_unchanged(merge: Merge) -> bool:
    """Whether delta-spark may commit a merge that changes nothing: "unchanged rows written again"."""
    return not merge.inserts_only and len(merge.of(Kind.MATCHED)) < len(merge.clauses)
