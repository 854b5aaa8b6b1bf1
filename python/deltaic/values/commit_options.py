"""The commit options of all writing methods."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypedDict, cast

from deltaic.commit import to_app_transaction, to_commit_info
from deltaic.values.arguments import bounded_int, byte_size, flag
from deltaic.values.foreign_names import ARGUMENTS
from deltaic.values.progress import Progress, to_progress

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["CommitOptions", "EmptyPartitionText", "Isolation", "to_options"]

Isolation = Literal["Serializable", "WriteSerializable", "SnapshotIsolation"]
"""Which concurrent commits are allowed between a transaction's reads and its commit."""

EmptyPartitionText = Literal["error", "null"]
"""What happens to empty text in a partition column of new rows."""

_MOST_MILLIS = (1 << 63) - 1

LEAST_MEMORY = 1 << 20
"""The least ``memory`` of a write, in bytes: a few batches."""


class CommitOptions(TypedDict, total=False):
    """The options of all writing methods.

    Attributes:
        commit_info: Custom entries for the commit's ``commitInfo`` (None). Keys that deltaic writes itself,
            such as ``operation`` and ``txnId``, are rejected.
        app_transaction: The id of your application and the version that this commit records for it, such as
            the number of a batch (None). If the table already records that version or a later one, nothing
            is committed and ``Commit.skipped`` is set, so a job can be retried safely.
        max_attempts: Maximum number of commit attempts lost to other writers (1000).
        deadline: Seconds from now, or a timedelta, after which no further version is tried (10 minutes).
        isolation: Overrides the table's ``delta.isolationLevel`` (None). ``"Serializable"`` allows no
            concurrent commit whose rows would have been read, ``"WriteSerializable"`` allows blind appends,
            and ``"SnapshotIsolation"`` allows everything except removing a file that is read or removed.
        row_level: Whether two commits that delete different rows of one file both succeed, and whether
            a verb plans its changes again after another writer changed the table (True). If False, both
            conflict, as in delta-spark.
        upkeep: Whether to run post-commit maintenance (True): the version checksum, and the checkpoint and
            log cleanup that are due by ``delta.checkpointInterval``. A failure never fails the commit; it is
            a `DeltaicWarning` and an entry of ``Commit.warnings``.
        empty_partition_text: What happens to empty text in a partition column of new rows, which every reader
            of Delta tables reads back as NULL (``"error"``). ``"null"`` writes NULL instead, as Spark
            does; this is an error in a column that is NOT NULL.
        memory: Memory for rows in progress, in bytes or as text such as ``"256 MiB"`` (None: a quarter of the
            machine). Rows of more partitions than can be open at once are kept in a temporary file, in the
            folder that the environment variable ``TMPDIR`` names; so are the rows of a merge that take more
            than a quarter of it.
        progress: Called from time to time, and when a call has succeeded (None): with ``"files"`` (reading
            data files), ``"rows"`` (writing rows) or ``"deletions"`` (of a vacuum), the number of completed
            ones, and the total, which is 0 if it is not known. True shows a line on stderr, if that is a
            terminal. An exception that the function raises ends the call as Ctrl-C does.

    >>> import deltaic, pyarrow
    >>> nightly: deltaic.CommitOptions = {"app_transaction": ("nightly", 7)}
    >>> table = deltaic.Table.create("quays", pyarrow.schema([("id", pyarrow.int64())]))
    >>> [table.append(pyarrow.table({"id": [1]}), **nightly).skipped for _ in range(2)]
    [False, True]
    """

    commit_info: Mapping[str, object] | None
    app_transaction: tuple[str, int] | None
    max_attempts: int
    deadline: float | timedelta | None
    isolation: Isolation | None
    row_level: bool
    upkeep: bool
    empty_partition_text: EmptyPartitionText
    memory: int | str | None
    progress: Progress | bool | None


def to_options(verb: str, **given: Unpack[CommitOptions]) -> dict[str, object]:
    """Converts the options to the form that the Rust core takes.

    Raises:
        TypeError: An option is not known, or has the wrong type.
        ValueError: An option has an invalid value.

    >>> to_options("append", max_attempts=3, deadline=1.5)["deadline_ms"]
    1500
    """
    for name in given:
        if name not in CommitOptions.__annotations__:
            known = f"the options of a commit are {', '.join(CommitOptions.__annotations__)}"
            hint = f"use {ARGUMENTS[name]}" if name in ARGUMENTS else known
            raise TypeError(f"{verb}() has no option {name!r}: {hint}")
    isolation, deadline, memory = given.get("isolation"), given.get("deadline"), given.get("memory")
    # Checked for callers without a type checker.
    if isolation is not None and not isinstance(isolation, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"isolation must be the name of a level, not {type(isolation).__name__}")
    return {
        "commit_info": to_commit_info(given.get("commit_info")),
        "app_transaction": to_app_transaction(given.get("app_transaction")),
        "max_attempts": bounded_int("max_attempts", given.get("max_attempts", 1000), minimum=1),
        "deadline_ms": None if deadline is None else _to_millis(deadline),
        "isolation": isolation,
        "row_level": flag("row_level", given.get("row_level", True)),
        "upkeep": flag("upkeep", given.get("upkeep", True)),
        "empty_text_is_null": _is_null(given.get("empty_partition_text", "error")),
        "memory": None if memory is None else byte_size("memory", memory, minimum=LEAST_MEMORY),
        "progress": to_progress(given.get("progress")),
    }


def _is_null(empty_partition_text: object) -> bool:
    if empty_partition_text not in ("error", "null"):
        raise ValueError(f'empty_partition_text must be "error" or "null", not {empty_partition_text!r}')
    return empty_partition_text == "null"


def _to_millis(deadline: float | timedelta) -> int:
    """Converts a deadline, given in seconds or as a timedelta, to milliseconds."""
    seconds = cast("object", deadline.total_seconds() if isinstance(deadline, timedelta) else deadline)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"deadline must be a number of seconds or a timedelta, not {type(deadline).__name__}")
    if math.isnan(seconds) or seconds < 0:
        raise ValueError(f"deadline must be at least 0 seconds, not {deadline}")
    return int(min(seconds * 1000, _MOST_MILLIS))
