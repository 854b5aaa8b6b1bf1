"""Rows that deletion vectors delete, and removed files that a vacuum deletes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from deltaic.advice.facts import TableFacts
from deltaic.advice.recommendation import Recommendation
from deltaic.advice.retention import deleted_file_retention_ms
from deltaic.commit import Commit
from deltaic.values.optional import require
from deltaic.values.sizes import counted, readable_size

__all__ = ["check_deletion_vectors", "check_removed_files"]

_REWRITTEN_ABOVE = 0.05


def check_deletion_vectors(facts: TableFacts) -> Iterator[Recommendation]:
    """Compares the deleted rows with all rows."""
    compute = import_module("pyarrow.compute")
    deleted: int = compute.sum(facts.deleted_rows).as_py() or 0
    vectors: int = compute.count(facts.deleted_rows).as_py()
    if not vectors:
        return
    rows = facts.num_rows
    share = None if rows is None or not rows + deleted else deleted / (rows + deleted)
    has_vector = compute.is_valid(facts.deleted_rows)
    size: int = compute.sum(compute.if_else(has_vector, facts.sizes, 0)).as_py() or 0
    is_much = share is None or share > _REWRITTEN_ABOVE
    of = "" if share is None else f", {share:.1%} of all"
    yield Recommendation(
        "DELETED_ROWS",
        "warning" if share is not None and share > 0.3 else "advice" if is_much else "info",
        f"deletion vectors delete {counted(deleted, 'row')}{of}",
        f"{counted(vectors, 'file')} ({readable_size(size)}) {'has' if vectors == 1 else 'have'} a deletion "
        "vector: each scan reads their deleted rows and the vectors too.",
        f"files with more than 5% of deleted rows are rewritten without them, at most {readable_size(size)}",
        "table.optimize()",
        "deltaic optimize PATH",
        {
            "deleted_rows": deleted,
            "rows": rows,
            "share": None if share is None else round(share, 6),
            "files": vectors,
            "size_in_bytes": size,
        },
    )


def check_removed_files(facts: TableFacts) -> Iterator[Recommendation]:
    """Adds the sizes of removed files that are older than the retention and still exist, as far as known."""
    retention = deleted_file_retention_ms(facts.snapshot.properties)
    if retention is None:
        return
    compute = import_module("pyarrow.compute")
    expired = _expired(facts, facts.now_ms - retention)
    if not len(expired):
        return
    size: int = compute.sum(expired["size"]).as_py() or 0
    unknown = expired["size"].null_count
    days = retention / 86_400_000
    yield Recommendation(
        "REMOVED_FILES",
        "warning" if size > max(1 << 30, facts.snapshot.size_in_bytes) else "advice",
        f"{counted(len(expired), 'removed file')} {'is' if len(expired) == 1 else 'are'} older than the "
        f"retention of {days:g} days",
        "No version within the retention needs them; versions before can no longer be read after a vacuum.",
        f"a vacuum deletes up to {readable_size(size)}"
        + (f", and {unknown:,} files of unknown size" if unknown else ""),
        "table.vacuum()",
        "deltaic vacuum PATH",
        {"files": len(expired), "size_in_bytes": size, "files_of_unknown_size": unknown},
    )


def _expired(facts: TableFacts, before_ms: int) -> Any:
    arrow, compute = require("pyarrow", "Table.advise()"), import_module("pyarrow.compute")
    removed = arrow.table(facts.snapshot.tombstones()).select(["path", "deletion_timestamp", "size"])
    # A tombstone without a time is as old as the table (protocol: Add File and Remove File).
    times = compute.fill_null(removed["deletion_timestamp"], 0)
    is_expired = compute.less(times, before_ms)
    vacuumed = _last_vacuum_ms(facts.commits)
    if vacuumed is not None:
        # The log retains tombstones of files that this vacuum deleted.
        gone = vacuumed - (deleted_file_retention_ms(facts.snapshot.properties) or 0)
        is_expired = compute.and_(is_expired, compute.greater_equal(times, gone))
    removed = removed.filter(is_expired)
    if not len(removed):
        return removed
    removed = removed.group_by("path").aggregate([("size", "max")])
    live = arrow.table(facts.snapshot.files())["path"]
    # A file whose deletion vector was replaced has a tombstone and is live.
    still_live = live.filter(compute.is_in(live, value_set=removed["path"].combine_chunks()))
    if len(still_live):
        dead = compute.invert(compute.is_in(removed["path"], value_set=still_live.combine_chunks()))
        removed = removed.filter(dead)
    return removed.rename_columns(["size" if name == "size_max" else name for name in removed.column_names])


def _last_vacuum_ms(commits: Any) -> int | None:
    done: list[Commit] = [commit for commit in commits if commit.operation == "VACUUM END"]
    finished = [commit for commit in done if commit.parameters.get("status", "COMPLETED") == "COMPLETED"]
    return int(finished[0].timestamp.timestamp() * 1000) if finished else None
