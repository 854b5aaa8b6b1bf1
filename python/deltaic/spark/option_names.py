"""The names of options, and errors for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from deltaic.table import Table

__all__ = [
    "READ_OPTIONS",
    "READ_OPTIONS_OF_STREAMS",
    "STREAM_OPTIONS",
    "WRITE_OPTIONS",
    "check_store_options",
    "hadoop_options",
]

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
"""The options of a read, besides the storage options."""

READ_OPTIONS_OF_STREAMS = (
    "path",
    "startingVersion",
    "startingTimestamp",
    "readChangeFeed",
    "readChangeData",
    "timeZone",
)
"""The read options that a stream accepts as well."""

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
"""The options of a stream that a read does not accept."""


WRITE_OPTIONS = (
    "path",
    "mergeSchema",
    "overwriteSchema",
    "replaceWhere",
    "replaceUsing",
    "replaceOn",
    "targetAlias",
    "partitionOverwriteMode",
    "userMetadata",
    "txnAppId",
    "txnVersion",
    "maxRecordsPerFile",
    "optimizeWrite",
    "compression",
    "dataChange",
)
"""The options of a write, besides table properties (``delta.…``) and the storage options."""


def hadoop_options(store: Mapping[str, str]) -> dict[str, str]:
    """Returns the storage options that Spark's own reader gets: settings of Hadoop's file systems.

    Example:
        >>> hadoop_options({"fs.s3a.path.style.access": "true", "region": "eu-west-1"})
        {'fs.s3a.path.style.access': 'true'}
    """
    return {name: value for name, value in store.items() if name.startswith("fs.")}


def check_store_options(
    who: str, path: str, store: Mapping[str, str], takes: Sequence[str], others: Sequence[str] = ()
) -> None:
    """Validates that all remaining options are storage options.

    Args:
        who: The subject of the error message.
        path: The table's path.
        store: The options.
        takes: The other accepted names.
        others: Further names to suggest for typos.

    Raises:
        ValueError: An option is not known; the message gives the closest name.
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
