"""A table, and next to it a folder that a reader of the table must not open.

The files outside are valid and contain other rows, so a reader that follows a path there returns them; and
the kernel reports whether a file or folder outside was opened at all.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import deltaic

from .opened import Watch

SCHEMA = pa.schema([("id", pa.int64())])
OUTSIDE = 666


@dataclass
class Place:
    """A table of one row, and a folder outside of it."""

    root: Path
    outside: Path
    watch: Watch

    @property
    def rows(self) -> Path:
        """A data file outside."""
        return self.outside / "rows.parquet"

    def commit(self, version: int) -> Path:
        """Returns the path of a commit."""
        return self.root / "_delta_log" / f"{version:020}.json"

    def write(self, version: int, *actions: object) -> None:
        """Writes a commit."""
        self.commit(version).write_text("\n".join(map(json.dumps, actions)))

    def move_out(self, file: Path) -> Path:
        """Moves a file or folder out of the table and replaces it with a link."""
        there = self.outside / file.name
        shutil.move(file, there)
        file.symlink_to(there)
        self.watch_all()
        return there

    def watch_all(self, *more: Path) -> None:
        """Watches all files and folders that are outside now, and the given ones."""
        watched = [self.outside, *self.outside.rglob("*"), *more]
        self.watch.close()
        self.watch = Watch(*watched)

    def watched(self) -> set[Path]:
        """Returns the watched paths."""
        return set(self.watch.names.values())

    def read(self, **options: object) -> list[int]:
        """Reads the rows."""
        scan = deltaic.Table(self.root, **options).snapshot().scan()
        return sorted(scan.to_arrow()["id"].to_pylist())


def add(path: str, size: int = 1) -> dict[str, object]:
    return {
        "add": {"path": path, "size": size, "partitionValues": {}, "modificationTime": 1, "dataChange": True}
    }


def data_file(place: Place) -> Path:
    [file] = place.root.glob("*.parquet")
    return file
