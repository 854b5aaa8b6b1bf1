"""The Python data source "deltaic": Delta tables with `spark.read.format`, `df.write.format` and SQL.

deltaic's own reader reads the files on the executors and returns Arrow data. One instance of the source is
one read: it is pickled from process to process, including the version that it was pinned to at creation, so
that all tasks of all queries on a DataFrame read the same rows.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
from pyspark.sql.types import StructType

from deltaic.exceptions import DeltaicError, UnsupportedFeature
from deltaic.spark.pickled_version import of_this_version, with_version
from deltaic.spark.read_options import ReadOptions, parse_options
from deltaic.spark.source.table_reader import PushingReader, TableReader, whole_schema
from deltaic.spark.worker_errors import readable_errors

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamReader

    from deltaic.reading.snapshot import Snapshot

__all__ = ["DeltaSource", "DeltaicSource"]

# Spark allows pushFilters only if the session enables it, and then plans with this module.
_PUSHING_PLANNER = "pyspark.sql.worker.data_source_pushdown_filters"


class DeltaicSource(DataSource):
    """Reads and writes Delta tables as ``"deltaic"``; created by Spark, after `deltaic.spark.register`.

    Example:
        >>> spark.read.format("deltaic").option("versionAsOf", 3).load("data/events")  # doctest: +SKIP
        DataFrame[id: bigint, day: date]
    """

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._pinned: ReadOptions | None = None

    @classmethod
    def name(cls) -> str:
        """Returns the format's name."""
        return "deltaic"

    def schema(self) -> StructType:
        """Returns the columns of the version to read; pins the version if it is not yet pinned."""
        with readable_errors():
            options, snapshot = self._pin()
            return whole_schema(options, snapshot)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Returns the reader that plans and reads the columns of `schema`."""
        with readable_errors():
            # Parsed again, because only now it is known not to be a stream.
            requested = self._requested(streaming=False)
            options = self._pinned or requested
            pushes = _pushes_filters()
            return (PushingReader if pushes else TableReader)(options, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:  # noqa: FBT001 - of the base class
        """Returns the writer that appends rows, or overwrites all."""
        from deltaic.spark.source.table_writer import TableWriter

        with readable_errors():
            return TableWriter(self.options, schema, overwrites=overwrite)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Returns the reader of the table as a stream."""
        from deltaic.spark.stream.reader import DeltaStreamReader

        return DeltaStreamReader(self.options, schema)

    def __getstate__(self) -> dict[str, Any]:
        # With a user-specified schema, Spark does not call `schema`: pin before the pickle is reused for
        # every query. Errors are suppressed, because they occur again where they are reported; a writer reads
        # nothing.
        with suppress(DeltaicError, ValueError):
            self._pin()
        return with_version(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(of_this_version(state))

    def _requested(self, *, streaming: bool) -> ReadOptions:
        options = parse_options(self.options, streaming=streaming)
        if options.modification_time:
            raise UnsupportedFeature(
                "the data source does not provide the modification time of a row's file",
                context={"path": options.path, "feature": "fileModificationTime"},
                hint="read the table by deltaic.spark.read(spark), or leave out option fileModificationTime",
            )
        return options

    def _pin(self) -> tuple[ReadOptions, Snapshot]:
        options = self._pinned or self._requested(streaming=True)
        snapshot = options.snapshot()
        self._pinned = options.pinned(snapshot)
        return self._pinned, snapshot


class DeltaSource(DeltaicSource):
    """The same source with the name ``"delta"``, for sessions in which no jar provides it."""

    @classmethod
    def name(cls) -> str:
        """Returns the format's name."""
        return "delta"


def _pushes_filters() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return _PUSHING_PLANNER in sys.modules or getattr(main, "name", None) == _PUSHING_PLANNER
