"""The page's section on Spark, and the same figures for programs."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from budgets import NOISE_BESIDE_PEERS
from figures import noise_of, shown_with_spread
from report import SPARK, processor
from spark_queries import ALL_QUERIES
from spark_tables import ROWS_PER_FILE, SparkTable
from spark_ways import ARROW, DELTA, NATIVE, PARQUET, WAYS

FIGURES = ("load", "first", "again", "cpu")
HEAD = """\
Written by `make bench-spark`: Delta tables read in PySpark {pyspark}, each way in its own process
and JVM, with two cores (`local[2]`), {memory} of memory, the same settings, in UTC. The ways
alternate; figures are medians in seconds of {repeat} turns, of one turn with 100,000 files, with
the smallest and the largest in parentheses. Caches are cleared before each load
(`spark.catalog.clearCache()`, for delta-spark also `DeltaLog.clearCache()`), garbage is collected
after each turn; the files are in the page cache. Each JVM first runs every query on a small table
{warm_ups} times, then each query on the table once. All results must be equal, including those that
are timed.

- delta-spark {delta}: `spark.read.format("delta").load(path)`, with two partitions for its
  snapshots instead of 50; *delta-spark, defaults*: the same without this setting, for many files
- plain Parquet: `spark.read.parquet(path)`, the same files without a log, if they alone contain the
  result
- deltaic {deltaic}: `deltaic.spark.read(spark).load(path)`, the native scan
- deltaic source: `spark.read.format("deltaic").load(path)`, the Python data source, with
  `spark.sql.python.filterPushdown.enabled`
- deltalake, Arrow: `spark.createDataFrame(…)` of the result of deltalake {deltalake}, only the
  necessary columns and rows, up to {most:,} values, which fit into memory; in batches of 500,000
  rows with `spark.sql.execution.arrow.localRelationThreshold` 0, because it does not fit otherwise

Filters are applied by `DataFrame.where`. In rows marked *before load*, deltaic applies them by
`deltaic.spark.read(spark).where(…).load(path)`; delta-spark's figure is that of the same query.
`count` is `DataFrame.count`, `sum` the sum of a bigint, `sum_partition` the same in one of 8
regions; `group_by` computes a sum and a maximum for each region, `filter` selects one row of 200 in
each file, `range` 2 % of the ids, in two files, `point` one id, in one file; `hash` is the sum of
`xxhash64` of all 10 columns.
The *share* is deltaic's figure divided by delta-spark's. Above the goal, {noise:.0%} or the larger
interquartile range of the two figures is noise.

To repeat: `make bench-spark`; `make bench-spark ONLY='files_10*' REPEAT=5` for some queries, `make
bench-spark SCALE=0.01` for a quick run; neither of the last two rewrites this section.
`target/benchmarks-spark.json` contains the figures with CPU seconds."""


@dataclass(frozen=True)
class Line:
    """The medians of one way for one query, in seconds; None if there is no figure."""

    table: str
    query: str
    way: str
    note: str
    """Why there is no figure, if a reason must be given."""
    load: float | None
    first: float | None
    """From before the load until the result is available."""
    again: float | None
    """The same query on the loaded DataFrame."""
    cpu: float | None
    """Of `first`, over all processes."""
    repetitions: int
    runs: dict[str, list[float]] = field(default_factory=dict)
    """Each figure of every turn."""


def line_of(table: str, query: str, way: str, note: str, runs: list[dict]) -> Line:
    """Returns the medians over the turns."""
    values = {key: [run[key] for run in runs] for key in FIGURES if runs and key in runs[0]}
    middle = {key: median(values[key]) if key in values else None for key in FIGURES}
    return Line(table, query, way, note, **middle, repetitions=len(runs), runs=values)


@dataclass(frozen=True)
class Conditions:
    """The conditions of the measurement."""

    scale: float
    repeat: int
    warm_ups: int
    memory: str
    most_values: int
    releases: dict[str, str]
    """By way."""


def section(lines: list[Line], tables: list[SparkTable], under: Conditions) -> str:
    """Returns the section, with a table for the many files and one for each table with data."""
    releases = {way: under.releases.get(way) or "(not here)" for way in WAYS}
    text = HEAD.format(
        pyspark=releases[PARQUET],
        delta=releases[DELTA],
        deltaic=releases[NATIVE],
        deltalake=releases[ARROW],
        memory=under.memory,
        repeat=under.repeat,
        warm_ups=under.warm_ups,
        most=under.most_values,
        noise=NOISE_BESIDE_PEERS,
    )
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, {processor()}"
    scaled = "" if under.scale == 1 else " Goals apply at scale 1 only."
    parts = [SPARK, "", text, "", f"{machine}. Scale {under.scale:g}.{scaled}", ""]
    many = [table for table in tables if not table.again]
    for title, partitioned in (("Many files", True), ("Many files by id", False)):
        alike = [table for table in many if table.spec.partitioned == partitioned]
        if not alike:
            continue
        order = "partitioned by region" if partitioned else "sorted by id"
        said = f"Files of {ROWS_PER_FILE} rows and 10 columns, {order}: load and first query."
        parts += [f"### {title}", "", said, "", *header("files")]
        for table in alike:
            parts += rows_of(table, lines, f"{table.spec.files:,}", "first", under)
        parts.append("")
    for table in tables:
        if table.again:
            said = f"{table.spec.rows:,} rows of 10 columns in {table.spec.files} files{kind_of(table)}."
            said += " First: load and query. Again: the same query on the loaded DataFrame."
            parts += [f"### {table.name}", "", said, "", *header("asked")]
            parts += rows_of(table, lines, "first", "first", under)
            parts += [*rows_of(table, lines, "again", "again", under), ""]
    parts += notes_of(lines)
    return "\n".join(parts).rstrip("\n") + "\n"


def kind_of(table: SparkTable) -> str:
    """Describes a table with data."""
    if table.spec.deletions:
        return ", of which 1 % are deleted by deletion vectors"
    return ", partitioned by region" if table.spec.partitioned else ", sorted by id"


def header(first: str) -> list[str]:
    """Returns the header of a table."""
    titles = [first, "query", *(way.title for way in WAYS.values()), "share", "goal", "met"]
    return [f"| {' | '.join(titles)} |", f"|--:|---|{'--:|' * (len(titles) - 3)}---|"]


def rows_of(table: SparkTable, lines: list[Line], first: str, key: str, under: Conditions) -> list[str]:
    """Returns a row for each query of a table."""
    found = []
    for index, name in enumerate(table.queries):
        base = ALL_QUERIES[name].told_before
        mine = of_question(lines, table, name)
        if base:  # only deltaic filters before load: compare with delta-spark's plain query
            named = {DELTA: of_question(lines, table, base).get(DELTA), NATIVE: mine.get(NATIVE)}
            mine = {way: line for way, line in named.items() if line}
        theirs, ours = (getattr(mine.get(way), key, None) for way in (DELTA, NATIVE))
        share = ours / theirs if ours is not None and theirs else None
        runs = [mine[way].runs.get(key, []) for way in (DELTA, NATIVE) if way in mine]
        noise = max([NOISE_BESIDE_PEERS, *map(noise_of, runs)])
        cells = [
            first if index == 0 else "",
            f"`{base}`, before load" if base else f"`{name}`",
            *(cell(mine.get(way), key) for way in WAYS),
            "–" if share is None else f"{share:.2f}",
            f"{table.goal:g}",
            rating(share, table.goal, noise) if under.scale == 1 else "",
        ]
        found.append(f"| {' | '.join(cells)} |")
    return found


def of_question(lines: list[Line], table: SparkTable, query: str) -> dict[str, Line]:
    """Returns the lines of a query, by way."""
    return {line.way: line for line in lines if (line.table, line.query) == (table.name, query)}


def cell(line: Line | None, key: str) -> str:
    """Formats a way's figure."""
    value = getattr(line, key, None)
    if line is not None and value is not None:
        return shown_with_spread(line.runs.get(key, [value]), "wall")
    return "fails" if line is not None and line.note else "–"


def rating(share: float | None, goal: float, noise: float) -> str:
    """Returns whether the goal is met, or missed by no more than the noise."""
    if share is None:
        return ""
    if share <= goal:
        return "yes"
    if share <= goal * (1 + noise):
        return "within noise"
    return f"**no, {share / goal:.2f} times it**"


def notes_of(lines: list[Line]) -> list[str]:
    """Returns the failures, each once."""
    said: dict[str, list[str]] = {}
    for line in lines:
        if line.note:
            said.setdefault(f"{WAYS[line.way].title}: {line.note}", []).append(f"`{line.query}`")
    return [
        text for note, names in said.items() for text in (f"{', '.join(dict.fromkeys(names))}: {note}", "")
    ]


def write_json(lines: list[Line], under: Conditions, path: Path) -> None:
    """Writes the same figures for programs."""
    found = {**asdict(under), "cores": os.cpu_count(), "lines": [asdict(line) for line in lines]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")
