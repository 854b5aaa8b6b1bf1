"""A streaming sink's log, by which Spark takes a list of files as given instead of listing folders.

Spark's file sink leaves a log of its files in `_spark_metadata`, and Spark's readers trust that log. A log
written for one load hands Spark exactly the files of a snapshot.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["sink_log"]

# Batch 0 under the name of a compacted batch is found whatever interval of compaction the session has
# (spark.sql.streaming.fileSink.log.compactInterval); under its plain name it is not when that is 1.
_BATCH = "0.compact"


@contextmanager
def sink_log(text: bytes) -> Generator[str]:
    """Write a log and yield its folder, as text for Spark's `load`.

    The folder is needed only while Spark makes the DataFrame, and removed afterwards.

    Example:
        >>> with sink_log(snapshot._rust.hand_over().sink_log(ordinals=False)) as folder:  # doctest: +SKIP
        ...     frame = spark.read.schema("a long").parquet(folder)
    """
    with tempfile.TemporaryDirectory(prefix="deltaic-") as folder:
        log = Path(folder) / "_spark_metadata"
        log.mkdir()
        (log / _BATCH).write_bytes(text)
        # Hadoop takes the text of a path as it is: it is not percent-decoded.
        yield f"file://{folder}"
