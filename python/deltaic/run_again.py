"""A function in one transaction after the other, until one of them commits."""

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
    """The commit of the run that met no conflict; None where it staged nothing.

    Args:
        function: Called with the transaction of each run.
        begin: Begins a transaction that may take so many seconds, or as long as it likes.
        max_runs: How often the function is run.
        deadline: Seconds from now, or a timedelta, for all runs together.
        pause: Waits a little, after so many runs that met a conflict.

    Raises:
        CommitConflict: The last run's, when there may be no further one.
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
