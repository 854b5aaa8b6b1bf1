"""`Table.history`: the commits that the log still holds."""

from __future__ import annotations

from deltaic import _rust
from deltaic.commit import Commit, from_rust
from deltaic.values.arguments import bounded_int

__all__ = ["read_history"]


def read_history(table: _rust.Table, limit: int | None) -> list[Commit]:
    """Returns the commits of `Table.history`, newest first."""
    most = None if limit is None else bounded_int("limit", limit, minimum=0)
    return [from_rust(commit) for commit in table.history(most)]
