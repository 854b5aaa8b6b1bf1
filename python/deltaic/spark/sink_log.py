"""A streaming sink's log, by which Spark takes a list of files as given instead of listing folders.

Spark's file sink leaves a log of its files in `_spark_metadata`, and Spark's readers trust that log. A log
written for one load hands Spark exactly the files of a snapshot. What is not in a Parquet file travels in the
entry's modification time: Spark never interprets it and gives it back as `_metadata.file_modification_time`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

__all__ = ["SinkFile", "sink_log"]

_FORMAT = "v1"
# Batch 0 under the name of a compacted batch is found whatever interval of compaction the session has
# (spark.sql.streaming.fileSink.log.compactInterval); under its plain name it is not when that is 1.
_BATCH = "0.compact"
_BLOCK_SIZE = 128 * 1024 * 1024


class SinkFile(NamedTuple):
    """One entry of the log."""

    uri: str
    """Where the file is, as a percent-encoded URI."""

    size: int
    """Its length in bytes; Spark reads no further."""

    modification_time: int
    """Milliseconds, or any number that is to come back in `_metadata.file_modification_time`."""


@contextmanager
def sink_log(files: Iterable[SinkFile]) -> Generator[str]:
    """Write the log of these files and yield the folder, as text for Spark's `load`.

    The folder is needed only while Spark makes the DataFrame, and removed afterwards.

    Example:
        >>> with sink_log([SinkFile("file:///data/a.parquet", 100, 0)]) as folder:
        ...     frame = spark.read.schema("a long").parquet(folder)  # doctest: +SKIP
    """
    with tempfile.TemporaryDirectory(prefix="deltaic-") as folder:
        log = Path(folder) / "_spark_metadata"
        log.mkdir()
        with (log / _BATCH).open("w", encoding="ascii") as out:
            out.write(_FORMAT)
            out.writelines(f"\n{_entry(file)}" for file in files)
        # Hadoop takes the text of a path as it is: it is not percent-decoded.
        yield f"file://{folder}"


def _entry(file: SinkFile) -> str:
    return json.dumps(
        {
            "path": file.uri,
            "size": file.size,
            "isDir": False,
            "modificationTime": file.modification_time,
            "blockReplication": 1,
            "blockSize": _BLOCK_SIZE,
            "action": "add",
        }
    )
