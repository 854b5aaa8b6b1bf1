"""Runs merges by deltaic."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pyarrow as pa

import deltaic
from deltaic.values import commit_options
from tests.programs.expressions import Expression
from tests.programs.values import to_arrow
from tests.programs.variants import encoded
from tests.programs.verbs import Outcome

from .verb import SOURCE, TARGET, Clause, Delete, Insert, InsertAll, Kind, Merge, Update, UpdateAll, to_sql

MEMORY = (64, 512, 2048)
"""Bytes of memory with which all or some rows wait in temporary files."""


def run(table: deltaic.Table, merge: Merge, *, memory: int | None = None) -> Outcome:
    """Runs a merge."""
    with patch.object(commit_options, "LEAST_MEMORY", min(MEMORY)):
        commit = _builder(table, merge).execute(memory=memory)
    assert not commit.warnings, commit.warnings
    return Outcome(None if commit.skipped else commit.version, dict(commit.metrics))


def preview(table: deltaic.Table, merge: Merge) -> deltaic.DryRun:
    """Returns what a merge would do."""
    return _builder(table, merge).execute(dry_run=True)


def source_of(merge: Merge) -> pa.Table:
    """Returns the rows of the source."""
    rows = encoded(to_arrow(merge.rows, merge.schema))
    if not rows.num_rows:
        return rows
    return pa.Table.from_batches(rows.to_batches(-(-rows.num_rows // merge.batches)))


def _builder(table: deltaic.Table, merge: Merge) -> Any:
    source = source_of(merge)
    mode = "merge" if merge.evolves else "keep"
    builder = table.merge(
        source, on=str(merge.on), target_alias=TARGET, source_alias=SOURCE, schema_mode=mode
    )
    for clause in merge.clauses:
        builder = _with_clause(builder, clause)
    return builder


def _with_clause(builder: Any, clause: Clause) -> Any:
    condition = None if clause.condition is None else str(clause.condition)
    match clause.kind, clause.action:
        case Kind.MATCHED, Update(values):
            return builder.when_matched_update(_set(values), condition=condition)
        case Kind.MATCHED, UpdateAll():
            return builder.when_matched_update_all(condition=condition)
        case Kind.MATCHED, Delete():
            return builder.when_matched_delete(condition=condition)
        case Kind.NOT_MATCHED, Insert(values):
            texts = {name: str(value) for name, value in values.items()}
            return builder.when_not_matched_insert(texts, condition=condition)
        case Kind.NOT_MATCHED, InsertAll():
            return builder.when_not_matched_insert_all(condition=condition)
        case Kind.NOT_MATCHED_BY_SOURCE, Update(values):
            return builder.when_not_matched_by_source_update(_set(values), condition=condition)
        case Kind.NOT_MATCHED_BY_SOURCE, Delete():
            return builder.when_not_matched_by_source_delete(condition=condition)
        case _:
            raise AssertionError(f"no method for {clause}")


def _set(values: dict[tuple[str, ...], Expression]) -> dict[str, str]:
    """Returns new values by column; a field of a struct is a path in SQL."""
    return {path[0] if len(path) == 1 else to_sql(path): str(value) for path, value in values.items()}
