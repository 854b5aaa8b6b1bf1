"""Tables of many small files: few tasks, and Spark prunes and pushes down as before."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from tests.protocol.handmade_log import Action, HandmadeTable, add, field, metadata, protocol, schema

from .conftest import Settings
from .plans import plan_of
from .vector_tables import with_vector

pytest.importorskip("pyspark", reason="missing: PySpark")

from deltaic.spark.native.scan_plan import NativeScanPlan, plan_native_scan
from deltaic.spark.native.tasks import tasks_of, with_fewer_tasks

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, CORES, MIB = 1_200, 2, 1 << 20


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of `FILES` files with three rows each, in two partitions."""
    made = HandmadeTable(tmp_path_factory.mktemp("many") / "t")
    inside = {"type": "struct", "fields": [field("a"), field("b", "string")]}
    made.commit(protocol(), metadata(schema(field("id"), field("s", inside), field("p", "string")), ["p"]))
    rows = pa.table({"id": [1, 2, 3], "s": [{"a": n, "b": "x" * 100} for n in (10, 20, 30)]})
    adds: list[Action] = [made.data("p=0/0.parquet", rows, values={"p": "0"})]
    (made.root / "p=1").mkdir()
    for number in range(1, FILES):
        path = f"p={number % 2}/{number}.parquet"
        os.link(made.root / "p=0" / "0.parquet", made.root / path)
        adds.append({"add": {**adds[0]["add"], "path": path, "partitionValues": {"p": str(number % 2)}}})
    made.commit(*adds)
    return made.root


def test_small_files_are_read_by_few_tasks(spark: SparkSession, many: Path) -> None:
    frame = ds.read(spark).load(many)
    assert frame.rdd.getNumPartitions() == 16 * CORES
    assert "note       small files are packed into at most 32 tasks" in ds.explain(frame)
    found = frame.select("p", "id", "s.a").groupBy("p").sum("id", "a").orderBy("p").collect()
    assert [tuple(row) for row in found] == [(p, FILES // 2 * 6, FILES // 2 * 60) for p in "01"]


def test_columns_and_filters_go_through(spark: SparkSession, many: Path) -> None:
    frame = ds.read(spark).load(many).where("p = '1' AND id > 2").select("id")
    plan = plan_of(frame)
    assert "Coalesce 32" in plan
    assert "PushedFilters: [IsNotNull(id), GreaterThan(id,2)]" in plan
    assert re.search(r"PartitionFilters: \[[^]]*\(p#\d+ = 1\)", plan)
    assert "ReadSchema: struct<id:bigint>" in plan
    assert frame.distinct().collect() == [(3,)]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("spark.sql.files.maxPartitionBytes", "1m"),
        ("spark.sql.files.openCostInBytes", "16m"),
        ("spark.sql.files.minPartitionNum", "200"),
        ("spark.sql.files.maxPartitionNum", "35"),
        ("spark.sql.leafNodeDefaultParallelism", "200"),
    ],
)
def test_a_session_that_packs_files_itself_is_left_to_it(
    spark: SparkSession, many: Path, settings: Settings, setting: str, value: str
) -> None:
    with settings({setting: value}):
        frame = ds.read(spark).load(many)
        assert frame.rdd.getNumPartitions() > 16 * CORES
        assert "packed" not in ds.explain(frame)


def test_a_large_file_among_them_is_not_packed(spark: SparkSession, many: Path) -> None:
    frame, told = with_fewer_tasks(spark, spark.range(10, numPartitions=50), scan_plan_of(many))
    assert (frame.rdd.getNumPartitions(), told is None) == (32, False)
    large = replace(scan_plan_of(many), largest_file_in_bytes=17 * MIB)
    frame, told = with_fewer_tasks(spark, spark.range(10, numPartitions=50), large)
    assert (frame.rdd.getNumPartitions(), told) == (50, None)


def test_files_of_a_store_are_left_to_a_cluster_that_grows() -> None:
    tasks = [
        tasks_of(4_000, MIB, cores=2, is_local=is_local, grows=grows)
        for is_local in (True, False)
        for grows in (True, False)
    ]
    assert tasks == [32, 32, None, 32]


def scan_plan_of(table: Path) -> NativeScanPlan:
    snapshot = deltaic.Table(table).snapshot()
    return plan_native_scan(snapshot, predicate=None, row_ids=False, modification_time=False)[0]


@pytest.mark.parametrize("times", [False, True])
def test_deleted_rows_joined_values_and_metadata(spark: SparkSession, tmp_path: Path, times: bool) -> None:
    """Each file's deletion vector and constants apply to that file only if one task reads many files."""
    made = with_vector(tmp_path / "t", 3, [1])
    first = made.root / "a.parquet"
    adds: list[Action] = []
    for number in range(FILES):
        os.link(first, made.root / f"{number}.parquet")
        adds.append(add(f"{number}.parquet", size=first.stat().st_size, modificationTime=1_000 * number))
    made.commit(*adds)
    frame = ds.read(spark).option("fileModificationTime", times).load(made.root)
    assert frame.rdd.getNumPartitions() == 16 * CORES
    assert len(frame.collect()) == FILES * 3 + 2
    assert frame.select("_metadata.file_path").distinct().count() == FILES + 1
    if times:
        assert frame.select("_file_modification_time").distinct().count() >= FILES


@pytest.mark.parametrize(
    ("files", "size", "cores", "is_local", "tasks"),
    [
        (100_000, 50_000 * MIB, 2, True, None),  # as many bytes as Spark's own tasks have
        (100_000, 10_000 * MIB, 2, True, 625),
        (100_000, 1_000 * MIB, 2, True, 98),
        (100_000, 1_000 * MIB, 2, False, 782),
        (100_000, 1_000 * MIB, 400, False, None),  # enough cores for Spark's own tasks
        (1_024, 10 * MIB, 2, True, None),
        (1_025, 10 * MIB, 2, True, 32),
        (0, 0, 2, True, None),
    ],
)
def test_the_number_of_tasks(files: int, size: int, cores: int, is_local: bool, tasks: int | None) -> None:
    assert tasks_of(files, size, cores=cores, is_local=is_local) == tasks
