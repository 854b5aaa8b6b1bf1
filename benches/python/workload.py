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
    """The parameters of a generated table; equal specs produce equal bytes."""

    seed: int
    form: str
    """The start of the log: `v1`, `v1_parts`, `v2_sidecars` is a checkpoint, `commits` is version 0."""
    statistics: str
    """In a checkpoint: `json` is `stats`, `struct` is `stats_parsed` with `partitionValues_parsed`."""
    adds: int
    """Live files of the checkpoint, or of version 0."""
    tombstones: int
    """Removes in the checkpoint that have not expired."""
    pieces: int
    """The number of row groups, parts or sidecars of the checkpoint."""
    commits: int
    """Commits after the checkpoint, or after version 0."""
    adds_per_commit: int
    removes_per_commit: int
    partitions: int
    statistics_columns: int

    def __post_init__(self) -> None:
        """Rejects unknown names."""
        if self.form not in FORMS or self.statistics not in STATISTICS:
            raise ValueError(f"unknown form {self.form!r} or statistics {self.statistics!r}")

    def scaled(self, scale: float) -> TableSpec:
        """Scales the table: fewer files if it starts with many, else fewer commits."""
        if self.adds == 0:
            return replace(self, commits=max(10, round(self.commits * scale)))
        least = max(self.pieces, self.commits * self.removes_per_commit)
        adds = max(least, round(self.adds * scale))
        return replace(self, adds=adds, tombstones=round(self.tombstones * scale))


@dataclass(frozen=True)
class RowsSpec:
    """The parameters of a table with data; equal specs produce equal bytes, equal seeds equal rows."""

    seed: int
    rows: int
    files: int
    partitioned: bool = False
    """By region, of which there are 8; otherwise files contain ranges of ids."""
    deletions: bool = False
    """Version 1 deletes one row of 100 with deletion vectors."""
    mapped: bool = False
    """Column mapping: columns have physical names and ids."""

    def scaled(self, scale: float) -> RowsSpec:
        """Scales the number of rows; the number of files stays the same."""
        least = 8 * self.files  # a row of each region in each file
        return replace(self, rows=max(1, round(self.rows * scale / least)) * least)


@dataclass(frozen=True)
class Operation:
    """An operation on the table."""

    name: str
    peers: tuple[str, ...]
    budget: dict[str, float]
    """Limits at full scale: `wall` in seconds, `peak_mib`. May be empty."""
    of_best: dict[str, float] = field(default_factory=dict)
    """Limits at full scale, as multiples of the best peer's figure: `wall`, `cpu`."""
    of_ours: dict[str, dict[str, float]] = field(default_factory=dict)
    """Limits at full scale, as multiples of deltaic's figures for other operations, by name."""
    unable: tuple[str, ...] = ()
    """Peers that are known to fail or answer wrongly: the page reports it, and is written nevertheless."""
    times: int = 1
    """Measurements per turn: more than one for very short operations."""


@dataclass(frozen=True)
class Workload:
    """A table and the operations on it: one table of the page."""

    name: str
    what: str
    table: TableSpec | RowsSpec
    operations: tuple[Operation, ...]

    def scaled(self, scale: float) -> Workload:
        """Returns the same workload on a scaled table."""
        return replace(self, table=self.table.scaled(scale))


def read(path: Path) -> Workload:
    """Reads one workload's file; a missing or unknown key is a TypeError."""
    content = json.loads(path.read_text(encoding="utf-8"))
    operations = []
    for operation in content["operations"]:
        lists = {key: tuple(operation.get(key, ())) for key in ("peers", "unable")}
        operations.append(Operation(**{**operation, **lists}))
    return Workload(**{**content, "table": spec_of(content["table"]), "operations": tuple(operations)})


def spec_of(content: dict) -> TableSpec | RowsSpec:
    """Returns the spec: one with rows has data, any other only a log."""
    return RowsSpec(**content) if "rows" in content else TableSpec(**content)


def read_all(folder: Path = FOLDER) -> list[Workload]:
    """Returns all workloads, by name."""
    return [read(path) for path in sorted(folder.glob("*.json"))]
