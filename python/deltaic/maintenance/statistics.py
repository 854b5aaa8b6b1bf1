"""`Table.recompute_statistics`: statistics that are computed again from the data files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag, names
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

__all__ = ["compute_statistics"]


def compute_statistics(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    columns: Sequence[str] | None,
    where: Predicate | None,
    *,
    dry_run: bool,
    options: CommitOptions,
) -> Commit | DryRun:
    """Computes the statistics of `Table.recompute_statistics`, or returns what that would change."""
    given = to_options("recompute_statistics", **options)
    known = refresh()
    request: dict[str, object] = {
        "columns": None if columns is None else names("columns", columns),
        "predicate": to_sql(where, Snapshot(known).schema),
    }
    if flag("dry_run", dry_run):
        found = table.preview_statistics(known, request=request, options=given)
        return dry_run_from_rust("COMPUTE STATS", known.version, found)
    commit = table.recompute_statistics(known, request=request, options=given)
    return announced(commit, stacklevel=4)
