"""Many concurrent queries while a writer appends: each reads exactly one version of its table."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic

from .ways import WAYS, Load, loader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

THREADS = 8
QUERIES = 24
# Each version adds this many rows, in each of two partitions.
ROWS = 3


def rows_of(version: int) -> pa.Table:
    """Returns the rows that the version adds: `ROWS` times its own number in each partition."""
    ids = pa.array([version] * 2 * ROWS, pa.int64())
    return pa.table({"id": ids, "p": ["a", "b"] * ROWS})


@pytest.fixture
def tables(tmp_path: Path) -> list[deltaic.Table]:
    """Four tables at version 3, two of them with partitions."""
    made = []
    for number in range(4):
        partition_by = ["p"] if number % 2 else []
        table = deltaic.Table.create(tmp_path / f"t{number}", rows_of(1).schema, partition_by=partition_by)
        for version in (1, 2, 3):
            assert table.append(rows_of(version)).version == version
        made.append(table)
    return made


@contextmanager
def a_writer(tables: list[deltaic.Table]) -> Iterator[None]:
    """Appends to one table after the other until the block ends, and at least once to each."""
    done = threading.Event()
    trouble: list[BaseException] = []

    def write() -> None:
        try:
            version = 4
            while True:
                for table in tables:
                    assert table.append(rows_of(version)).version == version
                version += 1
                # Limits the size of the tables on slow machines.
                if done.wait(0.05):
                    return
        except BaseException as error:  # noqa: BLE001 - reported to the test's own thread
            trouble.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()
    assert trouble == []


def version_seen(frame: DataFrame) -> int:
    """Returns the version of the rows: count and sum must be those of one version, in each partition."""
    seen = frame.groupBy("p").agg({"*": "count", "id": "sum"}).toDF("p", "n", "s")
    by_partition = {row.p: (row.n, row.s) for row in seen.collect()}
    assert by_partition.keys() == {"a", "b"}
    assert by_partition["a"] == by_partition["b"], "one version in one partition, another in the other"
    count, total = by_partition["a"]
    version, rest = divmod(count, ROWS)
    assert rest == 0
    assert total == ROWS * version * (version + 1) // 2
    return version


@pytest.mark.parametrize("way", WAYS)
def test_each_query_sees_exactly_one_version(
    spark: SparkSession, tables: list[deltaic.Table], way: str
) -> None:
    load: Load = loader(spark, way)

    def query(number: int) -> tuple[int, int, int]:
        path = tables[number % 4].uri
        before = deltaic.Table(path).snapshot().version
        frame = load(path)
        seen = version_seen(frame)
        return before, seen, deltaic.Table(path).snapshot().version

    with a_writer(tables), ThreadPoolExecutor(THREADS) as pool:
        outcomes = list(pool.map(query, range(QUERIES)))
    assert len(outcomes) == QUERIES
    for before, seen, after in outcomes:
        assert before <= seen <= after
    assert all(table.snapshot().version > 3 for table in tables), "the writer wrote meanwhile"


@pytest.mark.parametrize("way", WAYS)
def test_a_version_requested_is_the_version_observed(
    spark: SparkSession, tables: list[deltaic.Table], way: str
) -> None:
    load: Load = loader(spark, way)

    def query(number: int) -> int:
        return version_seen(load(tables[number % 4].uri, versionAsOf=number % 3 + 1))

    with a_writer(tables), ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(query, range(12))) == [number % 3 + 1 for number in range(12)]


@pytest.mark.parametrize("way", WAYS)
def test_one_frame_is_one_version_in_all_its_queries(
    spark: SparkSession, tables: list[deltaic.Table], way: str
) -> None:
    """Also if a query uses the frame twice, and if eight threads query it concurrently."""
    load: Load = loader(spark, way)
    frames = [load(table.uri) for table in tables]
    first = [version_seen(frame) for frame in frames]
    with a_writer(tables), ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(version_seen, frames * 2)) == first * 2
        for frame, version in zip(frames, first, strict=True):
            both = frame.union(frame)
            assert both.count() == 2 * 2 * ROWS * version
            assert frame.exceptAll(frame).count() == 0
