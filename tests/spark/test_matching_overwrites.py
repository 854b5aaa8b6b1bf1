"""Overwrites of the rows that match new ones: `replaceUsing` and `replaceOn`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="missing: PySpark")

import deltaic
import deltaic.spark as ds
from deltaic.exceptions import InvalidPredicate, TableNotFound
from deltaic.spark.source.registration import active

from .python_source import in_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .conftest import Settings

TABLE = "SELECT * FROM VALUES (1, 'a', 10), (2, 'b', 20), (3, NULL, 30), (NULL, 'd', 40) AS v(id, k, n)"
NEW = "SELECT * FROM VALUES (1, 'x', 100), (1, 'y', 101), (NULL, 'z', 102), (9, NULL, 103) AS v(id, k, n)"
PROPERTIES = {
    "copies": {},
    "vectors": {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
    "feed": {"delta.enableChangeDataFeed": "true"},
    "mapping": {"delta.columnMapping.mode": "name"},
}


@pytest.fixture(scope="module")
def sql(spark: SparkSession) -> SparkSession:
    return ds.enable(spark.newSession())


def numbers_of(path: Path) -> list[int]:
    return sorted(deltaic.Table(path).to_arrow()["n"].to_pylist())


@pytest.mark.parametrize(
    ("options", "replaced"),
    [
        ({"replaceUsing": "id"}, [10]),
        ({"replaceUsing": " `ID` "}, [10]),
        ({"replaceUsing": "id, k"}, []),
        ({"replaceUsing": "k"}, []),
        ({"replaceOn": "t.id = s.id", "targetAlias": "t"}, [10]),
        ({"replaceOn": "t.id <=> s.id", "targetAlias": "t"}, [10, 40]),
        ({"replaceOn": "target.id = s.id AND target.n > 5 AND s.n < 101"}, [10]),
        ({"replaceOn": "t.id >= 2", "targetAlias": "t"}, [20, 30]),
    ],
)
@pytest.mark.parametrize("properties", PROPERTIES)
def test_rows_that_match_are_replaced(
    sql: SparkSession, tmp_path: Path, properties: str, options: dict[str, str], replaced: list[int]
) -> None:
    """The rows that delta-spark 4.4 replaces."""
    path = tmp_path / "t"
    partition_by = ["k"] if properties == "vectors" else []
    ds.write(sql.sql(TABLE)).options(**PROPERTIES[properties]).partitionBy(*partition_by).save(path)
    new: Any = sql.sql(NEW).alias("s")
    if properties == "feed":
        ds.write(new).mode("overwrite").options(**options).save(path)
    else:
        new.write.format("delta").mode("overwrite").options(**options).save(str(path))
    kept = [n for n in (10, 20, 30, 40) if n not in replaced]
    assert numbers_of(path) == [*kept, 100, 101, 102, 103]
    table = deltaic.Table(path)
    if properties == "feed":
        changes = table.changes(start=1).to_arrow().to_pylist()
        found = sorted((change["_change_type"], change["n"]) for change in changes)
        assert found == [("delete", n) for n in replaced] + [("insert", n) for n in (100, 101, 102, 103)]
    assert table.check(deep=True).is_healthy


def test_keys_that_repeat(sql: SparkSession, tmp_path: Path) -> None:
    """Of each key one row is compared; comparing all pairs would give the same rows in minutes."""
    path = tmp_path / "t"
    rows = sql.range(20_000).selectExpr("id AS n", "id % 2 AS p")
    ds.write(rows).save(path)
    for options in ({"replaceUsing": "p"}, {"replaceOn": "true"}, {"replaceOn": "target.n >= 0"}):
        ds.write(rows).mode("overwrite").options(**options).save(path)
        assert numbers_of(path) == list(range(20_000))


def test_a_column_that_the_new_rows_lack_is_that_of_the_table(sql: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    ds.write(sql.sql(TABLE)).save(path)
    new = sql.sql("SELECT CAST(1 AS TINYINT) AS id, 'y' AS k")
    on = "target.id = source.id AND n < 20"
    ds.write(new).mode("overwrite").option("replaceOn", on).save(path)
    rows = deltaic.Table(path).to_arrow().sort_by("k").to_pylist()
    assert [row["n"] for row in rows if row["k"]] == [20, 40, None]


def test_nothing_is_replaced_by_no_rows(sql: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    ds.write(sql.sql(TABLE)).save(path)
    nothing = sql.sql(NEW).where("false").alias("s")
    ds.write(nothing).mode("overwrite").options(replaceOn="true", targetAlias="t").save(path)
    assert numbers_of(path) == [10, 20, 30, 40]


def test_a_new_column_of_the_rows_that_replace(sql: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    ds.write(sql.sql(TABLE)).save(path)
    new = sql.sql(NEW).selectExpr("n + 1 AS extra", "*")
    ds.write(new).mode("overwrite").options(replaceUsing="id", mergeSchema=True).save(path)
    rows = deltaic.Table(path).to_arrow().to_pylist()
    assert sorted((row["n"], row["extra"]) for row in rows if row["n"] > 30) == [
        (40, None), (100, 101), (101, 102), (102, 103), (103, 104),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"replaceUsing": "nope"}, InvalidPredicate, "nope"),
        ({"replaceOn": "id = 1", "targetAlias": "t"}, InvalidPredicate, "id"),
        ({"replaceOn": "t.id = s.id"}, InvalidPredicate, "t.id"),
        ({"replaceOn": "s.n > 1 AND current_date() > DATE '2020-01-01'"}, InvalidPredicate, "time"),
        ({"replaceUsing": "id", "overwriteSchema": "true"}, ValueError, "excludes replaceUsing"),
        ({"replaceUsing": "id", "dataChange": "false"}, ValueError, "dataChange excludes replaceUsing"),
        ({"mergeSchema": "true", "dataChange": "false"}, ValueError, "dataChange excludes mergeSchema"),
        ({"replaceUsing": "id, "}, ValueError, "must be names of columns"),
    ],
)
def test_conditions_that_do_not_fit(
    sql: SparkSession, tmp_path: Path, options: dict[str, str], error: type[Exception], message: str
) -> None:
    path = tmp_path / "t"
    ds.write(sql.sql(TABLE)).save(path)
    before = set(path.glob("*.parquet"))
    with pytest.raises(error, match=message):
        ds.write(sql.sql(NEW).alias("s")).mode("overwrite").options(**options).save(path)
    assert numbers_of(path) == [10, 20, 30, 40]
    assert set(path.glob("*.parquet")) == before


def test_conditions_in_a_session_without_ansi_mode(
    spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    """The data source does not know the mode, so it refuses what may depend on it."""
    path = tmp_path / "t"
    ds.write(spark.sql(TABLE)).save(path)
    new = {"replaceOn": "target.id = COALESCE(source.id, '7')"}
    with (
        settings({"spark.sql.ansi.enabled": "false"}),
        pytest.raises(InvalidPredicate, match="replaceOn means"),
    ):
        ds.write(spark.sql(NEW)).mode("overwrite").options(**new).save(path)
    with active(spark), pytest.raises(Exception, match="replaceOn may mean something else without ANSI"):
        spark.sql(NEW).write.format(in_python(spark)).mode("overwrite").options(**new).save(str(path))
    assert numbers_of(path) == [10, 20, 30, 40]


def test_a_table_that_does_not_exist(sql: SparkSession, tmp_path: Path) -> None:
    for option, value in (("replaceUsing", "id"), ("dataChange", "false")):
        with pytest.raises(TableNotFound, match=f"without {option}"):
            ds.write(sql.sql(NEW)).mode("overwrite").option(option, value).save(tmp_path / "t")
