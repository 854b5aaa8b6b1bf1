"""A table, and beside it a folder that a reader of the table must not open.

The files outside are valid and hold rows of their own, so a reader that follows a path there returns them;
and the kernel reports whether a file or folder outside was opened at all.
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
    """A table of one row, and beside it a folder that is none of its business."""

    root: Path
    outside: Path
    watch: Watch

    @property
    def rows(self) -> Path:
        """A data file outside."""
        return self.outside / "rows.parquet"

    def commit(self, version: int) -> Path:
        """A commit's file."""
        return self.root / "_delta_log" / f"{version:020}.json"

    def write(self, version: int, *actions: object) -> None:
        """Write a commit."""
        self.commit(version).write_text("\n".join(map(json.dumps, actions)))

    def move_out(self, file: Path) -> Path:
        """Move a file or folder of the table out, and leave a link behind."""
        there = self.outside / file.name
        shutil.move(file, there)
        file.symlink_to(there)
        self.watch_all()
        return there

    def watch_all(self, *more: Path) -> None:
        """Watch all files and folders that are outside now, and more of them."""
        watched = [self.outside, *self.outside.rglob("*"), *more]
        self.watch.close()
        self.watch = Watch(*watched)

    def watched(self) -> set[Path]:
        """What is watched."""
        return set(self.watch.names.values())

    def read(self, **options: object) -> list[int]:
        """The rows."""
        scan = deltaic.Table(self.root, **options).snapshot().scan()
        return sorted(scan.to_arrow()["id"].to_pylist())


def add(path: str, size: int = 1) -> dict[str, object]:
    return {
        "add": {"path": path, "size": size, "partitionValues": {}, "modificationTime": 1, "dataChange": True}
    }


def data_file(place: Place) -> Path:
    [file] = place.root.glob("*.parquet")
    return file
