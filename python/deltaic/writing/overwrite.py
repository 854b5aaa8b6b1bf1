"""`Table.overwrite`: rows that are replaced by others in one commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag, names, text
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.pandas_index import with_index
from deltaic.writing.dry_run import DryRun, preview_rows

__all__ = ["overwrite_rows"]


def overwrite_rows(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    data: ArrowStreamExportable | ArrowArrayExportable,
    where: Predicate | None,
    *,
    partitions: str,
    schema_mode: str,
    partition_by: Sequence[str] | None,
    dry_run: bool,
    options: CommitOptions,
) -> Commit | DryRun:
    """Replaces the rows of `Table.overwrite`, or returns what that would do."""
    given = to_options("overwrite", **options)
    rows = checked_data(data)
    mode = text("schema_mode", schema_mode)
    by = text("partitions", partitions)
    columns = None if partition_by is None else names("partition_by", partition_by)
    if flag("dry_run", dry_run):
        return preview_rows(
            "OVERWRITE",
            refresh,
            rows,
            replaced=(to_sql(where, Snapshot(refresh()).schema), by),
            schema_mode=mode,
            partition_by=columns,
            options=given,
        )

    known = refresh()
    commit = table.overwrite(
        with_index(rows, known, adds_columns=mode != "keep"),
        known=known,
        predicate=to_sql(where, Snapshot(known).schema),
        partitions=by,
        schema_mode=mode,
        partition_by=columns,
        options=given,
    )
    return announced(commit, stacklevel=4)
