"""A table, and beside it a folder that is none of its business.

The files outside are sound and hold rows of their own, so that whoever reads them is seen by what comes;
and the kernel tells whether they were opened at all.
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

    def watch_all(self) -> None:
        """Watch what is outside now."""
        self.watch.close()
        self.watch = Watch(*[file for file in self.outside.rglob("*") if file.is_file()])

    def read(self, **options: object) -> list[int]:
        """The rows."""
        scan = deltaic.Table(self.root, **options).snapshot().scan()
        return sorted(scan.to_arrow()["id"].to_pylist())


def add(path: str) -> dict[str, object]:
    return {
        "add": {"path": path, "size": 1, "partitionValues": {}, "modificationTime": 1, "dataChange": True}
    }


def data_file(place: Place) -> Path:
    [file] = place.root.glob("*.parquet")
    return file
