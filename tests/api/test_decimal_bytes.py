"""Decimals that a file stores as bytes of fixed length: the rows are those that pyarrow reads."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

ROWS = 2_000


def numbers(precision: int, scale: int) -> pa.Array:
    """Returns numbers of both signs up to the largest, with NULLs."""
    most = 10**precision - 1
    values = [(-1) ** row * (most // (row + 1)) for row in range(ROWS)]
    exact = [None if row % 7 == 3 else Decimal(f"{value}E-{scale}") for row, value in enumerate(values)]
    return pa.array(exact, pa.decimal128(precision, scale))


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_every_precision(tmp_path: Path, use_dictionary: bool) -> None:
    columns = {f"c{precision}": numbers(precision, precision // 3) for precision in range(1, 39)}
    rows = pa.table({"id": pa.array(range(ROWS), pa.int64()), **columns})
    pq.write_table(rows, tmp_path / "f.parquet", use_dictionary=use_dictionary, row_group_size=700)
    deltaic.Table.convert(tmp_path)
    snapshot = deltaic.Table(tmp_path).snapshot()
    assert snapshot.scan().to_arrow().sort_by("id").equals(rows)
    for predicate in ("c9 > 1", "c30 < 0 AND id > 50", "c38 IS NULL"):
        found = snapshot.scan(["id", "c22"], predicate).to_arrow()
        assert found.equals(rows.take(found["id"]).select(["id", "c22"]))
        assert 0 < len(found) < ROWS


def mapped(path: Path, fields: list[tuple[str, int, Any]]) -> Any:
    """Returns a scan of a table mapped by id; its file has columns of these names, at places of the table."""
    types = {"a": pa.decimal128(10, 2), "b": pa.decimal128(12, 4), "c": pa.string()}
    properties = {"delta.columnMapping.mode": "id"}
    table = deltaic.Table.create(path, pa.schema(list(types.items())), properties=properties)
    table.append(pa.table({name: pa.nulls(1, type_) for name, type_ in types.items()}))
    [file] = path.glob("**/*.parquet")
    ids = [field.metadata[b"PARQUET:field_id"] for field in pq.read_schema(file)]
    schema = [pa.field(name, of.type, metadata={"PARQUET:field_id": ids[at]}) for name, at, of in fields]
    pq.write_table(pa.Table.from_arrays([of for _, _, of in fields], schema=pa.schema(schema)), file)
    log = path / "_delta_log" / f"{1:020}.json"
    actions = [json.loads(line) for line in log.read_text().splitlines()]
    for add in (action["add"] for action in actions if "add" in action):
        add.update(size=file.stat().st_size)
        del add["stats"]
    log.write_text("\n".join(map(json.dumps, actions)))
    log.with_suffix(".crc").unlink()
    return deltaic.Table(path).snapshot().scan


def test_columns_of_one_name_in_a_file_that_is_mapped_by_id(tmp_path: Path) -> None:
    a, b = numbers(10, 2), numbers(12, 4)
    texts = pa.array([f"text {row}" for row in range(ROWS)])
    expected = {"a": a, "b": b, "c": texts}
    for at, fields in enumerate(
        (
            [("x", 0, a), ("x", 1, b), ("y", 2, texts)],
            [("x", 0, a), ("z", 1, b), ("x", 2, texts)],
            [("x", 1, b), ("x", 2, texts), ("x", 0, a)],
        )
    ):
        scan = mapped(tmp_path / str(at), fields)
        for columns in (["a", "b", "c"], ["a"], ["b"], ["c"], ["c", "a"]):
            found = scan(columns).to_arrow()
            assert found.equals(pa.table({name: expected[name] for name in columns}))
