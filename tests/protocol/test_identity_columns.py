"""Identity Columns: the values that appends generate, and the high-water mark in the schema."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import Column, Identity


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "table"


def made(root: Path, identity: Identity, nullable: bool = True) -> deltaic.Table:
    columns = [Column("id", "bigint", identity=identity, nullable=nullable), Column("n", "bigint")]
    return deltaic.Table.create(root, columns)


def mark(table: deltaic.Table) -> int | None:
    fields = json.loads(table.snapshot().schema.to_json())["fields"]
    return next(field for field in fields if field["name"] == "id")["metadata"].get(
        "delta.identity.highWaterMark"
    )


def values(table: deltaic.Table) -> list[tuple[int, int]]:
    found = table.snapshot().scan().to_arrow().sort_by("n").to_pylist()
    return [(row["n"], row["id"]) for row in found]


@pytest.mark.parametrize(("start", "step"), [(1, 1), (100, 10), (-5, -3), (7, -1), (-(1 << 63), 1)])
@pytest.mark.parametrize("nullable", [True, False])
def test_values_are_generated(root: Path, start: int, step: int, nullable: bool) -> None:
    """protocol: identity-columns.14, identity-columns.15, identity-columns.16, identity-columns.18."""
    table = made(root, Identity(start, step), nullable)
    assert mark(table) is None
    table.append(pa.table({"n": [0, 1, 2]}))
    assert mark(table) == start + 2 * step
    table.append(pa.table({"n": pa.array([], pa.int64())}))
    table.append(pa.table({"n": [3]}))
    table.delete("n >= 2")
    # Values of deleted rows are not generated again.
    table.append(pa.table({"n": [4]}))
    assert values(table) == [(0, start), (1, start + step), (4, start + 4 * step)]
    assert mark(table) == start + 4 * step


def test_an_overwrite_continues(root: Path) -> None:
    """protocol: identity-columns.15, identity-columns.18."""
    table = made(root, Identity())
    table.append(pa.table({"n": [0, 1]}))
    table.overwrite(pa.table({"n": [2]}))
    assert values(table) == [(2, 3)]
    table.overwrite(pa.table({"n": [2, 2]}), "n = 2")
    assert values(table) == [(2, 4), (2, 5)]


def test_given_values_are_kept(root: Path) -> None:
    """protocol: identity-columns.10, identity-columns.7."""
    table = made(root, Identity(10, 10, always=False))
    table.append(pa.table({"n": [0, 1], "id": [35, None]}))
    assert mark(table) == 40
    table.append(pa.table({"n": [2]}))
    table.append(pa.table({"n": [3], "id": [5]}))
    assert values(table) == [(0, 35), (1, None), (2, 50), (3, 5)]
    assert mark(table) == 50


def test_values_that_are_always_generated_cannot_be_given(root: Path) -> None:
    """protocol: identity-columns.12."""
    table = made(root, Identity())
    with pytest.raises(deltaic.SchemaMismatch, match="always generated") as caught:
        table.append(pa.table({"n": [0], "ID": [7]}))
    assert caught.value.context["field"] == "id"
    with pytest.raises(deltaic.SchemaMismatch, match="cannot be updated"):
        table.update({"id": 7})
    assert table.snapshot().version == 0


def test_an_overflow_is_an_error(root: Path) -> None:
    """protocol: identity-columns.17."""
    table = made(root, Identity((1 << 63) - 2))
    table.append(pa.table({"n": [0, 1]}))
    with pytest.raises(deltaic.ConstraintViolation, match="no more values"):
        table.append(pa.table({"n": [2]}))
    assert values(table) == [(0, (1 << 63) - 2), (1, (1 << 63) - 1)]


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_row_changes_keep_values(root: Path, vectors: str) -> None:
    table = deltaic.Table.create(
        root,
        [Column("id", "bigint", identity=Identity()), Column("n", "bigint")],
        properties={"delta.enableDeletionVectors": vectors, "delta.enableChangeDataFeed": "true"},
    )
    table.append(pa.table({"n": [0, 1, 2]}))
    table.update({"n": "n + 10"}, "n = 1")
    table.delete("n = 0")
    assert values(table) == [(2, 3), (11, 2)]
    table.overwrite(pa.table({"n": [11, 11]}), "n = 11")
    changes = table.changes(4).to_arrow().select(["id", "n", "_change_type"]).to_pylist()
    assert sorted((row["_change_type"], row["n"], row["id"]) for row in changes) == [
        ("delete", 11, 2),
        ("insert", 11, 4),
        ("insert", 11, 5),
    ]


def test_a_transaction_continues(root: Path) -> None:
    """protocol: identity-columns.18."""
    table = made(root, Identity())
    with table.transaction() as tx:
        tx.append(pa.table({"n": [0]}))
        tx.append(pa.table({"n": [1], "m": [1]}), schema_mode="merge")
    assert values(table) == [(0, 1), (1, 2)]
    assert mark(table) == 2
    assert table.snapshot().schema.names == ["id", "n", "m"]


def test_two_writers_get_different_values(root: Path) -> None:
    """protocol: identity-columns.15."""
    table = made(root, Identity())

    def append(number: int) -> None:
        deltaic.Table(root).append(pa.table({"n": [number] * 3}))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(12)))
    found = [number for _, number in values(table)]
    assert sorted(found) == list(range(1, 37))
    assert mark(table) == 36


def late(table: deltaic.Table, rows: pa.Table, *, is_frame: bool) -> object:
    """Rows whose first reading appends another row to the table: as a frame, or as a stream."""
    others = [pa.table({"n": [-1]})]

    def stream(_: object, requested_schema: object = None) -> object:
        if others:
            deltaic.Table(table.uri).append(others.pop())
        return rows.__arrow_c_stream__(requested_schema)

    module, name = ("pyarrow.lib", "Table") if is_frame else (__name__, "Stream")
    return type(name, (), {"__module__": module, "__arrow_c_stream__": stream})()


VERBS = {
    "append": lambda table, rows, **options: table.append(rows, **options),
    "overwrite": lambda table, rows, **options: table.overwrite(rows, **options),
    "overwrite where": lambda table, rows, **options: table.overwrite(rows, "n >= -1", **options),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_frame_that_loses_gets_new_values(root: Path, verb: str) -> None:
    """protocol: identity-columns.15, identity-columns.18."""
    table = made(root, Identity())
    table.append(pa.table({"n": [0]}))
    VERBS[verb](table, late(table, pa.table({"n": [1, 2]}), is_frame=True))
    before = [(0, 1), (-1, 2)] if verb == "append" else []
    assert sorted(values(table)) == sorted([*before, (1, 3), (2, 4)])
    assert mark(table) == 4


@pytest.mark.parametrize("verb", VERBS)
def test_a_stream_that_loses_conflicts(root: Path, verb: str) -> None:
    table = made(root, Identity())
    before = set(root.rglob("*.parquet"))
    with pytest.raises(deltaic.MetadataChanged, match="pass a table or data frame"):
        VERBS[verb](table, late(table, pa.table({"n": [1]}), is_frame=False))
    assert values(table) == [(-1, 1)]
    assert len(set(root.rglob("*.parquet")) - before) == 1


def test_an_overwrite_without_row_level_conflicts(root: Path) -> None:
    table = made(root, Identity())
    with pytest.raises(deltaic.CommitConflict):
        table.overwrite(late(table, pa.table({"n": [1]}), is_frame=True), row_level=False)
    assert values(table) == [(-1, 1)]


def test_a_block_that_loses_conflicts(root: Path) -> None:
    table = made(root, Identity())
    with pytest.raises(deltaic.MetadataChanged), table.transaction() as tx:  # noqa: PT012
        tx.append(pa.table({"n": [0]}))
        table.append(pa.table({"n": [1]}))
    assert values(table) == [(1, 1)]


def test_a_function_that_loses_is_called_again(root: Path) -> None:
    """protocol: identity-columns.15."""
    table = made(root, Identity())
    others = [pa.table({"n": [-1]})]

    def stage(tx: deltaic.Transaction) -> None:
        tx.append(pa.table({"n": [1]}))
        if others:
            deltaic.Table(root).append(others.pop())

    table.run_transaction(stage)
    assert values(table) == [(-1, 1), (1, 2)]
