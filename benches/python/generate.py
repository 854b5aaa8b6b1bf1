"""Generates the benchmark tables from the protocol, with pyarrow and numpy and no Delta library.

Most tables have only a log; its data files do not exist, because nothing reads them.
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
    """The expected answers for the table. Written last: a table without it is incomplete."""

    version: int
    num_files: int
    size_in_bytes: int
    adds_in_log: int
    """The number of add actions in the log, live or not: those that a floor must parse."""
    spec: dict
    """The table's spec, from which every column of an answer is derived."""
    answers: dict[str, dict] = field(default_factory=dict)
    """For a table with data: the digest of the rows of each query."""


def generate(spec: TableSpec | RowsSpec, folder: Path) -> Manifest:
    """Writes the table to an empty folder and returns its manifest."""
    manifest = with_data(spec, folder) if isinstance(spec, RowsSpec) else log_only(spec, folder)
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n")
    return manifest


def with_data(spec: RowsSpec, folder: Path) -> Manifest:
    """Writes a table with its data files."""
    version, size, answers = data_files.write(spec, folder)
    return Manifest(version, spec.files, size, spec.files * (version + 1), asdict(spec), answers)


def log_only(spec: TableSpec, folder: Path) -> Manifest:
    """Writes a log whose data files do not exist."""
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
    """Returns the table's manifest; None if there is no complete table."""
    path = folder / MANIFEST
    return Manifest(**json.loads(path.read_text())) if path.exists() else None
