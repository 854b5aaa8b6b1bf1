"""What occurs in a merge: kinds of clauses, columns of the source, and matches."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from tests.programs.features import OF_CLAUSES, OF_TABLES, of_clause
from tests.programs.model import Model

from .effect import allows_multiple_matches, multiple_matches
from .evolution import evolved, widens
from .verb import Kind, Merge, Update

OF_MERGES = [*OF_CLAUSES, *(f"{kind.value} {has} condition" for kind in Kind for has in ("with", "without"))]
OF_MERGES += ["field of a struct", "other type", "other name", "<=>", "no <=>", "TRUE", "FALSE"]
OF_MERGES += ["new column", "no new column", "new field", "wider type", "temporary files"]
OF_MERGES += ["several, allowed", "several, refused", "nothing", "something"]
OF_REFUSALS = ["NOT NULL", "length", "condition", "generated value", "overflow"]
OF_REFUSALS += ["generated identity", "update of an identity", "several matches", "lacking columns"]
OF_PROGRAMS = [*OF_TABLES, *OF_MERGES, *(f"refused: {reason}" for reason in OF_REFUSALS)]
"""What the programs of a run must have."""


def of_merge(model: Model, merge: Merge) -> Iterator[str]:
    """Yields what a merge into the table of a model has."""
    for clause in merge.clauses:
        yield of_clause(clause)
        yield f"{clause.kind.value} {'without' if clause.condition is None else 'with'} condition"
        if isinstance(clause.action, Update) and any(len(path) > 1 for path in clause.action.values):
            yield "field of a struct"
    own = {column.name: column.type for column in model.definition.schema}
    for column in merge.schema:
        if own.get(column.name, column.type) != column.type:
            yield "other type"
        if column.name not in own:
            yield "other name"
    yield "<=>" if " <=> " in merge.on.sql else "no <=>"
    if multiple_matches(model.rows, merge):
        yield "several, allowed" if allows_multiple_matches(merge) else "several, refused"
    if merge.evolves:
        after = evolved(model.definition, merge).schema
        yield "new column" if len(after) > len(own) else "no new column"
        if any(pa.types.is_struct(kind) and after.field(name).type != kind for name, kind in own.items()):
            yield "new field"
        if widens(model.definition, merge):
            yield "wider type"
    if merge.on.sql in ("TRUE", "FALSE"):
        yield merge.on.sql
