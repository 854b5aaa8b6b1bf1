"""`Table.symlink_manifest`: manifests for engines without Delta support."""

from __future__ import annotations

import urllib.parse
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

FOLDER = "_symlink_format_manifest"
SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string())])


def rows(*values: tuple[int, str | None]) -> pa.Table:
    ids, parts = [list(column) for column in zip(*values, strict=True)]
    return pa.table({"id": ids, "part": parts}, schema=SCHEMA)


def listed(manifest: Path) -> list[int]:
    """Returns the ids in the files that a manifest lists."""
    found: list[int] = []
    for line in manifest.read_text().splitlines():
        assert line.startswith("file:///")
        found += pq.ParquetFile(line.removeprefix("file://")).read(["id"])["id"].to_pylist()
    return sorted(found)


def manifests(root: Path) -> dict[str, list[int]]:
    found = (root / FOLDER).rglob("manifest")
    return {str(manifest.relative_to(root)): listed(manifest) for manifest in found}


def test_a_table_has_one_manifest(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    assert list(table.symlink_manifest(dry_run=True).written) == [f"{FOLDER}/manifest"]
    assert not (root / FOLDER).exists()
    assert list(table.symlink_manifest().written) == [f"{FOLDER}/manifest"]
    assert manifests(root) == {f"{FOLDER}/manifest": []}
    table.append(rows((1, "a")))
    table.append(rows((2, "b")))
    made = table.symlink_manifest()
    assert (made.version, list(made.deleted)) == (2, [])
    assert str(made) == "version 2: 1 manifest written, 0 deleted"
    assert manifests(root) == {f"{FOLDER}/manifest": [1, 2]}
    table.delete("id = 1")
    table.symlink_manifest()
    assert manifests(root) == {f"{FOLDER}/manifest": [2]}
    assert table.check(deep=True).is_healthy


def test_each_partition_has_a_manifest(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, partition_by=["part"])
    assert manifests(root) == {}
    table.append(rows((1, "a"), (2, "b c"), (3, None), (4, "x/y=%")))
    table.append(rows((5, "a")))
    names = ["part=__HIVE_DEFAULT_PARTITION__", "part=a", "part=b c", "part=x%2Fy%3D%25"]
    expected = dict(
        zip((f"{FOLDER}/{name}/manifest" for name in names), [[3], [1, 5], [2], [4]], strict=True)
    )
    made = table.symlink_manifest()
    assert sorted(made.written) == sorted(expected)
    assert manifests(root) == expected


def test_manifests_of_empty_partitions_are_deleted(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, partition_by=["part"])
    table.append(rows((1, "a"), (2, "b")))
    table.symlink_manifest()
    table.delete("part = 'a'")
    gone = f"{FOLDER}/part=a/manifest"
    assert list(table.symlink_manifest(dry_run=True).deleted) == [gone]
    assert sorted(manifests(root)) == [f"{FOLDER}/part=a/manifest", f"{FOLDER}/part=b/manifest"]
    assert list(table.symlink_manifest().deleted) == [gone]
    assert manifests(root) == {f"{FOLDER}/part=b/manifest": [2]}


def test_deletion_vectors_and_column_mapping_are_refused(tmp_path: Path) -> None:
    vectors = deltaic.Table.create(
        tmp_path / "vectors", SCHEMA, properties={"delta.enableDeletionVectors": "true"}
    )
    vectors.append(rows((1, "a"), (2, "b")))
    # The feature alone hides no row.
    vectors.symlink_manifest()
    vectors.delete("id = 1")
    mapped = deltaic.Table.create(
        tmp_path / "mapped", SCHEMA, properties={"delta.columnMapping.mode": "name"}
    )
    for table, feature in ((vectors, "deletionVectors"), (mapped, "columnMapping")):
        for dry_run in (True, False):
            with pytest.raises(deltaic.UnsupportedFeature, match="symlink manifest") as caught:
                table.symlink_manifest(dry_run=dry_run)
            assert caught.value.context["feature"] == feature


def test_a_path_with_special_characters(tmp_path: Path) -> None:
    root = tmp_path / "a b%20c"
    table = deltaic.Table.create(root, SCHEMA)
    table.append(rows((1, "a")))
    table.symlink_manifest()
    text = (root / FOLDER / "manifest").read_text()
    assert "/a b%20c/" in text
    assert urllib.parse.unquote(text) != text
    assert manifests(root) == {f"{FOLDER}/manifest": [1]}
