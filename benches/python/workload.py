"""A workload: a table, operations on it, their peers and budgets. Read from `benches/workloads/*.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "workloads"
FORMS = ("commits", "v1", "v1_parts", "v2_sidecars")
STATISTICS = ("json", "struct")


@dataclass(frozen=True)
class TableSpec:
    """The shape of a generated table; equal specs make equal bytes."""

    seed: int
    form: str
    """What the log starts with: `v1`, `v1_parts`, `v2_sidecars` is a checkpoint, `commits` is version 0."""
    statistics: str
    """In a checkpoint: `json` is `stats`, `struct` is `stats_parsed` with `partitionValues_parsed`."""
    adds: int
    """Live files of the checkpoint, or of version 0."""
    tombstones: int
    """Removes in the checkpoint that have not expired."""
    pieces: int
    """How many row groups, parts or sidecars the checkpoint has."""
    commits: int
    """Commits after the checkpoint, or after version 0."""
    adds_per_commit: int
    removes_per_commit: int
    partitions: int
    statistics_columns: int

    def __post_init__(self) -> None:
        """Refuse a word that is not known."""
        if self.form not in FORMS or self.statistics not in STATISTICS:
            raise ValueError(f"unknown form {self.form!r} or statistics {self.statistics!r}")

    def scaled(self, scale: float) -> TableSpec:
        """That share of the table: fewer files where it starts with many, else fewer commits."""
        if self.adds == 0:
            return replace(self, commits=max(10, round(self.commits * scale)))
        least = max(self.pieces, self.commits * self.removes_per_commit)
        adds = max(least, round(self.adds * scale))
        return replace(self, adds=adds, tombstones=round(self.tombstones * scale))


@dataclass(frozen=True)
class RowsSpec:
    """The shape of a generated table that has data; equal specs make equal bytes, equal seeds equal rows."""

    seed: int
    rows: int
    files: int
    partitioned: bool = False
    """By region, of which there are 8; else files are runs of ids."""
    deletions: bool = False
    """Version 1 deletes one row of 100 by deletion vectors."""
    mapped: bool = False
    """Columns have other names in the files, and ids."""

    def scaled(self, scale: float) -> RowsSpec:
        """That share of the rows in as many files."""
        least = 8 * self.files  # a row of each region in each file
        return replace(self, rows=max(1, round(self.rows * scale / least)) * least)


@dataclass(frozen=True)
class Operation:
    """What is done with the table."""

    name: str
    peers: tuple[str, ...]
    budget: dict[str, float]
    """At full scale, at most: `wall` in seconds, `peak_mib`. May be empty."""
    of_best: dict[str, float] = field(default_factory=dict)
    """At full scale, at most so many times what the best peer needs: `wall`, `cpu`."""
    of_ours: dict[str, dict[str, float]] = field(default_factory=dict)
    """At full scale, at most so many times what deltaic needs for another operation, by its name."""
    unable: tuple[str, ...] = ()
    """Peers who are known to fail, or to answer wrong: the page says how, and stands nonetheless."""
    times: int = 1
    """How often it is measured in each turn: what is over in the blink of an eye more than once."""


@dataclass(frozen=True)
class Workload:
    """A table and what is done with it: one table of the page."""

    name: str
    what: str
    table: TableSpec | RowsSpec
    operations: tuple[Operation, ...]

    def scaled(self, scale: float) -> Workload:
        """The same workload on that share of the table."""
        return replace(self, table=self.table.scaled(scale))


def read(path: Path) -> Workload:
    """Read one workload's file; a key that is missing or not known is a TypeError."""
    content = json.loads(path.read_text(encoding="utf-8"))
    operations = []
    for operation in content["operations"]:
        lists = {key: tuple(operation.get(key, ())) for key in ("peers", "unable")}
        operations.append(Operation(**{**operation, **lists}))
    return Workload(**{**content, "table": spec_of(content["table"]), "operations": tuple(operations)})


def spec_of(content: dict) -> TableSpec | RowsSpec:
    """The spec that was written so: one with rows has data, any other only a log."""
    return RowsSpec(**content) if "rows" in content else TableSpec(**content)


def read_all(folder: Path = FOLDER) -> list[Workload]:
    """All workloads, by name."""
    return [read(path) for path in sorted(folder.glob("*.json"))]
