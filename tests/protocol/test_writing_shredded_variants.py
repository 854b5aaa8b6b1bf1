"""Section *Variant Shredding* for writers: only if the property says so, and read back equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import SetProperties
from tests.api.log_files import of_kind, statistics

from .variant_rows import NESTED, expected, made, nested_rows, rows, texts, variants

SHREDS = {"delta.enableVariantShredding": "true"}
VALUES: list[Any] = [
    {"a": 1, "b": "x", "deep": {"er": 1.5}},
    {"a": 2, "b": None, "more": [1]},
    {"a": "text", "b": "q", "deep": {"er": 2.5, "other": True}},
    None,
    [1, 2],
    {"a": 3, "b": "z"},
]


def columns(root: Path, version: int) -> list[str]:
    [add] = of_kind(root, version, "add")
    schema = pq.ParquetFile(root / add["path"]).schema
    return [schema.column(index).path for index in range(len(schema.names))]


def test_fields_that_most_rows_have_are_typed(tmp_path: Path) -> None:
    """protocol: beyond:variant-shredding.1, beyond:variant-shredding.2."""
    root = tmp_path / "t"
    table = made(root, **SHREDS)
    features = table.snapshot().protocol
    assert "variantShredding" in features.reader_features & features.writer_features
    table.append(rows(list(range(6)), variants(VALUES)))
    assert texts(table) == expected(VALUES)
    typed = [path for path in columns(root, 1) if path.endswith("typed_value")]
    assert typed == ["v.typed_value.a.typed_value", "v.typed_value.b.typed_value"]
    assert statistics(root, 1)["nullCount"] == {"id": 0, "v": 1}
    assert set(statistics(root, 1)["minValues"]) == {"id"}


@pytest.mark.parametrize("values", [[1, 2, 3], ["a", "b"], [True, False, None], [1.5, 2.5, {}]], ids=str)
def test_values_of_one_type_are_typed(tmp_path: Path, values: list[Any]) -> None:
    root = tmp_path / "t"
    table = made(root, **SHREDS)
    table.append(rows(list(range(len(values))), variants(values)))
    assert "v.typed_value" in columns(root, 1)
    assert texts(table) == expected(values)


def test_without_the_property_nothing_is_shredded(tmp_path: Path) -> None:
    """protocol: beyond:variant.4, beyond:variant-shredding.2."""
    root = tmp_path / "t"
    table = made(root, **{"delta.feature.variantShredding": "supported"})
    table.append(rows(list(range(6)), variants(VALUES)))
    assert columns(root, 1) == ["id", "v.metadata", "v.value"]
    table.alter(SetProperties(SHREDS))
    table.append(rows(list(range(6, 12)), variants(VALUES)))
    assert "v.typed_value.a.typed_value" in columns(root, 3)
    table.alter(SetProperties({"delta.enableVariantShredding": "false"}))
    table.append(rows(list(range(12, 18)), variants(VALUES)))
    assert columns(root, 5) == ["id", "v.metadata", "v.value"]
    assert texts(table) == expected(VALUES) * 3


def test_variants_in_structs_are_shredded_and_those_in_collections_are_not(tmp_path: Path) -> None:
    root = tmp_path / "t"
    properties = {**SHREDS, "delta.columnMapping.mode": "name"}
    table = deltaic.Table.create(root, NESTED, properties=properties)
    table.append(nested_rows([1, 2]))
    fields = json.loads(of_kind(root, 0, "metaData")[0]["schemaString"])["fields"]
    names = {field["name"]: field["metadata"]["delta.columnMapping.physicalName"] for field in fields}
    typed = [path for path in columns(root, 1) if "typed_value" in path]
    assert not typed or all(path.startswith(names["s"]) for path in typed)
    found = table.snapshot().scan(variant="json").to_arrow().to_pylist()
    one = '{"k":[1,"x"]}'
    assert found[0] == {"id": 1, "s": {"v": one}, "l": [one, None, "null"], "m": [("a", one), ("b", None)]}


def test_rows_of_shredded_files_change(tmp_path: Path) -> None:
    """protocol: beyond:variant-shredding.1."""
    root = tmp_path / "t"
    table = made(root, **SHREDS, **{"delta.enableChangeDataFeed": "true"})
    table.append(rows(list(range(6)), variants(VALUES)))
    table.delete("id = 1")
    table.update({"id": "id + 10"}, "id = 0")
    assert texts(table) == expected([*VALUES[2:], VALUES[0]])
    feed = table.changes(2).to_arrow()
    assert sorted(feed["_change_type"].to_pylist()) == ["delete", "update_postimage", "update_preimage"]
