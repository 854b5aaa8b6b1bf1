"""Benchmarks deltaic and its peers in PySpark: `spark.py [--scale 1] [--repeat 3] [--only data*]`.

Tables are generated once and cached in `target/bench-tables`. `--check` compares the results and times
nothing; `--generate` only generates the tables.
"""

from __future__ import annotations

import argparse
import fnmatch
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from page_sections import with_section
from report import SPARK
from run import TABLES, TOP
from spark_process import SparkProcess
from spark_queries import ALL_QUERIES
from spark_report import Conditions, Line, line_of, section, write_json
from spark_tables import Made, SparkTable, made, tables, warm_up
from spark_ways import ARROW, DELTA, NATIVE, PARQUET, PLAIN_DELTA, SETTINGS, WAYS

WARM_UPS = 3
# With more values than this, two copies in memory, of Spark and of deltalake, do not fit.
MOST_ARROW_VALUES = 100_000_000


@dataclass
class Entry:
    """One way to read, for one query."""

    query: str
    peer: SparkProcess
    answer: list | None = None
    absent: str = ""
    failed: str = ""
    wrong: str = ""
    runs: list[dict[str, Any]] = field(default_factory=list)

    @property
    def unpublished(self) -> str:
        """Why no page may be written: a wrong result, or a missing one of the ways that are compared."""
        return self.wrong or (self.failed if self.peer.way in {DELTA, NATIVE} else "")

    @property
    def takes_part(self) -> bool:
        """Whether it can be timed."""
        return not (self.absent or self.failed or self.wrong)

    def said(self) -> str:
        """Returns the outcome in a few words."""
        if self.wrong:
            return f"answers wrong: {self.wrong}"
        if self.absent:
            return f"takes no part: {self.absent}"
        return f"fails: {self.failed}" if self.failed else "answers right"

    def ask(self, table: SparkTable, path: Path) -> dict[str, Any]:
        """Runs the query once; returns the result with its times."""
        said = self.peer.ask(do="answer", table=str(path), query=self.query, again=table.again)
        # The location of a table does not belong on the page.
        self.failed = said.get("failed", "").replace(str(path), table.name)
        self.absent = said.get("absent", "")
        return said


def entries_of(table: SparkTable, peers: dict[str, SparkProcess]) -> list[Entry]:
    """Returns all entries by query, so that slow periods of the machine affect all peers equally."""
    return [
        Entry(name, peer) for name in table.queries for way, peer in peers.items() if able(way, table, name)
    ]


def able(way: str, table: SparkTable, name: str) -> bool:
    """Whether this way supports the query."""
    query = ALL_QUERIES[name]
    if query.told_before:
        return way == NATIVE
    if way == PARQUET:
        return table.is_plain
    if way == PLAIN_DELTA:
        # Its default concerns the reading of the log.
        return not table.again
    return way != ARROW or len(query.columns) * table.spec.rows <= MOST_ARROW_VALUES


def check(table: SparkTable, found: Made, peers: dict[str, SparkProcess]) -> list[Entry]:
    """Runs each query in each way; results that differ from delta-spark's, and wrong counts, are errors."""
    entries = entries_of(table, peers)
    for name in table.queries:
        mine = [entry for entry in entries if entry.query == name]
        for entry in mine:
            entry.answer = entry.ask(table, found.path).get("answer")
        base = ALL_QUERIES[name].told_before or name
        right = [[str(found.rows)]] if name == "count" else most_common(entries, base)
        for entry in mine:
            if entry.answer is not None and entry.answer != right:
                entry.wrong = f"{entry.answer}, right is {right}"
            print(f"{table.name} {name}: {entry.peer.way} {entry.said()}", flush=True)
    return entries


def most_common(entries: list[Entry], name: str) -> list | None:
    """Returns delta-spark's result; without one, the most common result."""
    answers = {entry.peer.way: entry.answer for entry in entries if entry.query == name and entry.answer}
    return answers.get(DELTA) or max(answers.values(), key=list(answers.values()).count, default=None)


def turns(entries: list[Entry], repeat: int) -> Iterator[Entry]:
    """Yields the entries query by query, starting with a different peer in each turn."""
    for turn in range(repeat):
        for name in dict.fromkeys(entry.query for entry in entries):
            mine = [entry for entry in entries if entry.query == name]
            first = turn % len(mine)
            yield from mine[first:] + mine[:first]


def measure(table: SparkTable, path: Path, entries: list[Entry], repeat: int) -> list[Line]:
    """Returns the medians of all entries with correct results."""
    for entry in turns(entries, repeat):
        if not entry.takes_part:
            continue
        said = entry.ask(table, path)
        if said.get("answer") == entry.answer:
            entry.runs.append(said)
        elif not entry.failed:
            entry.wrong = f"{said.get('answer')} when it was timed, before {entry.answer}"
    print(f"{table.name}: measured", flush=True)
    return [
        line_of(
            table.name,
            entry.query,
            entry.peer.way,
            "" if entry.absent or entry.takes_part else entry.said(),
            entry.runs if entry.takes_part else [],
        )
        for entry in entries
    ]


def warm(peers: dict[str, SparkProcess], folder: Path, times: int) -> None:
    """Warms up each JVM with every query on a small table."""
    table = warm_up()
    path = made(table, folder).path
    for peer in peers.values():
        entries = entries_of(table, {peer.way: peer})
        for entry in times * entries:
            if not entry.absent:
                entry.ask(table, path)
        print(f"{peer.way} {peer.release} {peer.absent}".rstrip(), flush=True)


def finish(table: SparkTable, found: Made, peers: dict[str, SparkProcess]) -> None:
    """Lets delta-spark write the end of a long log, if it is installed."""
    if found.unfinished and DELTA in peers:
        said = peers[DELTA].ask(do="finish", table=str(found.path))
        if "failed" in said:
            raise SystemExit(f"{table.name}: delta-spark writes no checkpoint: {said['failed']}")


def chosen(parser: argparse.ArgumentParser, known: list[str], wanted: str) -> list[str]:
    """Returns the names that match the patterns; a pattern without a match is an error."""
    names: list[str] = []
    for pattern in wanted.split(",") if wanted else known:
        if not (matching := fnmatch.filter(known, pattern)):
            parser.error(f"nothing is called {pattern}: there are {', '.join(known)}")
        names += matching
    return list(dict.fromkeys(names))


def main() -> int:
    """Checks, measures and reports; returns 1 if a result is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of each table's size (default 1)")
    parser.add_argument("--repeat", type=int, default=3, help="turns of each measurement (default 3)")
    parser.add_argument(
        "--warm-ups", type=int, default=WARM_UPS, help="before all, on a small table (default 3)"
    )
    parser.add_argument(
        "--only", default="", help="names of tables, with commas between; data* is all of them"
    )
    parser.add_argument("--ways", default="", help="ways to read, with commas between: " + ", ".join(WAYS))
    parser.add_argument("--check", action="store_true", help="check the answers, time nothing")
    parser.add_argument("--generate", action="store_true", help="make the tables, check and time nothing")
    parser.add_argument(
        "--tables",
        type=lambda text: Path(text).resolve(),
        default=TABLES,
        help="where generated tables are kept",
    )
    parser.add_argument("--markdown", type=Path, help="write the section into this page")
    parser.add_argument("--json", type=Path, default=TOP / "target" / "benchmarks-spark.json")
    options = parser.parse_args()
    known = {table.name: table for table in tables(options.scale)}
    asked = [known[name] for name in chosen(parser, list(known), options.only)]
    peers = {
        way: SparkProcess(way, options.json.parent / "bench-spark" / f"{way}.log")
        for way in chosen(parser, list(WAYS), options.ways)
    }
    lines: list[Line] = []
    wrong: list[str] = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the peers are stopped
    with ExitStack() as stack:
        for peer in peers.values():
            stack.callback(peer.stop)
        if not (options.check or options.generate):
            warm(peers, options.tables, options.warm_ups)
        for table in asked:
            found = made(table, options.tables)
            finish(table, found, peers)
            if options.generate:
                continue
            entries = check(table, found, peers)
            if not options.check:
                repeat = min(options.repeat, table.turns or options.repeat)
                lines += measure(table, found.path, entries, repeat)
            wrong += [
                f"{table.name} {entry.query}: {entry.peer.way}: {entry.unpublished}"
                for entry in entries
                if entry.unpublished
            ]
    for text in wrong:
        print(f"wrong or missing: {text}", file=sys.stderr)
    if options.check or options.generate:
        return 1 if wrong else 0
    releases = {way: peer.release for way, peer in peers.items()}
    memory = SETTINGS["spark.driver.memory"]
    under = Conditions(options.scale, options.repeat, options.warm_ups, memory, MOST_ARROW_VALUES, releases)
    write_json(lines, under, options.json)
    text = section(lines, asked, under)
    print("\n" + text)
    if wrong:
        return 1  # without a page: only correct results are published
    if options.markdown:
        before = options.markdown.read_text(encoding="utf-8") if options.markdown.exists() else ""
        options.markdown.write_text(with_section(before, SPARK, text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
