"""New rows of tables with identity columns: after a lost race, the values are generated again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from deltaic.exceptions import MetadataChanged
from deltaic.values.commit_options import CommitOptions
from deltaic.values.read_once import is_read_again

__all__ = ["with_new_identities"]

_Result = TypeVar("_Result")
_MAX_RUNS = 100
_HINT = (
    "identity values must be generated again, and a stream cannot be read again: run the call again with a "
    "new stream, or pass a table or data frame"
)


def with_new_identities(
    write: Callable[[], _Result], data: object, schema: Callable[[], str], options: CommitOptions
) -> _Result:
    """Runs an append or overwrite, and again after each change of the metadata, if it has identity columns.

    Args:
        write: Writes the rows to the newest version.
        data: The rows.
        schema: Returns the table's schema as JSON.
        options: Those of the commit: `max_attempts` limits the runs.

    Raises:
        MetadataChanged: The data cannot be read again, the table has no identity column, or every run lost.

    >>> with_new_identities(lambda: 3, [], lambda: "", {})
    3
    """
    most = min(options.get("max_attempts") or _MAX_RUNS, _MAX_RUNS)
    for run in range(1, most + 1):
        try:
            return write()
        except MetadataChanged as error:
            if run == most or "delta.identity.start" not in schema():
                raise
            if not is_read_again(data):
                raise MetadataChanged(
                    error.message, context=error.context, hint=_HINT, retryable=error.retryable
                ) from error
        # Writers that lost together do not try again together.
        time.sleep(random.uniform(0, 0.01 * min(run, 10)))  # noqa: S311 - not a secret
    raise AssertionError("a call that neither returned nor raised")
