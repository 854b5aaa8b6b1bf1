"""Tables that the tests vacuum."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pyarrow as pa

import deltaic
from tests.api.aged_files import files_of
from tests.api.log_files import of_kind, write_commit

WEEK = timedelta(days=7)
DAY = timedelta(days=1)


def ids(*values: int) -> pa.Table:
    return pa.table({"id": pa.array(values, pa.int64())})


def many() -> pa.Table:
    return ids(*range(1000))


def rows(table: deltaic.Table, version: int | None = None) -> list[int]:
    return sorted(table.snapshot(version=version).scan().to_arrow()["id"].to_pylist())


def made(root: Path, *groups: pa.Table, **properties: str) -> deltaic.Table:
    """Returns a table with a data file for each group of rows."""
    settings = {f"delta.{name}": value for name, value in properties.items()}
    table = deltaic.Table.create(root, ids().schema, properties=settings)
    for group in groups:
        table.append(group)
    return table


def orphan(root: Path, name: str = "orphan.parquet") -> Path:
    """Writes a file that no commit names."""
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"12345")
    return file


def live(table: deltaic.Table) -> set[str]:
    return set(table.snapshot().files().to_arrow()["path"].to_pylist())


def vectors(root: Path) -> set[str]:
    return {name for name in files_of(root) if name.endswith(".bin")}


def clone_of(root: Path, clone: Path) -> deltaic.Table:
    """A shallow clone, as delta-spark makes it: it names the files of the source by absolute paths."""
    clone.joinpath("_delta_log").mkdir(parents=True)
    files = deltaic.Table(root).snapshot().files().to_arrow().to_pylist()
    adds = []
    for file in files:
        vector = file["deletion_vector"]
        add = {
            "path": f"file:{root}/{file['path']}",
            "partitionValues": {},
            "size": file["size"],
            "modificationTime": 0,
            "dataChange": True,
            "stats": json.dumps({"numRecords": 1000, "tightBounds": False}),
        }
        if vector is not None:
            [name] = vectors(root)
            add["deletionVector"] = {
                "storageType": "p",
                "pathOrInlineDv": f"file:{root}/{name}",
                "offset": vector["offset"],
                "sizeInBytes": vector["size_in_bytes"],
                "cardinality": vector["cardinality"],
            }
        adds.append({"add": add})
    first = [{kind: of_kind(root, 0, kind)[0]} for kind in ("protocol", "metaData")]
    write_commit(clone, 0, *first, *adds)
    return deltaic.Table(clone, allowed_roots=[root])


def inventory(root: Path, *names: str, days_ago: int = 30) -> pa.Table:
    import time

    then = int(time.time() * 1000) - days_ago * 86_400_000
    return pa.table(
        {
            "owner": ["me"] * len(names),
            "path": [f"{root}/{name}" for name in names],
            "length": [5] * len(names),
            "isDir": [(root / name).is_dir() for name in names],
            "modificationTime": [then] * len(names),
        }
    )
