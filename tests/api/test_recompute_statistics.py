"""`Table.recompute_statistics`: files get statistics of their rows, and nothing else changes."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.commit import from_rust
from deltaic.values.commit_options import to_options
from tests.api.command_line import as_json, lines
from tests.api.live_rows import all_rows
from tests.api.log_files import actions, commit_file, of_kind, write_commit

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("inner", pa.struct([("x", pa.int32()), ("y", pa.float64())])),
        ("part", pa.string()),
    ]
)
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKING = {"delta.enableRowTracking": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
NONE = {"delta.dataSkippingNumIndexedCols": "0"}
FILES = 4


def rows(*ids: int, part: str = "a") -> pa.Table:
    return pa.table(
        {
            "id": ids,
            "name": [None if i % 5 == 0 else f"n{i}" for i in ids],
            "inner": [None if i % 4 == 0 else {"x": i, "y": i / 2} for i in ids],
            "part": [part] * len(ids),
        },
        schema=SCHEMA,
    )


def made(root: Path, *, by: list[str] | None = None, **properties: str) -> deltaic.Table:
    """Returns a table of four files, each with five rows, in two partitions."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties)
    for file in range(FILES):
        table.append(rows(*range(10 * file, 10 * file + 5), part="ab"[file % 2]))
    return table


def without_statistics(root: Path) -> deltaic.Table:
    """Replaces the commits, so that the files have no statistics but numRecords, and have tags."""
    for version in range(1, FILES + 1):
        lines = actions(root, version)
        for line in lines:
            if "add" in line:
                records = json.loads(line["add"]["stats"])["numRecords"]
                line["add"] |= {"stats": json.dumps({"numRecords": records}), "tags": {"origin": "7"}}
        commit_file(root, version).unlink()
        (root / "_delta_log" / f"{version:020}.crc").unlink(missing_ok=True)
        write_commit(root, version, *lines)
    return deltaic.Table(root)


def adds_of(root: Path, version: int) -> dict[str, dict[str, Any]]:
    return {add["path"]: add for add in of_kind(root, version, "add")}


def live(root: Path, versions: range) -> dict[str, dict[str, Any]]:
    """Returns the newest add of each file, without statistics."""
    found: dict[str, dict[str, Any]] = {}
    for version in versions:
        found |= adds_of(root, version)
    return {path: {**add, "stats": None, "dataChange": None} for path, add in found.items()}


def files_for(table: deltaic.Table, predicate: str) -> int:
    return table.snapshot().files(predicate).to_arrow().num_rows


@pytest.mark.parametrize(
    "properties",
    [{}, VECTORS, FEED, MAPPED, {**VECTORS, **FEED, **TRACKING, **MAPPED}],
    ids=["plain", "vectors", "feed", "mapped", "all"],
)
@pytest.mark.parametrize("by", [[], ["part"]], ids=["unpartitioned", "partitioned"])
def test_only_statistics_change(root: Path, by: list[str], properties: dict[str, str]) -> None:
    """protocol: add-file-and-remove-file.7, row-ids.5."""
    made(root, by=by, **properties)
    expected = {path: add["stats"] for v in range(1, FILES + 1) for path, add in adds_of(root, v).items()}
    table = without_statistics(root)
    has_ids = "delta.enableRowTracking" in properties
    before, actions_before = all_rows(table, row_ids=has_ids), live(root, range(1, FILES + 1))
    assert files_for(table, "id = 12") == FILES
    commit = table.recompute_statistics()
    assert (commit.operation, commit.version) == ("COMPUTE STATS", FILES + 1)
    assert commit.metrics == {"numFilesRead": FILES, "numFilesUpdated": FILES}
    added = adds_of(root, commit.version)
    assert {path: json.loads(add["stats"]) for path, add in added.items()} == {
        path: json.loads(stats) for path, stats in expected.items()
    }
    assert live(root, range(1, commit.version + 1)) == actions_before
    assert not of_kind(root, commit.version, "remove")
    assert all(add["dataChange"] is False for add in added.values())
    assert all_rows(table, row_ids=has_ids) == before
    assert files_for(table, "id = 12") == 1
    assert files_for(table, "inner.x > 31") == 1
    assert table.changes(commit.version, infer=True).to_arrow().num_rows == 0
    if "delta.enableChangeDataFeed" in properties:
        assert table.changes(commit.version).to_arrow().num_rows == 0
    assert table.check(deep=True).is_healthy
    assert table.recompute_statistics().skipped
    assert deltaic.Table(root).snapshot().version == commit.version


def test_parameters_are_those_of_spark(root: Path) -> None:
    made(root, by=["part"])
    table = without_statistics(root)
    commit = table.recompute_statistics(where="part = 'b'")
    [info] = of_kind(root, commit.version, "commitInfo")
    assert info["operationParameters"] == {"predicate": json.dumps(["(part = 'b')"])}
    assert (info["isBlindAppend"], info["isolationLevel"]) == (False, "SnapshotIsolation")
    assert commit.metrics == {"numFilesRead": 2, "numFilesUpdated": 2}
    assert {add["partitionValues"]["part"] for add in adds_of(root, commit.version).values()} == {"b"}
    with pytest.raises(deltaic.InvalidPredicate, match=r'"id" is no partition column'):
        table.recompute_statistics(where="id = 1")


def test_bounds_are_tight_under_deletion_vectors(root: Path) -> None:
    """protocol: per-file-statistics.1, per-file-statistics.2."""
    table = made(root, **VECTORS, **TRACKING)
    table.delete("id IN (10, 14, 31)")
    before = all_rows(table, row_ids=True)
    assert files_for(table, "id = 10") == 1
    commit = table.recompute_statistics()
    assert commit.metrics == {"numFilesRead": FILES, "numFilesUpdated": 2}
    stats = {
        json.loads(add["stats"])["minValues"]["id"]: add for add in adds_of(root, commit.version).values()
    }
    add = stats[11]
    found = json.loads(add["stats"])
    assert (found["numRecords"], found["tightBounds"]) == (5, True)
    assert (found["minValues"]["id"], found["maxValues"]["id"]) == (11, 13)
    # Of the rows 11, 12 and 13, no name is NULL, and the struct of row 12 is.
    assert found["nullCount"] == {"id": 0, "name": 0, "inner": {"x": 1, "y": 1}, "part": 0}
    assert add["deletionVector"]["cardinality"] == 2
    assert files_for(table, "id = 10") == files_for(table, "id = 14") == 0
    assert files_for(table, "id = 31") == 1
    assert all_rows(table, row_ids=True) == before
    assert table.snapshot().num_rows == len(before)
    assert table.check(deep=True).is_healthy
    assert table.recompute_statistics().skipped
    # A further delete makes the bounds wide again.
    table.delete("id = 12")
    assert table.snapshot().scan(predicate="id BETWEEN 10 AND 14").count() == 2
    assert table.snapshot().scan(predicate="name IS NULL").count() == sum(
        row["name"] is None for row in before if row["id"] != 12
    )


def test_all_remaining_rows_are_null(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("x", pa.int64())])
    table = deltaic.Table.create(root, schema, properties=VECTORS)
    table.append(pa.table({"id": [1, 2, 3], "x": [7, None, None]}))
    table.delete("id = 1")
    commit = table.recompute_statistics()
    [add] = adds_of(root, commit.version).values()
    stats = json.loads(add["stats"])
    assert (stats["numRecords"], stats["nullCount"]["x"]) == (3, 2)
    assert "x" not in stats["minValues"]
    for predicate, count in [
        ("x IS NULL", 2),
        ("x IS NOT NULL", 0),
        ("x = 7", 0),
        ("x IS NULL OR id = 2", 2),
    ]:
        assert table.snapshot().scan(predicate=predicate).count() == count, predicate


def test_the_columns_of_the_properties(root: Path) -> None:
    table = made(root)
    table.alter(deltaic.alter.SetProperties({"delta.dataSkippingStatsColumns": "name, inner.y"}))
    commit = table.recompute_statistics()
    for add in adds_of(root, commit.version).values():
        assert set(json.loads(add["stats"])["nullCount"]) == {"name", "inner"}
        assert set(json.loads(add["stats"])["nullCount"]["inner"]) == {"y"}
    table.alter(deltaic.alter.SetProperties({"delta.dataSkippingStatsColumns": ""}))
    table.recompute_statistics()
    assert files_for(table, "name = 'n12'") == FILES
    assert table.snapshot().num_rows == 5 * FILES


def test_given_columns_are_added(root: Path) -> None:
    table = made(root, **NONE, **MAPPED)
    first = table.recompute_statistics(["ID"], where=None)
    assert first.metrics["numFilesUpdated"] == FILES
    assert (files_for(table, "id = 12"), files_for(table, "inner.x = 12")) == (1, FILES)
    table.recompute_statistics(["inner"])
    assert (files_for(table, "id = 12"), files_for(table, "inner.x = 11")) == (1, 1)
    assert table.recompute_statistics(["inner.y"]).skipped
    # Without columns, those of the property remain: none.
    assert table.recompute_statistics().metrics["numFilesUpdated"] == FILES
    assert files_for(table, "id = 12") == FILES


@pytest.mark.parametrize("name", ["missing", "inner.z", "part", "part.x", "id.x"])
def test_invalid_columns(root: Path, name: str) -> None:
    table = made(root, by=["part"])
    with pytest.raises(ValueError, match="columns may not have"):
        table.recompute_statistics([name])
    with pytest.raises(ValueError, match="columns may not have"):
        table.recompute_statistics(["id", name], dry_run=True)
    assert table.snapshot().version == FILES


def test_arguments_of_other_types(root: Path) -> None:
    table = made(root)
    with pytest.raises(TypeError, match="columns"):
        table.recompute_statistics("id")
    with pytest.raises(TypeError, match=r"recompute_statistics\(\) has no option 'force'"):
        table.recompute_statistics(force=True)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="dry_run must be True or False"):
        table.recompute_statistics(dry_run=1)  # type: ignore[call-overload]


def test_a_dry_run_writes_nothing(root: Path) -> None:
    made(root, by=["part"], **VECTORS)
    table = without_statistics(root)
    table.delete("id = 1")
    before = sorted(root.rglob("*"))
    found = table.recompute_statistics(dry_run=True)
    assert sorted(root.rglob("*")) == before
    assert (found.operation, found.version, found.rows) == ("COMPUTE STATS", FILES + 1, 5 * FILES - 1)
    assert (found.files_with_statistics, found.rewritten_files, found.added_files) == (FILES, 0, 0)
    table.recompute_statistics()
    again = table.recompute_statistics(dry_run=True)
    assert (again.rows, again.files_with_statistics) == (0, 0)


def test_wrong_statistics_are_corrected(root: Path) -> None:
    table = made(root)
    for line in (lines := actions(root, 2)):
        if "add" in line:
            line["add"]["stats"] = json.dumps(
                {"numRecords": 5, "minValues": {"id": 99}, "maxValues": {"id": 99}, "nullCount": {"id": 0}}
            )
    commit_file(root, 2).unlink()
    write_commit(root, 2, *lines)
    table = deltaic.Table(root)
    assert table.snapshot().scan(predicate="id = 12").count() == 0
    assert table.recompute_statistics().metrics["numFilesUpdated"] == 1
    assert table.snapshot().scan(predicate="id = 12").count() == 1


def stale(table: deltaic.Table) -> Any:
    """Returns a function that computes statistics of the version before the changes that follow."""
    known = table._refreshed()

    def compute(**options: Any) -> deltaic.Commit:
        given = to_options("recompute_statistics", **options)
        request: dict[str, object] = {"columns": None, "predicate": None}
        return from_rust(table._rust.recompute_statistics(known, request=request, options=given))

    return compute


def test_a_concurrent_delete_conflicts(root: Path) -> None:
    """A file that another writer changed must not get the statistics of its old rows."""
    made(root, **VECTORS)
    table = without_statistics(root)
    compute = stale(table)
    deltaic.Table(root).delete("id = 12 OR id < 5")
    with pytest.raises(deltaic.ConcurrentDeleteRead) as refused:
        compute(row_level=False)
    assert refused.value.context["path"]
    assert table.snapshot().version == FILES + 1
    # By default, the newest version is planned.
    commit = compute()
    assert (commit.metrics["numFilesRead"], commit.metrics["numFilesUpdated"]) == (FILES - 1, FILES - 1)
    assert commit.conflicts_resolved
    assert [row["id"] for row in all_rows(table)] == [10, 11, 13, 14, *range(20, 25), *range(30, 35)]
    assert files_for(table, "id = 11") == 1
    assert table.check(deep=True).is_healthy


def test_other_files_do_not_conflict(root: Path) -> None:
    made(root, **VECTORS)
    table = without_statistics(root)
    table.recompute_statistics()
    table.append(rows(90, 91))
    table.alter(deltaic.alter.SetProperties({"delta.dataSkippingStatsColumns": "id"}))
    compute = stale(table)
    deltaic.Table(root).append(rows(95))
    commit = compute(row_level=False)
    assert commit.metrics["numFilesUpdated"] == FILES + 1
    assert table.snapshot().scan(predicate="id = 95").count() == 1


def test_a_rewritten_file_conflicts(root: Path) -> None:
    made(root)
    table = without_statistics(root)
    compute = stale(table)
    deltaic.Table(root).optimize()
    with pytest.raises(deltaic.ConcurrentDeleteRead):
        compute(row_level=False)
    assert compute().skipped
    assert len(all_rows(table)) == 5 * FILES


def test_two_recomputations_at_once(root: Path) -> None:
    made(root, **VECTORS)
    table = without_statistics(root)
    before = all_rows(table)
    tables = [deltaic.Table(root) for _ in range(3)]
    commits: list[deltaic.Commit] = []
    threads = [
        threading.Thread(target=lambda table=table: commits.append(table.recompute_statistics()))
        for table in tables
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(commits) == len(tables)
    assert sum(not commit.skipped for commit in commits) == 1
    assert all_rows(deltaic.Table(root)) == before


def test_a_damaged_file_leaves_the_table_as_it_was(root: Path) -> None:
    table = made(root)
    path = root / table.snapshot().files().to_arrow()["path"][2].as_py()
    path.write_bytes(path.read_bytes()[:-9] + b"\0" * 9)
    before = sorted(root.rglob("*"))
    with pytest.raises(deltaic.CorruptData):
        table.recompute_statistics()
    assert sorted(root.rglob("*")) == before


def test_progress_and_commit_info(root: Path) -> None:
    made(root)
    table = without_statistics(root)
    seen: list[tuple[str, int, int]] = []
    commit = table.recompute_statistics(
        progress=lambda *step: seen.append(step),  # type: ignore[arg-type]
        commit_info={"job": "nightly"},
        app_transaction=("nightly", 1),
    )
    assert seen[-1] == ("files", FILES, FILES)
    assert commit.info["job"] == "nightly"
    assert table.recompute_statistics(app_transaction=("nightly", 1)).skipped


def test_the_command(root: Path) -> None:
    made(root, **NONE)
    assert lines("recompute-statistics", root) == [
        f"Nothing to do: the statistics of version {FILES} are those of its files."
    ]
    assert lines("recompute-statistics", root, "--columns", "id, inner.x", "--dry-run") == [
        f"COMPUTE STATS of version {FILES} would describe {5 * FILES} rows:",
        f"  {FILES} files get other statistics",
    ]
    assert lines("recompute-statistics", root, "--columns", "id,inner.x") == [
        f"Version {FILES + 1}: {FILES} of {FILES} files got other statistics."
    ]
    assert as_json("recompute-statistics", root, "--columns", "id") == {
        "version": None,
        "metrics": {},
    }
