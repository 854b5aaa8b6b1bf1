"""The reader of the data source: it plans in Spark's planner process, and reads files in Spark's tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from deltaic.exceptions import DeltaicError, InvalidPredicate
from deltaic.spark.added_columns import CHANGE_COLUMNS, ROW_COMMIT_VERSION, ROW_ID
from deltaic.spark.arrow_batches import arrow_schema, fitted
from deltaic.spark.partitions import balanced, partition_count
from deltaic.spark.pickled_version import of_this_version, with_version
from deltaic.spark.read_options import ReadOptions
from deltaic.spark.requested_columns import requested_columns
from deltaic.spark.session_zone import depends_on_time_zone, is_utc
from deltaic.spark.source.pushed_filters import to_predicate
from deltaic.spark.types import struct_type
from deltaic.spark.worker_errors import readable_errors

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

    from deltaic.reading.scan import Scan, ScanTask
    from deltaic.reading.snapshot import Snapshot

__all__ = ["PushingReader", "TablePartition", "TableReader", "whole_schema"]


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
        whole = whole_schema(options, self._snapshot)
        self._columns = requested_columns(schema, whole, version=self._snapshot.version)
        self._filters: list[str] = []

    def __getstate__(self) -> dict[str, Any]:
        # Only what tasks need. The snapshot stays with the planner, and so do the storage options, which each
        # scan task contains itself.
        return with_version({**self.__dict__, "_snapshot": None, "_options": None})

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(of_this_version(state))

    def partitions(self) -> list[InputPartition]:
        """Returns the files, packed into partitions of nearly equal size."""
        with readable_errors():
            tasks = self._scan(self._filters).tasks()
            sizes = [task.size_in_bytes for task in tasks]
            packed = balanced(tasks, lambda task: task.size_in_bytes, partition_count(sizes))
            return [TablePartition(some) for some in packed]

    def read(self, partition: InputPartition) -> Iterator[Any]:  # Any: pyarrow ships no types
        """Returns the rows of a partition as `pyarrow.RecordBatch`, in the schema that Spark validates."""
        assert isinstance(partition, TablePartition)  # noqa: S101 - Spark returns our own partitions
        wants = arrow_schema(self._schema)
        with readable_errors():
            for task in partition.tasks:
                rows = task.read()
                yield from fitted(rows, rows.schema, wants)

    def _scan(self, filters: list[str]) -> Scan:
        options, snapshot = self._options, self._snapshot
        if options is None or snapshot is None:
            raise RuntimeError("a reader plans where it was made, and nowhere else")
        if options.changes is not None:
            return options.change_scan(self._schema.names)
        requested = options.predicate
        if (
            requested
            and not is_utc(options.time_zone)
            and depends_on_time_zone(snapshot.schema.to_json(), requested)
        ):
            raise InvalidPredicate(
                "the predicate may name a time without a zone, and a data source does not know the session's",
                context={"predicate": requested},
                hint="filter the DataFrame by where(…), or pass option('timeZone', 'UTC') if it is in UTC",
            )
        predicate = " AND ".join(f"({each}\n)" for each in (requested, *filters) if each)
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


def whole_schema(options: ReadOptions, snapshot: Snapshot) -> StructType:
    """Returns all columns of the read."""
    if options.changes is not None:
        return StructType([*struct_type(snapshot.schema.to_json()).fields, *CHANGE_COLUMNS])
    if options.predicate is None and not options.row_ids:
        return struct_type(snapshot.schema.to_json())
    # The scan validates the predicate, and that row tracking is enabled.
    return struct_type(snapshot.scan(None, options.predicate, row_ids=options.row_ids).schema.to_json())
