"""`Table.purge`: deleted rows and dropped columns that are removed from files."""

from __future__ import annotations

from collections.abc import Callable

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

__all__ = ["purge_files"]


def purge_files(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    where: Predicate | None,
    *,
    dry_run: bool,
    options: CommitOptions,
) -> Commit | DryRun:
    """Rewrites the files of `Table.purge`, or returns what that would do."""
    given = to_options("purge", **options)
    known = refresh()
    request: dict[str, object] = {
        "predicate": to_sql(where, Snapshot(known).schema),
        "target_file_size": None,
        "zorder_by": [],
        "full": False,
        "purge": True,
    }
    if flag("dry_run", dry_run):
        return dry_run_from_rust("REORG", known.version, known.preview_optimize(request=request))
    return announced(table.optimize(known, request=request, options=given), stacklevel=4)
