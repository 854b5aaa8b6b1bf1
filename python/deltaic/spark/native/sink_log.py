"""The log of a streaming sink, from which Spark reads a list of files instead of listing folders.

Spark's file sink writes a log of its files to `_spark_metadata`, and Spark's readers trust that log. A log
written for one load gives Spark exactly the files of a snapshot.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LOG", "sink_log", "write_log"]

# Batch 0 under the name of a compacted batch is found with any compaction interval of the session
# (spark.sql.streaming.fileSink.log.compactInterval); under its plain name it is not with interval 1.
LOG = Path("_spark_metadata") / "0.compact"
"""The path of the log in its folder."""


def write_log(text: bytes, folder: Path) -> None:
    """Writes a log to a folder without one."""
    (folder / LOG).parent.mkdir()
    (folder / LOG).write_bytes(text)


@contextmanager
def sink_log(text: bytes) -> Generator[str]:
    """Writes a log and yields its folder, as text for Spark's `load`.

    The folder is needed only while Spark creates the DataFrame, and is deleted afterwards.

    Example:
        >>> with sink_log(b"v1") as folder:
        ...     Path(folder.removeprefix("file://"), LOG).read_bytes()
        b'v1'
    """
    with tempfile.TemporaryDirectory(prefix="deltaic-") as folder:
        write_log(text, Path(folder))
        # Hadoop uses the text of a path literally: it is not percent-decoded.
        yield f"file://{folder}"
