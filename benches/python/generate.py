"""Makes the tables of the benchmarks from the protocol's text, with pyarrow and numpy and no Delta library.

Of most only the log is made; the data files that it names do not exist, because nothing here reads them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow.compute as pc

import checkpoints
import commits
import data_files
import history
from files import files_of
from following import FOLLOWING
from workload import RowsSpec, TableSpec

MANIFEST = "manifest.json"
BLOCK = 200_000


@dataclass(frozen=True)
class Manifest:
    """What every reader must answer about the table. Written last: a table without it is not finished."""

    version: int
    num_files: int
    size_in_bytes: int
    adds_in_log: int
    """How many add actions the log holds, live or not: what a floor must have parsed."""
    spec: dict
    """The table's spec, from which every column of an answer follows."""
    answers: dict[str, dict] = field(default_factory=dict)
    """Of a table that has data: the digest of the rows that answer each question."""


def generate(spec: TableSpec | RowsSpec, folder: Path) -> Manifest:
    """Write the table into an empty folder and return its manifest."""
    manifest = with_data(spec, folder) if isinstance(spec, RowsSpec) else log_only(spec, folder)
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n")
    return manifest


def with_data(spec: RowsSpec, folder: Path) -> Manifest:
    """Write a table with its data files."""
    version, size, answers = data_files.write(spec, folder)
    return Manifest(version, spec.files, size, spec.files * (version + 1), asdict(spec), answers)


def log_only(spec: TableSpec, folder: Path) -> Manifest:
    """Write a log whose data files do not exist."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    if spec.form == "commits":
        commits.write_first(spec, log)
    else:
        checkpoints.write(spec, log)
    commits.write_commits(spec, log, folder / FOLLOWING)
    live = history.live(spec)
    size = 0
    for begin in range(0, len(live), BLOCK):
        size += pc.sum(files_of(spec, live[begin : begin + BLOCK], statistics=False).size).as_py()
    version, adds = history.last_version(spec), history.adds_in_log(spec)
    return Manifest(version, len(live), size, adds, asdict(spec))


def manifest_of(folder: Path) -> Manifest | None:
    """The table's manifest; None when there is no finished table."""
    path = folder / MANIFEST
    return Manifest(**json.loads(path.read_text())) if path.exists() else None
