"""Benchmarks writes, deltaic and deltalake: `writing.py [--scale 1] [--repeat 3] [--only append,delete*]`.

Each measurement is a separate process on a new copy of the table, in turns. Before anything is timed, the
rows after each write are read by both libraries and compared with the expected ones.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

import child
from budgets import NOISE_BESIDE_PEERS, Rating
from figures import FIGURES, noise_of, shown, shown_with_spread
from page_sections import with_section
from report import processor
from run import TABLES
from write_operations import SHOPS, WRITES, Write
from write_tables import WriteTables

PEERS = ("deltaic", "deltalake")
ALL_FIGURES = {**FIGURES, "written_mib": "MiB written"}
TEXT = """\
Written by `make bench-writes`. Each measurement is a new process on a new copy of the table, in
alternation; a figure is the median, with the smallest and the largest in parentheses. The rows are those
of `data`, read from an Arrow stream in a file in the page cache, in batches of 50,000 rows, without
keeping them. Before anything is timed, the rows after each write are read by both libraries and compared
with the expected ones. The *share* is deltaic's figure divided by deltalake's; 10 % above the goal are
noise. Peak memory must be under 600 MiB too.

deltalake cannot write deletion vectors, so `delete_vectors` and `update_vectors` compare with its
rewriting.

To repeat: `make bench-writes`; `make bench-writes ONLY='append*' REPEAT=5` for some operations, `make
bench-writes SCALE=0.01` for a quick run; neither of the last two rewrites this section.
"""


@dataclass(frozen=True)
class Section:
    """Operations that are measured together: a section of the page."""

    heading: str
    text: str
    writes: Sequence[Write]
    tables: type[WriteTables]
    floor: str = ""
    """A library that does a part of each operation without writing."""

    @property
    def peers(self) -> tuple[str, ...]:
        """The libraries that are measured."""
        return (*PEERS, self.floor) if self.floor else PEERS


def run(tables: WriteTables, write: Write, peer: str, *options: str) -> dict:
    """Runs one write in a separate process."""
    table = tables.fresh(write, peer)
    source = str(tables.source(write.source)) if write.source else ""
    command = [sys.executable, str(child.HERE / "write_child.py"), peer, write.name, str(table), source]
    try:
        printed, _, _ = child.run([*command, *options], {**os.environ, **child.QUIET})
    finally:
        shutil.rmtree(table)
    return json.loads(printed.splitlines()[-1])


def wrong(tables: WriteTables, write: Write, peer: str) -> str:
    """Checks the rows after a write, or the result of a floor: returns what is wrong."""
    try:
        found = run(tables, write, peer, "--check")
    except child.ChildFailedError as error:
        return str(error)
    if peer not in PEERS:
        matches = tables.matches(write.source)
        return (
            "" if found["matches"] == [matches] else f"found {found['matches']} instead of {matches} matches"
        )
    expected = tables.answer(write.answer)
    readers = [reader for reader, digest in found["digests"].items() if digest != expected]
    return f"{' and '.join(readers)} read other rows" if readers else ""


def right(peer: str) -> str:
    """Returns the words for a correct result."""
    return "writes the right rows" if peer in PEERS else "finds the right matches"


def table_lines(
    section: Section, writes: list[Write], runs: dict[tuple[str, str], list[dict]], rows: int
) -> list[str]:
    """Returns the section's table."""
    names = [*section.peers, "share", "goal", "met"]
    lines = [f"{rows:,} rows of 10 columns; tables of 40 files, or of {SHOPS} partitions.", ""]
    lines += [f"- `{write.name}`: {write.what}" for write in writes]
    lines += [
        "",
        f"| operation | figure | {' | '.join(names)} |",
        f"|---|---|{'--:|' * (len(names) - 1)}---|",
    ]
    for write in writes:
        for key, title in ALL_FIGURES.items():
            of_peers = [[run[key] for run in runs[write.name, peer]] for peer in section.peers]
            ours, theirs = of_peers[:2]
            judged = rating(write, key, ours, theirs)
            cells = [
                f"`{write.name}`" if key == "wall" else "",
                title,
                *(shown_with_spread(values, "peak_mib" if "mib" in key else key) for values in of_peers),
                f"{median(ours) / median(theirs):.2f}",
                "" if judged is None else f"{write.goals[key]:g}",
                "" if judged is None else str(judged),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def rating(write: Write, key: str, ours: list[float], theirs: list[float]) -> Rating | None:
    """Returns the rating on a figure."""
    if key not in write.goals:
        return None
    limit = write.goals[key] * median(theirs)
    if key == "peak_mib":
        limit = min(limit, write.most_mib)
    noise = max(NOISE_BESIDE_PEERS, noise_of(ours), noise_of(theirs))
    return Rating(limit, median(ours) / limit, noise)


def measure(
    tables: WriteTables, writes: list[Write], peers: Sequence[str], repeat: int
) -> dict[tuple[str, str], list[dict]]:
    """Measures all operations and libraries in turns."""
    runs: dict[tuple[str, str], list[dict]] = {(write.name, peer): [] for write in writes for peer in peers}
    for _ in range(repeat):
        for write in writes:
            for peer in peers:
                found = run(tables, write, peer)
                runs[write.name, peer].append(found)
                cells = (f"{title} {shown(found[key], key)}" for key, title in ALL_FIGURES.items())
                print(f"{write.name} {peer}: {', '.join(cells)}", flush=True)
    return runs


def main(section: Section) -> int:
    """Checks, measures, reports; returns 1 if rows are wrong or a goal is missed beyond the noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="names of operations, with commas between")
    parser.add_argument("--check", action="store_true", help="check the rows, time nothing")
    parser.add_argument("--tables", type=Path, default=TABLES, help="where generated tables are kept")
    parser.add_argument("--markdown", type=Path, help="the page whose section is written")
    options = parser.parse_args()
    patterns = options.only.split(",") if options.only else ["*"]
    writes = [
        one for one in section.writes if any(fnmatch.fnmatch(one.name, pattern) for pattern in patterns)
    ]
    if not writes:
        parser.error(
            f"no operation is called {options.only}: there are {', '.join(w.name for w in section.writes)}"
        )
    tables = section.tables(options.tables, options.scale)
    failures = 0
    for write in writes:
        for peer in section.peers:
            failed = wrong(tables, write, peer)
            failures += bool(failed)
            print(f"{write.name}: {peer} {version(peer)} {failed or right(peer)}", flush=True)
    if failures or options.check:
        return 1 if failures else 0
    runs = measure(tables, writes, section.peers, options.repeat)
    releases = ", ".join(f"{peer} {version(peer)}" for peer in section.peers)
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, {processor()}, {releases}."
    machine += f" Scale {options.scale:g}, {options.repeat} repetitions."
    lines = table_lines(section, writes, runs, tables.spec.rows)
    text = "\n".join([section.heading, "", section.text, machine, "", *lines]) + "\n"
    print("\n" + text)
    if options.markdown:
        before = options.markdown.read_text(encoding="utf-8")
        options.markdown.write_text(with_section(before, section.heading, text), encoding="utf-8")
    return 1 if options.scale == 1 and any("**no" in line for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(Section("## Writes", TEXT, WRITES, WriteTables)))
