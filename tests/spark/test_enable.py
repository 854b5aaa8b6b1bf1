"""`deltaic.spark.enable`: SQL of Spark on Delta tables, in a session that exists."""

# ruff: noqa: S608 - queries of our own

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="missing: PySpark")

from pyspark.errors import AnalysisException, IllegalArgumentException, UnsupportedOperationException

import deltaic
import deltaic.spark as ds

from .opened_files import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def sql(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of its own, enabled after it was used."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.sql("SELECT 1").collect()
    session.range(3).createOrReplaceTempView("three")
    assert ds.enable(session) is session
    yield session
    session.sql("DROP TABLE IF EXISTS named")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two versions of one file each, and a third without a row."""
    root = tmp_path_factory.mktemp("sql") / "a table"
    table = deltaic.Table.create(root, pa.schema({"id": pa.int64(), "day": pa.date32(), "c": pa.string()}))
    for start in (0, 10):
        rows = pa.table({"id": range(start, start + 10), "c": [str(n) for n in range(10)]})
        table.append(rows)
    table.delete("id = 3")
    return root


def rows(session: SparkSession, text: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in session.sql(text).collect())


def test_a_path_is_a_name(sql: SparkSession, path: Path) -> None:
    assert rows(sql, f"SELECT count(*), max(id) FROM delta.`{path}`") == [(19, 19)]
    assert rows(sql, f"SELECT count(*) FROM DELTAIC.`{path.as_uri()}`") == [(19,)]
    assert sql.read.table(f"delta.`{path}`").count() == 19
    assert sql.table(f"spark_catalog.delta.`{path}`").schema == ds.read(sql).load(path).schema
    assert sql.catalog.tableExists(f"delta.`{path}`")
    assert not sql.catalog.tableExists(f"delta.`{path}x`")


def test_what_the_session_had_stays(sql: SparkSession, path: Path) -> None:
    assert rows(sql, f"SELECT id FROM delta.`{path}` JOIN three USING (id)") == [(0,), (1,), (2,)]
    assert ds.enable(sql) is sql
    assert rows(sql, "SELECT count(*) FROM three") == [(3,)]


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("VERSION AS OF 1", 10),
        ("FOR VERSION AS OF '2'", 20),
        ("VERSION AS OF 0", 0),
        ("TIMESTAMP AS OF '2100-01-01'", None),
        ("TIMESTAMP AS OF current_timestamp()", 19),
        ("TIMESTAMP AS OF current_timestamp() - INTERVAL 0 DAYS", 19),
    ],
)
def test_versions_and_times(sql: SparkSession, path: Path, clause: str, expected: int | None) -> None:
    query = f"SELECT count(*) FROM delta.`{path}` {clause}"
    if expected is None:
        with pytest.raises(deltaic.VersionNotFound):
            sql.sql(query)
    else:
        assert rows(sql, query) == [(expected,)]


def test_options_of_a_name(sql: SparkSession, path: Path) -> None:
    assert sql.read.option("versionAsOf", 1).table(f"delta.`{path}`").count() == 10


def test_every_filter_of_sql_leaves_out_files(sql: SparkSession, path: Path) -> None:
    found, files = opened(sql.sql(f"SELECT c FROM delta.`{path}` WHERE id BETWEEN 12 AND 13"))
    assert (sorted(row.c for row in found), files) == (["2", "3"], 1)
    sql.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW late AS SELECT id + 0 AS id, c FROM delta.`{path}` WHERE id > 11"
    )
    assert opened(sql.sql("SELECT * FROM late WHERE c = '5'"))[1] == 1
    assert "1 after statistics" in ds.explain(sql.sql("SELECT * FROM late"))


def test_one_name_twice(sql: SparkSession, path: Path) -> None:
    name = f"delta.`{path}`"
    query = f"SELECT a.id FROM {name} a JOIN {name} VERSION AS OF 2 b ON a.id = b.id WHERE b.id < 4"
    assert rows(sql, query) == [(0,), (1,), (2,)]
    query = (
        f"SELECT id FROM {name} WHERE id = (SELECT max(id) FROM {name}) UNION ALL SELECT count(*) FROM {name}"
    )
    assert rows(sql, query) == [(19,), (19,)]
    query = f"WITH t AS (SELECT * FROM {name}) SELECT count(*) FROM t x, t y WHERE x.id = y.id"
    assert rows(sql, query) == [(19,)]


def test_metadata_of_files(sql: SparkSession, path: Path) -> None:
    found = rows(sql, f"SELECT DISTINCT _metadata.file_name FROM delta.`{path}`")
    assert len(found) == 2
    query = f"SELECT id, _metadata.row_index FROM delta.`{path}` WHERE id IN (5, 15)"
    assert rows(sql, query) == [(5, 4), (15, 5)]


def test_descriptions(sql: SparkSession, path: Path) -> None:
    found = {
        row.col_name: row.data_type for row in sql.sql(f"DESCRIBE TABLE EXTENDED delta.`{path}`").collect()
    }
    assert (found["id"], found["day"], found["c"]) == ("bigint", "date", "string")
    assert sql.sql(f"SHOW COLUMNS IN delta.`{path}`").count() == 3


def test_names_of_a_catalog(sql: SparkSession, path: Path) -> None:
    """Entries as delta-spark makes them are read by their names."""
    sql.sql(f"CREATE TABLE named (x INT) USING parquet LOCATION '{path}'")
    change_provider(sql, "named", "delta")
    assert rows(sql, "SELECT count(*) FROM named") == [(19,)]
    assert rows(sql, "SELECT count(*) FROM default.named VERSION AS OF 1") == [(10,)]
    assert sql.table("named").columns == ["id", "day", "c"]
    assert opened(sql.sql("SELECT * FROM named WHERE id = 15"))[1] == 1


def change_provider(session: SparkSession, name: str, provider: str) -> None:
    internal: Any = session
    jvm, catalog = internal._jvm, internal._jsparkSession.sessionState().catalog()
    entry = catalog.getTableMetadata(jvm.org.apache.spark.sql.catalyst.TableIdentifier(name))
    [copy] = [method for method in entry.getClass().getMethods() if method.getName() == "copy"]
    values = internal.sparkContext._gateway.new_array(jvm.Object, entry.productArity())
    for index in range(entry.productArity()):
        is_provider = entry.productElementName(index) == "provider"
        values[index] = jvm.scala.Some(provider) if is_provider else entry.productElement(index)
    catalog.externalCatalog().alterTable(copy.invoke(entry, values))


def test_a_path_without_a_table(sql: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(AnalysisException, match=r"TABLE_OR_VIEW_NOT_FOUND.*nothing"):
        sql.sql(f"SELECT * FROM delta.`{tmp_path}/nothing`")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        sql.read.table(f"delta.`{tmp_path}/nothing`")


def test_errors_are_those_of_deltaic(sql: SparkSession, path: Path) -> None:
    with pytest.raises(deltaic.VersionNotFound, match="7"):
        sql.sql(f"SELECT * FROM delta.`{path}` VERSION AS OF 7")
    with pytest.raises(ValueError, match="versionAsOf"):
        sql.sql(f"SELECT * FROM delta.`{path}` VERSION AS OF 'x'")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM {} WHERE id = 1",
        "UPDATE {} SET id = 2",
        "MERGE INTO {} t USING three s ON t.id = s.id WHEN MATCHED THEN DELETE",
        "DROP TABLE {}",
        "DROP TABLE {} PURGE",
        "CREATE TABLE fresh (id INT) USING delta",
        "CREATE TABLE fresh USING deltaic AS SELECT 1 AS a",
        "CREATE OR REPLACE TABLE fresh USING delta AS SELECT 1 AS a",
    ],
)
def test_statements_that_change_tables_are_refused(sql: SparkSession, path: Path, statement: str) -> None:
    with pytest.raises(UnsupportedOperationException, match=r"deltaic reads .* in SQL"):
        sql.sql(statement.format(f"delta.`{path}`"))
    assert not sql.catalog.tableExists("fresh")


@pytest.mark.parametrize("statement", ["INSERT INTO {} VALUES (1, NULL, 'x')", "TRUNCATE TABLE {}"])
def test_statements_that_spark_refuses(sql: SparkSession, path: Path, statement: str) -> None:
    version = deltaic.Table(path).version
    with pytest.raises((AnalysisException, UnsupportedOperationException)):
        sql.sql(statement.format(f"delta.`{path}`"))
    assert deltaic.Table(path).version == version


def test_options_that_a_name_does_not_take(sql: SparkSession, path: Path) -> None:
    with pytest.raises(IllegalArgumentException, match=r"predicate.*deltaic\.spark\.read"):
        sql.read.option("predicate", "id = 1").table(f"delta.`{path}`")


def test_other_sessions_are_not_changed(sql: SparkSession, spark: SparkSession, path: Path) -> None:
    with pytest.raises(AnalysisException):
        spark.sql(f"SELECT * FROM delta.`{path}`")
    assert "SELECT" not in ds.status(spark)
    assert rows(spark, "SELECT 1") == [(1,)]
    assert "sql           yes" in ds.status(sql)
