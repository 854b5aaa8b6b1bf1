"""deltaic and delta-spark vacuum the same files, of tables that either wrote, and one after the other."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pytest

import deltaic
from tests.api.aged_files import age, files_of
from tests.seed import generator

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VECTORS = {"delta.enableDeletionVectors": "true"}
PROPERTIES = {
    "plain": {},
    "vectors": VECTORS,
    "change data": {"delta.enableChangeDataFeed": "true"},
    "vectors and change data": {**VECTORS, "delta.enableChangeDataFeed": "true"},
    "mapped": {"delta.columnMapping.mode": "name", **VECTORS},
    "mapped by id": {"delta.columnMapping.mode": "id"},
    "checked": {"delta.feature.vacuumProtocolCheck": "supported"},
    "row ids": {"delta.enableRowTracking": "true", **VECTORS},
    "prefixes": {"delta.randomizeFilePrefixes": "true", "delta.randomPrefixLength": "3"},
    "sidecars": {"delta.checkpointPolicy": "v2", "delta.checkpointInterval": "2", **VECTORS},
}
# The writer, whether the table is partitioned, and its properties.
TABLES = {
    f"{name}, {'partitioned' if partitioned else 'not partitioned'}, by {writer}": (
        writer,
        partitioned,
        properties,
    )
    for name, properties in PROPERTIES.items()
    for partitioned in (False, True)
    for writer in ("deltaic", "delta-spark")
}
# `INTEROP_VACUUMS=40` vacuums all of them.
SOME = generator("vacuumed tables").sample(sorted(TABLES), int(os.environ.get("INTEROP_VACUUMS") or 7))
SCHEMA = pa.schema([("p", pa.int64()), ("id", pa.int64())])


def rows(first: int, number: int = 400) -> pa.Table:
    ids = range(first, first + number)
    return pa.table({"p": [id % 2 for id in ids], "id": list(ids)}, SCHEMA)  # noqa: A001 - short


def made_by_deltaic(root: Path, properties: dict[str, str], *, partitioned: bool) -> None:
    by = ["p"] if partitioned else []
    table = deltaic.Table.create(root, SCHEMA, partition_by=by, properties=properties)
    table.append(rows(0))
    table.append(rows(1000))
    table.delete("id % 3 = 0")
    table.update({"id": "id + 1"}, "id % 10 = 4")


def made_by_spark(spark: SparkSession, root: Path, properties: dict[str, str], *, partitioned: bool) -> None:
    name = f"delta.`{root}`"
    by = "PARTITIONED BY (p)" if partitioned else ""
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    listed = f"TBLPROPERTIES ({listed})" if listed else ""
    spark.sql(f"CREATE TABLE {name} (p BIGINT, id BIGINT) USING delta {by} {listed}")
    for first in (0, 1000):
        frame = spark.createDataFrame(rows(first).to_pylist(), "p BIGINT, id BIGINT")
        frame.coalesce(1).write.format("delta").mode("append").save(str(root))
    spark.sql(f"DELETE FROM {name} WHERE id % 3 = 0")  # noqa: S608 - our own folder
    spark.sql(f"UPDATE {name} SET id = id + 1 WHERE id % 10 = 4")  # noqa: S608 - our own folder
    spark.sql(f"OPTIMIZE {name}")


def forget(spark: SparkSession) -> None:
    """The files of the log were changed."""
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def by_spark(spark: SparkSession, root: Path, mode: str) -> set[str]:
    """The files that delta-spark would delete; it lists empty folders too."""
    forget(spark)
    found = spark.sql(f"VACUUM delta.`{root}` {mode.upper()} DRY RUN").collect()
    paths = [Path(row.path.removeprefix("file:")) for row in found]
    return {path.relative_to(root).as_posix() for path in paths if not path.is_dir()}


def ids(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan().to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("name", SOME)
def test_the_same_files(spark: SparkSession, tmp_path: Path, name: str) -> None:
    root = tmp_path / "a table"
    writer, partitioned, properties = TABLES[name]
    if writer == "deltaic":
        made_by_deltaic(root, properties, partitioned=partitioned)
    else:
        made_by_spark(spark, root, properties, partitioned=partitioned)
    table = deltaic.Table(root)
    for orphan in ("orphan 1.parquet", "x/orphan%2.parquet", "_hidden/a", "p=1/deletion_vector_1.bin"):
        (root / orphan).parent.mkdir(exist_ok=True)
        (root / orphan).write_bytes(b"x")
    # The first changes expire, the last ones do not.
    age(root)
    table.delete("id % 7 = 1")
    (root / "young.parquet").write_bytes(b"x")
    modes: tuple[Literal["full", "lite"], ...] = ("full", "lite")
    for mode in modes:
        paths = set(table.vacuum(mode=mode, dry_run=True).paths)
        assert paths == by_spark(spark, root, mode), mode
        assert paths or mode == "lite"
    before = ids(table)
    # Each vacuums after the other.
    table.vacuum(mode="lite")
    assert by_spark(spark, root, "lite") == set()
    age(root)
    assert set(table.vacuum(dry_run=True).paths) == by_spark(spark, root, "full")
    forget(spark)
    spark.sql(f"VACUUM delta.`{root}`").collect()
    assert table.vacuum().deleted_files == 0
    assert files_of(root) >= {"_hidden/a"}
    assert {file for file in files_of(root) if "orphan" in file or "young" in file} == set()
    assert ids(table) == before


def test_delta_spark_shows_what_was_recorded(spark: SparkSession, tmp_path: Path) -> None:
    # A copy: the sizes of the files of two equal tables may differ.
    tables = {name: tmp_path / name for name in ("ours", "theirs")}
    made_by_deltaic(tables["ours"], {}, partitioned=False)
    age(tables["ours"])
    shutil.copytree(tables["ours"], tables["theirs"])
    deltaic.Table(tables["ours"]).vacuum()
    spark.sql(f"VACUUM delta.`{tables['theirs']}` RETAIN 168 HOURS").collect()
    shown = {}
    for name, root in tables.items():
        forget(spark)
        history = spark.sql(f"DESCRIBE HISTORY delta.`{root}`").collect()
        shown[name] = [
            (row.version, row.operation, row.operationParameters, row.operationMetrics, row.isBlindAppend)
            for row in history[:2]
        ]
    for entries in shown.values():
        entries[1][2].pop("specifiedRetentionMillis", None)
    assert shown["ours"] == shown["theirs"]
