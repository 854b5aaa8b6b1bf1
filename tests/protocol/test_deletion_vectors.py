"""Headings *Deletion Vectors* and *Reader Requirements for Deletion Vectors*: deleted rows are skipped."""

from __future__ import annotations

import json
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltaic

from .handmade_log import HandmadeTable, field, ids, metadata, read_commit, remove, schema
from .handmade_vectors import (
    FEATURE,
    VectorFile,
    array,
    bitmap,
    bitset,
    inline,
    native,
    portable,
    runs,
    vector,
    without,
)

TEN = list(range(10))
STATS = json.dumps({"numRecords": 10, "tightBounds": False})


def table_of(
    root: Path, *vectors: dict[str, Any], stats: str | None = STATS, **properties: str
) -> deltaic.Snapshot:
    """A table of files with ten consecutive numbers each, with or without a deletion vector."""
    table = HandmadeTable(root)
    others = {"stats": stats} if stats else {}
    files = [
        table.data(f"{number}.parquet", ids(*range(10 * number, 10 * number + 10)), **others, **deleted)
        for number, deleted in enumerate(vectors)
    ]
    table.commit(FEATURE, metadata(configuration=properties), *files)
    return deltaic.Table(root).snapshot()


def rows_of(snapshot: deltaic.Snapshot, **how: Any) -> list[int]:
    return sorted(snapshot.scan(**how).to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("setting", [None, "true", "false"])
def test_deleted_rows_are_left_out_whatever_the_property_states(tmp_path: Path, setting: str | None) -> None:
    # protocol: deletion-vectors.1, deletion-vectors.2, deletion-vectors.4, deletion-vectors.5,
    # reader-requirements-for-deletion-vectors.1
    properties = {} if setting is None else {"delta.enableDeletionVectors": setting}
    snapshot = table_of(tmp_path / "t", without(0, 4, 9), {}, without(5), **properties)
    assert rows_of(snapshot) == [row for row in range(30) if row not in (0, 4, 9, 25)]


def relative(root: Path, prefix: str = "") -> dict[str, Any]:
    file = VectorFile(root, prefix)
    told = file.delete(3, 7)
    file.write()
    return told


def absolute(root: Path, form: str) -> dict[str, Any]:
    told = relative(root)["deletionVector"]
    path = form.format(VectorFile(root).path)
    return {"deletionVector": {**told, "storageType": "p", "pathOrInlineDv": path}}


def without_offset(root: Path) -> dict[str, Any]:
    told = relative(root)
    del told["deletionVector"]["offset"]
    return told


BUCKET = bitmap({0: array([3, 7])})
FORMS = {
    "inline": lambda _: without(3, 7),
    "inline and native": lambda _: inline(native([BUCKET]), 2),
    "in a file": relative,
    "in a file below a prefix": lambda root: relative(root, "Qn"),
    "in a file without an offset": without_offset,
    "at an absolute path": lambda root: absolute(root, "{}"),
    "at a file URI": lambda root: absolute(root, "file://{}"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_vector_states_the_same(tmp_path: Path, form: str) -> None:
    root = tmp_path / "t"
    snapshot = table_of(root, FORMS[form](root))
    assert rows_of(snapshot) == [0, 1, 2, 4, 5, 6, 8, 9]
    # Opened again, from a checkpoint.
    table = HandmadeTable.__new__(HandmadeTable)
    table.root, table.log = root, root / "_delta_log"
    table.checkpoint(0, read_commit(root, 0))
    (root / "_delta_log" / f"{0:020}.json").unlink()
    assert rows_of(deltaic.Table(root).snapshot()) == [0, 1, 2, 4, 5, 6, 8, 9]


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_vector_outside_of_the_table_needs_leave(tmp_path: Path, form: str) -> None:
    outside = tmp_path / "outside"
    snapshot = table_of(tmp_path / "t", absolute(outside, form))
    with pytest.raises(deltaic.PathEscape):
        snapshot.scan().to_arrow()
    allowed = deltaic.Table(tmp_path / "t", allowed_roots=[outside]).snapshot()
    assert rows_of(allowed) == [0, 1, 2, 4, 5, 6, 8, 9]


def test_many_deletion_vectors_share_a_file(tmp_path: Path) -> None:
    """Each is found by its offset, in any order of the actions."""
    root = tmp_path / "t"
    first, second = VectorFile(root), VectorFile(root, "ab", 2)
    vectors = [(second if number % 3 else first).delete(*range(number % 11)) for number in range(40)]
    for file in (first, second):
        file.write()
    table = HandmadeTable(root)
    files = [
        table.data(f"{number}.parquet", ids(*range(10 * number, 10 * number + 10)), **told)
        for number, told in enumerate(vectors)
    ]
    table.commit(FEATURE, metadata(), *reversed(files))
    kept = [10 * number + row for number in range(40) for row in TEN if row >= number % 11]
    assert rows_of(deltaic.Table(root).snapshot()) == kept


def test_a_vector_takes_the_place_of_a_smaller_one(tmp_path: Path) -> None:
    """Each version of the table has the rows that were not deleted until then."""
    table = HandmadeTable(tmp_path / "t")
    plain = table.data("a.parquet", ids(*TEN), stats=STATS)["add"]
    steps = [{}, without(1), without(1, 2), without(*TEN)]
    table.commit(FEATURE, metadata(), {"add": plain})
    for before, after in pairwise(steps):
        # The order within a commit has no meaning.
        table.commit({"add": {**plain, **after}}, remove("a.parquet", **before))
    handle = deltaic.Table(table.root)
    found = [rows_of(handle.snapshot(version=version)) for version in range(4)]
    assert found == [TEN, [0, *TEN[2:]], [0, *TEN[3:]], []]
    assert [handle.snapshot(version=version).scan().count() for version in range(4)] == [10, 9, 8, 0]
    # Deleted rows are restored without the deletion vector.
    table.commit(remove("a.parquet", **steps[-1]), {"add": plain})
    assert rows_of(handle.snapshot()) == TEN


@pytest.mark.parametrize("batch_size", [1, 3, 4, 7, 1000])
@pytest.mark.parametrize("group", [1, 4, 1000])
def test_positions_are_those_of_the_file(tmp_path: Path, batch_size: int, group: int) -> None:
    """With any row groups and any batch size."""
    table = HandmadeTable(tmp_path / "t")
    file = table.data("a.parquet", ids(*range(20)), **without(0, 3, 4, 5, 6, 7, 11, 19))
    pq.write_table(ids(*range(20)), table.root / "a.parquet", row_group_size=group)
    table.commit(FEATURE, metadata(), file)
    snapshot = deltaic.Table(table.root).snapshot()
    kept = [1, 2, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18]
    assert rows_of(snapshot, batch_size=batch_size) == kept
    assert rows_of(snapshot, batch_size=batch_size, predicate="id >= 11") == kept[5:]
    assert rows_of(snapshot, batch_size=batch_size, predicate="id IN (3, 8, 19)") == [8]
    assert all(batch.num_rows <= batch_size for batch in snapshot.scan(batch_size=batch_size))


def test_predicates_projections_and_limits_see_no_deleted_row(tmp_path: Path) -> None:
    snapshot = table_of(tmp_path / "t", without(0, 5, 9), without(*TEN), {})
    assert rows_of(snapshot, predicate="id < 3") == [1, 2]
    assert rows_of(snapshot, predicate="id = 5") == []
    assert rows_of(snapshot, predicate="id BETWEEN 8 AND 21") == [8, 20, 21]
    nothing = snapshot.scan(columns=[])
    assert sum(batch.num_rows for batch in nothing) == nothing.count() == 17
    assert snapshot.scan(columns=[], predicate="id > 7").count() == 11
    for limit in (0, 1, 6, 7, 8, 17, 100):
        scan = snapshot.scan(limit=limit)
        rows = scan.to_arrow()["id"].to_pylist()
        assert len(rows) == scan.count() == min(limit, 17)
        assert not {0, 5, 9, *range(10, 20)} & set(rows)


def test_counts_come_from_the_log_where_it_is_exact(tmp_path: Path) -> None:
    """Data files and deletion vectors are deleted: only the log contains the counts.

    protocol: per-file-statistics.1, per-file-statistics.2
    """
    root = tmp_path / "t"
    file = VectorFile(root)
    snapshot = table_of(root, file.delete(1, 2, 3), {}, without(0))
    for path in root.glob("*.parquet"):
        path.unlink()
    assert snapshot.num_rows == 26
    assert snapshot.scan().count() == 26
    assert snapshot.scan(limit=9).count() == 9
    assert snapshot.scan(columns=[]).count() == 26
    with pytest.raises(deltaic.CorruptData):
        snapshot.scan(predicate="id > 0").count()


@pytest.mark.parametrize("wrong", [{"cardinality": -3}, {"storageType": "x"}, {"sizeInBytes": -1}])
def test_impossible_counts_are_ignored(tmp_path: Path, wrong: dict[str, Any]) -> None:
    """A cardinality of -3 must not lead to thirteen rows: scan and count both refuse the descriptor."""
    told = {"deletionVector": {**without(1)["deletionVector"], **wrong}}
    snapshot = table_of(tmp_path / "t", told)
    for count in (lambda: snapshot.num_rows, snapshot.scan().count):
        with pytest.raises(deltaic.CorruptLog):
            count()


def test_more_rows_deleted_than_there_are_is_not_a_number_of_rows(tmp_path: Path) -> None:
    """Statistics may be wrong: then rows are counted in the files."""
    snapshot = table_of(tmp_path / "t", without(1, 2, 3), stats='{"numRecords":2}')
    assert snapshot.num_rows is None
    assert snapshot.scan().count() == 7


def test_rows_are_counted_in_the_files_where_the_log_is_silent(tmp_path: Path) -> None:
    snapshot = table_of(tmp_path / "t", without(1, 2, 3), {}, without(0), stats=None)
    assert snapshot.num_rows is None
    assert snapshot.scan().count() == 26
    assert snapshot.scan(predicate="id < 5").count() == 2


def test_bounds_of_a_file_with_a_vector_may_be_of_deleted_rows(tmp_path: Path) -> None:
    """Bounds are wide: they can exclude a file, but prove no match."""
    stats = {
        "numRecords": 10,
        "minValues": {"id": 0},
        "maxValues": {"id": 9},
        "nullCount": {"id": 0},
        "tightBounds": False,
    }
    snapshot = table_of(tmp_path / "t", without(0, 9), stats=json.dumps(stats))
    assert rows_of(snapshot, predicate="id >= 0") == TEN[1:9]
    assert rows_of(snapshot, predicate="id IN (0, 9)") == []
    assert rows_of(snapshot, predicate="id IS NOT NULL") == TEN[1:9]
    assert snapshot.files(predicate="id > 9").num_rows == 0
    assert snapshot.scan(predicate="id <= 9").count() == 8


PARTITIONED = schema(field("id"), field("p", "integer"))


def test_deletion_vectors_of_pruned_files_are_not_looked_at(tmp_path: Path) -> None:
    """The deletion vector of another partition is missing, and a third one is damaged."""
    root = tmp_path / "t"
    good, gone, bad = (VectorFile(root, number=number) for number in range(3))
    table = HandmadeTable(root)
    files = [
        table.data(f"{number}.parquet", ids(*TEN), values={"p": str(number)}, **file.delete(0, 1))
        for number, file in enumerate((good, gone, bad))
    ]
    good.write()
    bad.write(b"\x01nonsense")
    table.commit(FEATURE, metadata(PARTITIONED, ["p"]), *files)
    snapshot = deltaic.Table(root).snapshot()
    assert rows_of(snapshot, predicate="p = 0") == TEN[2:]
    assert snapshot.scan(predicate="p = 0 AND id < 4").to_arrow().to_pylist() == [
        {"id": 2, "p": 0},
        {"id": 3, "p": 0},
    ]
    for predicate in ("p = 1", "p = 2", "p > 0"):
        with pytest.raises(deltaic.CorruptData):
            snapshot.scan(predicate=predicate).to_arrow()


# Three containers of a file of 200,000 rows: a few rows, most, and runs.
LONG = 200_000
FEW = [0, 1, 77, 65_535]
MOST = [row for row in range(65_536) if row % 3]
RUNS = [(0, 9), (100, 60_000), (65_535, 65_535)]
DELETED = {
    *FEW,
    *(65_536 + row for row in MOST),
    *(131_072 + row for first, last in RUNS for row in range(first, last + 1)),
    LONG - 1,
}


@pytest.mark.parametrize("form", ["portable", "native", "all arrays and bitsets"])
def test_every_kind_of_container(tmp_path: Path, form: str) -> None:
    mixed = bitmap({0: array(FEW), 1: bitset(MOST), 2: runs(*RUNS), 3: array([LONG - 1 - 3 * 65_536])})
    body = {
        "portable": portable([(0, mixed)]),
        "native": native([mixed]),
        "all arrays and bitsets": vector(*DELETED),
    }[form]
    table = HandmadeTable(tmp_path / "t")
    file = VectorFile(table.root)
    told = file.push(body, len(DELETED))
    file.write()
    table.commit(FEATURE, metadata(), table.data("a.parquet", ids(*range(LONG)), **told))
    snapshot = deltaic.Table(table.root).snapshot()
    kept = sorted(set(range(LONG)) - DELETED)
    assert snapshot.scan().to_arrow()["id"].to_pylist() == kept
    assert snapshot.scan(predicate="id >= 100000").count() == sum(row >= 100_000 for row in kept)


@settings(max_examples=20)
@given(
    deleted=st.lists(st.sets(st.integers(0, 49)), min_size=1, max_size=4),
    batch_size=st.integers(1, 60),
    groups=st.integers(1, 60),
)
def test_whatever_is_deleted_is_gone_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, deleted: list[set[int]], batch_size: int, groups: int
) -> None:
    table = HandmadeTable(tmp_path_factory.mktemp("t") / "t")
    file = VectorFile(table.root)
    adds = []
    for number, rows in enumerate(deleted):
        told = without(*rows) if number % 2 else file.delete(*rows)
        name = f"{number}.parquet"
        values = ids(*range(50 * number, 50 * number + 50))
        adds.append(table.data(name, values, **told))
        pq.write_table(values, table.root / name, row_group_size=groups)
    file.write()
    table.commit(FEATURE, metadata(), *adds)
    snapshot = deltaic.Table(table.root).snapshot()
    kept = [50 * number + row for number, rows in enumerate(deleted) for row in range(50) if row not in rows]
    assert rows_of(snapshot, batch_size=batch_size) == kept
    assert snapshot.scan(batch_size=batch_size).count() == len(kept)
    shutil.rmtree(table.root)


@pytest.mark.parametrize("row", [10, 2**16, 2**32, 2**32 + 3, 2**63 - 1])
def test_a_row_that_the_file_does_not_have_cannot_be_deleted(tmp_path: Path, row: int) -> None:
    """Positions have 64 bits: 2^32 + 3 is not truncated to 3."""
    snapshot = table_of(tmp_path / "t", without(3, row), stats=None)
    with pytest.raises(deltaic.CorruptData) as caught:
        snapshot.scan().to_arrow()
    assert str(row) in caught.value.message
    assert caught.value.context["path"] == "0.parquet"
    with pytest.raises(deltaic.CorruptData):
        snapshot.scan().count()


def test_the_version_of_a_file_is_judged_wherever_its_vector_is(tmp_path: Path) -> None:
    root = tmp_path / "t"
    file = VectorFile(root)
    file.body = b"\x02" + bytes(1 << 20)
    snapshot = table_of(root, file.delete(1))
    file.write()
    with pytest.raises(deltaic.CorruptData, match="version"):
        snapshot.scan().to_arrow()


def read_task(pickled: bytes) -> list[int]:
    return pickle.loads(pickled).read().read_all()["id"].to_pylist()


def test_a_task_takes_its_vector_to_another_process(tmp_path: Path) -> None:
    """The task does not need the log."""
    root = tmp_path / "t"
    file = VectorFile(root)
    snapshot = table_of(root, file.delete(0, 1), without(5), {})
    file.write()
    tasks = [pickle.dumps(task) for task in snapshot.scan(predicate="id < 17").tasks()]
    shutil.rmtree(root / "_delta_log")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = sorted(row for rows in pool.map(read_task, tasks) for row in rows)
    assert found == [*range(2, 15), 16]


def test_other_libraries_are_handed_no_deleted_row(tmp_path: Path) -> None:
    root = tmp_path / "t"
    file = VectorFile(root)
    snapshot = table_of(root, file.delete(0, 4), without(9), {})
    file.write()
    kept = [row for row in range(30) if row not in (0, 4, 19)]
    assert sorted(snapshot.scan().to_pandas()["id"].tolist()) == kept
    frame = snapshot.scan().to_polars()
    assert isinstance(frame, pl.DataFrame)
    assert sorted(frame["id"].to_list()) == kept
    assert sorted(pl.DataFrame(snapshot.scan())["id"].to_list()) == kept
    assert sorted(pa.table(snapshot.scan())["id"].to_pylist()) == kept
    connection = duckdb.connect()
    found = connection.from_arrow(snapshot.scan(predicate="id >= 4")).order("id").fetchall()
    assert [row for (row,) in found] == kept[3:]
    handed = snapshot.scan()  # noqa: F841, the query names it
    assert connection.sql("SELECT count(*), sum(id) FROM handed").fetchall() == [(len(kept), sum(kept))]
