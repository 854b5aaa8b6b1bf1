"""Headings *Writer Requirements for IcebergCompatV1*, *V2* and *V3*, and *Materialize Partition Columns*."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import AddColumn, SetProperties
from tests.api.log_files import of_kind, statistics

FLAT = pa.schema(
    [("part", pa.string()), ("id", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("day", pa.date32())]
)
NESTED = pa.schema(
    [
        ("l", pa.list_(pa.list_(pa.int32()))),
        ("m", pa.map_(pa.int32(), pa.struct([("deep", pa.list_(pa.int64()))]))),
    ]
)
TRACKED = {"delta.enableRowTracking": "true"}


def properties(compat: int, mode: str = "name", **more: str) -> dict[str, str]:
    tracked = TRACKED if compat == 3 else {}
    return {
        "delta.columnMapping.mode": mode,
        f"delta.enableIcebergCompatV{compat}": "true",
        **tracked,
        **more,
    }


def schema_of(compat: int) -> pa.Schema:
    return FLAT if compat == 1 else pa.schema([*FLAT, *NESTED])


def rows(compat: int, *ids: int) -> pa.Table:
    values = [
        {
            "part": "ab"[i % 2],
            "id": i,
            "at": 10**15 + i,
            "day": date(2024, 1, 1 + i),
            "l": [[i], []],
            "m": [(i, {"deep": [i]})],
        }
        for i in ids
    ]
    return pa.Table.from_pylist(values, schema_of(compat))


def file_of(root: Path, version: int, index: int = 0) -> pq.ParquetFile:
    return pq.ParquetFile(root / of_kind(root, version, "add")[index]["path"])


def logical_fields(root: Path) -> list[dict[str, Any]]:
    return json.loads(of_kind(root, 0, "metaData")[0]["schemaString"])["fields"]


def field_ids(schema: pa.Schema) -> dict[str, int]:
    """Returns the Parquet ids of all fields by dotted path."""
    found: dict[str, int] = {}

    def visit(field: pa.Field, path: str) -> None:
        if field.metadata and b"PARQUET:field_id" in field.metadata:
            found[path] = int(field.metadata[b"PARQUET:field_id"])
        kind = field.type
        if pa.types.is_struct(kind):
            for part in kind:
                visit(part, f"{path}.{part.name}")
        elif pa.types.is_list(kind):
            visit(kind.value_field, f"{path}.element")
        elif pa.types.is_map(kind):
            visit(kind.key_field, f"{path}.key")
            visit(kind.item_field, f"{path}.value")

    for column in schema:
        visit(column, column.name)
    return found


@pytest.mark.parametrize("compat", [1, 2, 3])
@pytest.mark.parametrize("mode", ["name", "id"])
def test_files_are_what_iceberg_reads(tmp_path: Path, compat: int, mode: str) -> None:
    # protocol: writer-requirements-for-icebergcompatv2.4, beyond:iceberg-compat-v3.1,
    # beyond:materialized-partitions.1
    root = tmp_path / "t"
    table = deltaic.Table.create(
        root, schema_of(compat), partition_by=["part"], properties=properties(compat, mode)
    )
    table.append(rows(compat, 0, 1, 2))
    logical = {field["name"]: field["metadata"] for field in logical_fields(root)}
    physical = {name: known["delta.columnMapping.physicalName"] for name, known in logical.items()}
    for index, add in enumerate(of_kind(root, 1, "add")):
        written = file_of(root, 1, index)
        names = written.schema_arrow.names
        assert names[-1] == physical["part"]
        assert set(names) == set(physical.values())
        [value] = set(written.read()[physical["part"]].to_pylist())
        assert add["partitionValues"] == {physical["part"]: value}
        stats = json.loads(add["stats"])
        assert stats["numRecords"] == written.metadata.num_rows
        assert physical["part"] not in stats["minValues"]
        assert physical["part"] not in stats["nullCount"]
        at = written.schema.column(names.index(physical["at"]))
        assert at.physical_type == "INT64"
    found = field_ids(file_of(root, 1).schema_arrow)
    for name, known in logical.items():
        assert found[physical[name]] == known["delta.columnMapping.id"]
        for key in ("parquet.field.nested.ids", "delta.columnMapping.nested.ids"):
            for path, number in known.get(key, {}).items():
                assert found[path] == number
    assert "parquet.field.nested.ids" not in str(logical), "delta-kernel refuses it"
    nested = logical.get("m", {}).get("delta.columnMapping.nested.ids", {})
    assert len(nested) == (0 if compat == 1 else 2)
    assert len(set(found.values())) == len(found)
    assert table.snapshot().scan().to_arrow().sort_by("id").to_pylist() == rows(compat, 0, 1, 2).to_pylist()


@pytest.mark.parametrize("compat", [1, 2, 3])
def test_rows_change_and_files_stay_readable(tmp_path: Path, compat: int) -> None:
    """protocol: writer-requirements-for-icebergcompatv2.4, beyond:iceberg-compat-v3.1."""
    root = tmp_path / "t"
    table = deltaic.Table.create(
        root, schema_of(compat), partition_by=["part"], properties=properties(compat)
    )
    table.append(rows(compat, 0, 1, 2, 3))
    table.delete("id = 1")
    table.update({"id": "id + 10"}, "id = 2")
    table.overwrite(rows(compat, 5), where="id = 3 OR id = 5")
    found = sorted(table.snapshot().scan().to_arrow()["id"].to_pylist())
    assert found == [0, 5, 12]
    part = logical_fields(root)[0]["metadata"]["delta.columnMapping.physicalName"]
    for version in range(1, table.snapshot().version + 1):
        for index, add in enumerate(of_kind(root, version, "add")):
            assert json.loads(add["stats"])["numRecords"] >= 1
            assert (
                file_of(root, version, index).schema_arrow.names[-1 if version == 1 else 0 :].count(part) == 1
            )


def test_copied_rows_have_the_field_ids_that_iceberg_reserves(tmp_path: Path) -> None:
    """protocol: beyond:iceberg-compat-v3.1."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, FLAT, properties=properties(3))
    table.append(rows(1, 0, 1, 2).select(FLAT.names))
    table.delete("id = 1")
    [metadata] = of_kind(root, 0, "metaData")
    names = [
        metadata["configuration"][f"delta.rowTracking.materialized{which}ColumnName"]
        for which in ("RowId", "RowCommitVersion")
    ]
    found = field_ids(file_of(root, 2).schema_arrow)
    assert [found[name] for name in names] == [2147483540, 2147483539]


@pytest.mark.parametrize("compat", [2, 3])
def test_deletion_vectors_are_for_v3_alone(tmp_path: Path, compat: int) -> None:
    """protocol: beyond:iceberg-compat-v3.1."""
    root = tmp_path / "t"
    wanted = properties(compat, **{"delta.enableDeletionVectors": "true"})
    if compat == 2:
        with pytest.raises(deltaic.SchemaMismatch, match="excludes deletion vectors"):
            deltaic.Table.create(root, FLAT, properties=wanted)
        return
    table = deltaic.Table.create(root, FLAT, properties=wanted)
    table.append(rows(1, 0, 1, 2).select(FLAT.names))
    table.delete("id = 1")
    [add] = of_kind(root, 2, "add")
    assert add["deletionVector"]["cardinality"] == 1
    assert json.loads(add["stats"])["numRecords"] == 3


@pytest.mark.parametrize("compat", [1, 2, 3])
@pytest.mark.parametrize(
    ("broken", "names"),
    [
        ({"delta.columnMapping.mode": "none"}, "column mapping"),
        (
            {"delta.enableIcebergCompatV1": "true", "delta.enableIcebergCompatV2": "true"},
            "one version .*, not delta.enableIcebergCompatV1 and delta.enableIcebergCompatV2",
        ),
        ({"delta.enableRowTracking": "false"}, "row tracking"),
    ],
    ids=["mapping", "two versions", "row tracking"],
)
def test_a_table_that_breaks_a_requirement_is_not_created(
    tmp_path: Path, compat: int, broken: dict[str, str], names: str
) -> None:
    """protocol: beyond:iceberg-compat-v3.1."""
    if names == "row tracking" and compat != 3:
        deltaic.Table.create(tmp_path / "t", FLAT, properties={**properties(compat), **broken})
        return
    with pytest.raises(deltaic.SchemaMismatch, match=names):
        deltaic.Table.create(tmp_path / "t", FLAT, properties={**properties(compat), **broken})


def test_rows_are_not_written_to_a_table_that_breaks_a_requirement(tmp_path: Path) -> None:
    """Another writer may have enabled deletion vectors."""
    root = tmp_path / "t"
    deltaic.Table.create(root, FLAT, properties=properties(2))
    log = root / "_delta_log/00000000000000000000.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "metaData" in line:
            line["metaData"]["configuration"]["delta.enableDeletionVectors"] = "true"
        if "protocol" in line:
            line["protocol"]["writerFeatures"].append("deletionVectors")
            line["protocol"] |= {
                "minReaderVersion": 3,
                "readerFeatures": ["columnMapping", "deletionVectors"],
            }
    log.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    for checksum in (root / "_delta_log").glob("*.crc"):
        checksum.unlink()
    with pytest.raises(deltaic.SchemaMismatch, match="excludes deletion vectors"):
        deltaic.Table(root).append(rows(1, 1).select(FLAT.names))
    assert not list(root.rglob("*.parquet"))


def test_columns_that_are_added_get_nested_ids(tmp_path: Path) -> None:
    """protocol: writer-requirements-for-icebergcompatv2.2, beyond:iceberg-compat-v3.1."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, FLAT, properties=properties(3))
    table.alter(AddColumn("tags", pa.list_(pa.string())))
    table.append(pa.table({"id": [1], "tags": [["x"]]}))
    schema = json.loads(of_kind(root, 1, "metaData")[0]["schemaString"])
    known = schema["fields"][-1]["metadata"]
    [(path, number)] = known["delta.columnMapping.nested.ids"].items()
    assert field_ids(file_of(root, 2).schema_arrow)[path] == number


def test_compatibility_is_enabled_while_a_table_is_empty(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = deltaic.Table.create(root, FLAT, properties={"delta.columnMapping.mode": "name", **TRACKED})
    table.alter(SetProperties({"delta.enableIcebergCompatV3": "true"}))
    assert "icebergCompatV3" in table.snapshot().protocol.writer_features
    table.append(rows(1, 1).select(FLAT.names))
    with pytest.raises(deltaic.SchemaMismatch, match=r"V2 and .*V3") as caught:
        table.alter(SetProperties({"delta.enableIcebergCompatV2": "true"}))
    assert caught.value.context["field"] == "delta.enableIcebergCompatV3"


@pytest.mark.parametrize(
    ("wanted", "is_written"),
    [
        ({}, False),
        ({"delta.writePartitionColumnsToParquet": "true"}, True),
        ({"delta.writePartitionColumnsToParquet": "false"}, False),
        ({"delta.enableMaterializePartitionColumnsFeature": "true"}, True),
        (
            {
                "delta.enableMaterializePartitionColumnsFeature": "true",
                "delta.writePartitionColumnsToParquet": "false",
            },
            True,
        ),
    ],
    ids=["unset", "true", "false", "feature", "feature before property"],
)
def test_partition_columns_are_in_files_if_the_table_has_it_so(
    tmp_path: Path, wanted: dict[str, str], is_written: bool
) -> None:
    """protocol: beyond:materialized-partitions.1."""
    root = tmp_path / "t"
    names = ["part", "id", "day"]
    schema = pa.schema([FLAT.field(name) for name in names])
    data = rows(1, 0, 1, 2).select(names)
    table = deltaic.Table.create(
        root,
        schema,
        partition_by=["part", "day"],
        properties={"delta.enableChangeDataFeed": "true", **wanted},
    )
    table.append(data)
    table.append(
        pa.table({"part": pa.array([None], pa.string()), "id": [9], "day": pa.array([None], pa.date32())})
    )
    table.append(rows(1, 2, 4).select(names).set_column(2, "day", pa.array([date(2024, 1, 3)] * 2)))
    table.delete("id = 4")
    expected = ["id", "part", "day"] if is_written else ["id"]
    for version in range(1, 5):
        for index, add in enumerate(of_kind(root, version, "add")):
            assert file_of(root, version, index).schema_arrow.names == expected
            assert set(json.loads(add["stats"])["nullCount"]) == {"id"}
    for cdc in of_kind(root, 4, "cdc"):
        assert set(pq.ParquetFile(root / cdc["path"]).schema_arrow.names) == {*expected, "_change_type"}
    found = table.snapshot().scan().to_arrow().sort_by("id").to_pylist()
    assert [(row["part"], row["id"], row["day"]) for row in found if row["id"] in (0, 9)] == [
        ("a", 0, date(2024, 1, 1)),
        (None, 9, None),
    ]
    feed = table.changes(4).to_arrow().to_pylist()
    assert [(row["part"], row["id"], row["_change_type"]) for row in feed] == [("a", 4, "delete")]


def test_numbers_of_a_materialized_partition_are_of_their_type(tmp_path: Path) -> None:
    root = tmp_path / "t"
    data = pa.table(
        {"id": [1], "n": pa.array([3], pa.int16()), "at": pa.array([10**15], pa.timestamp("us", "UTC"))}
    )
    table = deltaic.Table.create(
        root,
        data.schema,
        partition_by=["n", "at"],
        properties={"delta.writePartitionColumnsToParquet": "true"},
    )
    table.append(data)
    assert pq.ParquetFile(root / unquote(of_kind(root, 1, "add")[0]["path"])).read().to_pylist() == [
        {"id": 1, "n": 3, "at": data["at"][0].as_py()}
    ]
    assert statistics(root, 1)["nullCount"] == {"id": 0}
