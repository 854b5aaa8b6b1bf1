"""What cannot be read is told in deltaic's own words, whichever way Spark reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from tests.protocol.handmade_log import ONE_LONG, HandmadeTable, add, ids, metadata, protocol

from .ways import WAYS, Load, loader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(params=WAYS)
def load(request: pytest.FixtureRequest, spark: SparkSession) -> Load:
    return loader(spark, request.param)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two files in two versions."""
    made = HandmadeTable(tmp_path / "t")
    made.create(made.data("1.parquet", ids(1)))
    made.commit(made.data("2.parquet", ids(2)))
    return made.root


def told(load: Load, path: Path | str, **options: object) -> str:
    """The text of the error that a user sees who loads a table and asks for its rows."""
    with pytest.raises(Exception) as raised:  # noqa: PT011 - its type depends on the way
        load(path, **options).collect()
    return str(raised.value)


def without_spark(path: Path, **pinned: Any) -> deltaic.DeltaicError:
    """What deltaic itself says of the same."""
    with pytest.raises(deltaic.DeltaicError) as raised:
        deltaic.Table(path).snapshot(**pinned)
    return raised.value


def assert_told(text: str, cause: deltaic.DeltaicError) -> None:
    assert cause.message in text
    assert cause.hint is None or cause.hint in text
    assert_no_trace_in_front(text)


def assert_no_trace_in_front(text: str) -> None:
    first = text.lstrip().splitlines()[0]
    assert not first.startswith(
        ("An error occurred while calling", "Traceback", "py4j.", "java.", "org.apache")
    )


def test_a_missing_table(load: Load, tmp_path: Path) -> None:
    assert_told(told(load, tmp_path / "nowhere"), without_spark(tmp_path / "nowhere"))


def test_a_folder_of_plain_parquet(load: Load, tmp_path: Path) -> None:
    HandmadeTable(tmp_path / "t").data("1.parquet", ids(1))
    (tmp_path / "t" / "_delta_log").rmdir()
    assert_told(told(load, tmp_path / "t"), without_spark(tmp_path / "t"))


def test_a_version_out_of_range(load: Load, table: Path) -> None:
    assert_told(told(load, table, versionAsOf=7), without_spark(table, version=7))


def test_an_unknown_option(load: Load, table: Path) -> None:
    text = told(load, table, versonAsOf=1)
    assert "versonasof" in text.lower()
    assert "did you mean 'versionAsOf'" in text
    assert_no_trace_in_front(text)


@pytest.mark.parametrize("version", ["x", "-1", "1.0"])
def test_an_option_that_makes_no_sense(load: Load, table: Path, version: str) -> None:
    text = told(load, table, versionAsOf=version)
    assert "versionAsOf" in text
    assert repr(version) in text
    assert_no_trace_in_front(text)


def test_options_that_exclude_each_other(load: Load, table: Path) -> None:
    text = told(load, table, versionAsOf=1, timestampAsOf="2026-11-01")
    assert "versionAsOf and timestampAsOf" in text
    assert_no_trace_in_front(text)


def test_a_feature_of_tomorrow(load: Load, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(3, 7, ["fromTheFuture"], ["fromTheFuture"]), metadata(ONE_LONG))
    cause = without_spark(made.root)
    assert "fromTheFuture" in cause.message
    assert_told(told(load, made.root), cause)


def test_a_damaged_commit(load: Load, table: Path) -> None:
    (table / "_delta_log" / f"{2:020}.json").write_bytes(b'{"add": ')
    assert_told(told(load, table), without_spark(table))


def test_a_gap_in_the_log(load: Load, table: Path) -> None:
    log = table / "_delta_log"
    (log / f"{1:020}.json").rename(log / f"{2:020}.json")
    assert_told(told(load, table), without_spark(table))


def test_a_file_that_was_never_there(load: Load, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create(made.data("1.parquet", ids(1)), add("missing.parquet"))
    text = told(load, made.root)
    assert "missing.parquet" in text
    assert "hint: restore the file" in text


def test_a_file_deleted_between_load_and_query(load: Load, table: Path) -> None:
    """The query fails and names the file: it never answers without its rows, the second time neither."""
    frame = load(table)
    assert frame.count() == 2
    (table / "2.parquet").unlink()
    for ask in (frame.collect, frame.count, frame.toArrow, frame.select("id").distinct().collect):
        with pytest.raises(Exception, match=r"2\.parquet"):
            ask()
    if load.__name__ == "source":
        with pytest.raises(Exception, match="hint: restore the file"):
            frame.collect()


def test_a_file_that_is_cut_off_between_load_and_query(load: Load, table: Path) -> None:
    frame = load(table)
    whole = (table / "2.parquet").read_bytes()
    (table / "2.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Exception, match=r"2\.parquet"):
        frame.collect()


def by_group(spark: SparkSession, run: Callable[[], Any]) -> Any:
    """Run a query in a job group that is cancelled as soon as one of its tasks runs."""
    return cancelled(
        spark,
        run,
        begin=lambda: spark.sparkContext.setJobGroup("deltaic", "to be cancelled", interruptOnCancel=True),
        cancel=lambda: spark.sparkContext.cancelJobGroup("deltaic"),
        end=lambda: spark.sparkContext.setLocalProperty("spark.jobGroup.id", None),
    )


def by_interrupting_all(spark: SparkSession, run: Callable[[], Any]) -> Any:
    return cancelled(spark, run, begin=lambda: None, cancel=spark.interruptAll, end=lambda: None)


def cancelled(
    spark: SparkSession,
    run: Callable[[], Any],
    *,
    begin: Callable[[], object],
    cancel: Callable[[], object],
    end: Callable[[], object],
) -> Any:
    from pyspark import InheritableThread

    tracker = spark.sparkContext.statusTracker()
    given_up = False

    def runs() -> bool:
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        return any(stage is not None and stage.numActiveTasks for stage in stages)

    def wait_and_cancel() -> None:
        while not runs() and not given_up:
            time.sleep(0.02)
        cancel()

    begin()
    other = InheritableThread(target=wait_and_cancel)
    other.start()
    try:
        return run()
    finally:
        given_up = True
        other.join()
        end()


def endless(frame: DataFrame) -> DataFrame:
    """A query that no machine finishes, in one stage with the reading."""
    numbers = "explode(sequence(1, 100000))"
    return frame.selectExpr("id", f"{numbers} AS a").selectExpr("id", "a", f"{numbers} AS b")


@pytest.mark.parametrize("how", [by_group, by_interrupting_all])
def test_a_cancelled_query(
    spark: SparkSession, load: Load, tmp_path: Path, how: Callable[[SparkSession, Callable[[], Any]], Any]
) -> None:
    """Spark says that it was cancelled, and the same frame answers the next question in full."""
    rows = pa.table({"id": pa.array(range(200), pa.int64())})
    deltaic.Table.create(tmp_path / "t", rows.schema).append(rows)
    frame = load(tmp_path / "t")
    query = endless(frame).selectExpr("max(hash(id, a, b))")
    with pytest.raises(Exception, match=r"[Cc]ancelled"):
        how(spark, query.collect)
    assert frame.count() == 200
    assert frame.selectExpr("sum(id) AS s").first().s == 199 * 100
