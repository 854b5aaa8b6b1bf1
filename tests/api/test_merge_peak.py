"""A merge whose rows do not fit in memory: its peak, and values that are generated for rows.

`benches/python/merge_memory.py` measures 20 million rows, by the operating system.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.damage.counting import cost_of

MIB = 1 << 20
BUDGET = 16 * MIB
ROWS = 500_000
SCHEMA = pa.schema([("id", pa.int64()), ("value", pa.float64()), ("text", pa.string())])


def stream(first: int, text: str) -> Iterator[pa.RecordBatch]:
    """Yields rows with ids in an order without runs."""
    for start in range(0, ROWS, 50_000):
        # A permutation, because the factor is a prime that does not divide the number of rows.
        ids = [first + number * 48_271 % ROWS for number in range(start, start + 50_000)]
        columns = [ids, [id_ * 0.5 for id_ in ids], [f"{text} {id_}" for id_ in ids]]
        yield pa.record_batch(columns, schema=SCHEMA)


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_memory_does_not_grow_with_the_source(root: Path, vectors: str) -> None:
    """Half a million rows, of 60 MiB with their index, are merged into half a million rows."""
    table = deltaic.Table.create(root, SCHEMA, properties={"delta.enableDeletionVectors": vectors})
    table.append(pa.RecordBatchReader.from_batches(SCHEMA, stream(0, "old")))
    merge = table.merge(
        pa.RecordBatchReader.from_batches(SCHEMA, stream(ROWS // 2, "new")), "target.id = source.id"
    )
    merge = merge.when_matched_update_all().when_not_matched_insert_all()
    cost = cost_of(lambda: merge.execute(memory=BUDGET))
    # Scans have queues besides.
    assert cost.peak < 2 * BUDGET
    found = table.snapshot().scan(["id", "text"]).to_arrow()
    texts = dict(zip(found["id"].to_pylist(), found["text"].to_pylist(), strict=True))
    assert len(texts) == found.num_rows == 3 * ROWS // 2
    assert all(text == f"{'old' if id_ < ROWS // 2 else 'new'} {id_}" for id_, text in texts.items())


WIDE = "x" * 20_000


@pytest.mark.parametrize(
    ("on", "merged"),
    [
        # Without a key every row of the source is compared with every row of the table.
        ("target.id <= source.id and target.id >= source.id", {"value": "source.value"}),
        ("target.id <= source.id and target.id >= length(source.text) - 20000 + source.id", {}),
        # All rows of the table match one row of the source.
        ("target.part = source.id", {"value": "source.value"}),
        ("target.part = source.id", {"value": "length(source.text)"}),
        ("target.part = source.id", {}),
        ("target.part = source.id and length(source.text) > 3", {"value": "source.value"}),
    ],
)
def test_memory_does_not_grow_with_copies_of_wide_rows(root: Path, on: str, merged: dict[str, str]) -> None:
    """The rows of the source have 1 MiB together; each is compared with many rows of the table."""
    ids = list(range(20_000))
    target = {"id": ids, "part": [0] * len(ids), "value": [0.0] * len(ids)}
    table = deltaic.Table.create(root, pa.table(target).schema)
    table.append(pa.table(target))
    source = pa.table({"id": list(range(50)), "value": [1.0] * 50, "text": [WIDE] * 50})
    merge = table.merge(source, on)
    if merged:
        merge = merge.when_matched_update(merged)
    else:
        merge = merge.when_matched_delete("length(source.text) > source.value")
    cost = cost_of(lambda: merge.execute(memory=BUDGET))
    assert cost.peak < 3 * BUDGET
    found = table.snapshot().scan().to_arrow()
    matched = 50 if "target.id" in on else len(ids)
    assert found.num_rows == len(ids) - (0 if merged else matched)
    new = 20_000 if "length(source.text)" in merged.values() else 1
    assert sum(found["value"].to_pylist()) == (matched * new if merged else 0)


def test_memory_does_not_grow_with_inserts_of_wide_rows(root: Path) -> None:
    """Rows of 16 MiB that have copies in several columns are inserted."""
    table = deltaic.Table.create(
        root, pa.schema([("id", pa.int64()), ("a", pa.string()), ("b", pa.string())])
    )
    source = pa.table({"id": list(range(800)), "text": [WIDE] * 800})
    merge = table.merge(source, "target.id = source.id and target.a <> source.text")
    merge = merge.when_not_matched_insert(
        {"id": "id", "a": "text", "b": "concat(text, text)"}, "length(text) > id"
    )
    cost = cost_of(lambda: merge.execute(memory=4 * BUDGET))
    assert cost.peak < 6 * BUDGET
    lengths = {
        (len(a), len(b)) for a, b in table.to_arrow().select(["a", "b"]).to_pandas().itertuples(index=False)
    }
    assert lengths == {(20_000, 40_000)}


def test_generated_identities_are_distinct(root: Path) -> None:
    """Rows that wait in temporary files are inserted in any order, each with a value of its own."""
    identity = deltaic.Identity(start=10, step=5)
    columns = [
        deltaic.Column("key", "bigint", identity=identity),
        deltaic.Column("id", "bigint"),
        deltaic.Column("text", "string"),
    ]
    table = deltaic.Table.create(root, columns)
    table.append(pa.table({"id": [1, 2], "text": ["old", "old"]}))
    ids = list(range(2, 20_002))
    source = pa.table({"id": ids, "text": ["new"] * len(ids)})
    merge = table.merge(source, "target.id = source.id").when_matched_update({"text": "source.text"})
    merge.when_not_matched_insert({"id": "id", "text": "text"}).execute(memory=MIB)
    found = table.snapshot().scan().to_arrow()
    assert sorted(found["key"].to_pylist()) == [10 + 5 * row for row in range(20_001)]
    assert sorted(found["id"].to_pylist()) == list(range(1, 20_002))
    table.append(pa.table({"id": [0], "text": ["last"]}))
    keys = table.snapshot().scan(["key"]).to_arrow()["key"].to_pylist()
    assert len(set(keys)) == len(keys)
