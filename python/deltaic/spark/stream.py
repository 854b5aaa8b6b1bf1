"""A Delta table as the source of a streaming query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from deltaic.exceptions import SchemaMismatch
from deltaic.spark.stream_commits import StreamFile
from deltaic.spark.stream_files import StreamFiles
from deltaic.spark.stream_offset import StreamOffset
from deltaic.spark.stream_options import Limits, StreamOptions
from deltaic.spark.stream_rows import arrow_schema, packed, rows
from deltaic.spark.types import struct_type

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
    from pyspark.sql.types import StructType
else:
    try:
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
    except ImportError:  # before Spark 4.2, where a source is not told of the trigger

        class SupportsTriggerAvailableNow:
            """Stands in for what this Spark does not have."""


__all__ = ["DeltaStreamReader", "StreamPartition"]

_OF_CHANGES = ("_change_type", "_commit_version", "_commit_timestamp")


@dataclass
class StreamPartition(InputPartition):
    """The files that one Spark task reads."""

    files: list[StreamFile]

    def __init__(self, files: list[StreamFile]) -> None:
        super().__init__(None)
        self.files = files


class DeltaStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a Delta table from one offset to the next.

    One instance lives on the driver for as long as the query runs. Others are made to be sent to the
    executors, where `read` alone is called; so the table is opened when it is first asked for.

    Args:
        options: The options of the query, by name in any case; `deltaic.spark.stream_options` has them.
        schema: The columns that the query reads: all of the table's, or some.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._options = StreamOptions.parse(options)
        self._schema = schema
        self._files: StreamFiles | None = None
        self._place: StreamOffset | None = None

    def initialOffset(self) -> dict[str, Any]:
        """Where a query without a checkpoint begins."""
        return self._opened().beginning().to_json()

    def latestOffset(
        self, start: dict[str, Any] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, Any]:
        """How far the next batch goes; where it starts, when there is nothing new."""
        files = self._opened()
        if start is not None:
            place, limits = StreamOffset.from_json(start), self._within(limit)
        else:
            # Before Spark 4.2 nobody says where the batch starts, and every trigger is asked once. So a batch
            # has all there is, unless the user set a limit, and starts where the last one ended.
            place, limits = self._place or files.beginning(), self._options.limits
        return files.end_of_batch(place, limits).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """How much a batch holds at most."""
        from pyspark.sql.streaming.datasource import ReadMaxBytes, ReadMaxFiles

        limits = self._options.default_limits
        if limits.max_files is not None:
            return ReadMaxFiles(limits.max_files)
        return ReadMaxBytes(limits.max_bytes or 1)

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """How far the table goes, for the query's progress."""
        files = self._opened()
        return files.beginning().at(files.newest_version() + 1, 0).to_json()

    def prepareForTriggerAvailableNow(self) -> None:
        """From now on the query goes up to what is newest now."""
        self._opened().stop_at_newest()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The files between two offsets, in parts of about the same size."""
        first, last = StreamOffset.from_json(start), StreamOffset.from_json(end)
        files = self._opened()
        found = files.between(first, last)
        # After a restart Spark 4.0 and 4.1 tell in this way alone how far the query had come.
        self._place = last
        return [StreamPartition(part) for part in packed(found)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of one part, as `pyarrow.RecordBatch`."""
        if not isinstance(partition, StreamPartition):
            raise TypeError(f"a part of a stream is a StreamPartition, not {type(partition).__name__}")
        return rows(partition.files, arrow_schema(self._schema))

    def commit(self, end: dict[str, Any]) -> None:
        """What lies before an offset will not be asked for again."""
        if self._files is not None:
            self._files.forget_before(StreamOffset.from_json(end))

    def _within(self, limit: ReadLimit | None) -> Limits:
        from pyspark.sql.streaming.datasource import ReadAllAvailable

        # Of two limits that the user set Spark hands back one; so it tells no more than whether there is any.
        return Limits() if isinstance(limit, ReadAllAvailable) else self._options.default_limits

    def _opened(self) -> StreamFiles:
        if self._files is None:
            files = StreamFiles(self._options, _columns(self._options, self._schema))
            _ensure_fits(self._schema, files, change_feed=self._options.read_change_feed)
            self._files = files
        return self._files


def _columns(options: StreamOptions, schema: StructType) -> list[str]:
    """The table's columns among those of the query."""
    names = [field.name for field in schema.fields]
    if options.read_change_feed:
        names = [name for name in names if name not in _OF_CHANGES]
    return names


def _ensure_fits(schema: StructType, files: StreamFiles, *, change_feed: bool) -> None:
    """Proves that the query's columns are the table's: Spark was told of them before the table was opened."""
    snapshot = files.rows_as
    of_table = {field.name: field.dataType for field in struct_type(snapshot.schema.to_json()).fields}
    for field in schema.fields:
        if change_feed and field.name in _OF_CHANGES:
            continue
        found = of_table.get(field.name)
        if found is None or found.simpleString() != field.dataType.simpleString():
            asked = field.dataType.simpleString()
            has = "there is none" if found is None else f"it is {found.simpleString()}"
            raise SchemaMismatch(
                f"the query reads the column {field.name} as {asked}, and {has} in the table at version "
                f"{snapshot.version}",
                context={"path": snapshot.uri, "field": field.name, "version": snapshot.version},
                hint="define the stream again: its columns are those that the table has then",
            )
