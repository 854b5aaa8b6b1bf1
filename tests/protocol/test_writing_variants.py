"""Section *Variant Data Type* for writers: valid variants are written unshredded, whatever they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import of_kind, statistics

from .handmade_variants import IN_A_FILE, STORED, part, shredded
from .naive_variant import encode, to_json
from .naive_variant import metadata as dictionary
from .variant_rows import NESTED, expected, made, nested_rows, rows, texts, variants

VALUES: list[Any] = [{"a": 1, "b": [True, None, "x"]}, [], None, "text", 1.5, {"deep": {"er": [{"z": -7}]}}]


def test_a_table_is_created_from_a_schema_with_variants(tmp_path: Path) -> None:
    """protocol: beyond:variant.1."""
    table = made(tmp_path / "t")
    snapshot = table.snapshot()
    assert "variantType" in snapshot.protocol.reader_features & snapshot.protocol.writer_features
    assert (
        json.loads(of_kind(tmp_path / "t", 0, "metaData")[0]["schemaString"])["fields"][1]["type"]
        == "variant"
    )


@pytest.mark.parametrize(
    "kind",
    [
        STORED,
        IN_A_FILE,
        pa.struct([("value", pa.large_binary()), ("metadata", pa.large_binary())]),
        pa.struct([("value", pa.binary_view()), ("metadata", pa.binary_view())]),
    ],
    ids=["storage", "as in files", "large", "views"],
)
def test_variants_are_written_unshredded(tmp_path: Path, kind: pa.DataType) -> None:
    """protocol: beyond:variant.2, beyond:variant.4, beyond:variant.5."""
    root = tmp_path / "t"
    table = made(root)
    table.append(rows(list(range(6)), variants(VALUES, kind)))
    assert texts(table) == expected(VALUES)
    [add] = of_kind(root, 1, "add")
    schema = pq.ParquetFile(root / add["path"]).schema
    names = sorted(schema.column(index).path for index in range(len(schema.names)))
    assert names == ["id", "v.metadata", "v.value"]
    # The group is optional, its parts are required.
    levels = {schema.column(i).path: schema.column(i).max_definition_level for i in range(3)}
    assert levels["v.metadata"] == levels["v.value"] == 1
    stats = statistics(root, 1)
    assert stats["nullCount"] == {"id": 0, "v": 1}
    assert set(stats["minValues"]) == set(stats["maxValues"]) == {"id"}


def test_the_group_is_annotated_as_a_variant(tmp_path: Path) -> None:
    """Readers recognize it without the table."""
    root = tmp_path / "t"
    made(root).append(rows([1], variants([1])))
    [add] = of_kind(root, 1, "add")
    assert "Variant" in str(pq.ParquetFile(root / add["path"]).schema)


def test_shredded_variants_are_written_unshredded(tmp_path: Path) -> None:
    """protocol: beyond:variant.4."""
    root = tmp_path / "t"
    words = dictionary(["a", "b"])
    kind = shredded(pa.field("typed_value", pa.struct([("a", part(pa.int64()))])))
    column = pa.array(
        [
            {
                "metadata": words,
                "value": encode({"b": "x"}, ["a", "b"]),
                "typed_value": {"a": {"value": None, "typed_value": 1}},
            },
            None,
            {"metadata": words, "value": encode([1]), "typed_value": None},
        ],
        kind,
    )
    table = made(root)
    table.append(rows([0, 1, 2], column))
    assert texts(table) == ['{"a":1,"b":"x"}', None, "[1]"]
    [add] = of_kind(root, 1, "add")
    assert "typed_value" not in str(pq.ParquetFile(root / add["path"]).schema)


@pytest.mark.parametrize(
    "value",
    [
        {"metadata": b"", "value": b"\x00"},
        {"metadata": b"\x01\x00\x00", "value": b""},
        {"metadata": b"\x01\x00\x00", "value": b"\x02\x01\x00\x00"},
        {"metadata": None, "value": b"\x00"},
        {"metadata": b"\x01\x01\x00\x09a", "value": b"\x00"},
    ],
    ids=["no metadata", "no value", "cut off", "NULL metadata", "names beyond the end"],
)
def test_a_damaged_variant_is_refused(tmp_path: Path, value: dict[str, Any]) -> None:
    kind = pa.struct([("metadata", pa.binary()), ("value", pa.binary())])
    root = tmp_path / "t"
    table = made(root)
    good = variants([1], kind)
    with pytest.raises(deltaic.SchemaMismatch, match="invalid variant") as raised:
        table.append(rows([1, 2], pa.concat_arrays([good, pa.array([value], kind)])))
    assert raised.value.context["field"] == "v"
    assert table.snapshot().version == 0
    assert not list(root.rglob("*.parquet"))
    # Where the group is NULL, its bytes are of no meaning.
    nothing = pa.StructArray.from_arrays(
        [pa.array([b"junk"]), pa.array([b""])], fields=list(kind), mask=pa.array([True])
    )
    table.append(rows([3], nothing))
    assert texts(table) == [None]


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.struct([("metadata", pa.binary())]),
        pa.struct([("metadata", pa.binary()), ("value", pa.binary()), ("more", pa.int8())]),
        pa.struct([("metadata", pa.binary()), ("value", pa.int64())]),
    ],
    ids=str,
)
def test_what_is_no_variant_is_refused(tmp_path: Path, kind: pa.DataType) -> None:
    table = made(tmp_path / "t")
    column = pa.array([None], kind)
    with pytest.raises(deltaic.SchemaMismatch, match="variant"):
        table.append(
            pa.table(
                {
                    "id": pa.array([1], pa.int64()),
                    "v": pa.array([{"value": 1, "metadata": b""}], kind)
                    if pa.types.is_struct(kind) and kind.num_fields == 2
                    else column,
                }
            )
        )
    assert table.snapshot().version == 0


@pytest.mark.parametrize("mode", ["none", "name", "id"])
def test_nested_variants_are_written(tmp_path: Path, mode: str) -> None:
    """protocol: beyond:variant.1, beyond:variant.2, beyond:variant.5."""
    root = tmp_path / "t"
    data = nested_rows([1, 2])
    # Arrays lose the extension type of a map's values in pyarrow.
    table = deltaic.Table.create(root, NESTED, properties={"delta.columnMapping.mode": mode})
    table.append(data)
    found = table.snapshot().scan(variant="json").to_arrow().to_pylist()
    one = '{"k":[1,"x"]}'
    assert found[0] == {"id": 1, "s": {"v": one}, "l": [one, None, "null"], "m": [("a", one), ("b", None)]}
    assert found[1]["id"] == 2


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_rows_with_variants_are_deleted_updated_and_recorded(tmp_path: Path, vectors: str) -> None:
    """protocol: beyond:variant.2."""
    root = tmp_path / "t"
    table = made(root, **{"delta.enableDeletionVectors": vectors, "delta.enableChangeDataFeed": "true"})
    table.append(rows(list(range(6)), variants(VALUES)))
    table.delete("id = 1")
    table.update({"id": "id + 10"}, "v IS NULL")
    table.overwrite(rows([5], variants([{"new": 1}])), where="id = 5")
    kept = [VALUES[0], VALUES[3], VALUES[4], {"new": 1}, None]
    assert texts(table) == expected(kept)
    found = [
        (
            row["_commit_version"],
            row["_change_type"],
            row["id"],
            to_json(row["v"]["metadata"], row["v"]["value"]),
        )
        for row in table.changes(2).to_arrow().to_pylist()
        if row["v"] is not None
    ]
    text = expected(VALUES)
    assert sorted(found) == [(2, "delete", 1, "[]"), (4, "delete", 5, text[5]), (4, "insert", 5, '{"new":1}')]


def test_files_of_other_engines_are_not_added(tmp_path: Path) -> None:
    """Their variants may be shredded or invalid."""
    table = made(tmp_path / "t")
    with pytest.raises(deltaic.UnsupportedFeature, match="variants"), table.transaction() as tx:
        tx.add([{"path": "a.parquet", "size": 1, "modification_time": 1}])
