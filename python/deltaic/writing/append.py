"""`Table.append`: new rows in one commit."""

from __future__ import annotations

from collections.abc import Callable

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.values.arguments import flag, text
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.pandas_index import with_index
from deltaic.writing.dry_run import DryRun, preview_rows

__all__ = ["append_rows"]


def append_rows(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    data: ArrowStreamExportable | ArrowArrayExportable,
    *,
    schema_mode: str,
    dry_run: bool,
    options: CommitOptions,
) -> Commit | DryRun:
    """Appends the rows of `Table.append`, or returns what that would do."""
    given = to_options("append", **options)
    rows = checked_data(data)
    mode = text("schema_mode", schema_mode)
    if flag("dry_run", dry_run):
        return preview_rows(
            "APPEND", refresh, rows, replaced=None, schema_mode=mode, partition_by=None, options=given
        )

    known = refresh()
    indexed = with_index(rows, known, adds_columns=mode != "keep")
    commit = table.append(indexed, options=given, schema_mode=mode, known=known)
    return announced(commit, stacklevel=4)
