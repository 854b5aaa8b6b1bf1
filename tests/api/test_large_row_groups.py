"""Large row groups, which several threads read if there are fewer files than cores: rows and their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import deltaic

ROWS = 300_000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "text": pc.binary_join_element_wise("text", pa.array(range(ROWS)).cast(pa.string()), " "),
        "few": pa.array([f"value {row % 50}" if row % 11 else None for row in range(ROWS)]),
        "price": pa.array(range(ROWS), pa.int32()).cast(pa.decimal128(20, 2)),
    }
)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("write_page_index", [False, True])
def test_rows_and_their_order(tmp_path: Path, version: Any, write_page_index: bool) -> None:
    pq.write_table(
        TABLE,
        tmp_path / "f.parquet",
        row_group_size=ROWS,
        data_page_version=version,
        data_page_size=50_000,
        write_page_index=write_page_index,
    )
    deltaic.Table.convert(tmp_path)
    table = deltaic.Table(tmp_path)
    snapshot = table.snapshot()
    assert snapshot.scan().to_arrow().equals(TABLE)
    assert snapshot.scan(limit=150_000).to_arrow().equals(TABLE.slice(0, 150_000))
    found = snapshot.scan(["id"], "few = 'value 7'", positions=True).to_arrow()
    expected = TABLE.filter(pc.equal(TABLE["few"], "value 7"))["id"]
    assert found["id"].equals(expected)
    assert found["_file_position"].cast(pa.int64()).equals(expected)
    table.alter(deltaic.alter.SetProperties({"delta.enableDeletionVectors": "true"}))
    table.delete("id % 3 = 0 AND id > 100000")
    left = TABLE.filter(
        pc.or_(
            pc.less_equal(TABLE["id"], 100_000),
            pc.equal(pc.is_in(TABLE["id"], pa.array(range(0, ROWS, 3))), False),
        )
    )
    assert table.snapshot().scan().to_arrow().equals(left)
