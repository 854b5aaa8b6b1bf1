"""`Snapshot.files`, `Snapshot.tombstones` and the ArrowTable that they return."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import of_kind, write_commit

DELETION_VECTOR = pa.struct(
    [
        ("storage_type", pa.string()),
        ("path_or_inline_dv", pa.string()),
        ("offset", pa.int32()),
        ("size_in_bytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)


def test_the_columns_of_an_unpartitioned_table(numbers: deltaic.Table, root: Path) -> None:
    files = numbers.snapshot().files().to_arrow()
    assert files.column_names == ["path", "size", "modification_time", "deletion_vector"]
    adds = {add["path"]: add for version in (1, 2) for add in of_kind(root, version, "add")}
    assert set(files["path"].to_pylist()) == set(adds)
    for row in files.to_pylist():
        add = adds[row["path"]]
        assert (row["size"], row["modification_time"]) == (add["size"], add["modificationTime"])
        assert row["deletion_vector"] is None
    assert files.schema.field("size").type == pa.int64()
    assert files.schema.field("modification_time").type == pa.int64()


def test_a_deletion_vector_is_a_struct(numbers: deltaic.Table) -> None:
    field = numbers.snapshot().files().to_arrow().schema.field("deletion_vector")
    assert [inner.name for inner in field.type] == [inner.name for inner in DELETION_VECTOR]


def test_partition_values_are_typed(root: Path) -> None:
    schema = pa.schema([("day", pa.date32()), ("n", pa.int16()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["n", "day"])
    data = pa.table(
        {"day": pa.array([20_000, None], pa.date32()), "n": pa.array([1, None], pa.int16()), "id": [1, 2]},
        schema=schema,
    )
    table.append(data)
    files = table.snapshot().files().to_arrow()
    values = files["partition_values"]
    assert values.type == pa.struct([("n", pa.int16()), ("day", pa.date32())])
    expected = [{"n": row["n"], "day": row["day"]} for row in data.to_pylist()]
    assert sorted(values.to_pylist(), key=str) == sorted(expected, key=str)


def test_an_unparsable_partition_value_is_null(root: Path) -> None:
    schema = pa.schema([("n", pa.int32()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["n"])
    table.append(pa.table({"n": [1], "id": [1]}, schema=schema))
    [add] = of_kind(root, 1, "add")
    write_commit(root, 2, {"add": {**add, "path": "other.parquet", "partitionValues": {"n": "one"}}})
    snapshot = table.snapshot()
    values = {row["path"]: row["partition_values"]["n"] for row in snapshot.files().to_arrow().to_pylist()}
    assert values == {add["path"]: 1, "other.parquet": None}
    with pytest.raises(deltaic.DeltaicError, match="one"):
        snapshot.scan().to_arrow()


def test_statistics_are_typed_by_the_schema(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("s", pa.struct([("d", pa.date32())])), ("flag", pa.bool_())])
    table = deltaic.Table.create(root, schema)
    day = pa.scalar(20_000, pa.date32()).as_py()
    table.append(
        pa.table({"id": [1, 5, None], "s": [{"d": day}, None, None], "flag": [True] * 3}, schema=schema)
    )
    [row] = table.snapshot().files(stats=True).to_arrow().to_pylist()
    assert row["num_records"] == 3
    assert row["tight_bounds"] in (True, None)
    assert row["min"]["id"] == 1
    assert row["max"]["id"] == 5
    assert row["min"]["s"]["d"] == row["max"]["s"]["d"] == day
    assert row["null_count"]["id"] == 1
    assert row["null_count"]["s"]["d"] == 2
    assert row["null_count"]["flag"] == 0


def test_unusable_statistics_are_null(numbers: deltaic.Table, root: Path) -> None:
    [add] = of_kind(root, 1, "add")
    for number, stats in enumerate(
        ["not json", '{"numRecords":3,"minValues":{"id":"x"},"maxValues":{"id":9}}']
    ):
        write_commit(root, 3 + number, {"add": {**add, "path": f"{number}.parquet", "stats": stats}})
    rows = {row["path"]: row for row in numbers.snapshot().files(stats=True).to_arrow().to_pylist()}
    assert rows["0.parquet"]["num_records"] is None
    assert (rows["0.parquet"]["min"] or {}).get("id") is None
    assert rows["1.parquet"]["num_records"] == 3
    assert (rows["1.parquet"]["min"] or {}).get("id") is None
    assert rows["1.parquet"]["max"]["id"] == 9


@pytest.mark.parametrize(
    ("predicate", "regions_kept"),
    [
        ("region = 'EU'", ["EU"]),
        ("region <> 'EU'", ["US"]),
        ("region IS NULL", [None]),
        ("region IS NOT NULL", ["EU", "US"]),
        ("region IN ('US', 'XX')", ["US"]),
        ("region = 'EU' OR region IS NULL", ["EU", None]),
        ("NOT (region = 'EU' OR region IS NULL)", ["US"]),
        ("region <=> NULL", [None]),
        ("startswith(region, 'E')", ["EU"]),
        ("region = 'EU' AND id = 1", ["EU"]),
        ("region BETWEEN 'A' AND 'F'", ["EU"]),
        ("region = 'XX'", []),
        ("FALSE", []),
        ("TRUE", ["EU", "US", None]),
        (deltaic.col("region").is_in(["EU", "US"]), ["EU", "US"]),
    ],
    ids=str,
)
def test_a_predicate_retains_the_partitions_that_may_match(
    regions: deltaic.Table, predicate: str | deltaic.Expression, regions_kept: list[str | None]
) -> None:
    files = regions.snapshot().files(predicate).to_arrow()
    assert {values["region"] for values in files["partition_values"].to_pylist()} == set(regions_kept)
    assert files.num_rows == len(regions_kept)


def test_a_predicate_never_drops_a_file_that_holds_a_match(numbers: deltaic.Table, root: Path) -> None:
    file_of = {
        number: add["path"]
        for version in (1, 2)
        for add in of_kind(root, version, "add")
        for number in pq.read_table(root / add["path"])["id"].to_pylist()
    }
    assert sorted(file_of) == [0, 1, 2, 3, 4, 5]
    for number, path in file_of.items():
        assert path in numbers.snapshot().files(f"id = {number}").to_arrow()["path"].to_pylist()


def test_a_predicate_is_checked(numbers: deltaic.Table) -> None:
    with pytest.raises(deltaic.InvalidPredicate, match="id"):
        numbers.snapshot().files("di = 1")
    with pytest.raises(TypeError, match="deltaic"):
        numbers.snapshot().files(7)  # type: ignore[arg-type]


def test_tombstones_state_what_was_removed(regions: deltaic.Table, root: Path) -> None:
    add = next(add for add in of_kind(root, 1, "add") if add["partitionValues"]["region"] == "EU")
    remove = {"path": add["path"], "dataChange": True, "deletionTimestamp": 5, "extendedFileMetadata": True}
    remove |= {"partitionValues": add["partitionValues"], "size": add["size"]}
    write_commit(root, 2, {"remove": remove})
    [row] = regions.snapshot().tombstones().to_arrow().to_pylist()
    assert row == {
        "path": add["path"],
        "deletion_timestamp": 5,
        "size": add["size"],
        "partition_values": {"region": "EU"},
        "deletion_vector": None,
    }


def test_an_arrow_table_goes_anywhere(numbers: deltaic.Table) -> None:
    files = numbers.snapshot().files()
    arrow = files.to_arrow()
    assert files.num_rows == len(files) == arrow.num_rows == 2
    assert pa.schema(files.schema) == arrow.schema
    assert pa.table(files) == arrow
    assert files.to_pandas()["path"].tolist() == arrow["path"].to_pylist()
    assert isinstance(files.to_polars(), pl.DataFrame)
    assert files.to_polars()["path"].to_list() == arrow["path"].to_pylist()
    assert duckdb.connect().from_arrow(files).limit(10).fetchall() == [
        tuple(row.values()) for row in arrow.to_pylist()
    ]
    assert "2 rows" in repr(files)


def test_the_files_can_be_taken_twice(numbers: deltaic.Table) -> None:
    files = numbers.snapshot().files()
    assert files.to_arrow() == files.to_arrow()
    assert json.dumps(files.to_arrow().to_pylist()) == json.dumps(files.to_arrow().to_pylist())
