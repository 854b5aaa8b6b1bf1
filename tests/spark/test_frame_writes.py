"""`deltaic.spark.write`, and the data source of `DataFrame.write`: modes, schemas, replaced rows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from deltaic.exceptions import (
    ConstraintViolation,
    InvalidPredicate,
    SchemaMismatch,
    TableExists,
)

pytest.importorskip("pyspark", reason="missing: PySpark")

from deltaic.spark.frame_write.arrow_tasks import FileTasks
from deltaic.spark.frame_write.columns import to_delta
from deltaic.spark.frame_write.options import WriteOptions
from deltaic.spark.frame_write.plan import WriteRequest, plan_write
from deltaic.spark.frame_write.replaced import Replaced
from deltaic.spark.source.registration import active
from deltaic.spark.source.table_writer import TableWriter

from .python_source import in_python

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .conftest import Settings

Write = Callable[..., Any]
"""From a frame, a path, a mode and options to the result of the write."""

WAYS = ("tasks", "source")
FILES = ("add", "remove", "cdc")


@pytest.fixture(params=WAYS)
def write(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Write]:
    """Writes by the tasks of `deltaic.spark.write`, or by the data source."""

    def by_tasks(frame: DataFrame, path: Path, mode: str = "append", **options: Any) -> Any:
        return ds.write(frame).mode(mode).options(**options).save(path)

    if request.param == "tasks":
        yield by_tasks
        return
    name = in_python(spark)

    def by_source(frame: DataFrame, path: Path, mode: str = "append", **options: Any) -> None:
        frame.write.format(name).mode(mode).options(**options).save(str(path))

    # Spark looks for a source of this name in the active session.
    with active(spark):
        yield by_source


def rows_of(path: Path) -> list[Any]:
    rows = deltaic.Table(path).to_arrow().to_pylist()
    return sorted(rows, key=repr)


def fields_of(path: Path) -> list[Any]:
    return json.loads(deltaic.Table(path).schema.to_json())["fields"]


def stats_of(path: Path) -> list[str]:
    """Returns what the log says of the files, without their names, sizes and times."""
    files = deltaic.Table(path).snapshot().files(stats=True).to_arrow().to_pylist()
    kept = ("partition_values", "num_records", "tight_bounds", "min", "max", "null_count")
    return sorted(str([file.get(name) for name in kept]) for file in files)


def test_an_append_creates_the_table_and_adds_to_it(
    spark: SparkSession, write: Write, tmp_path: Path
) -> None:
    write(spark.range(3).coalesce(1), tmp_path / "t")
    write(spark.range(3, 5).coalesce(1), tmp_path / "t")
    table = deltaic.Table(tmp_path / "t")
    assert [row["id"] for row in rows_of(tmp_path / "t")] == [0, 1, 2, 3, 4]
    assert [commit.operation for commit in table.history()] == ["WRITE", "CREATE TABLE AS SELECT"]
    assert table.history()[0].is_blind_append
    assert table.history()[0].metrics["numOutputRows"] == 2


TYPES = """
    CAST(id AS tinyint) AS tiny, CAST(id AS smallint) AS small, CAST(id AS int) AS int, id AS long,
    CAST(id / 3 AS float) AS float, id / 7 AS double, CAST(id / 7 AS decimal(20, 5)) AS decimal,
    id % 2 = 0 AS boolean, CONCAT('text ', id) AS text, CAST(CONCAT('b', id) AS binary) AS bytes,
    DATE '2026-11-01' + CAST(id AS int) AS day,
    TIMESTAMP '2026-11-01 12:00:00.123456' + MAKE_INTERVAL(0, 0, 0, CAST(id AS int)) AS moment,
    TIMESTAMP_NTZ '2026-11-01 12:00:00.123456' AS local,
    NAMED_STRUCT('a', id, 'b', NAMED_STRUCT('c', CAST(id AS string))) AS struct,
    ARRAY(id, NULL, id + 1) AS list, MAP('k', id) AS map, ARRAY(NAMED_STRUCT('x', id)) AS structs,
    IF(id % 3 = 0, NULL, id) AS some
"""


@pytest.mark.parametrize("partition_by", [[], ["text"], ["day", "boolean"]])
def test_rows_and_statistics_are_those_of_an_append(
    spark: SparkSession, tmp_path: Path, partition_by: list[str]
) -> None:
    """Spark's rows, every type of them, become the same table as Arrow rows do."""
    frame = spark.range(20).coalesce(1).selectExpr(*_split(TYPES))
    commit = ds.write(frame).partitionBy(*partition_by).save(tmp_path / "spark")
    assert commit is not None
    assert commit.version == 0
    arrow = frame.toArrow()
    deltaic.write(tmp_path / "arrow", arrow, partition_by=partition_by)
    assert rows_of(tmp_path / "spark") == rows_of(tmp_path / "arrow")
    assert stats_of(tmp_path / "spark") == stats_of(tmp_path / "arrow")
    written, expected = fields_of(tmp_path / "spark"), fields_of(tmp_path / "arrow")
    # Arrow knows that some values are never NULL.
    assert str(written) == str(expected).replace("'nullable': False", "'nullable': True").replace(
        "'containsNull': False", "'containsNull': True"
    ).replace("'valueContainsNull': False", "'valueContainsNull': True")


def _split(select: str) -> list[str]:
    """Splits a select list at the commas outside of parentheses."""
    parts, depth = [""], 0
    for sign in " ".join(select.split()):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def test_the_modes(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    for mode in ("overwrite", "errorifexists"):
        assert ds.write(spark.range(2)).mode(mode).save(path / mode) is not None
    ds.write(spark.range(2)).save(path)
    with pytest.raises(TableExists, match='mode\\("append"\\)'):
        ds.write(spark.range(2)).save(path)
    assert ds.write(spark.range(2)).mode("ignore").save(path) is None
    overwritten = ds.write(spark.range(7, 9)).mode("OVERWRITE").save(path)
    assert overwritten is not None
    assert overwritten.parameters["mode"] == "Overwrite"
    assert [row["id"] for row in rows_of(path)] == [7, 8]
    with pytest.raises(ValueError, match="append, overwrite, error or ignore"):
        ds.write(spark.range(2)).mode("apend")


def test_an_overwrite_by_the_format(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    write(spark.range(5), tmp_path / "t")
    write(spark.range(7, 9), tmp_path / "t", "overwrite")
    assert [row["id"] for row in rows_of(tmp_path / "t")] == [7, 8]


def test_schemas_are_merged_and_replaced(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "t"
    write(spark.range(2).selectExpr("id", "'x' AS b"), path)
    wider = spark.range(2, 3).selectExpr("id AS ID", "1.5D AS c")
    with pytest.raises(Exception, match=r'option\("mergeSchema", "true"\)'):
        write(wider, path)
    write(wider, path, mergeSchema="true")
    assert rows_of(path)[2] == {"id": 2, "b": None, "c": 1.5}
    other = spark.range(3).selectExpr("CAST(id AS string) AS id", "id % 2 AS p")
    with pytest.raises(Exception, match="the column id is bigint in the table and string in the data"):
        write(other.select("id"), path, "overwrite")
    write(other, path, "overwrite", overwriteSchema="true")
    assert [field["name"] for field in fields_of(path)] == ["id", "p"]
    assert {row["id"] for row in rows_of(path)} == {"0", "1", "2"}


def test_the_partitioning_is_replaced_with_the_schema(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    frame = spark.range(4).selectExpr("id", "id % 2 AS p")
    ds.write(frame).partitionBy("p").save(path)
    with pytest.raises(ValueError, match=r"the table is partitioned by \['p'\], not by \['id'\]"):
        ds.write(frame).mode("append").partitionBy("id").save(path)
    ds.write(frame).mode("append").partitionBy(["P"]).save(path)
    ds.write(frame).mode("overwrite").option("overwriteSchema", True).partitionBy("id").save(path)
    assert deltaic.Table(path).snapshot().partition_columns == ["id"]
    ds.write(frame).mode("overwrite").option("overwriteSchema", True).save(path)
    assert deltaic.Table(path).snapshot().partition_columns == []


def test_rows_of_a_condition_are_replaced(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    ds.write(spark.range(10).selectExpr("id", "id % 2 AS p")).partitionBy("p").save(path)
    new = spark.range(20, 22).selectExpr("id", "1L AS p")
    writer = ds.write(new).mode("overwrite").option("replaceWhere", "p = 1 AND id < 5")
    with pytest.raises(ConstraintViolation, match="does not match the predicate of the overwrite") as raised:
        writer.save(path)
    assert raised.value.context["row"] in {"id = 20, p = 1", "id = 21, p = 1"}
    assert len(rows_of(path)) == 10
    commit = writer.option("replaceWhere", "p = 1 AND (id < 5 OR id >= 20)").save(path)
    assert commit is not None
    assert commit.parameters["predicate"] == "p = 1 AND (id < 5 OR id >= 20)"
    assert sorted(row["id"] for row in rows_of(path)) == [0, 2, 4, 5, 6, 7, 8, 9, 20, 21]


def test_new_rows_match_the_condition(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    write(spark.range(10), tmp_path / "t")
    with pytest.raises(Exception, match="does not match the predicate of the overwrite"):
        write(spark.range(3, 8), tmp_path / "t", "overwrite", replaceWhere="id < 5")
    write(spark.range(3, 5), tmp_path / "t", "overwrite", replaceWhere="id < 5")
    assert [row["id"] for row in rows_of(tmp_path / "t")] == [3, 4, 5, 6, 7, 8, 9]


def test_partitions_are_replaced(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "t"
    ds.write(spark.range(6).selectExpr("id", "id % 3 AS p")).partitionBy("p").save(path)
    write(spark.sql("SELECT 7L AS id, 1L AS p"), path, "overwrite", partitionOverwriteMode="Dynamic")
    assert sorted((row["p"], row["id"]) for row in rows_of(path)) == [(0, 0), (0, 3), (1, 7), (2, 2), (2, 5)]


def test_a_condition_that_the_session_reads_differently_is_refused(
    spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    frame = spark.sql("SELECT TIMESTAMP '2026-11-01 00:00:00' AS at, 1 AS id")
    ds.write(frame).save(path)
    writer = ds.write(frame).mode("overwrite").option("replaceWhere", "at = TIMESTAMP '2026-11-01 00:00:00'")
    with (
        settings({"spark.sql.session.timeZone": "Asia/Tokyo"}),
        pytest.raises(InvalidPredicate, match="means something else in this session"),
    ):
        writer.save(path)
    writer.save(path)
    assert len(rows_of(path)) == 1


def test_a_write_of_an_application_happens_once(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "t"
    for _ in range(2):
        write(spark.range(3), path, txnAppId="job", txnVersion=7)
    write(spark.range(3, 4), path, txnAppId="job", txnVersion="8", userMetadata="the eighth")
    assert [row["id"] for row in rows_of(path)] == [0, 1, 2, 3]
    assert deltaic.Table(path).snapshot().app_transactions == {"job": 8}
    assert deltaic.Table(path).history()[0].info["userMetadata"] == "the eighth"
    with pytest.raises(Exception, match="txnAppId and txnVersion identify a write together"):
        write(spark.range(3), path, txnAppId="job")


def test_a_write_that_is_done_runs_no_job(spark: SparkSession, tmp_path: Path) -> None:
    writer = ds.write(spark.range(3)).mode("append").options(txnAppId="job", txnVersion=1)
    writer.save(tmp_path / "t")
    never = spark.range(1).selectExpr("CAST(raise_error('the rows are computed') AS bigint) AS id")
    commit = ds.write(never).mode("append").options(txnAppId="job", txnVersion=1).save(tmp_path / "t")
    assert commit is not None
    assert commit.skipped


def test_an_overwrite_without_change_of_data(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    """protocol: *Add File and Remove File*, dataChange: the rows are the same, in other files."""
    path = tmp_path / "t"
    rows = spark.range(12).selectExpr("id", "id % 2 AS p")
    creation = ds.write(rows.repartition(3)).partitionBy("p").option("delta.enableChangeDataFeed", "true")
    creation.save(path)
    compacted = {"mode": "overwrite", "dataChange": "false", "replaceWhere": "p = 0"}
    write(rows.where("p = 0").coalesce(1), path, **compacted)
    table = deltaic.Table(path)
    assert sorted(row["id"] for row in rows_of(path)) == list(range(12))
    log = [json.loads(line) for line in (path / "_delta_log" / f"{1:020}.json").read_text().splitlines()]
    changed = [(kind, action["dataChange"]) for line in log for kind, action in line.items() if kind in FILES]
    assert sorted(set(changed)) == [("add", False), ("remove", False)]
    assert sum(kind == "add" for kind, _ in changed) == 1
    assert table.changes(start=1).to_arrow().num_rows == 0
    for condition, message in (
        ("p = 0 AND id < 6", "replaces whole files"),
        ("p = 0", "equal row counts[^|]*option"),
    ):
        with pytest.raises(Exception, match=message):
            write(rows.where("p = 0 AND id < 6"), path, **{**compacted, "replaceWhere": condition})
    assert deltaic.Table(path).snapshot().version == 1
    assert deltaic.Table(path).check(deep=True).is_healthy


def test_settings_of_files(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "t"
    frame = spark.range(10).coalesce(1)
    write(frame, path, maxRecordsPerFile=4, compression="snappy")
    files = deltaic.Table(path).files(stats=True).to_arrow().to_pylist()
    assert sorted(file["num_records"] for file in files) == [2, 4, 4]
    assert all(file["path"].endswith(".snappy.parquet") for file in files)
    with pytest.raises(Exception, match='"snapy" is not a codec'):
        write(frame, path, compression="snapy")


def test_rows_are_gathered_into_few_files(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(40).repartition(8).selectExpr("id", "id % 2 AS p")
    ds.write(frame).partitionBy("p").option("optimizeWrite", "true").save(tmp_path / "t")
    assert deltaic.Table(tmp_path / "t").snapshot().num_files == 2
    odd = ds.write(frame.withColumnRenamed("p", "my.`col")).option("delta.columnMapping.mode", "name")
    odd.partitionBy("my.`col").option("optimizeWrite", "true").save(tmp_path / "odd")
    assert deltaic.Table(tmp_path / "odd").snapshot().num_files == 2
    assert len(rows_of(tmp_path / "t")) == 40


def test_properties_and_clustering_of_a_new_table(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    write(spark.range(2), tmp_path / "t", **{"delta.appendOnly": "true"})
    assert deltaic.Table(tmp_path / "t").snapshot().metadata.properties["delta.appendOnly"] == "true"
    ds.write(spark.range(2).selectExpr("id", "id AS b")).clusterBy("b").save(tmp_path / "clustered")
    assert "clustering" in deltaic.Table(tmp_path / "clustered").snapshot().protocol.writer_features
    with pytest.raises(ValueError, match="clusterBy applies to a new table"):
        ds.write(spark.range(2)).mode("append").clusterBy("id").save(tmp_path / "clustered")
    with pytest.warns(deltaic.DeltaicWarning, match="are not set: delta.appendOnly") as warned:
        ds.write(spark.range(2)).mode("append").option("delta.appendOnly", "false").save(tmp_path / "t")
    assert warned[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mergeschema": "maybe"}, "mergeSchema must be true or false"),
        ({"mergeShema": "true"}, "unknown option 'mergeShema': did you mean 'mergeSchema'?"),
        ({"replaceWhere": "id = 1"}, "'replaceWhere' applies to mode 'overwrite', not to 'append'"),
        ({"overwriteSchema": True}, "'overwriteSchema' applies to mode 'overwrite'"),
        ({"partitionOverwriteMode": "dynamic"}, "'partitionOverwriteMode' applies to mode 'overwrite'"),
        ({"partitionOverwriteMode": "maybe"}, "must be 'static' or 'dynamic'"),
        ({"maxRecordsPerFile": "-1"}, "maxRecordsPerFile must be a number"),
        ({"dataChange": "false"}, "option 'dataChange' applies to mode 'overwrite'"),
        ({"replaceUsing": "id"}, "option 'replaceUsing' applies to mode 'overwrite'"),
        ({"replaceOn": "true"}, "option 'replaceOn' applies to mode 'overwrite'"),
        ({"targetAlias": "t"}, "targetAlias names the table in the condition of replaceOn"),
        ({"replaceUsing": "id", "replaceOn": "true"}, "replaceUsing and replaceOn exclude each other"),
        ({"replaceUsing": "id,,id"}, "replaceUsing must be names of columns"),
    ],
)
def test_wrong_options(
    spark: SparkSession, write: Write, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(Exception, match="(?i)" + re.escape(message)):
        write(spark.range(1), tmp_path / "t", **options)
    assert not (tmp_path / "t").exists()


def test_columns_of_the_same_name(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SchemaMismatch, match="two columns"):
        ds.write(spark.sql("SELECT 1 AS a, 2 AS A")).save(tmp_path / "t")


def test_odd_names_of_columns(spark: SparkSession, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "an odd/pa th=ü%20"
    options = {"delta.columnMapping.mode": "name"}
    frame = spark.sql("SELECT 1 AS `a.b`, 2 AS `c ``d`, NAMED_STRUCT('x.y', 3) AS `Ü`")
    write(frame, path, **options)
    write(frame, path)
    assert rows_of(path) == [{"a.b": 1, "c `d": 2, "Ü": {"x.y": 3}}] * 2


def test_reported_files_of_a_failed_write_are_deleted(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(6).repartition(3)
    path = tmp_path / "t"
    request = WriteRequest(str(path), "append", to_delta(frame.schema), WriteOptions())
    job = plan_write(request)
    assert job is not None
    tasks = FileTasks(frame, job, numbers_rows=False)
    files = tasks.run()
    assert sorted(map(str, json.loads(tasks.reported()))) == sorted(map(str, json.loads(files)))
    assert len(list(path.glob("*.parquet"))) == 3
    job.discard(tasks.reported())
    assert not list(path.glob("*.parquet"))
    with pytest.raises(ValueError, match="does not exist"):
        job.commit(files, WriteOptions().commit_options())
    assert not deltaic.Table.exists(path)


def test_a_table_that_changed_during_the_write(spark: SparkSession, tmp_path: Path) -> None:
    """Files are added to a newer version if the table is the same there, and deleted otherwise."""
    path = tmp_path / "t"
    table = deltaic.write(path, pa.table({"id": [1]}))

    rows = spark.range(2, 3).coalesce(1)
    request = WriteRequest(str(path), "append", to_delta(rows.schema), WriteOptions())
    appended, refused = plan_write(request), plan_write(request)
    assert appended is not None
    assert refused is not None
    table.append(pa.table({"id": [9]}))
    files = FileTasks(rows, appended, numbers_rows=False).run()
    appended.commit(files, WriteOptions().commit_options())
    assert sorted(row["id"] for row in rows_of(path)) == [1, 2, 9]
    table.alter(deltaic.alter.SetProperties({"delta.dataSkippingNumIndexedCols": "0"}))
    files = FileTasks(rows, refused, numbers_rows=False).run()
    before = set(path.glob("*.parquet"))
    with pytest.raises(deltaic.exceptions.MetadataChanged):
        refused.commit(files, WriteOptions().commit_options())
    assert len(before - set(path.glob("*.parquet"))) == 1


def test_rows_that_another_writer_adds_during_an_overwrite_stay(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    table = deltaic.write(path, pa.table({"id": [1]}))
    rows = spark.range(2, 3).coalesce(1)
    for options in (WriteOptions(), WriteOptions(replaced=Replaced(where="id < 5"))):
        request = WriteRequest(str(path), "overwrite", to_delta(rows.schema), options)
        job = plan_write(request)
        assert job is not None
        table.append(pa.table({"id": [4]}))
        files = FileTasks(rows, job, numbers_rows=False).run()
        with pytest.raises(deltaic.exceptions.CommitConflict):
            job.commit(files, options.commit_options())
    assert [row["id"] for row in rows_of(path)] == [1, 4, 4]
    assert len(list(path.glob("*.parquet"))) == 3


def test_text_of_rows_is_not_taken_for_an_error(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    frame = spark.createDataFrame([("[deltaic-error:QQ==]",)], "c string").selectExpr("CAST(c AS int) AS c")
    with pytest.raises(PySparkException, match="CAST_INVALID_INPUT"):
        ds.write(frame).save(tmp_path / "t")


def test_two_paths(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two paths are given"):
        ds.write(spark.range(1)).option("path", "elsewhere").save(tmp_path / "t")


@pytest.mark.parametrize("has_failed", [True, False])
def test_the_source_keeps_files_that_a_failed_commit_may_reference(
    spark: SparkSession, tmp_path: Path, has_failed: bool
) -> None:
    """Spark aborts after a failed commit as well as after a failed task, whose message is None."""
    path = tmp_path / "t"
    writer = TableWriter({"path": str(path)}, spark.range(1).schema, overwrites=False)
    message = writer.write(iter([pa.record_batch({"id": [1]})]))
    writer.abort([message, None] if has_failed else [message])
    assert len(list(path.glob("*.parquet"))) == (0 if has_failed else 1)
