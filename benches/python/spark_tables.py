"""The tables of the Spark benchmark: many small files, and the tables with data of `run.py`.

Of the partitioned ones only a few files are written, and the others are hard links to them, so that 100,000
files need little space; files that are sorted by id are all written. Their log has delta-spark's format; if
it is long, delta-spark itself writes the last commit, its checksum and the checkpoint.
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
MANY_FILES = (10, 1_000, 10_000, 100_000)
FIRST = ("count", "sum", "sum_partition", "sum_partition_told")
BY_ID = ("count", "point")
QUERIES = ("count", "sum", "group_by", "filter", "range", "range_told", "hash")
IN_PARTITION = ("sum_partition", "sum_partition_told", "hash_partition", "hash_partition_told")


@dataclass(frozen=True)
class SparkTable:
    """A table, and its queries."""

    name: str
    spec: RowsSpec
    queries: tuple[str, ...]
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
    found = [
        many_files(f"{kind}_{files}", max(10, round(files * scale)), by_id=kind == "sorted")
        for kind in ("files", "sorted")
        for files in MANY_FILES
    ]
    known = {one.name: one.scaled(scale).table for one in workload.read_all()}
    asked = {
        "data": QUERIES,
        "data_vectors": QUERIES,
        "data_partitioned": ("count", "sum", "group_by", "hash", *IN_PARTITION),
    }
    for name, queries in asked.items():
        spec = known[name]
        assert isinstance(spec, RowsSpec)
        found.append(SparkTable(name, spec, queries, goal=1.0, again=True))
    return found


def many_files(name: str, files: int, *, by_id: bool = False) -> SparkTable:
    """Returns a table of this many small files, sorted by id or partitioned by region."""
    spec = RowsSpec(SEED, files * ROWS_PER_FILE, files, partitioned=not by_id)
    turns = 1 if files > FILES_OF_ONE_TURN else None
    return SparkTable(name, spec, BY_ID if by_id else FIRST, goal=0.5, again=False, turns=turns)


def warm_up() -> SparkTable:
    """Returns a small table with every query, for warming up each JVM."""
    table = many_files("files_warm", 16)
    queries = tuple(dict.fromkeys((*FIRST, *BY_ID, *QUERIES, *IN_PARTITION)))
    return replace(table, queries=queries, again=True)


def made(table: SparkTable, folder: Path) -> Made:
    """Returns the table; generates it unless the spec and the generator are unchanged."""
    if not table.name.startswith(("files_", "sorted_")):
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
        (write if table.spec.partitioned else write_sorted)(table.spec, path)
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


def write_sorted(spec: RowsSpec, folder: Path) -> None:
    """Writes all files, and version 0."""
    (folder / "_delta_log").mkdir(parents=True)
    facts = [data_files.write_file(spec, folder, file)[0] for file in range(spec.files)]
    data_log.write_commit(folder, 0, data_log.first(spec, facts))
    (folder / MANIFEST).write_text(json.dumps({"files": spec.files, "rows": spec.rows}) + "\n")


def link(source: Path, name: Path) -> None:
    """Links the file; copies it if the file system does not support links, or no more of them."""
    try:
        os.link(source, name)
    except OSError:
        shutil.copyfile(source, name)
