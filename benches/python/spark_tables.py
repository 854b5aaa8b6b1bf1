"""The tables that Spark is measured on: many small files, and those with data that `run.py` measures too.

Of the small files a few are made, and every other is one of them under another name (a hard link), so that
100,000 files need little room. Their log is as delta-spark would write it; where it is long, delta-spark
itself writes the last commit, its checksum and the checkpoint.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

import data_files
import data_log
import workload
from rows import REGIONS
from run import DATA_GENERATOR, HERE, table_of
from workload import RowsSpec

MANIFEST = "_manifest.json"
# How many distinct files each region has; the others are links to them.
PIECES = 4
ROWS_PER_FILE = 200
LONG_LOG = 100
FILES_OF_ONE_TURN = 50_000
SEED = 20261122
MANY_FILES = (
    ("files_10", 10),
    ("files_1000", 1_000),
    ("files_10000", 10_000),
    ("files_100000", 100_000),
)
FIRST = ("count", "sum", "sum_partition", "sum_partition_told")
QUERIES = ("count", "sum", "group_by", "filter", "range", "range_told", "hash")
IN_PARTITION = ("sum_partition", "sum_partition_told", "hash_partition", "hash_partition_told")


@dataclass(frozen=True)
class SparkTable:
    """A table, and what is asked of it."""

    name: str
    spec: RowsSpec
    questions: tuple[str, ...]
    goal: float
    """At most so many times what delta-spark needs."""
    again: bool
    """Are questions asked a second time of the DataFrame that is loaded?"""
    turns: int | None = None
    """At most so many turns, where one takes many minutes."""

    @property
    def is_plain(self) -> bool:
        """Do the Parquet files alone say what the table holds?"""
        return not (self.spec.deletions or self.spec.mapped)


@dataclass(frozen=True)
class Made:
    """A table on disk."""

    path: Path
    rows: int
    """That are not deleted."""
    unfinished: bool
    """Is the log long, and delta-spark has not written its end yet?"""


def tables(scale: float) -> list[SparkTable]:
    """All tables, at a share of their size."""
    found = [many_files(name, max(10, round(files * scale))) for name, files in MANY_FILES]
    known = {one.name: one.scaled(scale).table for one in workload.read_all()}
    asked = {
        "data": QUERIES,
        "data_vectors": QUERIES,
        "data_partitioned": ("count", "sum", "group_by", "hash", *IN_PARTITION),
    }
    for name, questions in asked.items():
        spec = known[name]
        assert isinstance(spec, RowsSpec)
        found.append(SparkTable(name, spec, questions, goal=1.0, again=True))
    return found


def many_files(name: str, files: int) -> SparkTable:
    """A table of so many small files, partitioned by region."""
    spec = RowsSpec(SEED, files * ROWS_PER_FILE, files, partitioned=True)
    return SparkTable(
        name, spec, FIRST, goal=0.8, again=False, turns=1 if files > FILES_OF_ONE_TURN else None
    )


def warm_up() -> SparkTable:
    """A small table that each JVM learns on, and every question."""
    table = many_files("files_warm", 16)
    return replace(table, questions=tuple(dict.fromkeys((*FIRST, *QUERIES, *IN_PARTITION))), again=True)


def made(table: SparkTable, folder: Path) -> Made:
    """The table, made where there is none of this spec and this generator."""
    if not table.name.startswith("files_"):
        known = next(one for one in workload.read_all() if one.name == table.name)
        path, manifest = table_of(replace(known, table=table.spec), folder)
        return Made(path, manifest.answers["count"]["rows"], unfinished=False)
    digest = hashlib.blake2b(repr(table.spec).encode(), digest_size=6)
    for module in (*DATA_GENERATOR, "spark_tables"):
        digest.update((HERE / f"{module}.py").read_bytes())
    path = folder / f"spark_{table.name}-{digest.hexdigest()}"
    if not (path / MANIFEST).exists():
        shutil.rmtree(path, ignore_errors=True)  # or half way through this
        print(f"generating {table.name}", flush=True)
        write(table.spec, path)
    has_end = (path / "_delta_log" / "_last_checkpoint").exists()
    return Made(path, table.spec.rows, unfinished=table.spec.files > LONG_LOG and not has_end)


def write(spec: RowsSpec, folder: Path) -> None:
    """Write the small files under all their names, and version 0."""
    (folder / "_delta_log").mkdir(parents=True)
    originals = folder / "_originals"
    source = replace(spec, files=PIECES * len(REGIONS), rows=PIECES * len(REGIONS) * ROWS_PER_FILE)
    known: dict[int, dict] = {}
    facts = []
    for file in range(spec.files):
        region = file % len(REGIONS)
        number = region * PIECES + file // len(REGIONS) % PIECES
        if number not in known:
            originals.mkdir(exist_ok=True)
            known[number], _ = data_files.write_file(source, originals, number)
        fact = known[number]
        name = uuid.uuid5(uuid.NAMESPACE_OID, f"{spec}{file}")
        path = f"region={REGIONS[region]}/part-{file:05}-{name}.c000.snappy.parquet"
        (folder / path).parent.mkdir(exist_ok=True)
        link(originals / fact["path"], folder / path)
        facts.append({**fact, "path": path})
    data_log.write_commit(folder, 0, data_log.first(spec, facts))
    shutil.rmtree(originals)
    (folder / MANIFEST).write_text(json.dumps({"files": spec.files, "rows": spec.rows}) + "\n")


def link(source: Path, name: Path) -> None:
    """The file under another name; a copy where the file system has no such names, or no more of them."""
    try:
        os.link(source, name)
    except OSError:
        shutil.copyfile(source, name)
