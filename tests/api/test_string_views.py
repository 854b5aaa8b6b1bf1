"""Scans whose strings are views: the rows are those of other scans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

TEXTS = ["", "short", "a text of more than twelve bytes", "ü" * 20, None]
ROWS = pa.table(
    {
        "id": pa.array(range(1000), pa.int64()),
        "part": ["one", "two with many characters"] * 500,
        "text": [TEXTS[number % 5] for number in range(1000)],
        "each": [f"the value of row {number}" for number in range(1000)],
        "blob": pa.array([b"bytes of some length" * (number % 3) for number in range(1000)], pa.binary()),
        "nested": [{"text": TEXTS[number % 5]} for number in range(1000)],
    }
)
PROPERTIES: list[dict[str, str]] = [
    {},
    {"delta.columnMapping.mode": "name"},
    {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
    {"delta.parquet.compression.codec": "uncompressed"},
]


def as_text(table: Any) -> pa.Table:
    """Returns the rows in order, with strings that pyarrow can sort and compare."""
    names = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    schema = pa.schema([field.with_type(names.get(field.type, field.type)) for field in table.schema])
    return table.cast(schema).sort_by("id")


@pytest.mark.parametrize("properties", PROPERTIES)
def test_views_have_the_same_rows(tmp_path: Path, properties: dict[str, str]) -> None:
    table = deltaic.Table.create(tmp_path / "t", ROWS.schema, partition_by=["part"], properties=properties)
    table.append(ROWS)
    table.delete("id % 7 = 3")
    snapshot = table.snapshot()
    for asked in (
        {},
        {"predicate": "id > 100 AND text = 'short'"},
        {"predicate": "each LIKE '%9'", "columns": ["id", "part", "each"]},
        {"limit": 10, "predicate": "id < 10"},
        {"row_ids": True} if "delta.enableRowTracking" in properties else {"positions": True},
    ):
        views = snapshot.scan(strings="view", **asked)
        found = views.to_arrow()
        other = snapshot.scan(**asked).to_arrow()
        assert as_text(found).equals(as_text(other))
        for field in other.schema:
            kinds = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}
            assert found.schema.field(field.name).type == kinds.get(field.type, field.type)
        assert as_text(pa.table(views)).equals(as_text(other))
        tasks = [pa.table(task) for task in views.tasks()]
        if "limit" not in asked:
            assert as_text(pa.concat_tables(tasks)).equals(as_text(other))


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_few_rows_do_not_keep_whole_pages(tmp_path: Path, use_dictionary: bool) -> None:
    texts = [f"{number} {'x' * 200}" for number in range(20_000)]
    pq.write_table(
        pa.table({"id": range(20_000), "text": texts}), tmp_path / "f.parquet", use_dictionary=use_dictionary
    )
    deltaic.Table.convert(tmp_path)
    table = deltaic.Table(tmp_path)
    table.alter(deltaic.alter.SetProperties({"delta.enableDeletionVectors": "true"}))
    table.delete("id % 1000 > 0")
    found = table.snapshot().scan(strings="view").to_arrow()
    assert found.num_rows == 20
    assert found.nbytes < 100_000


def test_a_requested_schema_decides_on_the_form_of_strings(tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "t", ROWS.schema)
    table.append(ROWS)
    scan = table.snapshot().scan()
    kinds = {pa.string(): pa.string_view(), pa.binary(): pa.binary_view()}
    own = scan.to_arrow().schema
    views = pa.schema([field.with_type(kinds.get(field.type, field.type)) for field in own])
    both = own.set(3, own.field(3).with_type(pa.string_view()))
    others = views.set(0, pa.field("id", pa.int32()))
    large = own.set(2, own.field(2).with_type(pa.large_string()))
    for source in (scan, table.snapshot().scan(strings="view")):
        for consumed in (source, source.tasks()[0]):
            for requested in (own, views, both, others, large):
                found = pa.RecordBatchReader.from_stream(consumed, schema=requested).read_all()
                assert found.schema.equals(requested)
                assert as_text(found).equals(as_text(ROWS.cast(as_text(found).schema)))
                if requested is views:
                    # Decoded so: a cast would copy the text of each row.
                    [text] = found["text"].chunks
                    assert sum(buffer.size for buffer in text.buffers()[2:]) < 200


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_a_value_that_ends_within_a_character(tmp_path: Path, encoding: str) -> None:
    halves = pa.array([b"abc\xc3", b"\xa9 and more than 12 bytes"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 2, halves.buffers())
    rows = pa.table({"id": [1, 2], "text": texts})
    file = tmp_path / "f.parquet"
    pq.write_table(
        rows, file, use_dictionary=False, write_statistics=False, column_encoding={"text": encoding}
    )
    deltaic.Table.convert(tmp_path)
    table = deltaic.Table(tmp_path)
    asked: list[dict[str, str]] = [{}, {"strings": "view"}, {"predicate": "id > 1"}]
    asked.append({"predicate": "text IS NOT NULL"})
    for each in asked:
        with pytest.raises(deltaic.CorruptData, match="UTF-8"):
            table.snapshot().scan(**each).to_arrow()  # pyright: ignore[reportArgumentType]
    with pytest.raises(deltaic.CorruptData, match="UTF-8"):
        table.snapshot().scan().to_polars()


def test_texts_with_another_annotation(tmp_path: Path) -> None:
    texts = ['{"a": 1}', '"ü"', None]
    rows = pa.table({"text": pa.array(texts, pa.json_())})
    pq.write_table(rows, tmp_path / "f.parquet", store_schema=False)
    deltaic.Table.convert(tmp_path)
    snapshot = deltaic.Table(tmp_path).snapshot()
    assert snapshot.scan().to_arrow()["text"].to_pylist() == texts
    assert snapshot.scan(strings="view").to_arrow()["text"].to_pylist() == texts


def test_padded_texts(tmp_path: Path) -> None:
    column = deltaic.Column("text", "char(20)")
    table = deltaic.Table.create(tmp_path / "t", [deltaic.Column("id", "bigint"), column])
    table.append(pa.table({"id": [1], "text": ["ab"]}))
    found = table.snapshot().scan(strings="view").to_arrow()
    assert found["text"].to_pylist() == ["ab".ljust(20)]
    assert found.schema.field("text").type == pa.string_view()


def test_another_form(tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "t", ROWS.schema)
    with pytest.raises(ValueError, match='as "utf8" or as "view", not as "views"'):
        table.snapshot().scan(strings="views")  # pyright: ignore[reportArgumentType]


def test_polars_gets_views(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="missing: polars")
    table = deltaic.Table.create(tmp_path / "t", ROWS.schema)
    table.append(ROWS)
    frame = table.snapshot().scan().to_polars()
    assert frame.sort("id").equals(polars.DataFrame(ROWS))
