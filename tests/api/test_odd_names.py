"""Names that expressions must quote work in everything that deltaic derives from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

NAMES = [
    "2024",
    "90d_avg",
    "1st",
    "1e5",
    "007",
    "select",
    "from",
    "null",
    "true",
    "a b",
    "a.b",
    "ü",
    "x`y",
    "it's",
]


def properties(name: str) -> dict[str, str]:
    """Column mapping for a name that a Parquet file cannot have without it."""
    return {"delta.columnMapping.mode": "name"} if " " in name else {}


def rows(table: deltaic.Table) -> list[dict[str, Any]]:
    return table.to_arrow().sort_by("k").to_pylist()


@pytest.mark.parametrize("mode", ["keep", "merge"])
@pytest.mark.parametrize("name", NAMES)
def test_merges_of_all_columns(root: Path, name: str, mode: Any) -> None:
    table = deltaic.write(root, pa.table({"k": [1], name: [1]}), properties=properties(name))
    source = pa.table({"k": [1, 2], name: [5, 6]})
    merge = table.merge(source, "target.k = source.k", schema_mode=mode)
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    assert rows(table) == [{"k": 1, name: 5}, {"k": 2, name: 6}]


@pytest.mark.parametrize("name", NAMES)
def test_aliases(root: Path, name: str) -> None:
    quoted = f"`{name.replace('`', '``')}`"
    table = deltaic.write(root, pa.table({"k": [1], "n": [1]}))
    source = pa.table({"k": [1, 2], "n": [5, 6]})
    merge = table.merge(source, f"target.k = {quoted}.k", source_alias=name)
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    assert rows(table) == [{"k": 1, "n": 5}, {"k": 2, "n": 6}]


@pytest.mark.parametrize("name", NAMES)
def test_fields_of_structs(root: Path, name: str) -> None:
    quoted = f"`{name.replace('`', '``')}`"
    kind = pa.struct([(name, pa.int64()), ("other", pa.int64())])
    values = pa.array([{name: 1, "other": 7}], kind)
    table = deltaic.write(root, pa.table({"k": [1], "s": values}), properties=properties(name))
    table.update({f"s.{quoted}": f"s.{quoted} + 1"}, f"s.{quoted} = 1")
    source = pa.table({"k": [1], "s": values})
    table.merge(source, "target.k = source.k").when_matched_update({f"s.{quoted}": "9"}).execute()
    assert rows(table) == [{"k": 1, "s": {name: 9, "other": 7}}]


@pytest.mark.parametrize("name", NAMES)
def test_generated_columns_and_constraints(root: Path, name: str) -> None:
    quoted = f"`{name.replace('`', '``')}`"
    columns = [
        deltaic.Column("k", "bigint"),
        deltaic.Column(name, "bigint", generated="k + 1"),
        deltaic.Column("sum", "bigint", generated="k + 2"),
    ]
    constraints = {"positive": f"{quoted} > 0"}
    table = deltaic.Table.create(root, columns, constraints=constraints, properties=properties(name))
    table.append(pa.table({"k": [1]}))
    table.append(pa.table({"k": [2], name: [3]}))
    table.update({"k": "k + 1"}, f"{quoted} = 2")
    assert [row[name] for row in table.to_arrow().sort_by("k").to_pylist()] == [3, 3]
    with pytest.raises(deltaic.ConstraintViolation):
        table.append(pa.table({"k": [-5]}))
