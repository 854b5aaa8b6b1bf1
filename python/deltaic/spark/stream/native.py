"""A Delta table as a streaming source whose files Spark's own Parquet reader reads.

Offsets are those of the data source, so a query continues from the checkpoint of either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import StructType

from deltaic.exceptions import DeltaicError, SchemaMismatch, UnsupportedFeature
from deltaic.spark.native.choose_path import stream_frame
from deltaic.spark.native.columns import quoted
from deltaic.spark.native.scan_plan import plan_native_tasks
from deltaic.spark.option_names import hadoop_options
from deltaic.spark.stream.files import StreamFiles
from deltaic.spark.stream.offset import StreamOffset
from deltaic.spark.stream.options import Limits, StreamOptions
from deltaic.spark.types import struct_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.reading.snapshot import Snapshot

__all__ = ["NativeStream", "stream_schema"]


def stream_schema(options: Mapping[str, str]) -> StructType | None:
    """Returns the columns of a stream; None if only the data source reads it.

    Args:
        options: The options of the stream by name, see `deltaic.spark.stream.options`.

    Raises:
        TableNotFound, ValueError, UnsupportedFeature: There is no such stream.
    """
    parsed = StreamOptions.parse(options)
    if parsed.read_change_feed:
        return None
    snapshot = StreamFiles(parsed).rows_as
    try:
        plan_native_tasks(snapshot, [])
    except UnsupportedFeature:
        return None
    return struct_type(snapshot.schema.to_json())


class NativeStream:
    """A running stream.

    Args:
        options: As for `stream_schema`.
        schema: Its result, at the time when the query was defined.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType) -> None:
        self._options = StreamOptions.parse(options)
        # All columns: an older version, read again after a change, need not have those of the query.
        self._files = StreamFiles(self._options)
        _ensure_columns(schema, self._files.rows_as)
        self._schema = schema
        self._place: StreamOffset | None = None
        self._is_under_way = False

    @property
    def limits(self) -> Limits:
        """The limits of a batch."""
        return self._options.default_limits

    def stop_at_newest(self) -> None:
        """Limits the query to the version that is newest now."""
        self._files.stop_at_newest()

    def latest(self, start: str | None, *, everything: bool) -> str:
        """Returns the offset at which the next batch ends; its start if there is nothing new.

        Args:
            start: The offset at which it starts, as JSON; None for the beginning of the stream.
            everything: Whether no limit applies.
        """
        self._is_under_way = True
        place = self._files.beginning() if start is None else _offset(start)
        limits = Limits() if everything else self._options.default_limits
        return _text(self._files.end_of_batch(place, limits))

    def newest(self) -> str:
        """Returns the offset after all that the table has now."""
        place = self._place or self._files.beginning()
        return _text(place.at(self._files.newest_version() + 1, 0))

    def rows(self, spark: SparkSession, start: str | None, end: str) -> DataFrame:
        """Returns the rows between two offsets; the first is None at the beginning of the stream.

        Spark also asks for the last batch before a restart, and drops the answer if that batch has ended. Its
        files may be gone by then, so an error is raised by the rows, until the next offset is asked.

        Raises:
            CorruptData: A local data file is missing.
            UnsupportedFeature: The files have too many deleted rows.
        """
        try:
            return self._rows(spark, start, end)
        except DeltaicError as error:
            if self._is_under_way:
                raise
            failing = spark.range(1).where(F.raise_error(f"{type(error).__name__}: {error}").isNull())
            return failing.select(
                *(F.lit(None).cast(field.dataType).alias(field.name) for field in self._schema)
            )

    def _rows(self, spark: SparkSession, start: str | None, end: str) -> DataFrame:
        last = _offset(end)
        found = self._files.between(last.beginning if start is None else _offset(start), last)
        self._place = last
        tasks = [file.task for file in found]
        frame = stream_frame(spark, self._files.rows_as, tasks, hadoop_options(self._options.storage_options))
        return frame.select(*map(quoted, self._schema.names))

    def commit(self, end: str) -> None:
        """Releases what was read for offsets before this one."""
        self._files.forget_before(_offset(end))


def _ensure_columns(schema: StructType, snapshot: Snapshot) -> None:
    of_table = struct_type(snapshot.schema.to_json())
    types = {field.name: field.dataType for field in of_table.fields}
    for field in schema.fields:
        if (found := types.get(field.name)) != field.dataType:
            now = "is no column any more" if found is None else f"is {found.simpleString()} now"
            raise SchemaMismatch(
                f"the table's columns changed after the stream was loaded: {field.name} {now}",
                context={"path": snapshot.uri, "version": snapshot.version, "field": field.name},
                hint="load the stream again",
            )


def _offset(text: str) -> StreamOffset:
    found: dict[str, Any] = json.loads(text)
    return StreamOffset.from_json(found)


def _text(offset: StreamOffset) -> str:
    return json.dumps(offset.to_json())
