"""The native scan: deltaic reads the log, Spark's vectorised Parquet reader reads the data files.

Spark reads the list of the snapshot's files from a sink log (see `sink_log`), so it lists no folder. Values
that are not in the files are joined by broadcast: partition values and row ids by the file's ordinal, deleted
rows by blocks of 4096 rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import LongType, NullType, StructField, StructType

from deltaic.exceptions import UnsupportedFeature
from deltaic.optional import require
from deltaic.spark.added_columns import MODIFICATION_TIME, ROW_COMMIT_VERSION, ROW_ID
from deltaic.spark.native.columns import declared_lengths, nests, padded, physical_names, quoted, renamed
from deltaic.spark.native.sink_log import sink_log
from deltaic.spark.native.tasks import with_fewer_tasks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from deltaic.spark.native.scan_plan import NativeScanPlan

__all__ = ["NativeScan", "ignores_file_list", "native_scan", "scan_of_folder"]

# Spark's older name of its Parquet format: always the V1 source, regardless of
# spark.sql.sources.useV1SourceList. The V2 source has no `_metadata`.
_PARQUET = "org.apache.spark.sql.parquet"

# Settings of the session that would change the result, not the speed.
_OPTIONS = {
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "datetimeRebaseMode": "CORRECTED",  # for files without the metadata: Delta uses the Gregorian calendar
    "int96RebaseMode": "CORRECTED",
}

_IGNORES_LOGS = "spark.sql.streaming.fileStreamSink.ignoreMetadata"

# The layout of a key in `NativeScanPlan.vectors`.
_BITS_OF_A_BLOCK = 12
_BITS_OF_A_FILE = 28


@dataclass(frozen=True)
class NativeScan:
    """The DataFrame of a native scan, and its description."""

    frame: DataFrame
    root: str
    """The folder that contains the sink log, as in Spark's plans."""
    notes: list[str] = field(default_factory=list[str])
    """What is attached to the files, and how."""


def native_scan(
    spark: SparkSession, scan_plan: NativeScanPlan, log: bytes, hadoop_options: dict[str, str] | None = None
) -> NativeScan:
    """Returns a DataFrame with the table's columns in their order, read by Spark alone.

    Args:
        spark: A classic session.
        scan_plan: The native scan plan.
        log: The sink log with the files.
        hadoop_options: Settings of Hadoop's file systems for this read.

    Raises:
        UnsupportedFeature: The session does not read the list of files.
    """
    assembly = _Assembly(spark, scan_plan)
    with sink_log(log) as folder:
        files = assembly.load(folder, hadoop_options or {})
        root = _root_of_the_log(files)
    frame, packed = with_fewer_tasks(spark, assembly.read(files), scan_plan)
    return NativeScan(frame, root, [*assembly.notes, *([packed] if packed else [])])


def scan_of_folder(
    spark: SparkSession, scan_plan: NativeScanPlan, folder: str, hadoop_options: dict[str, str]
) -> DataFrame:
    """Does the same with Spark Connect, with a sink log that persists on the host of the server's driver.

    Precondition: the session reads lists of files, see `ignores_file_list`.
    """
    assembly = _Assembly(spark, scan_plan)
    return assembly.read(assembly.load(folder, hadoop_options))


def ignores_file_list(spark: SparkSession) -> str | None:
    """Returns why a session does not read the file list of a native scan, according to its settings."""
    if str(spark.conf.get(_IGNORES_LOGS, "false")).lower() == "false":
        return None
    return (
        f"this Spark session does not accept the list of files of a native scan while {_IGNORES_LOGS} is set"
    )


class _Assembly:
    """Builds the DataFrame of one native scan."""

    def __init__(self, spark: SparkSession, scan_plan: NativeScanPlan) -> None:
        self._spark = spark
        self._scan_plan = scan_plan
        self._schema = scan_plan.schema
        self._physical = physical_names(self._schema, scan_plan.schema_json)
        self._partitions = set(scan_plan.partition_columns)
        self._prefix = _fresh_prefix(self._schema, self._physical)
        self.notes: list[str] = []

    def load(self, folder: str, hadoop_options: dict[str, str]) -> DataFrame:
        """Reads the files' physical columns, from the folder of the sink log."""
        pairs = zip(self._schema.fields, self._physical.fields, strict=True)
        stored = [
            inside
            for outside, inside in pairs
            if not isinstance(inside.dataType, NullType)
            and (self._scan_plan.by_folders or outside.name not in self._partitions)
        ]
        stored += [StructField(name, LongType()) for name in self._scan_plan.row_columns or ()]
        options = dict(_OPTIONS)
        if self._scan_plan.by_folders:
            self.notes.append("partition values are read from the folders, by which Spark prunes")
        else:
            # Otherwise, files outside the folder of the log are ignored.
            options["recursiveFileLookup"] = "true"
        reader = self._spark.read.format(_PARQUET).schema(StructType(stored))
        return reader.options(**options, **hadoop_options).load(folder)

    def read(self, frame: DataFrame) -> DataFrame:
        """Builds the result: removes deleted rows, projects the table's columns, appends requested ones."""
        scan_plan = self._scan_plan
        if scan_plan.needs_ordinals:
            # Not frame["_metadata"]: a table may have a column of that name.
            about = frame.metadataColumn("_metadata")
            file = F.unix_millis(about["file_modification_time"]).alias(self._name("file"))
            frame = frame.select("*", file, about["row_index"].alias(self._name("row")))
        if scan_plan.vectors.num_rows:
            frame = self._without_deleted(frame)
        if scan_plan.joins_files:
            same_file = F.col(self._name("file")) == F.col(self._name("ordinal"))
            frame = frame.join(F.broadcast(self._file_frame()), on=same_file)
        whole = _loses_structs(self._spark)
        pairs = zip(self._schema.fields, self._physical.fields, strict=True)
        columns = [
            self._column(index, outside, inside, whole_structs=whole)
            for index, (outside, inside) in enumerate(pairs)
        ]
        if scan_plan.row_columns:
            columns += self._row_identity(scan_plan.row_columns)
        if scan_plan.modification_time:
            columns.append(F.timestamp_millis(F.col(self._name("time"))).alias(MODIFICATION_TIME))
        return frame.select(*columns)

    def _without_deleted(self, frame: DataFrame) -> DataFrame:
        """Removes the rows that a deletion vector deletes."""
        block, words = self._name("block"), self._name("words")
        table = self._scan_plan.vectors.rename_columns([block, words])
        self.notes.append(f"deleted rows are left out by {table.num_rows:,} blocks of 4096 rows, broadcast")
        right = cast("Any", self._spark).createDataFrame(table)
        row = F.col(self._name("row"))
        key = F.shiftleft(F.col(self._name("file")), _BITS_OF_A_FILE) + F.shiftright(row, _BITS_OF_A_BLOCK)
        joined = frame.join(F.broadcast(right), on=key == F.col(block), how="left")
        word = F.col(words)[F.shiftright(row, 6).bitwiseAND(F.lit(63)).cast("int")]
        bit = F.getbit(word, row.bitwiseAND(F.lit(63)).cast("int"))
        return joined.where(F.col(words).isNull() | (bit == 0))

    def _file_frame(self) -> DataFrame:
        """Returns one row per file: its ordinal, and its values from the log."""
        pa = require("pyarrow", "deltaic.spark.read")
        files = self._scan_plan.files
        fields = [
            StructField(self._name("ordinal"), LongType(), nullable=False),
            StructField(self._name("time"), LongType()),
            StructField(self._name("base"), LongType()),
            StructField(self._name("version"), LongType()),
        ]
        arrays: list[Any] = [files.column(index) for index in range(len(fields))]
        if self._partitions and not self._scan_plan.by_folders:
            self.notes.append("partition values are joined by the file's ordinal, broadcast")
            values = files.column("partition_values").combine_chunks()
            for index, column in enumerate(self._schema.fields):
                if column.name in self._partitions:
                    arrays.append(values.flatten()[values.type.get_field_index(column.name)])
                    fields.append(StructField(self._name(f"value{index}"), column.dataType))
        table = pa.table(arrays, names=[field.name for field in fields])
        return cast("Any", self._spark).createDataFrame(table, schema=StructType(fields))

    def _column(
        self, index: int, outside: StructField, inside: StructField, *, whole_structs: bool
    ) -> Column:
        if isinstance(outside.dataType, NullType):
            column = F.lit(None)
        elif outside.name in self._partitions and not self._scan_plan.by_folders:
            column = F.col(self._name(f"value{index}"))
        else:
            column = F.col(quoted(inside.name))
            if whole_structs and nests(outside.dataType, StructType):
                # Blocks Spark's pruning of nested fields, so it reads the column with all of its fields.
                column = F.element_at(F.array(column), 1)
            column = renamed(column, inside.dataType, outside.dataType)
        lengths = declared_lengths(outside)
        if lengths is not None:
            column = padded(column, lengths)
        return column.alias(outside.name, metadata=outside.metadata)

    def _row_identity(self, row_columns: list[str]) -> list[Column]:
        """Returns a row's id and commit version: the materialized values, else those derived from the log."""
        copied_id, copied_version = (F.col(quoted(name)) for name in row_columns)
        fresh = F.col(self._name("base")) + F.col(self._name("row"))
        return [
            F.coalesce(copied_id, fresh).alias(ROW_ID),
            F.coalesce(copied_version, F.col(self._name("version"))).alias(ROW_COMMIT_VERSION),
        ]

    def _name(self, what: str) -> str:
        return f"{self._prefix}_{what}"


def _loses_structs(spark: SparkSession) -> bool:
    """Whether this Spark reads a struct as NULL if a file lacks all of its requested fields.

    Spark 4.0 does, later ones with a setting: this would lose rows after a field was added.
    """
    try:
        legacy = spark.conf.get("spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing")
    except PySparkException:  # a Spark without that setting
        return True
    return legacy == "true"


def _root_of_the_log(frame: DataFrame) -> str:
    """Returns the folder of the file list; raises if Spark ignores it, as it would find no rows."""
    plan: Any = cast("Any", frame)._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark has no public way
    location: Any = plan.relation().location()
    index: str = location.getClass().getSimpleName()
    if index != "MetadataLogFileIndex":
        raise UnsupportedFeature(
            f"this Spark session does not accept the list of files of a native scan (it made a {index})",
            hint=f"set {_IGNORES_LOGS} to false",
        )
    return location.rootPaths().mkString(",")


def _fresh_prefix(logical: StructType, physical: StructType) -> str:
    """Returns a prefix that no column's name has."""
    prefix = "__deltaic"
    taken = [name.lower() for name in (*logical.names, *physical.names)]
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    return prefix
