"""Tables after log maintenance by deltaic: after each commit, or by an explicit call."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa

import deltaic

from .written import contents

__all__ = ["APPENDS", "FORMS", "POLICIES", "appended", "maintained"]

FORMS = ("checkpoint", "checkpoint with sidecars", "compaction file")

APPENDS = 25
# The properties of the tables of `appended`, and the resulting versions with checkpoints.
POLICIES: dict[str, tuple[dict[str, str], list[int]]] = {
    "usual": ({}, [10, 20]),
    "often": ({"delta.checkpointInterval": "4"}, [4, 8, 12, 16, 20, 24]),
    "with sidecars": ({"delta.checkpointPolicy": "v2"}, [10, 20]),
    "with statistics in columns": ({"delta.checkpoint.writeStatsAsStruct": "true"}, [10, 20]),
    "with times": ({"delta.enableInCommitTimestamps": "true"}, [10, 20]),
    "with vectors": ({"delta.enableDeletionVectors": "true"}, [10, 20]),
    "with row ids": ({"delta.enableRowTracking": "true"}, [10, 20]),
}


def appended(folder: Path, policy: str) -> tuple[Path, pa.Table]:
    """Writes a table of plain appends with post-commit maintenance; returns it and its rows."""
    properties, checkpoints = POLICIES[policy]
    root = folder / policy
    rows = pa.table(
        {
            "id": pa.array(range(APPENDS), pa.int64()),
            "p": ["a b", "ü", None, "x=1", "y"] * (APPENDS // 5),
            "v": pa.array([number / 3 for number in range(APPENDS)]),
        }
    )
    table = deltaic.Table.create(root, rows.schema, partition_by=["p"], properties=properties)
    for number in range(APPENDS):
        commit = table.append(rows.slice(number, 1), app_transaction=(f"job {number % 3}", number))
        assert not commit.warnings
    log = root / "_delta_log"
    assert sorted(int(file.name[:20]) for file in log.glob("*.crc")) == list(range(APPENDS + 1))
    assert sorted(int(file.name[:20]) for file in log.glob("*.checkpoint*.parquet")) == checkpoints
    return root, rows


def maintained(folder: Path, name: str, form: str) -> Path:
    """Writes one of `contents` so that readers must use the checkpoint or compaction file."""
    content = contents()[name]
    properties = {"delta.checkpointPolicy": "v2"} if "sidecars" in form else {}
    root = folder / form / name
    shutil.rmtree(root, ignore_errors=True)
    table = deltaic.Table.create(
        root, content.rows.schema, partition_by=content.partition_by, properties=properties
    )
    half = content.rows.num_rows // 2
    table.append(content.rows.slice(0, half))
    table.append(content.rows.slice(half))
    if form == "compaction file":
        table.compact_log(1)
        return root
    table.checkpoint()
    # delta-spark requires the commit of a checkpoint's own version.
    for version in range(2):
        (root / "_delta_log" / f"{version:020}.json").unlink()
    return root
