"""delta-spark reads, continues and cleans up tables whose checkpoints reference older sidecars."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from .delta_spark import theirs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAY = 24 * 3600
SCHEMA = pa.schema([("id", pa.int64()), ("p", pa.int64())])
PROPERTIES = {"delta.checkpointPolicy": "v2", "delta.checkpointInterval": "1000"}


def made(
    root: Path, rounds: int
) -> tuple[deltaic.Table, dict[int, deltaic.Checkpoint], dict[int, list[int]]]:
    """A table with checkpoints after appends and deletions; returns them and the ids at their versions."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=["p"], properties=PROPERTIES)
    table.append(pa.table({"id": range(60), "p": range(60)}))
    ids = list(range(60))
    checkpoints, contents = {}, {}
    for number in range(rounds):
        new = [60 + 2 * number, 61 + 2 * number]
        table.append(pa.table({"id": new, "p": new}))
        ids += new
        if number == rounds // 2:
            table.delete("p = 62")
            ids.remove(62)
        written = table.checkpoint()
        assert written.is_new
        checkpoints[written.version], contents[written.version] = written, sorted(ids)
    assert sum(written.reused_sidecars > 0 for written in checkpoints.values()) >= rounds - 1
    return table, checkpoints, contents


def read(spark: SparkSession, root: Path, version: int | None = None) -> list[int]:
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    return sorted(row.id for row in theirs(spark, root, version).select("id").collect())


def sidecars(root: Path) -> set[str]:
    return {file.name for file in (root / "_delta_log" / "_sidecars").glob("*.parquet")}


def referenced(root: Path) -> set[str]:
    """The sidecars that the checkpoints in the log reference."""
    found = set()
    for file in (root / "_delta_log").glob("0*.checkpoint*"):
        if file.suffix == ".json":
            actions = map(json.loads, file.read_text().splitlines())
            found |= {action["sidecar"]["path"] for action in actions if "sidecar" in action}
            continue
        if "sidecar" in pq.read_schema(file).names:
            column = pq.read_table(file, columns=["sidecar"]).column("sidecar").to_pylist()
            found |= {sidecar["path"] for sidecar in column if sidecar and sidecar["path"]}
    return found


def test_each_checkpoint_is_read(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "t"
    _, checkpoints, contents = made(root, 6)
    for version in checkpoints:
        assert read(spark, root, version) == contents[version]
    # Without the commits before it, delta-spark needs the checkpoint.
    newest = max(checkpoints)
    for version in range(newest):
        (root / "_delta_log" / f"{version:020}.json").unlink()
    assert read(spark, root) == contents[newest]


def test_a_checkpoint_of_theirs_and_ours_after_it(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "t"
    table, _, contents = made(root, 4)
    ids = contents[max(contents)]
    spark.createDataFrame([(1000, 1000)], "id BIGINT, p BIGINT").write.format("delta").mode("append").save(
        str(root)
    )
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, str(root))
    log.checkpoint()
    assert deltaic.Table(root).snapshot().version == max(contents) + 1
    for number in range(2):
        table.append(pa.table({"id": [1001 + number], "p": [1]}))
        written = table.checkpoint()
        # Sidecars of delta-spark are written again.
        assert (written.reused_sidecars > 0) == (number > 0)
    ids = sorted([*ids, 1000, 1001, 1002])
    assert read(spark, root) == ids
    rows = deltaic.Table(root).snapshot().scan().to_arrow()
    assert sorted(rows.column("id").to_pylist()) == ids


@pytest.mark.parametrize("by", ["delta-spark", "deltaic"])
def test_a_cleanup_retains_old_sidecars(spark: SparkSession, tmp_path: Path, by: str) -> None:
    """All files are old; the last checkpoint, which remains, references sidecars of the first."""
    root = tmp_path / "t"
    _, checkpoints, contents = made(root, 6)
    newest = max(checkpoints)
    shared = set(checkpoints[min(checkpoints)].sidecars) & set(checkpoints[newest].sidecars)
    assert shared
    now = time.time()
    for file in [*(root / "_delta_log").glob("0*"), *(root / "_delta_log" / "_sidecars").iterdir()]:
        age = 40 * DAY - int(file.name[:20]) * 60 if file.name[:20].isdigit() else 41 * DAY
        os.utime(file, (now - age, now - age))
    before = sidecars(root)
    clean_up(spark, root, by)
    left = sidecars(root)
    assert left < before
    assert referenced(root) <= left
    assert {Path(sidecar).name for sidecar in checkpoints[newest].sidecars} <= left
    assert not (root / "_delta_log" / f"{0:020}.json").exists()
    assert read(spark, root) == contents[newest]
    # A new checkpoint may reference sidecars of any age: the checkpoint before it cannot expire for a while.
    table = deltaic.Table(root)
    table.append(pa.table({"id": [5000], "p": [1]}))
    assert table.checkpoint().reused_sidecars > 0
    clean_up(spark, root, by)
    assert referenced(root) <= sidecars(root)
    for version in range(newest + 1):
        (root / "_delta_log" / f"{version:020}.json").unlink(missing_ok=True)
    assert read(spark, root) == sorted([*contents[newest], 5000])
    assert deltaic.Table(root).check().is_healthy


def clean_up(spark: SparkSession, root: Path, by: str) -> None:
    if by == "deltaic":
        assert not deltaic.Table(root).clean_up().not_deleted
        return
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, str(root))
    name = "cleanUpExpiredLogs"
    number = next(m.getParameterCount() for m in log.getClass().getMethods() if m.getName() == name)
    # The default arguments are methods, which the version of delta-spark determines.
    defaults = [getattr(log, f"{name}$default${place}")() for place in range(2, number + 1)]
    getattr(log, name)(log.unsafeVolatileSnapshot(), *defaults)
