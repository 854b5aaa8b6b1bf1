"""The verbs of a transaction that take rows."""

from __future__ import annotations

from typing import Any

import deltaic


def stage(tx: deltaic.Transaction, verb: str, rows: Any) -> None:
    """Stages an append or an overwrite, or else a merge that updates and inserts."""
    match verb:
        case "append":
            tx.append(rows)
        case "overwrite":
            tx.overwrite(rows)
        case _:
            upserted(tx.merge(rows, "target.id = source.id")).execute()


def upserted(merge: Any) -> Any:
    """Returns a merge with clauses that update and insert all columns."""
    return merge.when_matched_update_all().when_not_matched_insert_all()
