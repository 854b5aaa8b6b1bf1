"""The data source through Spark Connect: a server, and a client without a JVM.

The client runs in its own process, because a process can have either classic or remote sessions.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from tests.protocol.handmade_log import HandmadeTable, field, metadata, protocol, schema

from .vector_tables import with_vector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = ("grpc", "grpc_status", "google.rpc", "pandas")
ROWS = pa.table({"id": [1, 2, 3], "city": ["Oslo", None, "Rome"]})
ROWS_WITH_VECTOR, DELETED = 9_000, range(0, 9_000, 3)

CLIENT = """
import json, sys
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
import deltaic, deltaic.spark as ds

url, table, vectors, variants = sys.argv[1:]
spark = SparkSession.builder.remote(url).getOrCreate()
found = {"module": type(spark).__module__}

def load(path=table, name="deltaic", **options):
    return spark.read.format(name).options(**options).load(path)

def ids(frame):
    return sorted(row.id for row in frame.collect())

def error(action):
    try:
        action()
    except PySparkException as error:
        return str(error)

ds.register(spark)
ds.register(spark)
found["rows"] = ids(load())
found["as delta"] = ids(load(name="delta"))
found["schema"] = load().schema.simpleString()
found["filtered"] = ids(load().where("city = 'Rome'"))
found["chosen"] = spark.read.format("deltaic").schema("city string").load(table).columns
found["version 0"] = ids(load(versionAsOf=0))
found["feed"] = sorted(list(row) for row in load(
    readChangeFeed=True, startingVersion=1).select("id", "_change_type", "_commit_version").collect())
spark.sql(f"CREATE TEMPORARY VIEW t USING deltaic OPTIONS (path '{table}')")
found["sql"] = [row[0] for row in spark.sql("SELECT city FROM t ORDER BY id").collect()]
frame = load()
frame.createOrReplaceTempView("before")
deltaic.Table(table).append(spark.createDataFrame([(4, "Bonn")], "id bigint, city string").toArrow())
found["view"] = ids(spark.table("before"))
found["after"] = ids(load())
found["no table"] = error(lambda: load(table + "x").collect())
found["bad option"] = error(lambda: load(versonAsOf=1).collect())

import io
from contextlib import redirect_stdout

def plan_of(frame):
    with io.StringIO() as text, redirect_stdout(text):
        frame.explain()
        return text.getvalue()

def rows(frame):
    return sorted((list(row) for row in frame.collect()), key=str)

native = ds.read(spark).option("versionAsOf", 1).load(table)
found["native rows"] = rows(native)
found["native plan"] = plan_of(native)
found["native where"] = ids(ds.read(spark).where("city = 'Rome'").load(table))
deleted = ds.read(spark).load(vectors)
found["vectors"] = rows(deleted)
found["vectors plan"] = plan_of(deleted)
found["vectors again"] = deleted.where("id > 5000").count()
feed = ds.read(spark).options(readChangeFeed=True, startingVersion=1, endingVersion=1).load(table)
found["native feed"] = rows(feed.select("id", "_change_type"))
found["variants plan"] = plan_of(ds.read(spark).load(variants))
timed = ds.read(spark).option("fileModificationTime", True)
found["file times"] = timed.load(table).columns
found["file times by the source"] = error(lambda: load(fileModificationTime=True).collect())
try:
    timed.load(variants)
except deltaic.UnsupportedFeature as unsupported:
    found["file times of variants"] = str(unsupported)
fresh = ds.read(spark).option("versionAsOf", 1).load(table)
ignores = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
spark.conf.set(ignores, "true")
found["told later"] = error(lambda: fresh.where("id > 1").collect())
unlisted = ds.read(spark).option("versionAsOf", 1).load(table)
found["unlisted rows"] = rows(unlisted)
found["unlisted plan"] = plan_of(unlisted)
spark.conf.unset(ignores)

def write(frame, mode, path=table + " copy", **options):
    return ds.write(frame).mode(mode).options(**options).save(path)

source = spark.createDataFrame([(1, "Oslo"), (2, "Rome")], "id bigint, city string")
found["returned"] = ds.write(source).partitionBy("city").save(table + " copy")
write(source.where("id = 2"), "append", txnAppId="job", txnVersion=1)
write(source.where("id = 2"), "append", txnAppId="job", txnVersion=1)
write(source, "ignore")
found["exists"] = error(lambda: write(source, "error"))
found["appended"] = ids(load(table + " copy"))
write(source.where("id = 1"), "overwrite", replaceWhere="city = 'Oslo'")
found["replaced"] = ids(load(table + " copy"))
found["outside"] = error(lambda: write(source, "overwrite", replaceWhere="city = 'Oslo'"))
write(source.selectExpr("id + 5 AS id", "1 AS new"), "overwrite", overwriteSchema=True)
found["overwritten"] = load(table + " copy").schema.simpleString()
source.withColumn("new", source.id).write.format("deltaic").mode("append").option("mergeSchema", "true").save(
    table + " copy"
)
found["merged"] = ids(load(table + " copy"))
found["wrong option of a write"] = error(lambda: source.write.format("deltaic").mode("append").save(
    table + " copy", mergeShema="true"))
found["native no table"] = error(lambda: ds.read(spark).load(table + "x"))
found["native bad option"] = error(lambda: ds.read(spark).option("versonAsOf", 1).load(table))
found["native bad predicate"] = error(lambda: ds.read(spark).where("id >").load(table).collect())
spark.stop()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def server(session: SparkSession) -> Iterator[str]:
    """The address of a Spark Connect server in the JVM of the session."""
    needed = NEEDED if session.version.startswith("4.0.") else (*NEEDED, "zstandard")
    missing = [name for name in needed if not there(name)]
    if missing:
        pytest.skip(
            f"missing: packages of Spark Connect: pip install 'pyspark[connect]' ({', '.join(missing)})"
        )
    jvm: Any = session._jvm
    none = jvm.scala.Option.empty()
    service = getattr(getattr(jvm, "org.apache.spark.sql.connect.service.SparkConnectService$"), "MODULE$")
    service.start(session._jsc.sc())
    try:
        yield f"sc://127.0.0.1:{service.localPort()}"
    finally:
        service.stop(none, none)


def there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@pytest.fixture(scope="module")
def found(server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Returns what a client reads from a table with `ROWS` in version 1."""
    table = tmp_path_factory.mktemp("tables") / "t"
    feed = {"delta.enableChangeDataFeed": "true"}
    deltaic.Table.create(table, ROWS.schema, partition_by=["city"], properties=feed).append(ROWS)
    vectors = with_vector(table.parent / "vectors", ROWS_WITH_VECTOR, DELETED)
    variants = HandmadeTable(table.parent / "variants")
    features = ["variantType"]
    variants.commit(protocol(3, 7, features, features), metadata(schema(field("v", "variant"))))
    ended = subprocess.run(
        [sys.executable, "-c", CLIENT, server, str(table), str(vectors.root), str(variants.root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


def test_writes(found: dict[str, Any]) -> None:
    assert found["returned"] is None
    assert found["appended"] == [1, 2, 2]
    assert found["replaced"] == [1, 2, 2]
    assert found["overwritten"] == "struct<id:bigint,new:int>"
    assert found["merged"] == [1, 2, 6, 7]
    assert "TableExists: there is a table at" in found["exists"]
    assert "does not match the predicate of the overwrite: city = 'Oslo'" in found["outside"]
    assert "did you mean 'mergeSchema'?" in found["wrong option of a write"]


def test_the_session_is_remote(found: dict[str, Any]) -> None:
    assert found["module"] == "pyspark.sql.connect.session"


def test_rows(found: dict[str, Any]) -> None:
    assert found["rows"] == found["as delta"] == [1, 2, 3]
    assert found["schema"] == "struct<id:bigint,city:string>"
    assert found["filtered"] == [3]
    assert found["chosen"] == ["city"]
    assert found["version 0"] == []


def test_a_change_feed(found: dict[str, Any]) -> None:
    assert found["feed"] == [[1, "insert", 1], [2, "insert", 1], [3, "insert", 1]]


def test_sql(found: dict[str, Any]) -> None:
    assert found["sql"] == ["Oslo", None, "Rome"]


def test_a_view_retains_its_version(found: dict[str, Any]) -> None:
    assert found["view"] == [1, 2, 3]
    assert found["after"] == [1, 2, 3, 4]


def test_errors_state_what_is_wrong(found: dict[str, Any]) -> None:
    start = "[PYTHON_DATA_SOURCE_ERROR] Failed to create Python data source instance: "
    assert (
        found["no table"].splitlines()[0].startswith(f"{start}deltaic.exceptions.TableNotFound: there is no ")
    )
    assert found["no table"].splitlines()[1].startswith("hint: ")
    assert found["bad option"].splitlines()[0] == (
        f"{start}ValueError: unknown option 'versonasof': did you mean 'versionAsOf'?"
    )


def test_spark_reads_the_files_itself(found: dict[str, Any]) -> None:
    assert found["native rows"] == [[1, "Oslo"], [2, None], [3, "Rome"]]
    assert "FileScan parquet" in found["native plan"]
    assert found["native where"] == [3]


def test_spark_leaves_out_deleted_rows_itself(found: dict[str, Any]) -> None:
    left = [row for row in range(ROWS_WITH_VECTOR) if row % 3]
    assert found["vectors"] == sorted(([row] for row in left), key=str)
    assert "FileScan parquet" in found["vectors plan"]
    assert found["vectors again"] == len([row for row in left if row > 5_000])


def test_the_data_source_reads_tables_that_native_reads_reject(found: dict[str, Any]) -> None:
    assert found["native feed"] == [[1, "insert"], [2, "insert"], [3, "insert"]]
    assert "FileScan parquet" not in found["variants plan"]


def test_a_session_that_takes_no_list_of_files_reads_by_the_data_source(found: dict[str, Any]) -> None:
    assert found["unlisted rows"] == found["native rows"]
    assert "FileScan parquet" not in found["unlisted plan"]


def test_a_session_that_is_reported_later_to_take_no_list_does_not_lose_rows(found: dict[str, Any]) -> None:
    assert "not-listed.parquet" in found["told later"]


def test_the_times_of_files(found: dict[str, Any]) -> None:
    assert found["file times"] == ["id", "city", "_file_modification_time"]
    first = found["file times by the source"].splitlines()[0]
    assert "does not provide the modification time of a row's file" in first
    assert "leave out option fileModificationTime" in found["file times of variants"]


def test_errors_of_planning_on_the_server(found: dict[str, Any]) -> None:
    assert "TableNotFound: there is no" in found["native no table"].splitlines()[0]
    assert "did you mean 'versionAsOf'" in found["native bad option"].splitlines()[0]
    assert "PARSE_SYNTAX_ERROR" in found["native bad predicate"]
