"""Heading *Writer Requirements for Clustered Table*: statistics of clustering columns, providers, domain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import ClusterBy
from tests.api.log_files import of_kind

ROWS = pa.table(
    {
        "id": [1, 2, 3],
        "s": pa.array(
            [{"x": 10, "y": "a"}, {"x": None, "y": "b"}, None],
            pa.struct([("x", pa.int32()), ("y", pa.string())]),
        ),
        "late": ["m", None, "k"],
    }
)
NONE_INDEXED = {"delta.dataSkippingNumIndexedCols": "0"}


def clustered(root: Path, **properties: str) -> deltaic.Table:
    """A table whose clustering columns are no longer among those that its properties index."""
    deltaic.Table.create(root, ROWS.schema, cluster_by=["late", "s.x"], properties=properties)
    log = root / "_delta_log/00000000000000000000.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "metaData" in line:
            line["metaData"]["configuration"].update(NONE_INDEXED)
    log.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    forget_checksums(root)
    return deltaic.Table(root)


def forget_checksums(root: Path) -> None:
    """They have the bytes that the log had before."""
    for checksum in (root / "_delta_log").glob("*.crc"):
        checksum.unlink()


def stats(root: Path, version: int) -> list[dict[str, Any]]:
    return [json.loads(add["stats"]) for add in of_kind(root, version, "add")]


@pytest.mark.parametrize("mode", ["none", "name", "id"])
def test_clustering_columns_have_statistics(tmp_path: Path, mode: str) -> None:
    """protocol: writer-requirements-for-clustered-table.3."""
    table = clustered(tmp_path / "t", **{"delta.columnMapping.mode": mode})
    table.append(ROWS)
    fields = json.loads(of_kind(tmp_path / "t", 0, "metaData")[0]["schemaString"])["fields"]

    def named(field: dict[str, Any]) -> str:
        return field["metadata"].get("delta.columnMapping.physicalName", field["name"])

    inner, late = named(fields[1]["type"]["fields"][0]), named(fields[2])
    [found] = stats(tmp_path / "t", 1)
    assert found == {
        "numRecords": 3,
        "minValues": {named(fields[1]): {inner: 10}, late: "k"},
        "maxValues": {named(fields[1]): {inner: 10}, late: "m"},
        "nullCount": {named(fields[1]): {inner: 2}, late: 1},
    }


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_rows_of_a_clustered_table_change(tmp_path: Path, vectors: str) -> None:
    """protocol: writer-requirements-for-clustered-table.1, writer-requirements-for-clustered-table.3."""
    root = tmp_path / "t"
    table = clustered(root, **{"delta.enableDeletionVectors": vectors})
    table.append(ROWS)
    table.delete("id = 1")
    table.update({"late": "'z'"}, "id = 2")
    table.overwrite(ROWS.slice(2, 1), where="id = 3")
    found = sorted(table.snapshot().scan().to_arrow()["id"].to_pylist())
    assert found == [2, 3]
    for version in range(1, 5):
        for count in stats(root, version):
            assert set(count["nullCount"]) == {"s", "late"}, version
        assert not of_kind(root, version, "domainMetadata"), "the clustering columns stay"
        # A file that was not clustered has no clustering provider.
        assert all("clusteringProvider" not in add for add in of_kind(root, version, "add"))
    domain = json.loads(deltaic.Table(root).snapshot().domain_metadata["delta.clustering"])
    assert domain["clusteringColumns"] == [["late"], ["s", "x"]]


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_a_file_keeps_its_clustering_provider_and_a_copy_of_its_rows_has_none(
    tmp_path: Path, vectors: str
) -> None:
    """protocol: writer-requirements-for-clustered-table.3."""
    root = tmp_path / "t"
    clustered(root, **{"delta.enableDeletionVectors": vectors}).append(ROWS)
    log = root / "_delta_log/00000000000000000001.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"] |= {"clusteringProvider": "liquid", "tags": {"ZCUBE_ID": "1"}}
    log.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    forget_checksums(root)
    deltaic.Table(root).delete("id = 1")
    [add] = of_kind(root, 2, "add")
    expected = ("liquid", {"ZCUBE_ID": "1"}) if vectors == "true" else (None, None)
    assert (add.get("clusteringProvider"), add.get("tags")) == expected


def test_a_given_file_has_statistics_of_clustering_columns(tmp_path: Path) -> None:
    """protocol: writer-requirements-for-clustered-table.3."""
    root = tmp_path / "t"
    table = clustered(root)
    pq.write_table(ROWS, root / "given.parquet")
    given = {"path": "given.parquet", "size": (root / "given.parquet").stat().st_size, "modification_time": 1}
    for lacking in (None, '{"numRecords":3}', '{"numRecords":3,"nullCount":{"late":1}}'):
        with pytest.raises(ValueError, match="lack the clustering column"), table.transaction() as tx:
            tx.add([{**given, "stats": lacking}])
    with table.transaction() as tx:
        tx.add([{**given, "stats": '{"numRecords":3,"nullCount":{"late":1,"s":{"x":2}}}'}])
    assert table.snapshot().scan().count() == 3


def test_clustering_columns_that_are_changed_have_statistics_from_then_on(tmp_path: Path) -> None:
    """protocol: writer-requirements-for-clustered-table.3, writer-requirements-for-clustered-table.4."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.dataSkippingStatsColumns": "id,late"})
    table.append(ROWS)
    table.alter(ClusterBy("late"))
    table.append(ROWS)
    [found] = stats(root, 3)
    assert set(found["nullCount"]) == {"id", "late"}
    table.alter(ClusterBy())
    table.append(ROWS)
    assert table.snapshot().scan().count() == 9
