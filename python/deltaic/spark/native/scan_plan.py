"""The data of a native scan plan, created where the table can be reached: maybe on another host."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import NullType, StructType, VariantType

from deltaic.exceptions import UnsupportedFeature
from deltaic.spark.native.columns import nests
from deltaic.spark.types import struct_type
from deltaic.values.optional import require

if TYPE_CHECKING:
    from deltaic import _rust
    from deltaic.reading.scan import ScanTask
    from deltaic.reading.snapshot import Snapshot

__all__ = ["NativeScanPlan", "modification_time_unsupported", "plan_native_scan", "plan_native_tasks"]


@dataclass(frozen=True)
class NativeScanPlan:
    """A native scan plan, except for the list of files."""

    uri: str
    version: int
    schema_json: str
    partition_columns: list[str]
    row_columns: list[str] | None
    """The physical columns of row ids and row commit versions, if requested."""
    modification_time: bool
    """Whether the files' modification times are requested."""
    is_in_folders: bool
    """Whether Spark can read the partition values from the folders."""
    num_files: int
    files_of_snapshot: int
    files_after_partitions: int
    size_in_bytes: int
    largest_file_in_bytes: int
    files: Any
    """As `NativeScanPlan.files`; a `pyarrow.Table`, which has no types."""
    vectors: Any
    """As `NativeScanPlan.vectors`."""

    @property
    def schema(self) -> StructType:
        """The table's columns."""
        return struct_type(self.schema_json)

    @property
    def by_folders(self) -> bool:
        """Whether there are partition values, and Spark reads them from the folders."""
        return bool(self.partition_columns) and self.is_in_folders and self.num_files > 0

    @property
    def joins_files(self) -> bool:
        """Whether values are joined by the file's ordinal."""
        values = bool(self.partition_columns) and not self.by_folders
        return values or self.modification_time or self.row_columns is not None

    @property
    def needs_ordinals(self) -> bool:
        """Whether each file has its ordinal in place of its modification time."""
        return self.joins_files or self.vectors.num_rows > 0

    def to_json(self) -> str:
        """Serializes the plan for a Spark Connect client."""
        # For a million files the table is large, and it is needed only for joins.
        files = self.files if self.joins_files else self.files.slice(0, 0)
        tables = {"files": _packed(files), "vectors": _packed(self.vectors)}
        return json.dumps({**self.__dict__, **tables})

    @staticmethod
    def from_json(text: str) -> NativeScanPlan:
        """The inverse of `to_json`."""
        known: dict[str, Any] = json.loads(text)
        return NativeScanPlan(**{**known, **{name: _unpacked(known[name]) for name in ("files", "vectors")}})


def plan_native_scan(
    snapshot: Snapshot,
    *,
    predicate: str | None = None,
    tree: str | None = None,
    row_ids: bool,
    modification_time: bool,
) -> tuple[NativeScanPlan, _rust.NativeScanPlan]:
    """Plans a native scan of a snapshot; returns the plan, and the same as the core has it.

    Args:
        snapshot: The snapshot.
        predicate: Leaves out files without matching rows.
        tree: Does the same, as filters of Spark: see `_rust.NativeScanPlan.kept`.
        row_ids: Whether row ids are requested.
        modification_time: Whether the modification times of files are.

    Raises:
        UnsupportedFeature: The native scan does not support a feature of the table.
        CorruptData: A local data file is missing.
    """
    _refuse_unsupported(snapshot)
    # Private, but of the same package.
    rust: _rust.Snapshot = snapshot._rust  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    row_columns = list(rust.row_columns()) if row_ids else None
    found = rust.native_scan_plan(predicate=predicate, tree=tree)
    return _planned(snapshot, found, row_columns, modification_time=modification_time), found


def plan_native_tasks(
    rows_as: Snapshot, tasks: list[ScanTask]
) -> tuple[NativeScanPlan, _rust.NativeScanPlan]:
    """Plans a native scan of the files of a stream's batch, as `plan_native_scan` does.

    Args:
        rows_as: The snapshot with the stream's columns.
        tasks: The files.
    """
    _refuse_unsupported(rows_as)
    rust: _rust.Snapshot = rows_as._rust  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    found = rust.native_scan_plan_of_tasks([task._rust for task in tasks])  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    return _planned(rows_as, found, None, modification_time=False), found


def _planned(
    snapshot: Snapshot,
    found: _rust.NativeScanPlan,
    row_columns: list[str] | None,
    *,
    modification_time: bool,
) -> NativeScanPlan:
    if found.vectors is None:
        raise _unsupported(snapshot, "deletionVectors", "more deleted rows than an executor can hold")
    pa = require("pyarrow", "deltaic.spark.read")
    return NativeScanPlan(
        uri=snapshot.uri,
        version=snapshot.version,
        schema_json=snapshot.schema.to_json(),
        partition_columns=snapshot.partition_columns,
        row_columns=row_columns,
        modification_time=modification_time,
        is_in_folders=found.is_in_folders,
        num_files=found.num_files,
        files_of_snapshot=found.files_of_snapshot,
        files_after_partitions=found.files_after_partitions,
        size_in_bytes=found.size_in_bytes,
        largest_file_in_bytes=found.largest_file_in_bytes,
        files=pa.table(found.files),
        vectors=pa.table(found.vectors),
    )


def _refuse_unsupported(snapshot: Snapshot) -> None:
    if snapshot.properties.get("delta.columnMapping.mode", "none") == "id":
        raise _unsupported(
            snapshot, "columnMapping", "columns that are found by ids, which files may name anyhow"
        )
    for column in struct_type(snapshot.schema.to_json()).fields:
        if nests(column.dataType, VariantType):
            raise _unsupported(snapshot, "variantType", f"type variant, as of column {column.name}")
        if nests(column.dataType, NullType, inside=True):
            raise _unsupported(snapshot, "void", f"void inside column {column.name}")


def _unsupported(snapshot: Snapshot, feature: str, what: str) -> UnsupportedFeature:
    return UnsupportedFeature(
        f"Spark's own reader does not read tables with {what}: {snapshot.uri}",
        context={"path": snapshot.uri, "version": snapshot.version, "feature": feature},
        hint="read the table with the data source: deltaic.spark.register(spark), "
        'then spark.read.format("deltaic")',
    )


def modification_time_unsupported(why_not: str, context: dict[str, Any]) -> UnsupportedFeature:
    """Returns the error for tables that only the data source reads, if it lacks a requested file time."""
    return UnsupportedFeature(why_not, context=context, hint="leave out option fileModificationTime")


def _packed(table: Any) -> str:
    pa = require("pyarrow", "deltaic.spark.read")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return base64.b64encode(sink.getvalue()).decode("ascii")


def _unpacked(text: str) -> Any:
    pa = require("pyarrow", "deltaic.spark.read")
    return pa.ipc.open_stream(base64.b64decode(text)).read_all()
