"""No session setting changes the rows that are read, or the files that are written."""

# ruff: noqa: S608 - queries of our own

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
import deltaic.spark as ds
from tests.protocol.handmade_log import HandmadeTable, add, field, ids, metadata, protocol, schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .conftest import Settings

SETTINGS: list[Mapping[str, str]] = [
    {},
    {"spark.sql.parquet.enableVectorizedReader": "false"},
    {"spark.sql.parquet.filterPushdown": "false"},
    {"spark.sql.parquet.recordLevelFilter.enabled": "true"},
    {"spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY"},
    {"spark.sql.parquet.int96RebaseModeInRead": "LEGACY"},
    {"spark.sql.parquet.inferTimestampNTZ.enabled": "false"},
    {"spark.sql.parquet.binaryAsString": "true"},
    {"spark.sql.parquet.mergeSchema": "true"},
    {"spark.sql.parquet.fieldId.read.enabled": "true"},
    {"spark.sql.timestampType": "TIMESTAMP_NTZ"},
    {"spark.sql.session.timeZone": "America/Caracas"},
    {"spark.sql.ansi.enabled": "false"},
    {"spark.sql.caseSensitive": "true"},
    {"spark.sql.codegen.wholeStage": "false"},
    {"spark.sql.adaptive.enabled": "false"},
    {"spark.sql.autoBroadcastJoinThreshold": "-1"},
    {"spark.sql.optimizer.disableHints": "true"},
    {"spark.sql.optimizer.nestedSchemaPruning.enabled": "false"},
    {"spark.sql.execution.arrow.localRelationThreshold": "0"},
    {"spark.sql.execution.arrow.pyspark.enabled": "true"},
    {"spark.sql.files.maxPartitionBytes": "4096"},
    {"spark.sql.sources.useV1SourceList": ""},
    {"spark.sql.sources.default": "json"},
    {"spark.sql.streaming.fileSink.log.compactInterval": "1"},
    {"spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing": "true"},
]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with columns that some Spark setting affects, in a timestamp partition."""
    made = HandmadeTable(tmp_path_factory.mktemp("settings") / "t")
    fields = [
        field("id"),
        field("d", "date"),
        field("t", "timestamp"),
        field("n", "timestamp_ntz"),
        field("old", "timestamp"),
        field("b", "binary"),
        field("s", {"type": "struct", "fields": [field("x", "integer"), field("y", "integer")]}),
        field("p", "timestamp"),
    ]
    made.commit(protocol(3, 7, ["timestampNtz"], ["timestampNtz"]), metadata(schema(*fields), ["p"]))
    ancient = [datetime(1500, 1, 1, 12), datetime(2026, 7, 1, 12)]  # noqa: DTZ001 - the zone is the column's
    rows = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "d": pa.array([date(1500, 1, 1), date(2026, 7, 1)]),
            "t": pa.array(ancient, pa.timestamp("us", "UTC")),
            "n": pa.array(ancient, pa.timestamp("us")),
            "b": pa.array([b"\xff\x00", b"text"]),
            "s": pa.array([{"x": 1}, None], pa.struct([("x", pa.int32())])),
        }
    )
    action = made.data("1.parquet", rows, values={"p": "1500-01-01T12:00:00.000000Z"})
    made.commit(action)
    # The deprecated INT96 timestamp. pyarrow cannot write both kinds to one file.
    old = pa.table({"id": pa.array([3], pa.int64()), "old": pa.array(ancient[:1], pa.timestamp("us", "UTC"))})
    pq.write_table(old, made.root / "2.parquet", use_deprecated_int96_timestamps=True)
    made.commit(
        add("2.parquet", size=(made.root / "2.parquet").stat().st_size, values={"p": "1500-01-01 12:00:00"})
    )
    return made.root


MICROS_1500, MICROS_2026 = -14_831_726_400_000_000, 1_782_907_200_000_000
EXPECTED = [
    (1, "1500-01-01", MICROS_1500, "1500-01-01 12:00:00", None, "/wA=", 1, None, False, MICROS_1500),
    (2, "2026-07-01", MICROS_2026, "2026-07-01 12:00:00", None, "dGV4dA==", None, None, True, MICROS_1500),
    (3, None, None, None, MICROS_1500, None, None, None, True, MICROS_1500),
]


@pytest.mark.parametrize("changed", SETTINGS, ids=lambda changed: next(iter(changed), "none"))
def test_the_rows_are_the_same(
    spark: SparkSession, everything: Path, settings: Settings, changed: Mapping[str, str]
) -> None:
    with settings(changed):
        frame = (
            ds.read(spark)
            .load(everything)
            .selectExpr(
                "id",
                "CAST(d AS STRING)",
                "unix_micros(t)",
                "CAST(n AS STRING)",
                "unix_micros(old)",
                "base64(b)",
                "s.x",
                "s.y",
                "s IS NULL",
                "unix_micros(p)",
            )
        )
        assert sorted(map(tuple, frame.collect())) == EXPECTED


WRITE_SETTINGS: list[Mapping[str, str]] = [
    *SETTINGS,
    {"spark.sql.parquet.writeLegacyFormat": "true"},
    {"spark.sql.parquet.outputTimestampType": "INT96"},
    {"spark.sql.parquet.compression.codec": "gzip"},
    {"spark.sql.parquet.fieldId.write.enabled": "false"},
    {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY"},
    {"spark.sql.parquet.int96RebaseModeInWrite": "LEGACY"},
    {"spark.sql.parquet.variant.annotateLogicalType.enabled": "false"},
    {"spark.sql.variant.writeShredding.enabled": "true"},
    {"spark.sql.maxConcurrentOutputFileWriters": "5"},
    {"spark.sql.storeAssignmentPolicy": "LEGACY"},
    {"spark.sql.legacy.charVarcharAsString": "true"},
    {"spark.sql.sources.partitionOverwriteMode": "dynamic"},
    {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"},
    {"spark.sql.execution.arrow.useLargeVarTypes": "true"},
    {"spark.sql.files.maxRecordsPerFile": "1"},
    {"spark.sql.adaptive.coalescePartitions.enabled": "false"},
    {"parquet.enable.dictionary": "false"},
    {"parquet.writer.version": "v2"},
    {"parquet.block.size": "100"},
    {"parquet.compression.codec.zstd.level": "9"},
]
# Earlier versions of pyarrow do not read the footers of variants.
HAS_VARIANTS = int(pa.__version__.split(".")[0]) >= 21
WRITTEN = f"""
SELECT id, DATE '1500-01-01' AS d, TIMESTAMP '1500-01-01 12:00:00Z' AS t,
  TIMESTAMP_NTZ '1500-01-01 12:00:00' AS n,
  CAST(id / 7 AS decimal(5, 2)) AS dec, NAMED_STRUCT('x', ARRAY(id, NULL)) AS s, CONCAT('t', id) AS text,
  {"PARSE_JSON('[1]')" if HAS_VARIANTS else "1"} AS v, id % 2 = 0 AS p
FROM RANGE(0, 6, 1, 1)
"""


@pytest.mark.parametrize("changed", WRITE_SETTINGS, ids=lambda changed: next(iter(changed), "none"))
def test_the_files_are_the_same(
    spark: SparkSession, tmp_path: Path, settings: Settings, changed: Mapping[str, str]
) -> None:
    """Files, their schemas and statistics do not depend on settings, and an overwrite replaces all rows."""
    tables = [tmp_path / "usual", tmp_path / "changed"]
    for path, given in zip(tables, ({}, changed), strict=True):
        with settings(given):
            for mode in ("append", "overwrite"):
                # Tasks of deltaic write the first ones, Spark's own writer the second ones.
                ds.write(spark.sql(WRITTEN)).mode(mode).partitionBy("p").save(path / "partitioned")
                ds.write(spark.sql(WRITTEN).drop("v")).mode(mode).save(path / "plain")
    for name in ("partitioned", "plain"):
        usual, other = (_described(path / name) for path in tables)
        assert usual == other


def _described(path: Path) -> list[Any]:
    table = deltaic.Table(path)
    kept = ("partition_values", "num_records", "min", "max", "null_count")
    files = table.snapshot().files(stats=True).to_arrow().to_pylist()
    return sorted(
        [
            str([file.get(name) for name in kept]),
            file["path"].rpartition("c000")[2],
            str(_chunks(path / file["path"])),
            str(pq.read_schema(path / file["path"])),
            str(pq.read_metadata(path / file["path"]).schema).partition("\n")[2],
        ]
        for file in files
    )


def _chunks(path: Path) -> list[Any]:
    footer = pq.read_metadata(path)
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    return [(chunk.encodings, chunk.compression, chunk.total_compressed_size) for chunk in chunks]


@pytest.mark.parametrize("setting", ["ignoreMissingFiles", "ignoreCorruptFiles"])
def test_a_bad_file_is_never_ignored(
    spark: SparkSession, tmp_path: Path, settings: Settings, setting: str
) -> None:
    from py4j.protocol import Py4JError

    made = HandmadeTable(tmp_path / "t")
    made.create(made.data("1.parquet", ids(1)), made.data("2.parquet", ids(2)))
    # A missing file raises deltaic's error, an unreadable one that of Spark's reader.
    told = deltaic.CorruptData if setting == "ignoreMissingFiles" else Py4JError
    with settings({f"spark.sql.files.{setting}": "true"}):
        frame = ds.read(spark).load(made.root)
        if setting == "ignoreMissingFiles":
            (made.root / "2.parquet").unlink()
        else:
            (made.root / "2.parquet").write_bytes(b"PAR1 but no more than that")
        with pytest.raises(told, match=r"2\.parquet"):
            frame.collect()


def test_a_session_that_ignores_lists_of_files_of_streams(
    spark: SparkSession, everything: Path, settings: Settings
) -> None:
    rows = ds.read(spark).load(everything).count()
    with settings({"spark.sql.streaming.fileStreamSink.ignoreMetadata": "true"}):
        frame = ds.read(spark).load(everything)
        assert "way        native" in ds.explain(frame)
        assert len(frame.collect()) == rows > 0
