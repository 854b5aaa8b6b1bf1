"""deltalake reads tables after maintenance by deltaic; and what it deletes of a clone's files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

deltalake = pytest.importorskip("deltalake", reason="missing: deltalake")

NOW = timedelta(0)


def ids(numbers: range) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64())})


def made(root: Path, **properties: str) -> deltaic.Table:
    settings = {f"delta.{name}": value for name, value in properties.items()}
    table = deltaic.Table.create(root, ids(range(0)).schema, properties=settings)
    table.append(ids(range(100)))
    table.append(ids(range(100, 110)))
    return table


def restored(root: Path) -> Path:
    table = made(root)
    table.delete("id < 50")
    table.restore(1)
    return root


def cloned(root: Path) -> Path:
    made(root).clone(root.with_name("clone"))
    return root.with_name("clone")


def converted(root: Path) -> Path:
    (root / "day=1").mkdir(parents=True)
    pq.write_table(ids(range(20)), root / "day=1" / "a.parquet")
    deltaic.Table.convert(root, [deltaic.Column("day", "int")])
    return root


def purged(root: Path) -> Path:
    table = made(root, enableDeletionVectors="true")
    table.delete("id < 5")
    table.purge()
    return root


def repaired(root: Path) -> Path:
    table = made(root)
    (root / table.snapshot(1).files().to_arrow()["path"][0].as_py()).unlink()
    table.repair()
    return root


def vacuumed(root: Path) -> Path:
    table = made(root, enableDeletionVectors="true")
    table.delete("id < 5")
    table.optimize()
    table.vacuum(NOW, force=True)
    return root


MADE: dict[Callable[[Path], Path], list[int]] = {
    restored: list(range(100)),
    cloned: list(range(110)),
    converted: list(range(20)),
    purged: list(range(5, 110)),
    repaired: list(range(100, 110)),
    vacuumed: list(range(5, 110)),
}


@pytest.mark.parametrize("make", MADE, ids=lambda make: make.__name__)
def test_tables_after_maintenance_are_read(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    table = deltalake.DeltaTable(str(make(tmp_path / "table")))
    found = deltalake.QueryBuilder().register("t", table).execute("SELECT id FROM t").read_all()
    assert sorted(pa.table(found)["id"].to_pylist()) == MADE[make]


def test_deltalake_deletes_files_of_a_clone_and_deltaic_does_not(tmp_path: Path) -> None:
    """A known loss: its vacuum takes no clones."""
    sources = [made(tmp_path / name) for name in ("ours", "theirs")]
    clones = [table.clone(Path(tmp_path / f"clone of {at}")).table for at, table in enumerate(sources)]
    for table in sources:
        table.overwrite(ids(range(1)))
    ours, theirs = clones
    sources[0].vacuum(NOW, force=True, clones=[ours])
    assert ours.snapshot().scan().to_arrow().num_rows == 110
    deltalake.DeltaTable(str(tmp_path / "theirs")).vacuum(
        retention_hours=0, enforce_retention_duration=False, dry_run=False
    )
    with pytest.raises(deltaic.CorruptData, match="a data file is missing"):
        theirs.snapshot().scan().to_arrow()
