"""The operations that write: a DataFrame of a format, and the batches of a stream."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import DataFrame

from deltaic.exceptions import UnsupportedFeature
from deltaic.spark.frame_write.columns import to_delta
from deltaic.spark.frame_write.options import MODES, WriteOptions
from deltaic.spark.frame_write.plan import WriteRequest
from deltaic.spark.frame_write.run import write_frame
from deltaic.spark.frame_write.source_options import ANSI, CLUSTERING, MODE, PARTITIONING
from deltaic.spark.sql.sessions import python_session

__all__ = ["save", "sink_batch", "sink_check"]

# By these options Spark gives a V1 source what a user gives to partitionBy and clusterBy.
_PARTITIONING = "__partition_columns"
_CLUSTERING = "__clustering_columns"
_NOT_OF_STREAMS = (
    "txnappid",
    "txnversion",
    "replacewhere",
    "partitionoverwritemode",
    "replaceusing",
    "replaceon",
    "targetalias",
    "datachange",
)
# Options of a query, which its sink gets too.
_OF_QUERY = ("checkpointlocation", "queryname")


def save(session: Any, mode: str, options: str, rows: Any) -> None:
    """Writes the rows of a DataFrame.

    Args:
        session: Spark's own object of the session.
        mode: The name of the mode in Spark.
        options: The options of the user by name, as JSON.
        rows: Spark's own object of the DataFrame.
    """
    given: dict[str, str] = json.loads(options)
    # A session of Spark Connect in this JVM gives what `deltaic.spark.write` gives the data source.
    partition_by = json.loads(given.pop(PARTITIONING, given.pop(_PARTITIONING, "[]")))
    cluster_by = json.loads(given.pop(CLUSTERING, given.pop(_CLUSTERING, "[]")))
    mode = given.pop(MODE, mode)
    given = {name: value for name, value in given.items() if name.lower() not in ("timezone", ANSI)}
    frame = DataFrame(rows, python_session(session))
    write_frame(frame, _request(frame, MODES[mode.lower()], given, partition_by, cluster_by))


def sink_check(_session: Any, mode: str, options: str) -> None:
    """Verifies that a stream can be written, before it starts.

    Args:
        _session: Spark's own object of the session.
        mode: The output mode: ``Append``, ``Complete`` or ``Update``.
        options: The options of the user by name, as JSON.
    """
    if mode == "Update":
        raise UnsupportedFeature(
            "a stream in output mode 'update' gives changed rows, which a table cannot find",
            context={"feature": "update mode"},
            hint="merge them: stream.writeStream.foreachBatch(lambda batch, number: …), with "
            "deltaic.Table(path).merge(…)",
        )
    _of_sink(json.loads(options))


def sink_batch(  # noqa: PLR0917 - Java passes them by position
    session: Any, query: str, batch: int, mode: str, options: str, partition_columns: Any, rows: Any
) -> None:
    """Writes a batch of a stream, unless the table records it.

    Args:
        session: Spark's own object of the session.
        query: The id of the query.
        batch: The number of the batch.
        mode: The output mode: ``Complete`` replaces all rows.
        options: The options of the user by name, as JSON.
        partition_columns: A list of Java.
        rows: Spark's own object of the DataFrame.
    """
    given = {**_of_sink(json.loads(options)), "txnAppId": query, "txnVersion": str(batch)}
    partition_by = [str(partition_columns[index]) for index in range(partition_columns.size())]
    frame = DataFrame(rows, python_session(session))
    mode = "overwrite" if mode == "Complete" else "append"
    write_frame(frame, _request(frame, mode, given, partition_by, []))


def _of_sink(given: dict[str, str]) -> dict[str, str]:
    """Returns the options of the table, without those of the query."""
    found = {name: value for name, value in given.items() if name.lower() not in _OF_QUERY}
    for name in found:
        if name.lower() in _NOT_OF_STREAMS:
            raise ValueError(f"option {name!r} does not apply to a stream: use it in foreachBatch")
    _parsed(found)
    return found


def _request(
    frame: DataFrame, mode: str, given: dict[str, str], partition_by: list[str], cluster_by: list[str]
) -> WriteRequest:
    path, options = _parsed(given)
    return WriteRequest(path, mode, to_delta(frame.schema), options, partition_by, cluster_by)


def _parsed(given: dict[str, str]) -> tuple[str, WriteOptions]:
    options = dict(given)
    path = next((options.pop(name) for name in list(options) if name.lower() == "path"), None)
    if not path:
        raise ValueError("no path was given: write save('data/events') or option('path', 'data/events')")
    return path, WriteOptions.parse(path, options)
