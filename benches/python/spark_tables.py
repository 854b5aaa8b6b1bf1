"""The tables of the Spark benchmark: many small files, and the tables with data of `run.py`.

Only a few of the small files are written, and the others are hard links to them, so that 100,000 files need
little space. Their log has delta-spark's format; if it is long, delta-spark itself writes the last commit,
its checksum and the checkpoint.
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
# The number of distinct files per region; the others are links to them.
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
    """A table, and its queries."""

    name: str
    spec: RowsSpec
    questions: tuple[str, ...]
    goal: float
    """The limit, as a multiple of delta-spark's figure."""
    again: bool
    """Whether queries are repeated on the loaded DataFrame."""
    turns: int | None = None
    """The maximum number of turns, if one takes many minutes."""

    @property
    def is_plain(self) -> bool:
        """Whether the Parquet files alone contain the result."""
        return not (self.spec.deletions or self.spec.mapped)


@dataclass(frozen=True)
class Made:
    """A table on disk."""

    path: Path
    rows: int
    """The number of rows that are not deleted."""
    unfinished: bool
    """Whether the log is long, and delta-spark has not yet written its end."""


def tables(scale: float) -> list[SparkTable]:
    """Returns all tables, scaled."""
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
    """Returns a table of this many small files, partitioned by region."""
    spec = RowsSpec(SEED, files * ROWS_PER_FILE, files, partitioned=True)
    return SparkTable(
        name, spec, FIRST, goal=0.8, again=False, turns=1 if files > FILES_OF_ONE_TURN else None
    )


def warm_up() -> SparkTable:
    """Returns a small table with every query, for warming up each JVM."""
    table = many_files("files_warm", 16)
    return replace(table, questions=tuple(dict.fromkeys((*FIRST, *QUERIES, *IN_PARTITION))), again=True)


def made(table: SparkTable, folder: Path) -> Made:
    """Returns the table; generates it unless the spec and the generator are unchanged."""
    if not table.name.startswith("files_"):
        known = next(one for one in workload.read_all() if one.name == table.name)
        path, manifest = table_of(replace(known, table=table.spec), folder)
        return Made(path, manifest.answers["count"]["rows"], unfinished=False)
    digest = hashlib.blake2b(repr(table.spec).encode(), digest_size=6)
    for module in (*DATA_GENERATOR, "spark_tables"):
        digest.update((HERE / f"{module}.py").read_bytes())
    path = folder / f"spark_{table.name}-{digest.hexdigest()}"
    if not (path / MANIFEST).exists():
        shutil.rmtree(path, ignore_errors=True)  # or during the generation
        print(f"generating {table.name}", flush=True)
        write(table.spec, path)
    has_end = (path / "_delta_log" / "_last_checkpoint").exists()
    return Made(path, table.spec.rows, unfinished=table.spec.files > LONG_LOG and not has_end)


def write(spec: RowsSpec, folder: Path) -> None:
    """Writes the small files under all their names, and version 0."""
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
    """Links the file; copies it if the file system does not support links, or no more of them."""
    try:
        os.link(source, name)
    except OSError:
        shutil.copyfile(source, name)
