"""`Table.optimize` of clustered tables: rows are clustered a part at a time, and do not change."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import random
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import ClusterBy, DropFeature, RenameColumn
from tests.api.live_rows import all_rows
from tests.api.log_files import of_kind, write_commit
from tests.seed import generator

SIDE = 32
SCHEMA = pa.schema([("x", pa.int64()), ("y", pa.int64()), ("id", pa.int64())])
VECTORS = {"delta.enableDeletionVectors": "true"}
ALL = {
    **VECTORS,
    "delta.enableRowTracking": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.columnMapping.mode": "name",
}
# With this target size, the rows of `made` become more than one complete ZCube, each of more than 100 files.
SMALL = 48


def points(chance: random.Random, *, first: int = 0) -> pa.Table:
    """Returns a grid of points in random order, with ids from `first`."""
    places = list(range(SIDE * SIDE))
    chance.shuffle(places)
    columns = {"x": [n % SIDE for n in places], "y": [n // SIDE for n in places]}
    return pa.table({**columns, "id": [first + n for n in places]}, schema=SCHEMA)


def made(root: Path, *, by: tuple[str, ...] = ("x", "y"), **properties: str) -> deltaic.Table:
    """Returns a clustered table of four files that are not clustered."""
    table = deltaic.Table.create(root, SCHEMA, cluster_by=by, properties=properties)
    rows = points(generator("points", 0))
    for part in range(4):
        table.append(rows.slice(part * SIDE * SIDE // 4, SIDE * SIDE // 4))
    return table


def target(table: deltaic.Table, files: int) -> int:
    """Returns the target size with which so many files are written."""
    return -(-table.snapshot().size_in_bytes // (files + 1)) + 1


def paths(table: deltaic.Table, where: str | None = None) -> set[str]:
    return set(table.snapshot().files(where).to_arrow()["path"].to_pylist())


def added(root: Path, commit: deltaic.Commit) -> list[dict[str, Any]]:
    return of_kind(root, commit.version, "add")


def removed(root: Path, commit: deltaic.Commit) -> set[str]:
    return {remove["path"] for remove in of_kind(root, commit.version, "remove")}


def cubes(adds: list[dict[str, Any]], *columns: str) -> set[str]:
    """Returns the ZCubes of files, which must be clustered by these columns."""
    for add in adds:
        assert add["clusteringProvider"] == "liquid"
        assert add["tags"].keys() == {"ZCUBE_ID", "ZCUBE_ZORDER_BY"}
        assert add["tags"]["ZCUBE_ZORDER_BY"] == json.dumps(columns, separators=(",", ":"))
        assert str(uuid.UUID(add["tags"]["ZCUBE_ID"])) == add["tags"]["ZCUBE_ID"]
    return {add["tags"]["ZCUBE_ID"] for add in adds}


@pytest.mark.parametrize("properties", [{}, ALL], ids=["plain", "all"])
def test_rows_stay_the_same(root: Path, properties: dict[str, str]) -> None:
    """protocol: writer-requirements-for-clustered-table.5, add-file-and-remove-file.7, row-ids.5."""
    table = made(root, **properties)
    table.delete("x = 3 AND y < 9")
    before = all_rows(table, row_ids=bool(properties))
    old = paths(table)
    commit = table.optimize(target_file_size=target(table, 8))
    assert all_rows(table, row_ids=bool(properties)) == before
    assert removed(root, commit) == old
    assert len(cubes(added(root, commit), "x", "y")) == 1
    assert len(added(root, commit)) == 8
    [info] = of_kind(root, commit.version, "commitInfo")
    assert info["operation"] == "OPTIMIZE"
    assert info["operationParameters"] == {
        "predicate": "[]",
        "zOrderBy": "[]",
        "clusterBy": '["x","y"]',
        "auto": False,
        "isFull": False,
    }
    assert table.changes(commit.version, infer=True).to_arrow().num_rows == 0
    assert all(not action["dataChange"] for action in added(root, commit))
    assert all(not action["dataChange"] for action in of_kind(root, commit.version, "remove"))
    assert table.check(deep=True).is_healthy
    for full in (False, True):
        assert table.optimize(full=full).skipped


def test_scans_read_fewer_files(root: Path) -> None:
    """On a Hilbert curve, all files are as compact as possible."""
    table = made(root)
    commit = table.optimize(target_file_size=target(table, 16))
    assert commit.metrics["numAddedFiles"] == 16
    for column in ("x", "y"):
        read = [len(paths(table, f"{column} = {value}")) for value in range(SIDE)]
        # A quarter of the range of each column is in a quarter of the files.
        assert max(read) <= 4 + 2
        assert sum(read) <= 5 * SIDE
    records = table.snapshot().files(stats=True).to_arrow()["num_records"].to_pylist()
    assert max(records) - min(records) <= 16


def test_one_column_is_sorted(root: Path) -> None:
    table = made(root, by=("id",))
    commit = table.optimize(target_file_size=target(table, 4))
    files = [pq.ParquetFile(root / add["path"]).read()["id"].to_pylist() for add in added(root, commit)]
    assert len(files) == 4
    assert list(itertools.chain(*sorted(files))) == list(range(SIDE * SIDE))


def test_only_new_files_are_clustered_if_the_others_are_complete(root: Path) -> None:
    table = made(root)
    first = table.optimize(target_file_size=SMALL)
    sizes: dict[str, int] = {}
    for add in added(root, first):
        cube = add["tags"]["ZCUBE_ID"]
        sizes[cube] = sizes.get(cube, 0) + add["size"]
    assert len(sizes) >= 2
    assert min(sizes.values()) >= 100 * SMALL
    assert table.optimize(target_file_size=SMALL).skipped
    complete = paths(table)
    table.append(points(generator("points", 1), first=10_000).slice(0, 100))
    table.append(points(generator("points", 2), first=20_000).slice(0, 100))
    new = paths(table) - complete
    before = all_rows(table)
    second = table.optimize(target_file_size=SMALL)
    assert removed(root, second) == new
    assert complete < paths(table)
    assert not cubes(added(root, second), "x", "y") & sizes.keys()
    assert all_rows(table) == before


def test_incomplete_cubes_grow(root: Path) -> None:
    table = made(root)
    first = cubes(added(root, table.optimize()), "x", "y")
    table.append(points(generator("points", 1), first=10_000))
    old = paths(table)
    assert len(old) == 2
    before = all_rows(table)
    commit = table.optimize()
    assert removed(root, commit) == old
    [cube] = cubes(added(root, commit), "x", "y")
    assert {cube} != first
    assert all_rows(table) == before
    assert table.optimize().skipped


def test_other_clustering_columns(root: Path) -> None:
    """protocol: writer-requirements-for-clustered-table.6."""
    table = made(root)
    table.optimize()
    table.alter(ClusterBy("y", "x"))
    assert table.optimize().skipped
    old = paths(table)
    table.append(points(generator("points", 1), first=10_000))
    new = paths(table) - old
    before = all_rows(table)
    commit = table.optimize()
    assert removed(root, commit) == new
    assert len(cubes(added(root, commit), "y", "x")) == 1
    everything = paths(table)
    found = table.optimize(full=True, dry_run=True)
    assert (found.rewritten_files, found.added_files, found.rows) == (2, 1, len(before))
    full = table.optimize(full=True)
    assert removed(root, full) == everything
    assert len(cubes(added(root, full), "y", "x")) == 1
    [info] = of_kind(root, full.version, "commitInfo")
    assert info["operationParameters"]["isFull"] is True
    assert all_rows(table) == before
    assert table.optimize(full=True).skipped


def test_full_leaves_complete_cubes_of_the_same_columns_alone(root: Path) -> None:
    table = made(root, by=("x",))
    table.optimize(target_file_size=SMALL)
    table.alter(ClusterBy("y"))
    table.append(points(generator("points", 1), first=10_000))
    of_x = paths(table, "id < 10000")
    table.optimize(target_file_size=SMALL)
    of_y = paths(table) - of_x
    full = table.optimize(full=True, target_file_size=SMALL)
    assert removed(root, full) == of_x
    assert of_y < paths(table)
    assert cubes(added(root, full), "y")


def clustered_by_others(root: Path) -> str:
    """Makes the oldest file one of another clustering implementation. Returns its path."""
    [add] = of_kind(root, 1, "add")
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": False}
    add |= {"clusteringProvider": "solid", "tags": {"solid": "7"}, "dataChange": False}
    version = deltaic.Table(root).snapshot().version
    write_commit(root, version + 1, {"commitInfo": {"operation": "SOLID"}}, {"remove": remove})
    write_commit(root, version + 2, {"commitInfo": {"operation": "SOLID"}}, {"add": add})
    return add["path"]


def test_files_of_other_clustering_implementations(root: Path) -> None:
    """protocol: writer-requirements-for-clustered-table.6."""
    made(root)
    of_others = clustered_by_others(root)
    table = deltaic.Table(root)
    before = all_rows(table)
    commit = table.optimize()
    assert of_others not in removed(root, commit)
    assert commit.metrics["numRemovedFiles"] == 3
    assert table.optimize().skipped
    full = table.optimize(full=True)
    assert of_others in removed(root, full)
    assert full.metrics["numRemovedFiles"] == 2
    assert all_rows(table) == before


def test_clustered_files_with_many_deleted_rows_are_rewritten_alone(root: Path) -> None:
    """protocol: deletion-vectors.3, writer-requirements-for-clustered-table.5."""
    table = made(root, by=("id",), **VECTORS)
    tags = {
        add["path"]: add["tags"] for add in added(root, table.optimize(target_file_size=target(table, 8)))
    }
    [many], [few] = paths(table, "id = 0"), paths(table, f"id = {SIDE * SIDE - 1}")
    table.delete(f"id < 10 OR id = {SIDE * SIDE - 1}")
    before = all_rows(table)
    commit = table.optimize()
    assert removed(root, commit) == {many}
    [add] = added(root, commit)
    assert (add["clusteringProvider"], add["tags"]) == ("liquid", tags[many])
    assert json.loads(add["stats"])["numRecords"] == SIDE * SIDE // 8 - 10
    assert few in paths(table)
    assert all_rows(table) == before
    assert table.optimize().skipped
    # The cube as a whole is written without any deleted row.
    table.append(points(generator("points", 1), first=10_000))
    assert table.optimize().metrics["numDeletionVectorsRemoved"] == 1


def test_files_of_other_implementations_with_many_deleted_rows(root: Path) -> None:
    made(root, **VECTORS)
    of_others = clustered_by_others(root)
    table = deltaic.Table(root)
    table.optimize()
    table.delete(f"id % 5 = 0 AND id < {SIDE * SIDE}")
    before = all_rows(table)
    commit = table.optimize()
    assert of_others in removed(root, commit)
    [add] = [add for add in added(root, commit) if add["clusteringProvider"] == "solid"]
    assert add["tags"] == {"solid": "7"}
    assert all_rows(table) == before


def test_clustered_tables_are_optimized_as_a_whole(root: Path) -> None:
    table = made(root)
    for dry_run in (False, True):
        with pytest.raises(
            deltaic.InvalidPredicate, match="a clustered table is optimized as a whole"
        ) as where:
            table.optimize("x = 1", dry_run=dry_run)
        assert where.value.hint == "omit where: rows are clustered by the clustering columns"
        with pytest.raises(ValueError, match="a clustered table cannot be Z-ordered") as zorder:
            table.optimize(zorder_by=["id"], dry_run=dry_run)
        assert "hint: omit zorder_by: rows are clustered" in str(zorder.value)
    with pytest.raises(TypeError, match="full must be True or False"):
        table.optimize(full=1)  # type: ignore[call-overload]
    assert table.snapshot().version == 4


def test_full_needs_clustering_columns(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    for dry_run in (False, True):
        with pytest.raises(ValueError, match="full may be given only for a table with clustering columns"):
            table.optimize(full=True, dry_run=dry_run)


def test_a_table_whose_clustering_columns_were_cleared(root: Path) -> None:
    table = made(root)
    table.optimize()
    table.append(points(generator("points", 1), first=10_000))
    table.alter(ClusterBy())
    with pytest.raises(ValueError, match="only for a table with clustering columns"):
        table.optimize(full=True)
    with pytest.raises(ValueError, match=r"Z-ordered .*\s+hint: drop the feature clustering"):
        table.optimize(zorder_by=["x"])
    commit = table.optimize()
    [add] = added(root, commit)
    assert commit.metrics["numRemovedFiles"] == 2
    assert "clusteringProvider" not in add
    assert "tags" not in add
    [info] = of_kind(root, commit.version, "commitInfo")
    assert "isFull" not in info["operationParameters"]
    table.alter(DropFeature("clustering"))
    assert table.optimize(zorder_by=["x"]).metrics["numAddedFiles"] == 1


def test_tables_without_rows(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, cluster_by=["x"], properties=VECTORS)
    for full in (False, True):
        assert table.optimize(full=full).skipped
    assert str(table.optimize(dry_run=True)) == "OPTIMIZE of version 0 would copy 0 rows"
    table.append(points(generator("points", 0)).slice(0, 3))
    with table.transaction(operation="DELETE") as tx:
        [path] = paths(table)
        tx.delete_rows({path: [0, 1, 2]})
    table.optimize()
    assert all_rows(table) == []
    assert paths(table) == set()


VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["", "a", "b" * 50, None, "ä", "a"]),
    "real": (pa.float64(), [1.5, float("nan"), float("-inf"), None, -0.0, 0.0]),
    "day": (pa.date32(), [dt.date(1, 1, 1), None, dt.date(2026, 1, 1), dt.date(9999, 12, 31), None, None]),
    "price": (pa.decimal128(20, 3), [None] * 6),
    "same": (pa.int32(), [7] * 6),
}


@pytest.mark.parametrize("by", [[name] for name in VALUES] + [list(VALUES)[:4]], ids=",".join)
def test_nulls_and_values_of_all_types(root: Path, by: list[str]) -> None:
    schema = pa.schema([("id", pa.int64()), *((name, kind) for name, (kind, _) in VALUES.items())])
    table = deltaic.Table.create(root, schema, cluster_by=by)
    for file in range(3):
        row = {name: pa.array(values, kind) for name, (kind, values) in VALUES.items()}
        table.append(pa.table({"id": range(file * 6, file * 6 + 6), **row}, schema=schema))
    before = repr(all_rows(table))
    commit = table.optimize(target_file_size=target(table, 2))
    assert repr(all_rows(table)) == before
    assert cubes(added(root, commit), *by)
    nulls = [i for i, value in enumerate(VALUES[by[0]][1]) if value is None]
    if len(by) == 1 and 0 < len(nulls) < 6:
        # NULLs come first.
        ids = pq.ParquetFile(root / added(root, commit)[0]["path"]).read()["id"].to_pylist()
        assert {i % 6 for i in ids[: 3 * len(nulls)]} <= set(nulls)


def test_renamed_columns(root: Path) -> None:
    """Tags have the names that users see, and the domain those in files."""
    table = made(root, **{"delta.columnMapping.mode": "name"})
    table.alter(RenameColumn("y", "to y"))
    commit = table.optimize()
    assert cubes(added(root, commit), "x", "`to y`")
    assert table.optimize().skipped
    # As in delta-spark, a cube is one of the columns with the names that they had.
    table.alter(RenameColumn("x", "to.x"))
    assert table.optimize().skipped
    before = all_rows(table)
    assert cubes(added(root, table.optimize(full=True)), "`to.x`", "`to y`")
    assert all_rows(table) == before


def test_fields_of_structs(root: Path) -> None:
    place = pa.struct([("x", pa.int64()), ("y", pa.int64())])
    schema = pa.schema([("id", pa.int64()), ("place", place)])
    table = deltaic.Table.create(root, schema, cluster_by=["place.x", "place.y"])
    for file in range(2):
        rows = [{"id": 100 * file + n, "place": {"x": n % 7, "y": -n} if n % 9 else None} for n in range(100)]
        table.append(pa.Table.from_pylist(rows, schema))
    before = all_rows(table)
    assert cubes(added(root, table.optimize()), "place.x", "place.y")
    assert all_rows(table) == before


def optimized_as_of(table: deltaic.Table, version: int, monkeypatch: pytest.MonkeyPatch) -> deltaic.Commit:
    """Optimizes a version after which other writers have committed."""
    known = table.snapshot(version=version)._rust
    with monkeypatch.context() as patched:
        patched.setattr(type(table), "_refreshed", lambda _: known)
        return table.optimize()


def test_a_concurrent_append_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(root)
    old = paths(table)
    table.append(points(generator("points", 1), first=10_000))
    appended = paths(table) - old
    commit = optimized_as_of(table, 4, monkeypatch)
    assert commit.version == 6
    assert removed(root, commit) == old
    assert len(all_rows(table)) == 2 * SIDE * SIDE
    assert appended < paths(table)
    assert appended < removed(root, table.optimize())


@pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewritten", "vectors"])
def test_a_concurrent_delete_stays(
    root: Path, properties: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cube with the changed file is written again."""
    table = made(root, **properties)
    table.delete("id = 5")
    commit = optimized_as_of(table, 4, monkeypatch)
    assert (commit.version, len(commit.conflicts_resolved)) == (6, 1)
    assert [row["id"] for row in all_rows(table)] == [n for n in range(SIDE * SIDE) if n != 5]
    assert len(cubes(added(root, commit), "x", "y")) == 1
    assert len(paths(table)) == 1
    # The files of the first attempt are deleted.
    known = {add["path"] for version in range(1, 7) for add in of_kind(root, version, "add")}
    assert {file.name for file in root.glob("*.parquet")} == known


def test_concurrent_clustering_columns(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files state by which columns they are clustered, whatever the columns of the table are by then."""
    table = made(root)
    before = all_rows(table)
    table.alter(ClusterBy("id"))
    commit = optimized_as_of(table, 4, monkeypatch)
    assert cubes(added(root, commit), "x", "y")
    [info] = of_kind(root, commit.version, "commitInfo")
    assert info["operationParameters"]["clusterBy"] == '["x","y"]'
    assert cubes(added(root, table.optimize(full=True)), "id")
    assert all_rows(table) == before


def test_little_memory(root: Path) -> None:
    table = made(root)
    before = all_rows(table)
    commit = table.optimize(memory=1 << 20, target_file_size=target(table, 16))
    assert commit.metrics["numAddedFiles"] == 16
    assert all_rows(table) == before
    assert max(len(paths(table, f"y = {value}")) for value in range(SIDE)) <= 6


def test_a_damaged_file_leaves_the_table_as_it_was(root: Path) -> None:
    table = made(root)
    path = root / sorted(paths(table))[2]
    path.write_bytes(path.read_bytes()[:-9] + b"\0" * 9)
    before = sorted(root.rglob("*"))
    with pytest.raises(deltaic.CorruptData):
        table.optimize()
    assert sorted(root.rglob("*")) == before
