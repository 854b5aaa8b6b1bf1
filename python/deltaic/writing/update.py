"""`Table.update`: columns of rows that are set in one commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.assignments import NewValue, to_assignments
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

__all__ = ["update_rows"]


def update_rows(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    new_values: Mapping[str, NewValue],
    where: Predicate | None,
    *,
    dry_run: bool,
    options: CommitOptions,
) -> Commit | DryRun:
    """Updates the rows of `Table.update`, or returns what that would do."""
    given = to_options("update", **options)
    values = to_assignments(new_values)
    known = refresh()
    predicate = to_sql(where, Snapshot(known).schema)
    if flag("dry_run", dry_run):
        found = known.preview_update(values=values, predicate=predicate, options=given)
        return dry_run_from_rust("UPDATE", known.version, found)
    commit = table.update(known, values=values, predicate=predicate, options=given)
    return announced(commit, stacklevel=4)
