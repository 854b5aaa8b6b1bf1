"""Writer Requirements for Column Mapping: files, partition values and statistics have physical names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import AddColumn, DropColumn, RenameColumn
from tests.api.log_files import of_kind

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("part", pa.string()),
        ("s", pa.struct([("x", pa.int32()), ("deep", pa.struct([("y", pa.string())]))])),
        ("l", pa.list_(pa.struct([("z", pa.int64())]))),
        ("m", pa.map_(pa.string(), pa.int32())),
    ]
)
MODES = ["name", "id"]


def rows(*ids: int) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "id": i,
                "part": "ab"[i % 2],
                "s": {"x": i, "deep": {"y": f"y{i}"}},
                "l": [{"z": i}, {"z": None}],
                "m": [("k", i)],
            }
            for i in ids
        ],
        SCHEMA,
    )


def made(root: Path, mode: str, *, by: list[str] | None = None, **properties: str) -> deltaic.Table:
    return deltaic.Table.create(
        root, SCHEMA, partition_by=by or [], properties={"delta.columnMapping.mode": mode, **properties}
    )


def fields_of(root: Path, version: int = 0) -> list[dict[str, Any]]:
    [metadata] = of_kind(root, version, "metaData")
    return json.loads(metadata["schemaString"])["fields"]


def physical(field: dict[str, Any]) -> str:
    return field["metadata"]["delta.columnMapping.physicalName"]


def field_ids(schema: pa.Schema) -> dict[str, int]:
    """The field ids of a file by path."""
    found: dict[str, int] = {}

    def visit(field: pa.Field, above: str) -> None:
        path = f"{above}{field.name}"
        if field.metadata and b"PARQUET:field_id" in field.metadata:
            found[path] = int(field.metadata[b"PARQUET:field_id"])
        kind = field.type
        if pa.types.is_struct(kind):
            for index in range(kind.num_fields):
                visit(kind.field(index), f"{path}.")
        elif pa.types.is_list(kind):
            visit(kind.value_field, f"{path}.")

    for field in schema:
        visit(field, "")
    return found


@pytest.mark.parametrize("mode", MODES)
def test_files_have_physical_names_and_ids(tmp_path: Path, mode: str) -> None:
    """protocol: struct-field.1."""
    root = tmp_path / "t"
    table = made(root, mode)
    table.append(rows(1, 2))
    [add] = of_kind(root, 1, "add")
    fields = fields_of(root)
    schema = pq.read_schema(root / add["path"])
    assert schema.names == [physical(field) for field in fields]
    ids = field_ids(schema)
    for field in fields:
        assert ids[physical(field)] == field["metadata"]["delta.columnMapping.id"]
    struct = fields[2]["type"]["fields"]
    assert (
        ids[f"{physical(fields[2])}.{physical(struct[0])}"] == struct[0]["metadata"]["delta.columnMapping.id"]
    )
    deep = struct[1]["type"]["fields"][0]
    path = f"{physical(fields[2])}.{physical(struct[1])}.{physical(deep)}"
    assert ids[path] == deep["metadata"]["delta.columnMapping.id"]
    stats = json.loads(add["stats"])
    assert stats["minValues"][physical(fields[0])] == 1
    assert stats["maxValues"][physical(fields[2])][physical(struct[0])] == 2
    assert "id" not in stats["nullCount"]
    assert table.snapshot().scan().to_arrow().sort_by("id") == rows(1, 2)
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("mode", MODES)
def test_partition_values_have_physical_names(tmp_path: Path, mode: str) -> None:
    root = tmp_path / "t"
    table = made(root, mode, by=["part"])
    table.append(rows(1, 2))
    name = physical(fields_of(root)[1])
    adds = of_kind(root, 1, "add")
    assert sorted(add["partitionValues"][name] for add in adds) == ["a", "b"]
    assert {len(add["path"].split("/")[0]) for add in adds} == {2}
    scan = table.snapshot().scan(["id"], "part = 'a'")
    assert scan.to_arrow()["id"].to_pylist() == [2]
    assert len(scan.tasks()) == 1


@pytest.mark.parametrize("mode", MODES)
def test_columns_that_were_renamed_dropped_and_added(tmp_path: Path, mode: str) -> None:
    table = made(tmp_path / "t", mode, by=["part"])
    table.append(rows(1, 2))
    table.alter(RenameColumn("id", "number"), RenameColumn("part", "kind"), DropColumn("m"))
    table.alter(AddColumn("m", pa.string()))
    table.append(pa.table({"number": [3], "kind": ["a"], "m": ["new"]}))
    found = table.snapshot().scan(["number", "kind", "m"]).to_arrow().sort_by("number").to_pylist()
    assert found == [
        {"number": 1, "kind": "b", "m": None},
        {"number": 2, "kind": "a", "m": None},
        {"number": 3, "kind": "a", "m": "new"},
    ]
    assert table.snapshot().scan(["number"], "number > 2").to_arrow()["number"].to_pylist() == [3]
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("by", [[], ["part"]])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"delta.enableDeletionVectors": "true"},
        {"delta.enableChangeDataFeed": "true", "delta.enableRowTracking": "true"},
    ],
)
def test_rows_are_changed(tmp_path: Path, mode: str, by: list[str], properties: dict[str, str]) -> None:
    table = made(tmp_path / "t", mode, by=by, **properties)
    table.append(rows(*range(8)))
    table.alter(RenameColumn("id", "number"))
    table.delete("number IN (1, 2)")
    table.update({"number": "number + 10", "part": "'c'"}, "number = 4")
    new = pa.table({"number": [30], "part": ["b"]})
    table.overwrite(new, "number = 3 OR number = 30")
    found = sorted(table.snapshot().scan(["number"]).to_arrow()["number"].to_pylist())
    assert found == [0, 5, 6, 7, 14, 30]
    if "delta.enableChangeDataFeed" in properties:
        feed = table.changes(3, columns=["number"]).to_arrow().to_pylist()
        changes = sorted((row["_commit_version"], row["_change_type"], row["number"]) for row in feed)
        assert changes == [
            (3, "delete", 1),
            (3, "delete", 2),
            (4, "update_postimage", 14),
            (4, "update_preimage", 4),
            (5, "delete", 3),
            (5, "insert", 30),
        ]
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("mode", MODES)
def test_files_of_other_engines_are_refused(tmp_path: Path, mode: str) -> None:
    root = tmp_path / "t"
    table = made(root, mode)
    pq.write_table(rows(1), root / "given.parquet")
    file = {"path": "given.parquet", "size": (root / "given.parquet").stat().st_size, "modification_time": 1}
    with pytest.raises(deltaic.UnsupportedFeature, match="column mapping"), table.transaction() as tx:
        tx.add([file])
