"""The native scan: deltaic reads the log, Spark's vectorised Parquet reader reads the data files.

Spark is handed the files of the snapshot by a sink log (see `sink_log`), so it lists nothing. The values of
partition columns are not in the files: each file carries its ordinal instead, and a broadcast join from the
ordinal attaches them, exactly as the log has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import ArrayType, LongType, MapType, NullType, StructField, StructType, VariantType

from deltaic.exceptions import UnsupportedFeature
from deltaic.optional import require
from deltaic.spark.data_files import DataFile, data_files
from deltaic.spark.sink_log import SinkFile, sink_log
from deltaic.spark.types import struct_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from deltaic.snapshot import Snapshot

__all__ = ["native_scan"]

# Spark's older name of its Parquet format: always the V1 source, whatever spark.sql.sources.useV1SourceList
# says. The V2 source has no `_metadata`.
_PARQUET = "org.apache.spark.sql.parquet"

# Settings of the session that would change what is read, not how fast.
_OPTIONS = {
    "recursiveFileLookup": "true",  # without it, files outside the folder of the log are left out
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "datetimeRebaseMode": "CORRECTED",  # for files that do not say: Delta's calendar is the Gregorian one
    "int96RebaseMode": "CORRECTED",
}

# Reader features whose tables this scan reads rightly, some only where a check below finds them unused.
_READER_FEATURES = frozenset(
    {"columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
)


def native_scan(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    """A DataFrame of the snapshot's rows: the table's columns in their order, read by Spark alone.

    Raises:
        UnsupportedFeature: The table has something that the native scan does not express.
        CorruptData: A local data file is missing.
    """
    schema = struct_type(snapshot.schema.to_json())
    files: Any = snapshot.files().to_arrow()
    _refuse_unsupported(snapshot, schema, files)

    partition_columns = set(snapshot.partition_columns)
    stored = StructType(
        [f for f in schema.fields if f.name not in partition_columns and not isinstance(f.dataType, NullType)]
    )
    found = data_files(
        snapshot.uri, snapshot.version, files.column("path").to_pylist(), files.column("size").to_pylist()
    )
    if not partition_columns:
        times: list[int] = files.column("modification_time").to_pylist()
        frame = _read(spark, stored, [SinkFile(*file, time) for file, time in zip(found, times, strict=True)])
        values: dict[str, str] = {}
    else:
        ordinal, values = _fresh_names(schema, sorted(partition_columns))
        _prove_that_nulls_are_null(snapshot, files.column("partition_values"))
        frame = _read_with_ordinal(spark, stored, found, ordinal)
        right = _partition_frame(spark, schema, files, ordinal, values)
        frame = frame.join(F.broadcast(right), on=ordinal, how="inner")
    whole = _loses_structs(spark)
    return frame.select(*(_column(field, values, whole_structs=whole) for field in schema.fields))


def _column(field: StructField, values: dict[str, str], *, whole_structs: bool) -> Column:
    if isinstance(field.dataType, NullType):
        return F.lit(None).alias(field.name, metadata=field.metadata)
    if field.name in values:
        return F.col(values[field.name]).alias(field.name, metadata=field.metadata)
    column = F.col(_quoted(field.name))
    if whole_structs and _nests(field.dataType, StructType):
        # Spark does not see through this to single fields, so it reads the column with all of them.
        return F.element_at(F.array(column), 1).alias(field.name, metadata=field.metadata)
    return column


def _loses_structs(spark: SparkSession) -> bool:
    """Does this Spark take a struct for NULL when a file lacks those of its fields that a query asks for?

    Spark 4.0 does, later ones when told so: rows would be lost after a field was added.
    """
    try:
        legacy = spark.conf.get("spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing")
    except PySparkException:  # a Spark without that setting
        return True
    return legacy == "true"


def _read(spark: SparkSession, stored: StructType, files: list[SinkFile]) -> DataFrame:
    with sink_log(files) as folder:
        frame = spark.read.format(_PARQUET).schema(stored).options(**_OPTIONS).load(folder)
        _prove_that_the_log_is_read(frame)
    return frame


def _read_with_ordinal(
    spark: SparkSession, stored: StructType, found: Iterable[DataFile], ordinal: str
) -> DataFrame:
    frame = _read(spark, stored, [SinkFile(*file, number) for number, file in enumerate(found)])
    # Not frame["_metadata"]: a table may have a column of that name.
    time = frame.metadataColumn("_metadata")["file_modification_time"]
    return frame.select("*", F.unix_millis(time).alias(ordinal))


def _partition_frame(
    spark: SparkSession, schema: StructType, files: Any, ordinal: str, values: dict[str, str]
) -> DataFrame:
    """One row a file: its ordinal and its partition values, typed, under the names in `values`."""
    pa = require("pyarrow", "deltaic.spark.read")
    structs = files.column("partition_values")
    typed = structs.flatten()
    arrays: list[Any] = [pa.array(range(files.num_rows), pa.int64())]
    fields = [StructField(ordinal, LongType(), nullable=False)]
    for column, name in values.items():
        arrays.append(typed[structs.type.get_field_index(column)])
        fields.append(StructField(name, schema[column].dataType))
    table = pa.table(arrays, names=[field.name for field in fields])
    return cast("Any", spark).createDataFrame(table, schema=StructType(fields))


def _prove_that_nulls_are_null(snapshot: Snapshot, values: Any) -> None:
    """A partition value whose text does not parse is listed as NULL; a scan raises an error for it."""
    columns = [
        f"{_quoted(field.name)} IS NULL"
        for field, column in zip(values.type, values.flatten(), strict=True)
        if column.null_count
    ]
    if columns:
        snapshot.scan(columns=[], predicate=" OR ".join(columns)).count()


def _prove_that_the_log_is_read(frame: DataFrame) -> None:
    """Spark must have taken the list of files; otherwise it would find an empty folder, and no rows."""
    plan: Any = cast("Any", frame)._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark has no public way
    index: str = plan.relation().location().getClass().getSimpleName()
    if index != "MetadataLogFileIndex":
        raise UnsupportedFeature(
            f"this Spark session does not take the list of files of a native scan (it made a {index})",
            hint="set spark.sql.streaming.fileStreamSink.ignoreMetadata to false",
        )


def _refuse_unsupported(snapshot: Snapshot, schema: StructType, files: Any) -> None:
    protocol = snapshot.protocol
    unknown = sorted(protocol.reader_features - _READER_FEATURES)
    if protocol.min_reader_version > 3:
        unknown.append(f"reader version {protocol.min_reader_version}")
    if snapshot.properties.get("delta.columnMapping.mode", "none") != "none":
        unknown.append("columnMapping")
    vectors = files.column("deletion_vector")
    if vectors.null_count < len(vectors):
        unknown.append("deletionVectors")
    unknown.extend(
        f"type variant in column {f.name}" for f in schema.fields if _nests(f.dataType, VariantType)
    )
    unknown.extend(f"void inside column {f.name}" for f in schema.fields if _has_inside(f.dataType, NullType))
    if unknown:
        raise UnsupportedFeature(
            f"the native Spark scan does not read tables with {', '.join(unknown)} yet: {snapshot.uri}",
            context={"path": snapshot.uri, "version": snapshot.version, "feature": unknown[0]},
            hint="try deltaic.Table(path).snapshot().scan(); what it refuses too is not implemented yet",
        )


def _nests(data_type: DataType, kind: type[DataType]) -> bool:
    return isinstance(data_type, kind) or _has_inside(data_type, kind)


def _has_inside(data_type: DataType, kind: type[DataType]) -> bool:
    if isinstance(data_type, StructType):
        inside = [field.dataType for field in data_type.fields]
    elif isinstance(data_type, ArrayType):
        inside = [data_type.elementType]
    elif isinstance(data_type, MapType):
        inside = [data_type.keyType, data_type.valueType]
    else:
        inside = []
    return any(_nests(each, kind) for each in inside)


def _fresh_names(schema: StructType, partition_columns: list[str]) -> tuple[str, dict[str, str]]:
    """Names for the ordinal and for each partition column's values that no column of the table has."""
    prefix = "__deltaic"
    taken = [name.lower() for name in schema.names]
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    return f"{prefix}_file", {name: f"{prefix}_value{i}" for i, name in enumerate(partition_columns)}


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
