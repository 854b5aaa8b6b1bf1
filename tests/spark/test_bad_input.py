"""Errors have deltaic's own message, both with the native scan and with the data source."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from tests.protocol.handmade_log import ONE_LONG, HandmadeTable, add, ids, metadata, protocol

from .ways import WAYS, Load, loader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

FILES = 6


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
    """Returns the error message that a user gets when loading a table and collecting its rows."""
    with pytest.raises(Exception) as raised:  # noqa: PT011 - its type depends on the way
        load(path, **options).collect()
    return str(raised.value)


def without_spark(path: Path, **pinned: Any) -> deltaic.DeltaicError:
    """Returns the error of deltaic without Spark."""
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
    text = told(load, table, versionAsOf=1, timestampAsOf="2026-11-01T00:00:00Z")
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
    """The query fails and names the file: it never returns fewer rows, and neither does a second query."""
    frame = load(table)
    assert frame.count() == 2
    (table / "2.parquet").unlink()
    derived = frame.select("id").distinct()
    for ask in (
        frame.collect,
        frame.toArrow,
        frame.toPandas,
        derived.collect,
        derived.count,
        frame.write.format("noop").mode("overwrite").save,
    ):
        with pytest.raises(Exception, match=r"2\.parquet") as caught:
            ask()
        text = str(caught.value)
        assert "a data file is missing, but the log references it" in text
        assert "\nhint: restore the file" in text
        assert "Py4J" not in text
        if load.__name__ != "source":
            assert type(caught.value) is deltaic.CorruptData
            assert caught.value.context["version"] == deltaic.Table(table).snapshot().version


def test_spark_reports_errors_of_other_files(spark: SparkSession, load: Load, table: Path) -> None:
    load(table)
    other = table.parent / "other"
    spark.range(2).write.parquet(str(other))
    frame = spark.read.parquet(str(other))
    for file in other.glob("*.parquet"):
        file.unlink()
    with pytest.raises(Exception, match="FILE_NOT_EXIST") as caught:
        frame.collect()
    assert not isinstance(caught.value, deltaic.DeltaicError)


def test_a_file_that_is_cut_off_between_load_and_query(load: Load, table: Path) -> None:
    frame = load(table)
    whole = (table / "2.parquet").read_bytes()
    (table / "2.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(Exception, match=r"2\.parquet"):
        frame.collect()


def by_group(spark: SparkSession, run: Callable[[], Any]) -> Any:
    context = spark.sparkContext
    context.setJobGroup("deltaic", "to be cancelled", interruptOnCancel=True)
    try:
        return cancelled(spark, run, lambda: context.cancelJobGroup("deltaic"))
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        context.setLocalProperty("spark.job.interruptOnCancel", None)


def by_job_tag(spark: SparkSession, run: Callable[[], Any]) -> Any:
    context = spark.sparkContext
    context.addJobTag("deltaic")
    try:
        return cancelled(spark, run, lambda: context.cancelJobsWithTag("deltaic"))
    finally:
        context.removeJobTag("deltaic")


def by_interrupting_all(spark: SparkSession, run: Callable[[], Any]) -> Any:
    return cancelled(spark, run, spark.interruptAll)


def cancelled(spark: SparkSession, run: Callable[[], Any], cancel: Callable[[], object]) -> Any:
    """Runs a query, and cancels it as soon as one of its stages is active."""
    tracker = spark.sparkContext.statusTracker()
    # Tasks of an earlier cancelled query may still be running.
    earlier = set(tracker.getActiveStageIds())
    ended = threading.Event()

    def cancel_when_it_runs() -> None:
        # Spark updates the number of running tasks late, so check for the stage itself.
        while not ended.wait(0.05):
            if set(tracker.getActiveStageIds()) - earlier:
                cancel()

    other = threading.Thread(target=cancel_when_it_runs)
    other.start()
    try:
        return run()
    finally:
        ended.set()
        other.join()


def waiting(frame: DataFrame, file: Path) -> DataFrame:
    """Returns a query whose tasks end after the file exists."""
    from pyspark.sql.functions import udf

    def wait(row: int) -> int:
        while not file.exists():
            time.sleep(0.05)
        return row

    return frame.select(udf(wait, "bigint")("id"))


@pytest.mark.parametrize("how", [by_group, by_job_tag, by_interrupting_all])
def test_a_cancelled_query(
    spark: SparkSession, load: Load, tmp_path: Path, how: Callable[[SparkSession, Callable[[], Any]], Any]
) -> None:
    """Spark reports the cancellation, and the next query on the same frame returns all rows."""
    made = HandmadeTable(tmp_path / "t")
    made.create(*(made.data(f"{number}.parquet", ids(number)) for number in range(FILES)))
    frame = load(made.root)
    may_end = tmp_path / "may end"
    try:
        with pytest.raises(Exception, match=r"\[SPARK_JOB_CANCELLED\]"):
            how(spark, waiting(frame, may_end).collect)
    finally:
        may_end.touch()
    assert frame.count() == FILES
    assert frame.selectExpr("sum(id) AS s").first().s == sum(range(FILES))
