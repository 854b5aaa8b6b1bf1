"""A workload: which table, which operation, which peers. Read from `benches/workloads/*.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "workloads"


@dataclass(frozen=True)
class TableSpec:
    """The shape of a generated table; equal specs make equal bytes."""

    seed: int
    adds: int
    """Live files in the checkpoint."""
    tombstones: int
    """Removes in the checkpoint that have not expired."""
    commits: int
    """Commits after the checkpoint."""
    adds_per_commit: int
    removes_per_commit: int
    partitions: int
    statistics_columns: int


@dataclass(frozen=True)
class Workload:
    """One line of the table of ratios for each peer."""

    name: str
    what: str
    operation: str
    table: TableSpec
    peers: tuple[str, ...]

    def scaled(self, scale: float) -> Workload:
        """The same workload with that share of the files in the checkpoint; commits stay as they are."""
        table = replace(
            self.table,
            adds=max(self.table.commits * self.table.removes_per_commit, round(self.table.adds * scale)),
            tombstones=round(self.table.tombstones * scale),
        )
        return replace(self, table=table)


def read(path: Path) -> Workload:
    """Read one workload's file; a key that is missing or not known is a TypeError."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return Workload(
        **{**content, "table": TableSpec(**content["table"]), "peers": tuple(content["peers"])},
    )


def read_all(folder: Path = FOLDER) -> list[Workload]:
    """All workloads, by name."""
    return [read(path) for path in sorted(folder.glob("*.json"))]
