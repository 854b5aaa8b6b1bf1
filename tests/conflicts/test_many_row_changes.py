"""Eight processes change rows and optimize at once: the versions are a serial order of the verbs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

from .forks import Fork
from .row_changer import KEYS, SCHEMA
from .writers import asked_for, commits_on_disk

WRITERS = asked_for("RACE_WRITERS", 8)
COMMITS = asked_for("RACE_ROW_CHANGES", 12)
ROWS = 60
Row = tuple[int, int, int]

FORMS = {
    "deletion vectors": {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
    "rewriting": {},
    "change data": {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"},
}


def race(root: Path) -> list[dict[str, Any]]:
    """Runs the processes; returns what they printed."""
    changers = [Fork("row_changer", str(root), writer, COMMITS) for writer in range(WRITERS)]
    for changer in changers:
        changer.wait_until_ready()
    for changer in changers:
        changer.go()
    reports: list[dict[str, Any]] = []
    for changer in changers:
        lines = [json.loads(line) for line in changer.end().splitlines()]
        assert changer.returncode == 0
        assert len(lines) == COMMITS
        reports += lines
    return reports


def replayed(rows: Counter[Row], verb: dict[str, Any]) -> Counter[Row]:
    """Returns the rows after a verb."""
    if verb["kind"] == "append":
        return rows + Counter(tuple(row) for row in verb["rows"])
    if verb["kind"] == "merge":
        return merged(rows, verb["rows"])
    if verb["kind"] == "optimize":
        return rows
    matches = {row for row in rows if row[1] == verb["k"] and row[2] >= verb["least"]}
    after = Counter({row: count for row, count in rows.items() if row not in matches})
    if verb["kind"] == "update":
        for row in matches:
            after[row[0], row[1] + 1, row[2] + 1] += rows[row]
    return after


def merged(rows: Counter[Row], source: list[list[int]]) -> Counter[Row]:
    """Returns the rows after a merge."""
    by_key = {key: (ident, key, n) for ident, key, n in source}
    after: Counter[Row] = Counter()
    for (ident, key, n), count in rows.items():
        change = by_key[key][2] if key in by_key else 0
        if change >= 0:
            after[ident, key, n + change] += count
    found = {key for _, key, _ in rows}
    return after + Counter(row for key, row in by_key.items() if key not in found)


def rows_of(snapshot: deltaic.Snapshot) -> Counter[Row]:
    rows = snapshot.scan().to_arrow().to_pylist()
    return Counter(tuple(row[name] for name in SCHEMA.names) for row in rows)


@pytest.mark.parametrize("form", FORMS)
def test_the_versions_are_a_serial_order(tmp_path: Path, form: str) -> None:
    """Each version is the one before it, changed by the verb that committed it.

    protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
    """
    root = tmp_path / "t"
    properties = {**FORMS[form], "delta.isolationLevel": "Serializable"}
    table = deltaic.Table.create(root, SCHEMA, properties=properties)
    first: list[Row] = [(i, i % KEYS, 0) for i in range(ROWS)]
    table.append(pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in first], SCHEMA))
    reports = race(root)

    committed = {report["version"]: report["verb"] for report in reports if report.get("version") is not None}
    versions = commits_on_disk(root)
    assert versions == list(range(2 + len(committed)))
    assert sorted(committed) == versions[2:]
    expected = Counter(first)
    table = deltaic.Table(root)
    for version in versions[2:]:
        expected = replayed(expected, committed[version])
        found = rows_of(table.snapshot(version=version))
        assert found == expected, f"version {version}: {committed[version]}"
    assert set(rows_of(table.snapshot()).values()) <= {1}, "a row is doubled"
    assert table.check(deep=True).is_healthy
    if "delta.enableRowTracking" in properties:
        ids = table.snapshot().scan(row_ids=True).to_arrow()["_row_id"].to_pylist()
        assert len(set(ids)) == len(ids)
    verbs = Counter(verb["kind"] for verb in committed.values())
    raised = Counter(report["raised"] for report in reports if "raised" in report)
    resolved = sum(report.get("conflicts", 0) for report in reports)
    print(f"{form}: committed {dict(verbs)}, {resolved} conflicts resolved, raised {dict(raised)}")
