"""`Table.transaction` and `Table.run_transaction`: several changes in one commit."""

from __future__ import annotations

from collections.abc import Callable

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.transaction import CalledTransaction, Transaction
from deltaic.values.arguments import bounded_int, flag, text
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.read_once import UsedIterators

__all__ = ["begin_transaction", "run_in_transaction"]


def begin_transaction(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    operation: str,
    *,
    dry_run: bool,
    options: CommitOptions,
) -> Transaction:
    """Starts the transaction of `Table.transaction`."""
    given = to_options("transaction", **options)
    operation = text("operation", operation)
    rust = table.transaction(refresh(), operation=operation, options=given, dry_run=flag("dry_run", dry_run))
    return Transaction(rust, operation, is_dry_run=dry_run)


def run_in_transaction(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    function: Callable[[Transaction], object],
    *,
    max_runs: int,
    operation: str,
    options: CommitOptions,
) -> Commit | None:
    """Runs the function of `Table.run_transaction`, again after each conflict."""
    runs = bounded_int("max_runs", max_runs, minimum=1)
    given = to_options("run_transaction", **options)
    operation = text("operation", operation)
    iterators = UsedIterators()
    commit = table.run_transaction(
        refresh(),
        lambda rust: CalledTransaction(rust, operation, iterators=iterators).stage(function),
        operation=operation,
        max_runs=runs,
        options=given,
    )
    return None if commit is None else announced(commit, stacklevel=4)
