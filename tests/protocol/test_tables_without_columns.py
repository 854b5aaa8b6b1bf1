"""Tables that have no columns yet, created before their schema was known."""

from __future__ import annotations

from pathlib import Path

import pytest

import deltaic

from .handmade_log import HandmadeTable, add, field, ids, metadata, protocol, schema


@pytest.mark.parametrize("how", ["absent", "null"])
def test_metadata_without_a_schema_have_no_columns(tmp_path: Path, how: str) -> None:
    """The protocol requires a schema; a table created before its columns were known has none, and opens."""
    body = {key: value for key, value in metadata()["metaData"].items() if key != "schemaString"}
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(), {"metaData": {**body, **({"schemaString": None} if how == "null" else {})}})
    table.commit(add("a.parquet"))
    handle = deltaic.Table(table.root)
    assert handle.snapshot().schema.names == []
    assert handle.snapshot().num_files == 1
    with pytest.raises(deltaic.DeltaicError):
        handle.append(ids(1))
    table.commit(metadata(schema(field("id"))))
    assert handle.snapshot().schema.names == ["id"]


def test_a_schema_of_no_fields_has_no_columns(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"), schema_string=schema())
    snapshot = deltaic.Table(table.root).snapshot()
    assert (snapshot.schema.names, snapshot.num_files) == ([], 1)
    with pytest.raises(deltaic.DeltaicError):
        deltaic.Table(table.root).append(ids(1))
