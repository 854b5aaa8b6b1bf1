"""delta-spark, the reference implementation, reads tables of deltaic and continues to write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.rows import difference

from . import vectors
from .delta_spark import PUSHDOWN, theirs
from .maintained import APPENDS, FORMS, POLICIES, appended, maintained
from .values import every_type
from .written import DEMO, contents

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", contents())
def test_tables_after_maintenance(spark: SparkSession, tmp_path: Path, name: str, form: str) -> None:
    root = maintained(tmp_path, name, form)
    assert difference(theirs(spark, root).toArrow(), contents()[name].rows) is None
    spark.sql(f"DELETE FROM delta.`{root}` WHERE false").collect()  # noqa: S608 - our own folder
    assert difference(deltaic.Table(root).snapshot().scan().to_arrow(), contents()[name].rows) is None


@pytest.fixture
def validating(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, which verifies the version checksum before every transaction and after its commit."""
    settings = {
        "spark.databricks.delta.checksum.mismatch.fatal": "true",
        # A transaction first reconstructs the complete version and compares its checksum.
        "spark.databricks.delta.incremental.commit.verify": "true",
        "spark.databricks.delta.stateReconstructionValidation.enabled": "true",
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name in settings:
        spark.conf.unset(name)


@pytest.mark.parametrize("policy", POLICIES)
def test_files_of_maintenance_after_appends(validating: SparkSession, tmp_path: Path, policy: str) -> None:
    root, rows = appended(tmp_path, policy)
    for version in (0, 9, 10, 11, APPENDS):
        assert difference(theirs(validating, root, version).toArrow(), rows.slice(0, version)) is None
    # Its own commit is based on our checksum, and verifies it before and its own after the commit.
    validating.createDataFrame(rows.slice(0, 1)).write.format("delta").mode("append").save(str(root))
    ours = deltaic.Table(root).snapshot()
    assert ours.version == APPENDS + 1
    assert not ours.warnings
    assert difference(theirs(validating, root).toArrow(), pa.concat_tables([rows, rows.slice(0, 1)])) is None
    # And our commit is based on its checksum.
    commit = deltaic.Table(root).append(rows.slice(1, 1))
    assert not commit.warnings
    validating.sql(f"DELETE FROM delta.`{root}` WHERE id = 1").collect()  # noqa: S608 - our own folder
    assert deltaic.Table(root).snapshot().num_rows == APPENDS


def test_a_checksum_that_is_wrong_is_reported(validating: SparkSession, tmp_path: Path) -> None:
    root, rows = appended(tmp_path, "usual")
    checksum = root / "_delta_log" / f"{APPENDS:020}.crc"
    said = json.loads(checksum.read_text())
    said["tableSizeBytes"] += 1
    del said["fileSizeHistogram"]
    checksum.write_text(json.dumps(said))
    with pytest.raises(Exception, match=r"(?i)integrity check|checksum"):
        validating.createDataFrame(rows.slice(0, 1)).write.format("delta").mode("append").save(str(root))


MANY_FEATURES = [
    "appendOnly",
    "changeDataFeed",
    "checkConstraints",
    "columnMapping",
    "deletionVectors",
    "domainMetadata",
    "generatedColumns",
    "inCommitTimestamp",
    "invariants",
    "timestampNtz",
    "v2Checkpoint",
    "vacuumProtocolCheck",
]


def test_the_checksum_of_a_hint_with_a_long_list(
    spark: SparkSession, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """delta-spark sorts item 10 of a list before item 1, and each accepts the other's hint."""
    root = tmp_path / "t"
    properties = {f"delta.feature.{name}": "supported" for name in MANY_FEATURES}
    properties |= {"delta.checkpointPolicy": "v2", "delta.checkpointInterval": "1"}
    listed = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    spark.sql(f"CREATE TABLE delta.`{root}` (id BIGINT) USING delta TBLPROPERTIES ({listed})")
    spark.sql(f"INSERT INTO delta.`{root}` VALUES (1)")  # noqa: S608 - our own folder
    hint = json.loads((root / "_delta_log" / "_last_checkpoint").read_text())
    [protocol] = [a["protocol"] for a in hint["v2Checkpoint"]["nonFileActions"] if a.get("protocol")]
    assert len(protocol["writerFeatures"]) > 10
    assert "checksum" in hint
    snapshot = deltaic.Table(root).snapshot()
    assert not snapshot.warnings
    assert not [warning for warning in recwarn if issubclass(warning.category, deltaic.DeltaicWarning)]
    checkpoint = deltaic.Table(root).append(pa.table({"id": [2]}))
    assert not checkpoint.warnings
    ours = (root / "_delta_log" / "_last_checkpoint").read_text()
    assert json.loads(ours)["version"] == checkpoint.version
    jvm: Any = spark._jvm
    info = jvm.org.apache.spark.sql.delta.LastCheckpointInfo.deserializeFromJson(ours, True)
    assert info.version() == checkpoint.version


@pytest.mark.parametrize("name", contents())
def test_appended_tables(spark: SparkSession, ours: Path, name: str) -> None:
    rows = contents()[name].rows
    assert difference(theirs(spark, ours / name).toArrow(), rows) is None


@pytest.mark.parametrize("name", DEMO)
def test_tables_of_the_demo(spark: SparkSession, demo: Path, name: str) -> None:
    snapshot = deltaic.Table(demo / name).snapshot()
    assert difference(theirs(spark, demo / name).toArrow(), snapshot.scan().to_arrow()) is None


def test_each_version_and_its_provenance(spark: SparkSession, demo: Path) -> None:
    table = deltaic.Table(demo / "flights")
    history = spark.sql(f"DESCRIBE HISTORY delta.`{demo / 'flights'}`").collect()
    commits = table.history()
    assert [(row.version, row.operation) for row in history] == [
        (commit.version, commit.operation) for commit in commits
    ]
    for commit in commits:
        snapshot = table.snapshot(version=commit.version)
        assert theirs(spark, demo / "flights", commit.version).count() == snapshot.num_rows


def test_the_detail_of_a_table(spark: SparkSession, demo: Path) -> None:
    snapshot = deltaic.Table(demo / "flights").snapshot()
    detail = spark.sql(f"DESCRIBE DETAIL delta.`{demo / 'flights'}`").first()
    assert detail.id == snapshot.metadata.id
    assert (detail.numFiles, detail.sizeInBytes) == (snapshot.num_files, snapshot.size_in_bytes)
    assert detail.partitionColumns == snapshot.partition_columns
    protocol = snapshot.protocol
    assert detail.minReaderVersion == protocol.min_reader_version
    assert detail.minWriterVersion == protocol.min_writer_version


INSTANT = datetime(2026, 1, 1, 23, 59, 59, 999_999, tzinfo=timezone.utc)
# Values for which Spark's pushdown of = and <= loses rows, also in its own files: see below. 0.0 equals -0.0.
LOST = {"double": 0.0, "float": 0.0, "date": date(1582, 10, 14)}
# Each value is in a separate file, so that any wrong bound loses it.
SKIPPED_BY: dict[str, pa.Array] = {
    "string": pa.array(["a" * 32, "a" * 33, "a" * 40, "ü" * 33, "\U0001f6eb" * 33, "\uffff" * 40, "", "b"]),
    "timestamp": pa.array([INSTANT, INSTANT + timedelta(microseconds=1)], pa.timestamp("us", "UTC")),
    "old timestamp": pa.array(
        [
            datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=timezone.utc),
            datetime(1969, 12, 31, 23, 59, 59, 999_999, timezone.utc),
        ],
        pa.timestamp("us", "UTC"),
    ),
    "double": pa.array([0.0, -0.0, float("nan"), float("inf"), float("-inf"), 0.1, 5e-324, 1.7e308]),
    "float": pa.array([0.0, -0.0, float("nan"), float("inf"), 6.1, 0.1, 1e-45], pa.float32()),
    "decimal": pa.array([Decimal("99999999.99"), Decimal("-0.01"), Decimal("0.10")], pa.decimal128(10, 2)),
    "wide decimal": pa.array(
        [Decimal("0." + "0" * 17 + "1"), Decimal("-" + "9" * 20)], pa.decimal128(38, 18)
    ),
    "date": pa.array([0, -719_162, 2_932_896, -141_428], pa.int32()).cast(pa.date32()),
    "long": pa.array([0, -(2**63), 2**63 - 1, 2**53 + 1]),
    "byte": pa.array([0, -128, 127], pa.int8()),
    "boolean": pa.array([True, False]),
    "binary": pa.array([b"", b"\xff", b"a" * 40]),
}


def test_spark_skips_by_the_footers_of_our_files(spark: SparkSession, tmp_path: Path) -> None:
    """Pushdown is enabled in this session; without statistics in the log, the footer is used."""
    properties = {"delta.dataSkippingNumIndexedCols": "0"}
    table = deltaic.Table.create(tmp_path / "t", pa.schema([("id", pa.int64())]), properties=properties)
    table.append(pa.table({"id": pa.array(range(1000), pa.int64())}))
    assert rows_read(theirs(spark, tmp_path / "t").where("id = 1000")) == 0
    assert rows_read(theirs(spark, tmp_path / "t").where("id = 999")) == 1000


def rows_read(frame: DataFrame) -> int:
    """Returns the number of rows that the scan returns, before any is filtered."""
    plan = frame._jdf.queryExecution().executedPlan()
    plan.executeCollectPublic()
    return plan.collectLeaves().head().metrics().apply("numOutputRows").value()


@pytest.mark.parametrize("kind", SKIPPED_BY)
def test_skipping_by_our_statistics_loses_nothing(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    values = pa.concat_arrays([SKIPPED_BY[kind], pa.nulls(1, SKIPPED_BY[kind].type)])
    rows = pa.table({"id": pa.array(range(len(values)), pa.int64()), "v": values})
    table = deltaic.Table.create(tmp_path / "t", rows.schema)
    for row in range(rows.num_rows):
        table.append(rows.slice(row, 1))
    # One more file has all of them: its footer has bounds, unless one of them is NaN.
    again = rows.set_column(0, "id", pa.array(range(100, 100 + rows.num_rows), pa.int64()))
    table.append(again)
    frame = theirs(spark, tmp_path / "t")
    everything = spark.createDataFrame(pa.concat_tables([rows, again]))
    for condition, is_lost in conditions(frame, kind):
        spark.conf.set(PUSHDOWN, str(not is_lost).lower())
        try:
            found = sorted(row.id for row in frame.where(condition).select("id").collect())
        finally:
            spark.conf.unset(PUSHDOWN)
        expected = sorted(row.id for row in everything.where(condition).select("id").collect())
        assert found == expected, str(condition)


def conditions(frame: DataFrame, kind: str) -> Iterator[tuple[Column, bool]]:
    """Yields comparisons with each value, and whether Spark's pushdown loses rows with it in any file.

    None of them converts a timestamp to a Python type.
    """
    from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

    column, values = F.col("v"), SKIPPED_BY[kind]
    yield column.isNull(), False
    yield column.isNotNull(), False
    for value in values:
        if pa.types.is_timestamp(values.type):
            literal = F.timestamp_micros(F.lit(value.value))
        elif pa.types.is_date(values.type):
            literal = F.date_from_unix_date(F.lit(value.value))
        elif pa.types.is_binary(values.type):
            literal = F.unhex(F.lit(value.as_py().hex()))
        else:
            literal = F.lit(value.as_py()).cast(frame.schema["v"].dataType)
        is_lost = kind in LOST and value.as_py() == LOST[kind]
        yield column == literal, is_lost
        yield column <= literal, is_lost
        yield column > literal, False


LOST_BY_SPARK = [
    ("-0.0D", "v = 0.0D"),
    ("0.0D", "v <= -0.0D"),
    ("-0.0F", "v = 0.0F"),
    ("0.0F", "v <= -0.0F"),
    ("date_from_unix_date(-141428)", "v = date_from_unix_date(-141428)"),
]


@pytest.mark.parametrize(("value", "condition"), LOST_BY_SPARK)
def test_rows_that_spark_loses_in_its_own_files(
    spark: SparkSession, tmp_path: Path, value: str, condition: str
) -> None:
    """Spark distinguishes the zeros in a dictionary, and confuses a day that exists in one calendar only."""
    spark.sql(f"SELECT {value} AS v FROM range(0, 100, 1, 1)").write.parquet(str(tmp_path / "t"))  # noqa: S608
    found = {}
    for pushdown in ("true", "false"):
        spark.conf.set(PUSHDOWN, pushdown)
        try:
            found[pushdown] = spark.read.parquet(str(tmp_path / "t")).where(condition).count()
        finally:
            spark.conf.unset(PUSHDOWN)
    assert found == {"true": 0, "false": 100}


def test_our_statistics_do_skip(spark: SparkSession, tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    for number in range(5):
        table.append(pa.table({"id": pa.array([number], pa.int64())}))
    assert len(theirs(spark, tmp_path / "t").where("id >= 3").inputFiles()) == 2


def test_an_append_of_theirs_after_ours(spark: SparkSession, tmp_path: Path) -> None:
    rows = every_type().append_column("p", pa.array(["a b", "ü/é", None, "%", "x", "x"]))
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["p"])
    table.append(rows)
    spark.createDataFrame(rows).write.format("delta").mode("append").save(str(tmp_path / "t"))
    table.append(rows)
    assert table.snapshot().version == 3
    expected = pa.concat_tables([rows, rows, rows])
    assert difference(table.snapshot().scan().to_arrow(), expected) is None
    assert difference(theirs(spark, tmp_path / "t").toArrow(), expected) is None
    assert [commit.operation for commit in table.history()] == ["WRITE", "WRITE", "WRITE", "CREATE TABLE"]


def test_a_delete_of_theirs_in_our_table(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"id": pa.array(range(100), pa.int64()), "p": ["a", "b"] * 50})
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["p"])
    table.append(rows)
    spark.sql(f"DELETE FROM delta.`{tmp_path / 't'}` WHERE id % 10 = 0")  # noqa: S608 - our own folder
    expected = rows.filter(pa.array([n % 10 != 0 for n in range(100)]))
    assert difference(table.snapshot().scan().to_arrow(), expected) is None


def test_a_checkpoint_of_theirs(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "p": ["a b", None]})
    properties = {"delta.checkpointInterval": "3"}
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["p"], properties=properties)
    for _ in range(2):
        table.append(rows)
    spark.createDataFrame(rows).write.format("delta").mode("append").save(str(tmp_path / "t"))
    assert list((tmp_path / "t" / "_delta_log").glob("*.checkpoint.parquet"))
    for version in range(3):
        (tmp_path / "t" / "_delta_log" / f"{version:020}.json").unlink()
    fresh = deltaic.Table(tmp_path / "t").snapshot()
    assert fresh.version == 3
    assert difference(fresh.scan().to_arrow(), pa.concat_tables([rows, rows, rows])) is None


@pytest.mark.parametrize("inline", [False, True], ids=["in a file", "in the log"])
def test_our_deletion_vectors(spark: SparkSession, tmp_path: Path, inline: bool) -> None:
    rows = vectors.table(tmp_path / "t", inline=inline)
    assert sorted_ids(deltaic.Table(tmp_path / "t").snapshot().scan().to_arrow()) == sorted_ids(rows)
    assert sorted_ids(theirs(spark, tmp_path / "t").toArrow()) == sorted_ids(rows)


@pytest.mark.parametrize("more", [{}, {"delta.enableChangeDataFeed": "true"}], ids=["plain", "change feed"])
def test_small_deletion_vectors_in_the_log(spark: SparkSession, tmp_path: Path, more: dict[str, str]) -> None:
    """delta-spark reads the inline vectors of commits and checkpoints, and adds rows to them."""
    root, properties = tmp_path / "t", {"delta.enableDeletionVectors": "true", **more}
    rows = pa.table({"id": pa.array(range(100), pa.int64()), "n": pa.array([0] * 100, pa.int64())})
    table = deltaic.Table.create(root, rows.schema, properties=properties)
    table.append(rows)
    table.delete("id IN (3, 50, 99)")
    table.update({"n": "id"}, "id = 7")
    files = table.snapshot().files().to_arrow()["deletion_vector"].drop_null().to_pylist()
    assert [vector["storage_type"] for vector in files] == ["i"]
    kept = [row for row in range(100) if row not in {3, 50, 99}]
    assert sorted_ids(theirs(spark, root).toArrow()) == kept
    if more:
        feed = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 2)
        changes = feed.load(str(root)).select("_change_type", "id").collect()
        deleted = [("delete", 3), ("delete", 50), ("delete", 99)]
        assert sorted(map(tuple, changes)) == [*deleted, ("update_postimage", 7), ("update_preimage", 7)]
    table.checkpoint()
    spark.sql(f"DELETE FROM delta.`{root}` WHERE id IN (4, 51)").collect()  # noqa: S608 - our own folder
    kept = [row for row in kept if row not in {4, 51}]
    assert sorted_ids(theirs(spark, root).toArrow()) == kept
    assert sorted_ids(deltaic.Table(root).snapshot().scan().to_arrow()) == kept
    deltaic.Table(root).delete("id = 5")
    assert sorted_ids(theirs(spark, root).toArrow()) == [row for row in kept if row != 5]


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_write_that_changes_nothing(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    """Neither commits a version."""
    table = deltaic.Table.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    empty = table.snapshot().scan().to_arrow()
    spark.createDataFrame(empty).write.format("delta").mode(mode).save(str(tmp_path / "t"))
    assert table.snapshot().version == 0
    commit = table.append(empty) if mode == "append" else table.overwrite(empty)
    assert (commit.skipped, table.snapshot().version) == (True, 0)


def sorted_ids(rows: pa.Table) -> list[int]:
    return sorted(rows["id"].to_pylist())


FAR = [range(3, 9), range(2**32 - 2, 2**32 + 70_000), range(5 * 2**32, 5 * 2**32 + 90_000, 3)]


def test_our_deletion_vectors_of_files_with_very_many_rows(spark: SparkSession, tmp_path: Path) -> None:
    """No file is that large, so the test calls delta-spark's decoder of deletion vectors directly."""
    file = tmp_path / "vectors.bin"
    (encoded,) = vectors.encode(file, FAR)
    package = spark._jvm.org.apache.spark.sql.delta.deletionvectors
    bitmap = package.RoaringBitmapArray.readFrom(encoded.bytes_in(file.read_bytes()))
    assert list(bitmap.values()) == [row for part in FAR for row in part]


def test_the_jar_retains_its_name(spark: SparkSession, ours: Path) -> None:
    """With the jar, `register` adds "deltaic" and leaves "delta" as it is."""
    ds.register(spark)
    name = next(iter(contents()))
    mine, jars = spark.read.format("deltaic").load(str(ours / name)), theirs(spark, ours / name)
    plans = [frame._jdf.queryExecution().executedPlan().toString() for frame in (mine, jars)]
    assert ["BatchScan deltaic" in plan for plan in plans] == [True, False]
    assert difference(mine.toArrow(), jars.toArrow()) is None
