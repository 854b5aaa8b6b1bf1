"""`Table.optimize`: files that are combined, or rows that are sorted, without changing rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import bounded_int, flag, names, text
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

__all__ = ["optimize_files"]


def optimize_files(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    where: Predicate | None,
    *,
    zorder_by: Sequence[str],
    full: bool,
    target_file_size: int | str | None,
    dry_run: bool,
    options: CommitOptions,
) -> Commit | DryRun:
    """Rewrites the files of `Table.optimize`, or returns what that would do."""
    given = to_options("optimize", **options)
    known = refresh()
    request: dict[str, object] = {
        "predicate": to_sql(where, Snapshot(known).schema),
        "target_file_size": _size(target_file_size),
        "zorder_by": names("zorder_by", zorder_by),
        "full": flag("full", full),
        "purge": False,
    }
    if flag("dry_run", dry_run):
        return dry_run_from_rust("OPTIMIZE", known.version, known.preview_optimize(request=request))
    return announced(table.optimize(known, request=request, options=given), stacklevel=4)


def _size(target_file_size: int | str | None) -> str | None:
    """Converts a size to text.

    >>> _size(4096), _size("100mb"), _size(None)
    ('4096', '100mb', None)
    """
    if target_file_size is None:
        return None
    if isinstance(target_file_size, str):
        return text("target_file_size", target_file_size)
    return str(bounded_int("target_file_size", target_file_size, minimum=1))
