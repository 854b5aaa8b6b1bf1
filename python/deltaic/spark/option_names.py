"""The names of options, and what is said of a name that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from deltaic.table import Table

__all__ = ["READ_OPTIONS", "READ_OPTIONS_OF_STREAMS", "STREAM_OPTIONS", "prove_store_options"]

READ_OPTIONS = (
    "path",
    "versionAsOf",
    "timestampAsOf",
    "readChangeFeed",
    "readChangeData",
    "startingVersion",
    "startingTimestamp",
    "endingVersion",
    "endingTimestamp",
    "predicate",
    "rowIds",
    "fileModificationTime",
    "timeZone",
)
"""What a read takes besides the options of the table's store."""

READ_OPTIONS_OF_STREAMS = (
    "path",
    "startingVersion",
    "startingTimestamp",
    "readChangeFeed",
    "readChangeData",
    "timeZone",
)
"""Those of them that a stream takes as well."""

STREAM_OPTIONS = (
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "excludeRegex",
    "ignoreDeletes",
    "ignoreChanges",
    "ignoreFileDeletion",
    "skipChangeCommits",
    "failOnDataLoss",
)
"""What a stream takes besides, and a read does not."""


def prove_store_options(
    who: str, path: str, store: Mapping[str, str], takes: Sequence[str], others: Sequence[str] = ()
) -> None:
    """Shows that options which are nobody else's are those of the table's store.

    Args:
        who: Whom they were given to, for the error.
        path: The table's.
        store: The options.
        takes: The names that are taken besides.
        others: Names that may be meant as well.

    Raises:
        ValueError: An option is not known; the nearest name is told.
    """
    if not store:
        return
    try:
        Table(path, storage_options=store)
    except ValueError as error:
        meant = {name.lower(): name for name in (*takes, *others)}
        for name in store:
            if near := difflib.get_close_matches(name.lower(), meant, n=1, cutoff=0.75):
                raise ValueError(f"unknown option {name!r}: did you mean {meant[near[0]]!r}?") from None
        raise ValueError(
            f"unknown option among {', '.join(map(repr, store))}: {who} takes {', '.join(takes)}, and the "
            f"options of the table's store, which says: {error}"
        ) from None
