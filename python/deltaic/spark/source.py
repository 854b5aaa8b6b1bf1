"""The Python data source "deltaic": Delta tables with `spark.read.format`, SQL and Spark Connect.

deltaic's own reader reads the files on the executors and returns Arrow data. One instance of the source is
one read: it is pickled from process to process, including the version that it was pinned to at creation, so
that all tasks of all queries on a DataFrame read the same rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from deltaic.exceptions import DeltaicError, InvalidPredicate, UnsupportedFeature
from deltaic.spark.added_columns import CHANGE_COLUMNS, ROW_COMMIT_VERSION, ROW_ID
from deltaic.spark.arrow_batches import arrow_schema, fitted
from deltaic.spark.chosen_columns import chosen_columns
from deltaic.spark.instants import instant, path_time
from deltaic.spark.partitions import balanced, partition_count
from deltaic.spark.pushed_filters import to_predicate
from deltaic.spark.read_options import ReadOptions
from deltaic.spark.session_zone import is_utc, speaks_of_instants
from deltaic.spark.types import struct_type
from deltaic.spark.worker_errors import told_plainly

if TYPE_CHECKING:
    from pyspark.sql.datasource import DataSourceStreamReader, Filter

    from deltaic.scan import Scan, ScanTask
    from deltaic.snapshot import Snapshot

__all__ = ["DeltaSource", "DeltaicSource", "TablePartition", "TableReader", "parse_options"]

# Spark allows pushFilters only if the session enables it, and then plans with this module.
_PUSHING_PLANNER = "pyspark.sql.worker.data_source_pushdown_filters"


class DeltaicSource(DataSource):
    """Reads Delta tables as format ``"deltaic"``; created by Spark, after `deltaic.spark.register`.

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
        with told_plainly():
            options, snapshot = self._pin()
            return _whole_schema(options, snapshot)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Returns the reader that plans and reads the columns of `schema`."""
        with told_plainly():
            # Parsed again, because only now it is known not to be a stream.
            asked = self._asked(streaming=False)
            options = self._pinned or asked
            pushes = _pushes_filters()
            return (PushingReader if pushes else TableReader)(options, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Returns the reader of the table as a stream."""
        from deltaic.spark.stream import DeltaStreamReader

        return DeltaStreamReader(self.options, schema)

    def __getstate__(self) -> dict[str, Any]:
        # With a user-specified schema, Spark does not call `schema`: pin before the pickle is reused for
        # every query. Errors are suppressed, because they occur again where they are reported; a writer reads
        # nothing.
        with suppress(DeltaicError, ValueError):
            self._pin()
        return dict(self.__dict__)

    def _asked(self, *, streaming: bool) -> ReadOptions:
        options = parse_options(self.options, streaming=streaming)
        if options.modification_time:
            raise UnsupportedFeature(
                "the data source does not tell the time of a row's file",
                context={"path": options.path, "feature": "fileModificationTime"},
                hint="read the table by deltaic.spark.read(spark), or leave out option fileModificationTime",
            )
        return options

    def _pin(self) -> tuple[ReadOptions, Snapshot]:
        options = self._pinned or self._asked(streaming=True)
        snapshot = options.snapshot()
        self._pinned = options.pinned(snapshot)
        return self._pinned, snapshot


class DeltaSource(DeltaicSource):
    """The same source with the name ``"delta"``, for sessions in which no jar provides it."""

    @classmethod
    def name(cls) -> str:
        """Returns the format's name."""
        return "delta"


class TablePartition(InputPartition):
    """The files that one Spark task reads."""

    def __init__(self, tasks: list[ScanTask]) -> None:
        super().__init__(None)
        self.tasks = tasks

    def __repr__(self) -> str:
        return f"<deltaic.spark.TablePartition of {len(self.tasks)} files>"


class TableReader(DataSourceReader):
    """Plans a read in Spark's planner process and reads in Spark's tasks."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._schema = schema
        self._options: ReadOptions | None = options
        self._snapshot: Snapshot | None = options.snapshot()
        whole = _whole_schema(options, self._snapshot)
        self._columns = chosen_columns(schema, whole, version=self._snapshot.version)
        self._filters: list[str] = []

    def __getstate__(self) -> dict[str, Any]:
        # Only what tasks need. The snapshot stays with the planner, and so do the storage options, which each
        # scan task contains itself.
        return {**self.__dict__, "_snapshot": None, "_options": None}

    def partitions(self) -> list[InputPartition]:
        """Returns the files, packed into partitions of nearly equal size."""
        with told_plainly():
            tasks = self._scan(self._filters).tasks()
            sizes = [task.size_in_bytes for task in tasks]
            packed = balanced(tasks, lambda task: task.size_in_bytes, partition_count(sizes))
            return [TablePartition(some) for some in packed]

    def read(self, partition: InputPartition) -> Iterator[Any]:  # Any: pyarrow ships no types
        """Returns the rows of a partition as `pyarrow.RecordBatch`, in the schema that Spark validates."""
        assert isinstance(partition, TablePartition)  # noqa: S101 - Spark returns our own partitions
        wants = arrow_schema(self._schema)
        with told_plainly():
            for task in partition.tasks:
                rows = task.read()
                yield from fitted(rows, rows.schema, wants)

    def _scan(self, filters: list[str]) -> Scan:
        options, snapshot = self._options, self._snapshot
        if options is None or snapshot is None:
            raise RuntimeError("a reader plans where it was made, and nowhere else")
        if options.changes is not None:
            return options.change_scan(self._schema.names)
        asked = options.predicate
        if asked and not is_utc(options.time_zone) and speaks_of_instants(snapshot.schema.to_json(), asked):
            raise InvalidPredicate(
                "the predicate may name a time without a zone, and a data source is not told the session's",
                context={"predicate": asked},
                hint="filter the DataFrame by where(…), or say option('timeZone', 'UTC') if it is UTC's",
            )
        predicate = " AND ".join(f"({each}\n)" for each in (asked, *filters) if each)
        ids = (ROW_ID, ROW_COMMIT_VERSION) if options.row_ids else ()
        columns = [name for name in self._columns if name not in ids]
        return snapshot.scan(columns, predicate or None, row_ids=options.row_ids)


class PushingReader(TableReader):
    """A reader with filter pushdown; created only if the session enables it."""

    def pushFilters(self, filters: list[Filter]) -> Iterator[Filter]:
        """Accepts the filters that deltaic evaluates exactly as Spark does, and leaves the rest to Spark."""
        if self._options is None or self._options.changes is not None:
            yield from filters
            return
        for pushed in filters:
            predicate = to_predicate(pushed)
            if predicate is not None and self._is_answered(predicate):
                self._filters.append(predicate)
            else:
                yield pushed

    def _is_answered(self, predicate: str) -> bool:
        try:
            self._scan([predicate])
        except DeltaicError:
            return False
        return True


def parse_options(options: Mapping[str, str], *, streaming: bool) -> ReadOptions:
    """Parses options in a Spark worker, which does not know the session's time zone."""
    by_lower = {name.lower(): value for name, value in options.items()}
    zone = by_lower.get("timezone")

    def moment(name: str, value: object) -> datetime:
        return instant(name, value, zone)

    return ReadOptions.parse(
        options, moment, path_instant=partial(path_time, time_zone=zone), streaming=streaming
    )


def _whole_schema(options: ReadOptions, snapshot: Snapshot) -> StructType:
    """Returns all columns of the read."""
    if options.changes is not None:
        return StructType([*struct_type(snapshot.schema.to_json()).fields, *CHANGE_COLUMNS])
    if options.predicate is None and not options.row_ids:
        return struct_type(snapshot.schema.to_json())
    # The scan validates the predicate, and that row tracking is enabled.
    return struct_type(snapshot.scan(None, options.predicate, row_ids=options.row_ids).schema.to_json())


def _pushes_filters() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return _PUSHING_PLANNER in sys.modules or getattr(main, "name", None) == _PUSHING_PLANNER
