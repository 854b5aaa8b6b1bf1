"""`Table.delete`: rows that are deleted in one commit."""

from __future__ import annotations

from collections.abc import Callable

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

__all__ = ["delete_rows"]


def delete_rows(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    where: Predicate | None,
    *,
    dry_run: bool,
    options: CommitOptions,
) -> Commit | DryRun:
    """Deletes the rows of `Table.delete`, or returns what that would do."""
    given = to_options("delete", **options)
    known = refresh()
    predicate = to_sql(where, Snapshot(known).schema)
    if flag("dry_run", dry_run):
        return dry_run_from_rust("DELETE", known.version, known.preview_delete(predicate=predicate))
    return announced(table.delete(known, predicate=predicate, options=given), stacklevel=4)
