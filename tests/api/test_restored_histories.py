"""Random histories, restored to a random version: rows, row ids and schema are those of that version."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic import alter
from tests.seed import generator

HISTORIES = 12
STEPS = 6
SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.int32()), ("value", pa.string())])


class History:
    """A table that changes at random."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.chance = chance
        self.tracks = chance.random() < 0.7
        properties = {"delta.enableChangeDataFeed": chance.choice(["true", "false"])}
        if self.tracks:
            properties["delta.enableRowTracking"] = "true"
        if chance.random() < 0.7:
            properties["delta.enableDeletionVectors"] = "true"
        self.is_mapped = chance.random() < 0.5
        if self.is_mapped:
            properties["delta.columnMapping.mode"] = chance.choice(["name", "id"])
        parts = ["part"] if chance.random() < 0.5 else []
        self.table = deltaic.Table.create(root, SCHEMA, partition_by=parts, properties=properties)
        self.next_id = 0
        self.append()

    def rows(self) -> pa.Table:
        count = self.chance.randint(1, 8)
        ids = list(range(self.next_id, self.next_id + count))
        self.next_id += count
        names = self.table.snapshot().schema.to_arrow().names
        values: dict[str, Any] = {
            "id": pa.array(ids, pa.int64()),
            "part": pa.array([i % 3 for i in ids], pa.int32()),
            **{name: pa.array([f"v{i}" for i in ids]) for name in names if name not in ("id", "part")},
        }
        return pa.table({name: values[name] for name in names})

    def condition(self) -> str:
        return self.chance.choice(
            [f"id % {self.chance.randint(2, 4)} = 0", f"part = {self.chance.randint(0, 2)}"]
        )

    def append(self) -> None:
        self.table.append(self.rows())

    def delete(self) -> None:
        self.table.delete(self.condition())

    def update(self) -> None:
        self.table.update({"part": "(part + 1) % 3"}, self.condition())

    def overwrite(self) -> None:
        self.table.overwrite(self.rows())

    def alter(self) -> None:
        names = self.table.snapshot().schema.to_arrow().names
        if self.is_mapped and self.chance.random() < 0.5:
            change: alter.Change = alter.RenameColumn(names[-1], f"{names[-1]}x")
        else:
            change = alter.AddColumn(f"new{self.table.snapshot().version}", pa.string())
        self.table.alter(change)

    def restore(self) -> None:
        self.table.restore(self.chance.randint(1, self.table.snapshot().version))

    def step(self) -> None:
        steps = [self.append, self.delete, self.update, self.overwrite, self.alter, self.restore]
        self.chance.choices(steps, [3, 3, 3, 1, 1, 1])[0]()

    def state(self, version: int | None = None) -> tuple[list[dict[str, Any]], str, list[str]]:
        snapshot = self.table.snapshot(version)
        found = snapshot.scan(row_ids=self.tracks).to_arrow().to_pylist()
        found.sort(key=lambda row: row["id"])
        return found, snapshot.schema.to_json(), snapshot.partition_columns


@pytest.mark.parametrize("number", range(HISTORIES))
def test_a_restored_version_is_as_it_was(tmp_path: Path, number: int) -> None:
    """Rows, row ids, schema and partitioning return, and no row id is given twice.

    protocol: writer-requirements-for-row-tracking.20, writer-requirements-for-row-tracking.22
    """
    history = History(tmp_path / "table", generator("restored histories", number))
    states = {history.table.snapshot().version: history.state()}
    for _ in range(STEPS):
        history.step()
        states[history.table.snapshot().version] = history.state()
    version = history.chance.choice(sorted(states))
    history.table.restore(version)
    assert history.state() == states[version]
    newest = history.table.snapshot().version
    if history.tracks:
        # Ids of rows that are added afterwards are new in the whole history.
        used = {row["_row_id"] for rows, _, _ in states.values() for row in rows}
        history.append()
        added = [row for row in history.state()[0] if row["_row_commit_version"] == newest + 1]
        assert added
        assert not used & {row["_row_id"] for row in added}
    assert history.table.check(deep=True).is_healthy
