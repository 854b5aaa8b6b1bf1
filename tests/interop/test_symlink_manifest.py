"""Symlink manifests of deltaic are those of delta-spark."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import deltaic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = "_symlink_format_manifest"


def manifests(root: Path) -> dict[str, list[str]]:
    """Returns the lines of each manifest; Hadoop writes file:/ and deltaic file:///."""
    found = (root / FOLDER).rglob("manifest")
    return {
        str(manifest.relative_to(root)): sorted(
            line.replace("file:///", "file:/") for line in manifest.read_text().splitlines()
        )
        for manifest in found
    }


def test_manifests_are_equal(spark: SparkSession, tmp_path: Path) -> None:
    parts = ["a", "b c", None, "x/y=%:"]
    data = pa.table({"id": range(4), "part": pa.array(parts), "day": [1, 1, 2, 2]})
    for name, by in (("plain", []), ("one", ["part"]), ("two", ["day", "part"])):
        root = tmp_path / name
        table = deltaic.Table.create(root, data.schema, partition_by=by)
        table.append(data)
        table.append(data)
        spark.sql(f"GENERATE symlink_format_manifest FOR TABLE delta.`{root}`")
        theirs = manifests(root)
        shutil.rmtree(root / FOLDER)
        assert len(table.symlink_manifest().written) == len(theirs)
        assert manifests(root) == theirs
        # Each replaces the manifests of the other.
        table.delete("id = 0")
        made = table.symlink_manifest()
        ours = manifests(root)
        assert len(made.deleted) == len(theirs) - len(ours)
        spark.sql(f"GENERATE symlink_format_manifest FOR TABLE delta.`{root}`")
        assert manifests(root) == ours
