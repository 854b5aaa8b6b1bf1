"""A Delta table as the source of a streaming query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from deltaic.spark.added_columns import CHANGE_COLUMNS
from deltaic.spark.arrow_batches import arrow_schema
from deltaic.spark.partitions import balanced, partition_count
from deltaic.spark.requested_columns import requested_columns
from deltaic.spark.stream.commits import StreamFile
from deltaic.spark.stream.files import StreamFiles
from deltaic.spark.stream.offset import StreamOffset
from deltaic.spark.stream.options import Limits, StreamOptions
from deltaic.spark.stream.rows import rows
from deltaic.spark.types import struct_type
from deltaic.spark.worker_errors import readable_errors

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

    from deltaic.reading.snapshot import Snapshot
else:
    try:
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
    except ImportError:  # before Spark 4.2, which does not pass the trigger to sources

        class SupportsTriggerAvailableNow:
            """A placeholder for Spark versions without it."""


__all__ = ["DeltaStreamReader", "StreamPartition"]


@dataclass
class StreamPartition(InputPartition):
    """The files that one Spark task reads."""

    files: list[StreamFile]

    def __init__(self, files: list[StreamFile]) -> None:
        super().__init__(None)
        self.files = files


class DeltaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a Delta table from one offset to the next.

    One instance lives on the driver for as long as the query runs. Others are created to be sent to the
    executors, where only `read` is called; so the table is opened on first use.

    Args:
        options: The options of the query, names are case-insensitive; see `deltaic.spark.stream.options`.
        schema: The columns that the query reads: all of the table's, or some.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        # Parsed on first use: Spark hides errors of a reader's constructor.
        self._given = dict(options)
        self._schema = schema
        self._files: StreamFiles | None = None
        self._place: StreamOffset | None = None

    def initialOffset(self) -> dict[str, Any]:
        """Returns the start offset of a query without a checkpoint."""
        with readable_errors():
            return self._opened().beginning().to_json()

    def latestOffset(
        self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, Any]:
        """Returns the end of the next batch; its start if there is nothing new."""
        with readable_errors():
            files = self._opened()
            if start is not None:
                place, limits = StreamOffset.from_json(start), self._within(limit)
            else:
                # Before Spark 4.2 the start of the batch is not passed, and this is called once per trigger.
                # So a batch has all new files, unless the user set a limit, and starts where the last ended.
                place, limits = self._place or files.beginning(), self._options.limits
            return files.end_of_batch(place, limits).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Returns the default limit of a batch."""
        from pyspark.sql.streaming.datasource import ReadMaxBytes, ReadMaxFiles

        with readable_errors():
            limits = self._options.default_limits
        if limits.max_files is not None:
            return ReadMaxFiles(limits.max_files)
        return ReadMaxBytes(limits.max_bytes or 1)

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """Returns the newest offset of the table, for the query's progress."""
        with readable_errors():
            files = self._opened()
            place = self._place or files.beginning()
            return place.at(files.newest_version() + 1, 0).to_json()

    def prepareForTriggerAvailableNow(self) -> None:
        """Limits the query to the version that is newest now."""
        with readable_errors():
            self._opened().stop_at_newest()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Returns the files between two offsets, in partitions of about equal size."""
        with readable_errors():
            first, last = StreamOffset.from_json(start), StreamOffset.from_json(end)
            found = self._opened().between(first, last)
        # After a restart, Spark 4.0 and 4.1 report the progress of the query only through this call.
        self._place = last
        sizes = [file.task.size_in_bytes for file in found]
        parts = balanced(found, lambda file: file.task.size_in_bytes, partition_count(sizes))
        return [StreamPartition(part) for part in parts if part]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Returns the rows of one partition, as `pyarrow.RecordBatch`."""
        if not isinstance(partition, StreamPartition):
            raise TypeError(f"a stream partition must be a StreamPartition, not {type(partition).__name__}")
        with readable_errors():
            yield from rows(partition.files, arrow_schema(self._schema))

    def commit(self, end: dict[str, Any]) -> None:
        """Releases data for offsets before `end`, which are not requested again."""
        if self._files is not None:
            self._files.forget_before(StreamOffset.from_json(end))

    @cached_property
    def _options(self) -> StreamOptions:
        return StreamOptions.parse(self._given)

    def _within(self, limit: ReadLimit | None) -> Limits:
        from pyspark.sql.streaming.datasource import ReadAllAvailable

        # Of two limits that the user set Spark returns only one; so use only whether there is a limit.
        return Limits() if isinstance(limit, ReadAllAvailable) else self._options.default_limits

    def _opened(self) -> StreamFiles:
        if self._files is None:
            choose = partial(_columns, self._options, self._schema)
            self._files = StreamFiles(self._options, choose)
        return self._files


def _columns(options: StreamOptions, schema: StructType, snapshot: Snapshot) -> list[str]:
    """Returns the names of the columns to read; Spark resolved them before the table was opened."""
    fields = schema.fields
    if options.read_change_feed:
        change_columns = {field.name for field in CHANGE_COLUMNS}
        fields = [field for field in fields if field.name not in change_columns]
    of_table = struct_type(snapshot.schema.to_json())
    return requested_columns(StructType(fields), of_table, version=snapshot.version)
