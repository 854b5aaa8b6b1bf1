"""A streaming sink's log, by which Spark takes a list of files as given instead of listing folders.

Spark's file sink leaves a log of its files in `_spark_metadata`, and Spark's readers trust that log. A log
written for one load hands Spark exactly the files of a snapshot.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LOG", "sink_log", "write_log"]

# Batch 0 under the name of a compacted batch is found whatever interval of compaction the session has
# (spark.sql.streaming.fileSink.log.compactInterval); under its plain name it is not when that is 1.
LOG = Path("_spark_metadata") / "0.compact"
"""Where the log is in its folder."""


def write_log(text: bytes, folder: Path) -> None:
    """Write a log into a folder that has none."""
    (folder / LOG).parent.mkdir()
    (folder / LOG).write_bytes(text)


@contextmanager
def sink_log(text: bytes) -> Generator[str]:
    """Write a log and yield its folder, as text for Spark's `load`.

    The folder is needed only while Spark makes the DataFrame, and removed afterwards.

    Example:
        >>> with sink_log(b"v1") as folder:
        ...     Path(folder.removeprefix("file://"), LOG).read_bytes()
        b'v1'
    """
    with tempfile.TemporaryDirectory(prefix="deltaic-") as folder:
        write_log(text, Path(folder))
        # Hadoop takes the text of a path as it is: it is not percent-decoded.
        yield f"file://{folder}"
