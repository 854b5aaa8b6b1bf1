"""Queries read about as few clustered files of deltaic as of delta-spark, of the same rows."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pyarrow as pa
import pytest

import deltaic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS, INPUTS, FILES, QUERIES = 100_000, 20, 64, 1_000
VALUES = 100_000
COLUMNS = ("a", "b", "c", "d")
LARGEST = "spark.databricks.delta.optimize.maxFileSize"
# How many more files queries may read on average.
MOST = 1.05


def mixed(what: str, number: int, limit: int = VALUES) -> int:
    """Returns a number below a limit, the same in every run: the results are close to what is allowed."""
    return crc32(f"{what} {number}".encode()) % limit


def column(name: str) -> list[int]:
    """Returns the values of a column; those of `b` are skewed."""
    values = [mixed(name, row) for row in range(ROWS)]
    return [int(VALUES * (value / VALUES) ** 4) for value in values] if name == "b" else values


def made(root: Path, clustered: tuple[str, ...]) -> None:
    """Makes a table whose files each have values of the whole range."""
    rows = pa.table({name: column(name) for name in COLUMNS})
    table = deltaic.Table.create(root, rows.schema, cluster_by=clustered)
    for part in range(INPUTS):
        table.append(rows.slice(part * ROWS // INPUTS, ROWS // INPUTS))


def queries(clustered: tuple[str, ...]) -> list[str]:
    """Returns points and ranges of one column, and ranges of two."""

    def between(name: str, number: int) -> str:
        first, width = mixed(f"first {name}", number), VALUES // 10 ** (1 + number % 3)
        return f"{name} BETWEEN {first} AND {first + width}"

    found = []
    for number in range(QUERIES):
        at = mixed("column", number, len(clustered))
        one, other = clustered[at], clustered[at - 1]
        kinds = [
            f"{one} = {mixed('point', number)}",
            between(one, number // 3),
            f"{between(one, number // 3)} AND {between(other, number // 3)}",
        ]
        found.append(kinds[number % len(kinds)])
    return found


def files_read(root: Path, predicates: list[str]) -> int:
    snapshot = deltaic.Table(root).snapshot()
    return sum(len({task.path for task in snapshot.scan(predicate=where).tasks()}) for where in predicates)


@pytest.mark.parametrize("clustered", [COLUMNS[:2], COLUMNS])
def test_no_more_files_are_read(
    spark: SparkSession,
    tmp_path: Path,
    clustered: tuple[str, ...],
) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    made(ours, clustered)
    shutil.copytree(ours, theirs)
    target = deltaic.Table(ours).snapshot().size_in_bytes // FILES
    deltaic.Table(ours).optimize(target_file_size=target)
    spark.conf.set(LARGEST, str(target))
    spark.sql(f"OPTIMIZE delta.`{theirs}`").collect()
    spark.conf.unset(LARGEST)
    predicates = queries(clustered)
    counts = {root.name: files_read(root, predicates) for root in (ours, theirs)}
    files = {root.name: deltaic.Table(root).snapshot().num_files for root in (ours, theirs)}
    print(f"by {', '.join(clustered)}: files read {counts}, of {files}")
    assert counts["ours"] <= counts["theirs"] * MOST, (counts, files)
