"""Columns that an update or a merge keeps are copied as they are encoded, if a file is rewritten whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha512
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import alter

ROWS = 12_000
MEMORY = 1 << 20
# Every file is large enough to be copied.
SMALL_TARGET = {"delta.targetFileSize": "300kb"}


def rows() -> pa.Table:
    """Rows of most types, with NULL and NaN."""
    some = [None if row % 10 == 9 else row * 37 % 100 for row in range(ROWS)]
    return pa.table(
        {
            "id": pa.array(range(ROWS), pa.int64()),
            "text": pa.array(
                [None if n is None else sha512(b"%d" % row).hexdigest() for row, n in enumerate(some)]
            ),
            "number": pa.array([float("nan") if n == 7 else n for n in some], pa.float64()),
            "flag": pa.array([None if n is None else n % 2 == 0 for n in some]),
            "part": pa.array([number * 2 // ROWS for number in range(ROWS)], pa.int32()),
            "items": pa.array(
                [None if n is None else list(range(n % 4)) for n in some], pa.list_(pa.int32())
            ),
            "place": pa.array(
                [None if n is None else {"x": n, "name": str(n)} for n in some],
                pa.struct([("x", pa.int32()), ("name", pa.string())]),
            ),
            "value": pa.array(some, pa.int64()),
        }
    )


def write_files(root: Path, properties: Mapping[str, str], partition_by: Sequence[str] = ()) -> deltaic.Table:
    """A table of two files with several row groups."""
    data = rows()
    table = deltaic.Table.create(
        root, data.schema, properties=dict(properties), partition_by=list(partition_by)
    )
    for start in (0, ROWS // 2):
        batches = data.slice(start, ROWS // 2).to_batches(max_chunksize=500)
        table.append(pa.RecordBatchReader.from_batches(data.schema, batches), memory=MEMORY)
    table.alter(alter.SetProperties(SMALL_TARGET))
    assert [pq.read_metadata(path).num_row_groups > 1 for path in files(table)] == [True, True]
    return table


def files(table: deltaic.Table) -> list[Path]:
    root = Path(table.uri.removeprefix("file://"))
    return sorted(root / path for path in table.snapshot().files().to_arrow()["path"].to_pylist())


def chunk_bytes(path: Path, column: str) -> list[bytes]:
    """The encoded chunks of the leaves of a column."""
    about, data = pq.read_metadata(path), path.read_bytes()
    found = []
    for group in range(about.num_row_groups):
        for leaf in range(about.num_columns):
            chunk = about.row_group(group).column(leaf)
            if chunk.path_in_schema.split(".")[0] == column:
                start = chunk.dictionary_page_offset or chunk.data_page_offset
                found.append(data[start : start + chunk.total_compressed_size])
    return found


def expected(change: str = "value") -> pa.Table:
    """The rows after adding 1000 to the values of each third row."""
    data = rows()
    third = pc.equal(pc.subtract(data["id"], pc.multiply(pc.divide(data["id"], 3), 3)), 0)
    changed = pc.if_else(third, pc.add(data[change], 1000), data[change])
    return data.set_column(data.column_names.index(change), change, changed)


def same(found: pa.Table, wanted: pa.Table) -> bool:
    """Whether rows are equal, NaN included."""
    return found.sort_by("id").to_pydict().__repr__() == wanted.sort_by("id").to_pydict().__repr__()


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"delta.enableRowTracking": "true"},
        {"delta.columnMapping.mode": "name"},
        {"delta.enableChangeDataFeed": "true"},
        {"constraint": "value < 5000 OR text IS NULL"},
    ],
    ids=["plain", "row ids", "mapped", "feed", "constraint"],
)
def test_an_update_copies_the_chunks_of_other_columns(
    root: Path, properties: Mapping[str, str], partitioned: bool
) -> None:
    constraint = {**properties}.pop("constraint", None)
    properties = {name: value for name, value in properties.items() if name != "constraint"}
    table = write_files(root, properties, ["part"] if partitioned else [])
    if constraint is not None:
        table.alter(alter.AddConstraint("small", constraint))
    before = {chunk for path in files(table) for chunk in chunk_bytes(path, "text")}
    stats = table.snapshot().files(stats=True).to_arrow()
    commit = table.update({"value": "value + 1000"}, "id % 3 = 0")
    assert commit.metrics["numUpdatedRows"] == (ROWS + 2) // 3
    assert same(table.to_arrow(), expected())
    if "delta.columnMapping.mode" not in properties:
        after = {chunk for path in files(table) for chunk in chunk_bytes(path, "text")}
        assert after == before
    found = table.snapshot().files(stats=True).to_arrow()
    assert found.num_rows == stats.num_rows == 2
    assert sorted(found["num_records"].to_pylist()) == [ROWS // 2] * 2
    for most, nulls in zip(found["max"].to_pylist(), found["null_count"].to_pylist(), strict=True):
        assert most["value"] >= 1000
        assert nulls["text"] == nulls["flag"] > 0
    # A predicate uses the statistics of copied chunks and pages.
    scan = table.snapshot().scan(predicate="id = 1500 OR value = 1005")
    matching = [row for row in expected().to_pylist() if row["id"] == 1500 or row["value"] == 1005]
    assert scan.to_arrow().num_rows == len(matching) > 1


def test_a_merge_copies_the_chunks_of_columns_that_it_does_not_set(root: Path) -> None:
    table = write_files(root, {})
    before = {chunk for path in files(table) for chunk in chunk_bytes(path, "place")}
    source = pa.table({"key": range(0, ROWS, 3)})
    merge = table.merge(source, "target.id = source.key")
    merge.when_matched_update({"value": "target.value + 1000"}).execute()
    assert same(table.to_arrow(), expected())
    assert {chunk for path in files(table) for chunk in chunk_bytes(path, "place")} == before


def test_deleted_rows_are_not_copied(root: Path) -> None:
    table = write_files(root, {})
    source = pa.table({"key": range(0, ROWS, 3)})
    merge = table.merge(source, "target.id = source.key").when_matched_delete("target.id % 2 = 0")
    merge.when_matched_update({"value": "target.value + 1000"}).execute()
    wanted = expected()
    wanted = wanted.filter(pa.array([id_ % 6 != 0 for id_ in wanted["id"].to_pylist()]))
    assert same(table.to_arrow(), wanted)


def test_rows_that_change_their_partition_are_written_there(root: Path) -> None:
    table = write_files(root, {}, ["part"])
    table.update({"part": "part + 1"}, "id % 3 = 0")
    wanted = rows()
    parts = [part + (id_ % 3 == 0) for part, id_ in zip(wanted["part"].to_pylist(), range(ROWS), strict=True)]
    wanted = wanted.set_column(4, "part", pa.array(parts, pa.int32()))
    assert same(table.to_arrow(), wanted)


def test_columns_that_were_added_or_widened_are_encoded(root: Path) -> None:
    table = write_files(root, {"delta.enableTypeWidening": "true", "delta.columnMapping.mode": "name"})
    table.alter(
        alter.AddColumn("new", "string"), alter.ChangeType("part", "bigint"), alter.DropColumn("flag")
    )
    table.update({"value": "value + 1000"}, "id % 3 = 0")
    wanted = expected().drop_columns(["flag"])
    wanted = wanted.set_column(3, "part", wanted["part"].cast(pa.int64()))
    wanted = wanted.append_column("new", pa.nulls(ROWS, pa.string()))
    assert same(table.to_arrow().select(wanted.column_names), wanted)


def test_chunks_of_writers_with_unknown_statistics_are_encoded(root: Path) -> None:
    table = write_files(root, {})
    for path in files(table):
        pq.write_table(pq.read_table(path, partitioning=None), path, row_group_size=300)
    before = {chunk for path in files(table) for chunk in chunk_bytes(path, "text")}
    table = deltaic.Table(root)
    table.update({"value": "value + 1000"}, "id % 3 = 0")
    assert same(table.to_arrow(), expected())
    assert not before & {chunk for path in files(table) for chunk in chunk_bytes(path, "text")}


def test_rows_that_change_their_partition_and_another_column_are_written_there(root: Path) -> None:
    table = write_files(root, {}, ["part"])
    table.update({"part": "part + 1", "value": "value + 1000"}, "id % 3 = 0")
    parts = [id_ * 2 // ROWS + (id_ % 3 == 0) for id_ in range(ROWS)]
    assert same(table.to_arrow(), expected().set_column(4, "part", pa.array(parts, pa.int32())))
    source = pa.table({"key": range(0, ROWS, 3)})
    merge = table.merge(source, "target.id = source.key")
    merge.when_matched_update({"part": "target.part - 1", "value": "target.value - 1000"}).execute()
    assert same(table.to_arrow(), rows())


def test_rows_whose_new_values_do_not_fit_in_memory_are_encoded(root: Path) -> None:
    table = write_files(root, {})
    table.update({"text": f"concat({', '.join(['text'] * 20)}, 'x')"}, "id % 3 = 0", memory=MEMORY)
    wanted = rows()
    texts = [
        text * 20 + "x" if id_ % 3 == 0 and text is not None else text
        for id_, text in enumerate(wanted["text"].to_pylist())
    ]
    assert same(table.to_arrow(), wanted.set_column(1, "text", pa.array(texts)))


def test_a_file_that_is_much_larger_than_the_target_is_encoded_again(root: Path) -> None:
    """So that it can be divided: copied row groups remain in one file."""
    table = write_files(root, {})
    table.alter(alter.SetProperties({"delta.targetFileSize": "100kb"}))
    wanted = table.to_arrow().sort_by("id").set_column(7, "value", pa.array([1] * ROWS, pa.int64()))
    table.update({"value": "1"})
    assert [pq.read_metadata(path).num_row_groups for path in files(table)] == [1, 1]
    assert table.to_arrow().sort_by("id").drop_columns(["number"]) == wanted.drop_columns(["number"])
