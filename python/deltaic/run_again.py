"""Runs a function in successive transactions until one commits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from deltaic.arguments import at_most
from deltaic.commit import Commit
from deltaic.commit_options import time_left
from deltaic.exceptions import CommitConflict
from deltaic.transaction import Transaction

__all__ = ["run_again"]


def run_again(
    function: Callable[[Transaction], object],
    begin: Callable[[float | None], Transaction],
    *,
    max_runs: int,
    deadline: float | timedelta | None,
    pause: Callable[[int], None],
) -> Commit | None:
    """Returns the commit of the run without a conflict; None if it staged nothing.

    Args:
        function: Called with the transaction of each run.
        begin: Begins a transaction with this time limit in seconds; None for no limit.
        max_runs: Maximum number of runs.
        deadline: Seconds from now, or a timedelta, for all runs together.
        pause: Waits briefly, depending on the number of runs that conflicted.

    Raises:
        CommitConflict: The conflict of the last permitted run.
    """
    runs = at_most("max_runs", max_runs, least=1)
    met: list[str] = []
    times = time_left(deadline)
    left = next(times)
    while True:
        tx = begin(left)
        try:
            with tx:
                function(tx)
        except CommitConflict as error:
            met.append(f"{error.message}; run again")
            left = next(times)
            if len(met) >= runs or left == 0 or not tx.is_lost:
                raise
            pause(len(met))
            continue
        commit = tx.committed
        return commit and replace(commit, conflicts_resolved=met + commit.conflicts_resolved)
