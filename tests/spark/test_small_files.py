"""Tables of many small files: few tasks, and Spark prunes and pushes down as before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic.spark as ds
from deltaic.spark.tasks import tasks_of
from tests.protocol.handmade_log import Action, HandmadeTable, field, metadata, protocol, schema

from .conftest import Settings
from .test_native_scan import plan_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES, CORES, MIB = 1_200, 2, 1 << 20


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of as many files as names, of three rows each, in two partitions."""
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
    frame = ds.read(spark).load(many).where("p = '1' AND id > 2").select("s.a")
    plan = plan_of(frame)
    assert "Coalesce 32" in plan
    assert "PushedFilters: [IsNotNull(id), GreaterThan(id,2)]" in plan
    assert "(p#" in plan.partition("PartitionFilters: ")[2]
    assert "ReadSchema: struct<id:bigint,s:struct<a:bigint>>" in plan
    assert frame.distinct().collect() == [(30,)]


@pytest.mark.parametrize(
    ("setting", "value"),
    [("spark.sql.files.maxPartitionBytes", "1m"), ("spark.sql.files.openCostInBytes", "16m")],
)
def test_a_session_that_packs_files_itself_is_left_to_it(
    spark: SparkSession, many: Path, settings: Settings, setting: str, value: str
) -> None:
    with settings({setting: value}):
        frame = ds.read(spark).load(many)
        assert frame.rdd.getNumPartitions() > 100
        assert "packed" not in ds.explain(frame)


@pytest.mark.parametrize(
    ("files", "size", "cores", "is_local", "tasks"),
    [
        (100_000, 100_000 * MIB, 2, True, None),  # not small
        (100_000, 50_000 * MIB, 2, True, None),  # as many bytes as Spark's own tasks have
        (100_000, 1_000 * MIB, 2, True, 97),
        (100_000, 1_000 * MIB, 2, False, 781),
        (100_000, 1_000 * MIB, 400, False, None),  # cores enough for Spark's own tasks
        (1_024, 10 * MIB, 2, True, None),
        (1_025, 10 * MIB, 2, True, 32),
        (0, 0, 2, True, None),
    ],
)
def test_the_number_of_tasks(files: int, size: int, cores: int, is_local: bool, tasks: int | None) -> None:
    assert tasks_of(files, size, cores=cores, is_local=is_local) == tasks
