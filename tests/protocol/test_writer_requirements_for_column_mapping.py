"""Heading *Writer Requirements for Column Mapping*: the largest column id."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import AddColumn, DropColumn, SetProperties
from tests.api.log_files import of_kind

LARGEST = "delta.columnMapping.maxColumnId"


def test_the_largest_id_increases_with_new_columns_and_is_not_for_users(tmp_path: Path) -> None:
    """protocol: writer-requirements-for-column-mapping.2, writer-requirements-for-column-mapping.3."""
    root = tmp_path / "t"
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    table = deltaic.Table.create(root, schema, properties={"delta.columnMapping.mode": "name"})
    table.alter(AddColumn("c", "int"))
    table.alter(DropColumn("c"))
    table.alter(AddColumn("d", "int"))
    metadata = [of_kind(root, version, "metaData")[0] for version in range(4)]
    assert [body["configuration"][LARGEST] for body in metadata] == ["2", "3", "3", "4"]
    with pytest.raises((deltaic.DeltaicError, ValueError), match="maxColumnId"):
        table.alter(SetProperties({LARGEST: "9"}))
    assert table.snapshot().version == 3
