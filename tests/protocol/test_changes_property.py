"""Random histories: a feed is the difference of the versions, and returns each change once."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given, note, settings
from hypothesis import strategies as st

import deltaic

from .handmade_log import HandmadeTable, metadata, protocol, remove
from .handmade_log import field as column
from .handmade_log import schema as schema_string
from .handmade_vectors import VectorFile

SCHEMA = schema_string(column("id"), column("s", "string"))
FEATURES = protocol(3, 7, ["deletionVectors"], ["deletionVectors", "changeDataFeed"])
Row = tuple[int | None, str | None]
ROWS = st.lists(
    st.tuples(st.sampled_from([None, 1, 2, 3]), st.sampled_from([None, "x"])), min_size=1, max_size=5
)
# Operations in a commit: add, remove or delete rows of a file, or rewrite it with other or the same rows.
STEPS = st.one_of(
    st.tuples(st.just("add"), ROWS),
    st.tuples(st.just("remove"), st.integers(0, 9)),
    st.tuples(st.just("rewrite"), st.integers(0, 9), st.integers(0, 4), ROWS),
    st.tuples(st.just("delete"), st.integers(0, 9), st.sets(st.integers(0, 4), min_size=1)),
    st.tuples(st.just("compact"), st.integers(0, 9)),
)


@dataclass
class File:
    """A live file, its rows and the deleted ones among them."""

    path: str
    rows: list[Row]
    deleted: frozenset[int] = frozenset()
    vector: dict[str, Any] = field(default_factory=dict[str, Any])

    def live(self) -> list[Row]:
        return [row for at, row in enumerate(self.rows) if at not in self.deleted]


class Writer:
    """Writes a table step by step, and records the rows of each version."""

    def __init__(self, root: Path) -> None:
        self.table = HandmadeTable(root)
        self.vectors = VectorFile(root)
        self.files: list[File] = []
        self.versions: list[Counter[Row]] = [Counter()]
        self.number = 0
        self.table.commit(FEATURES, metadata(SCHEMA, configuration={"delta.enableChangeDataFeed": "true"}))

    def commit(self, steps: list[tuple[Any, ...]]) -> None:
        actions: list[dict[str, Any]] = [{"commitInfo": {"operation": "TEST"}}]
        touched: set[str] = set()
        before = {file.path for file in self.files}
        for step in steps:
            kind = step[0]
            if kind == "add":
                actions.append(self._add(step[1], data_change=True))
                continue
            # A commit has at most one change per file.
            there = [file for file in self.files if file.path not in touched and file.path in before]
            if not there:
                continue
            file = there[step[1] % len(there)]
            touched.add(file.path)
            if kind == "delete":
                positions = {at for at in step[2] if at < len(file.rows)}
                deleted = file.deleted | positions
                if deleted == file.deleted:
                    continue
                actions.append(self._remove(file, data_change=True))
                file = File(file.path, file.rows, deleted, self.vectors.delete(*sorted(deleted)))
                self.files.append(file)
                actions.append(self._action(file, data_change=True))
                continue
            is_change = kind != "compact"
            actions.append(self._remove(file, data_change=is_change))
            if kind == "rewrite":
                kept = [row for at, row in enumerate(file.live()) if at != step[2]]
                actions.append(self._add(kept + step[3], data_change=True))
            elif kind == "compact" and file.live():
                actions.append(self._add(file.live(), data_change=False))
        self.table.commit(*actions)
        self.versions.append(Counter(row for file in self.files for row in file.live()))

    def _add(self, rows: list[Row], *, data_change: bool) -> dict[str, Any]:
        self.number += 1
        file = File(f"f{self.number}.parquet", rows)
        self.files.append(file)
        return self._action(file, data_change=data_change)

    def _action(self, file: File, *, data_change: bool) -> dict[str, Any]:
        data = pa.table(
            {
                "id": pa.array([row[0] for row in file.rows], pa.int64()),
                "s": pa.array([row[1] for row in file.rows], pa.string()),
            }
        )
        action = self.table.data(file.path, data, stats=json.dumps({"numRecords": len(file.rows)}))
        action["add"] |= {"dataChange": data_change, **file.vector}
        return action

    def _remove(self, file: File, *, data_change: bool) -> dict[str, Any]:
        self.files.remove(file)
        action = remove(file.path)
        action["remove"] |= {"dataChange": data_change, **file.vector}
        return action


def counted(rows: pa.Table) -> Counter[Row]:
    return Counter(zip(rows["id"].to_pylist(), rows["s"].to_pylist(), strict=True))


@settings(max_examples=30)
@given(st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=1, max_size=6))
def test_a_feed_is_the_difference_of_versions(history: list[list[tuple[Any, ...]]]) -> None:
    """protocol: reader-requirements-for-addcdcfile.1."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "t"
        writer = Writer(root)
        for steps in history:
            writer.commit(steps)
        writer.vectors.write()
        table = deltaic.Table(root)
        for version, rows in enumerate(writer.versions):
            note(f"version {version}: {rows}")
            scan = table.snapshot(version=version).scan()
            assert counted(scan.to_arrow()) == rows
            assert scan.count() == rows.total()
        for infer in (False, True):
            whole = table.changes(0, infer=infer).to_arrow()
            for version in range(1, len(writer.versions)):
                feed = table.changes(version, version, infer=infer).to_arrow()
                within = pc.equal(whole["_commit_version"], version)
                assert sorted(map(repr, feed.to_pylist())) == sorted(
                    map(repr, whole.filter(within).to_pylist())
                )
                net: Counter[Row] = Counter()
                for row in feed.to_pylist():
                    net[row["id"], row["s"]] += 1 if row["_change_type"] == "insert" else -1
                wanted = Counter(writer.versions[version])
                wanted.subtract(writer.versions[version - 1])
                assert +net == +wanted
                assert -net == -wanted
                if infer:
                    assert feed.num_rows == (+wanted).total() + (-wanted).total()
