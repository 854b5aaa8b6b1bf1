"""The native scan with Spark Connect: Spark reads the list of the snapshot's files from a sink log.

So it lists no folder (see `sink_log`). Values of a file are joined by its ordinal, which the log has in place
of its time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import LongType, StructField, StructType

from deltaic.spark.native.projection import OPTIONS, Projection
from deltaic.values.optional import require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.spark.native.scan_plan import NativeScanPlan

__all__ = ["ignores_file_list", "scan_of_folder"]

# Spark's older name of its Parquet format: always the V1 source, regardless of
# spark.sql.sources.useV1SourceList. The V2 source has no `_metadata`.
_PARQUET = "org.apache.spark.sql.parquet"
_IGNORES_LOGS = "spark.sql.streaming.fileStreamSink.ignoreMetadata"


def scan_of_folder(
    spark: SparkSession, scan_plan: NativeScanPlan, folder: str, hadoop_options: dict[str, str]
) -> DataFrame:
    """Returns a DataFrame with the table's columns, from a sink log on the host of the server's driver.

    Precondition: the session reads lists of files, see `ignores_file_list`.
    """
    projection = Projection(spark, scan_plan, by_folders=scan_plan.by_folders)
    options = dict(OPTIONS)
    if not scan_plan.by_folders:
        # Otherwise, files outside the folder of the log are ignored.
        options["recursiveFileLookup"] = "true"
    reader = spark.read.format(_PARQUET).schema(projection.stored())
    frame = reader.options(**options, **hadoop_options).load(folder)
    if scan_plan.needs_ordinals:
        # Not frame["_metadata"]: a table may have a column of that name.
        about = frame.metadataColumn("_metadata")
        file = F.unix_millis(about["file_modification_time"]).alias(projection.name("file"))
        frame = frame.select("*", file, about["row_index"].alias(projection.name("row")))
    return projection.rows(_with_values(spark, frame, projection, scan_plan))


def _with_values(
    spark: SparkSession, frame: DataFrame, projection: Projection, scan_plan: NativeScanPlan
) -> DataFrame:
    fields, arrays = projection.file_values()
    if not fields:
        return frame
    pa = require("pyarrow", "deltaic.spark.read")
    fields.append(StructField(projection.name("ordinal"), LongType(), nullable=False))
    arrays.append(scan_plan.files.column(0))
    table = pa.table(arrays, names=[field.name for field in fields])
    values = cast("Any", spark).createDataFrame(table, schema=StructType(fields))
    same_file = F.col(projection.name("file")) == F.col(projection.name("ordinal"))
    return frame.join(F.broadcast(values), on=same_file)


def ignores_file_list(spark: SparkSession) -> str | None:
    """Returns why a session does not read the file list of a native scan, according to its settings."""
    if str(spark.conf.get(_IGNORES_LOGS, "false")).lower() == "false":
        return None
    return (
        f"this Spark session does not accept the list of files of a native scan while {_IGNORES_LOGS} is set"
    )
