"""Runs a maintenance verb in a fork, which may be killed at a step."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import deltaic

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])
VECTORS = {"delta.enableDeletionVectors": "true", "delta.checkpointInterval": "4"}


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "text": [f"row {id_}" for id_ in ids]}, schema=SCHEMA)


def data_files(root: Path) -> list[Path]:
    """The data files of a table and its files of deletion vectors, as far as they are on the disk."""
    files = [*root.glob("*.parquet"), *root.glob("*.bin")]
    return sorted(file for file in files if not file.name.startswith("_"))


def make_table(root: Path) -> None:
    """Makes a table of four versions: files that were replaced, and deleted rows."""
    table = deltaic.Table.create(root, SCHEMA, properties=VECTORS)
    table.append(rows(*range(10)))
    table.append(rows(*range(10, 20)))
    table.delete("id % 2 = 0")


def make_damaged_table(root: Path) -> None:
    """Makes a table of which a file is gone."""
    make_table(root)
    table = deltaic.Table(root)
    table.append(rows(30))
    before, after = (table.snapshot(version).files().to_arrow()["path"].to_pylist() for version in (3, 4))
    [lost] = set(after) - set(before)
    (root / lost).unlink()


def make_folder(root: Path) -> None:
    """Writes Parquet files."""
    root.mkdir()
    for first in (0, 10):
        pq.write_table(rows(*range(first, first + 10)), root / f"{first}.parquet")


def convert(root: Path) -> object:
    # A conversion that landed is complete.
    return None if deltaic.Table.exists(root) else deltaic.Table.convert(root)


def clone(root: Path) -> object:
    return deltaic.Table(root).clone(root.with_name("clone"), if_exists="replace")


MADE: dict[str, Callable[[Path], None]] = {
    "vacuum": make_table,
    "restore": make_table,
    "purge": make_table,
    "repair": make_damaged_table,
    "clone": make_table,
    "convert": make_folder,
}
"""What each verb is run on."""

VERBS: dict[str, Callable[[Path], object]] = {
    "vacuum": lambda root: deltaic.Table(root).vacuum(timedelta(0), force=True),
    "restore": lambda root: deltaic.Table(root).restore(1),
    "purge": lambda root: deltaic.Table(root).purge(),
    "repair": lambda root: deltaic.Table(root).repair(),
    "clone": clone,
    "convert": convert,
}


def main(root: str, verb: str) -> None:
    VERBS[verb](Path(root))
