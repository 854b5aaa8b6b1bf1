"""`Table.convert`: a table of the Parquet files in a folder."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.aged_files import files_of
from tests.api.log_files import of_kind


def write(root: Path, name: str, data: pa.Table, **options: object) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(data, path, **options)


def content(root: Path, key: str = "id") -> list[dict[str, object]]:
    return deltaic.Table(root).snapshot().scan().to_arrow().sort_by(key).to_pylist()


def stats(root: Path) -> dict[str, dict[str, object]]:
    return {add["path"]: json.loads(add["stats"]) for add in of_kind(root, 0, "add")}


def ids(first: int, end: int) -> pa.Table:
    return pa.table(
        {"id": pa.array(range(first, end), pa.int64()), "name": [f"n{i}" for i in range(first, end)]}
    )


def test_a_folder_becomes_a_table_in_place(root: Path) -> None:
    write(root, "a.parquet", ids(0, 10))
    write(root, "b.parquet", ids(10, 15))
    write(root, "more/c c%.parquet", ids(15, 17))
    before = files_of(root)
    commit = deltaic.Table.convert(root)
    assert (commit.version, commit.operation) == (0, "CONVERT")
    assert commit.parameters == {
        "numFiles": 3,
        "partitionedBy": "[]",
        "collectStats": True,
        "sourceFormat": "parquet",
    }
    assert commit.metrics == {"numConvertedFiles": 3}
    assert content(root) == ids(0, 17).to_pylist()
    assert files_of(root) == before
    assert stats(root)["a.parquet"] == {
        "numRecords": 10,
        "minValues": {"id": 0, "name": "n0"},
        "maxValues": {"id": 9, "name": "n9"},
        "nullCount": {"id": 0, "name": 0},
    }
    [protocol] = of_kind(root, 0, "protocol")
    assert protocol == {"minReaderVersion": 1, "minWriterVersion": 2}
    for add in of_kind(root, 0, "add"):
        file = root / add["path"].replace("%20", " ").replace("%25", "%")
        assert add["size"] == file.stat().st_size
        assert add["modificationTime"] == file.stat().st_mtime_ns // 1_000_000
    table = deltaic.Table(root)
    assert table.snapshot().files("id >= 15").to_arrow()["path"].to_pylist() == ["more/c%20c%25.parquet"]
    table.append(ids(17, 18))
    table.delete("id < 2")
    assert content(root) == ids(2, 18).to_pylist()
    assert not table.check(deep=True).findings


def test_partition_folders(root: Path) -> None:
    data = pa.table(
        {
            "id": [1, 2, 3, 4],
            "day": [date(2026, 11, 1), date(2026, 11, 2), None, date(2026, 11, 2)],
            "city": ["a/b c", "ü=%", "x", None],
            "n": pa.array([1, None, -3, 4], pa.int32()),
        }
    )
    pq.write_to_dataset(data, root, partition_cols=["day", "city", "n"])
    schema = pa.schema([("day", pa.date32()), ("city", pa.string()), ("n", pa.int32())])
    commit = deltaic.Table.convert(root, schema)
    assert commit.parameters["partitionedBy"] == '["day","city","n"]'
    assert content(root) == data.to_pylist()
    assert of_kind(root, 0, "metaData")[0]["partitionColumns"] == ["day", "city", "n"]
    scan = deltaic.Table(root).snapshot().scan(predicate="day = DATE '2026-11-02' AND city = 'ü=%'")
    assert scan.to_arrow()["id"].to_pylist() == [2]
    deltaic.Table(root).append(data.slice(0, 1))
    assert len(content(root)) == 5


def test_partition_columns_as_sql_types(root: Path) -> None:
    write(root, "_x=01/Amount=1.50/a.parquet", pa.table({"id": [1]}))
    columns = [deltaic.Column("_X", "int"), deltaic.Column("amount", "decimal(5,2)")]
    deltaic.Table.convert(root, columns)
    assert content(root) == [{"id": 1, "_X": 1, "amount": Decimal("1.50")}]
    assert of_kind(root, 0, "add")[0]["partitionValues"] == {"_X": "1", "amount": "1.50"}


@pytest.mark.parametrize(
    ("path", "schema", "error"),
    [
        ("n=1/a.parquet", None, ValueError),
        ("a.parquet", pa.schema([("n", pa.int32())]), ValueError),
        ("n=1/m=2/a.parquet", pa.schema([("n", pa.int32())]), ValueError),
        ("m=2/n=1/a.parquet", pa.schema([("n", pa.int32()), ("m", pa.int32())]), ValueError),
        ("n=x/a.parquet", pa.schema([("n", pa.int32())]), deltaic.SchemaMismatch),
        ("n=/a.parquet", pa.schema([("n", pa.string())]), deltaic.SchemaMismatch),
        ("n=%FF/a.parquet", pa.schema([("n", pa.string())]), deltaic.DeltaicError),
        ("n=1/a.parquet", pa.schema([("n", pa.list_(pa.int32()))]), ValueError),
    ],
)
def test_folders_that_are_not_those_of_the_partition_schema(
    root: Path, path: str, schema: pa.Schema | None, error: type[Exception]
) -> None:
    write(root, path, pa.table({"id": [1]}))
    for dry_run in (True, False):
        with pytest.raises(error):
            deltaic.Table.convert(root, schema, dry_run=dry_run)
    assert not (root / "_delta_log").exists()


def test_hidden_files_are_left_out(root: Path) -> None:
    write(root, "a.parquet", ids(0, 3))
    for name in (
        "_SUCCESS",
        ".a.parquet.crc",
        "_temporary/0/b.parquet",
        ".hidden/c",
        "_metadata",
        "x/_y.parquet",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"nothing")
    assert deltaic.Table.convert(root).metrics["numConvertedFiles"] == 1
    assert content(root) == ids(0, 3).to_pylist()


def test_what_is_not_a_folder_of_parquet_files(root: Path) -> None:
    with pytest.raises(ValueError, match="no Parquet file"):
        deltaic.Table.convert(root)
    root.mkdir()
    (root / "_SUCCESS").touch()
    with pytest.raises(ValueError, match="no Parquet file"):
        deltaic.Table.convert(root)
    write(root, "a.parquet", ids(0, 3))
    (root / "b.csv").write_text("id,name\n1,x\n")
    with pytest.raises(deltaic.CorruptData) as caught:
        deltaic.Table.convert(root)
    assert "b.csv" in str(caught.value)
    (root / "b.csv").write_bytes((root / "a.parquet").read_bytes()[:-20])
    with pytest.raises(deltaic.CorruptData, match=r"b\.csv"):
        deltaic.Table.convert(root)
    (root / "b.csv").unlink()
    deltaic.Table.create(root / "inner", ids(0, 1).schema)
    with pytest.raises(ValueError, match="another Delta table"):
        deltaic.Table.convert(root)
    assert not (root / "_delta_log").exists()


def test_what_the_store_does_not_list_is_an_error(root: Path, tmp_path: Path) -> None:
    write(root, "a.parquet", ids(0, 3))
    write(tmp_path / "other", "b.parquet", ids(3, 4))
    for name in ("x/a\n.parquet", "a.parquet#1"):
        write(root, name, ids(3, 4))
        with pytest.raises(ValueError, match="a name that tables cannot refer to") as caught:
            deltaic.Table.convert(root)
        assert name.split("\n")[0] in str(caught.value)
        (root / name).unlink()
    (root / "link").symlink_to(tmp_path / "other", target_is_directory=True)
    with pytest.raises(ValueError, match="a link to a folder"):
        deltaic.Table.convert(root)
    (root / "link").rename(root / "_link")
    deltaic.Table.convert(root)
    assert content(root) == ids(0, 3).to_pylist()


def test_names_of_files_and_partition_values(root: Path) -> None:
    names = ["a#b?c*~[x].parquet", "ü é", "q\"uote'", "plus+and&", "%41.parquet", "b\\c", "x:y|<>^`{}"]
    values = ["100%", "%2", "%zz", "a+b", "#?*", "a\\b", ":x", "~", " "]
    for at, name in enumerate(names):
        write(root, f"p=v/{name}", pa.table({"id": [at]}))
    for at, value in enumerate(values, len(names)):
        write(root, f"p={value}/a.parquet", pa.table({"id": [at]}))
    deltaic.Table.convert(root, pa.schema([("p", pa.string())]))
    expected = ["v"] * len(names) + values
    assert content(root) == [{"id": at, "p": value} for at, value in enumerate(expected)]
    deltaic.Table(root).delete("id >= 0")
    assert content(root) == []


def test_columns_that_a_table_cannot_have(root: Path) -> None:
    write(root, "a.parquet", pa.table({"a b": [1]}))
    with pytest.raises(ValueError, match="rename the column in the files"):
        deltaic.Table.convert(root)
    write(root, "a.parquet", pa.table([pa.array([1]), pa.array([2])], names=["a", "A"]))
    with pytest.raises(deltaic.SchemaMismatch, match="two columns are named") as caught:
        deltaic.Table.convert(root)
    assert caught.value.context["path"] == "a.parquet"


def test_a_table_is_not_converted_again(root: Path) -> None:
    write(root, "a.parquet", ids(0, 3))
    deltaic.Table.convert(root)
    for dry_run in (True, False):
        with pytest.raises(deltaic.TableExists, match="nothing to convert"):
            deltaic.Table.convert(root, dry_run=dry_run)


def test_a_conversion_may_be_repeated_with_its_application_transaction(root: Path) -> None:
    write(root, "a.parquet", ids(0, 3))
    deltaic.Table.convert(root, app_transaction=("load", 1))
    assert deltaic.Table.convert(root, app_transaction=("load", 1)).skipped
    with pytest.raises(deltaic.TableExists):
        deltaic.Table.convert(root, app_transaction=("load", 2))
    assert deltaic.Table(root).snapshot().version == 0


def test_a_folder_that_is_not_a_table_yet_can_be_converted(root: Path) -> None:
    write(root, "a.parquet", ids(0, 3))
    with pytest.raises(deltaic.TableNotFound, match=r"Table\.convert\(uri\)"):
        deltaic.Table(root).snapshot()


def test_a_dry_run_writes_nothing(root: Path) -> None:
    write(root, "p=1/a.parquet", ids(0, 3))
    found = deltaic.Table.convert(root, pa.schema([("p", pa.int64())]), dry_run=True)
    assert (found.files, found.num_rows) == (1, 3)
    assert found.size_in_bytes == (root / "p=1" / "a.parquet").stat().st_size
    assert found.schema.names == ["id", "name", "p"]
    assert str(found).startswith("CONVERT would make a table of 1 file (")
    assert not (root / "_delta_log").exists()


def test_schemas_are_merged(root: Path) -> None:
    inner = pa.struct([("x", pa.int8())])
    wider = pa.struct([("x", pa.int32()), ("y", pa.string())])
    write(root, "a.parquet", pa.table({"id": [1], "s": pa.array([{"x": 1}], inner)}))
    write(
        root, "b.parquet", pa.table({"S": pa.array([{"x": 700, "y": "z"}], wider), "ID": [2], "more": [True]})
    )
    deltaic.Table.convert(root)
    assert content(root) == [
        {"id": 1, "s": {"x": 1, "y": None}, "more": None},
        {"id": 2, "s": {"x": 700, "y": "z"}, "more": True},
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (pa.int64(), pa.int32()),
        (pa.int32(), pa.int64()),
        (pa.float32(), pa.float64()),
        (pa.string(), pa.binary()),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.decimal128(10, 2), pa.decimal128(12, 2)),
        (pa.list_(pa.int64()), pa.list_(pa.string())),
    ],
)
def test_types_that_differ(root: Path, first: pa.DataType, second: pa.DataType) -> None:
    write(root, "a a.parquet", pa.table({"id": [1], "v": pa.array([None], first)}))
    write(root, "b b.parquet", pa.table({"id": [1], "v": pa.array([None], second)}))
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        deltaic.Table.convert(root)
    assert caught.value.context["path"] == "b b.parquet"
    assert str(caught.value.context["field"]).startswith("v")


@pytest.mark.parametrize(
    "of", [pa.uint32(), pa.uint64(), pa.time64("us"), pa.timestamp("ns"), pa.float16(), pa.null()]
)
def test_types_that_delta_does_not_have(root: Path, of: pa.DataType) -> None:
    write(root, "a.parquet", pa.table({"id": [1], "v": pa.array([None], of)}))
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        deltaic.Table.convert(root)
    assert "a.parquet" in str(caught.value)


def test_columns_of_partitions_in_files_are_those_of_the_folders(root: Path) -> None:
    write(root, "n=7/a.parquet", pa.table({"id": [1], "n": ["other"]}))
    deltaic.Table.convert(root, pa.schema([("n", pa.int32())]))
    assert content(root) == [{"id": 1, "n": 7}]
    assert set(stats(root)["n=7/a.parquet"]["minValues"]) == {"id"}  # type: ignore[arg-type]


def test_many_columns_and_files(root: Path) -> None:
    for at in range(60):
        write(root, f"{at % 7}/{at:03}.parquet", pa.table({"id": [at], **{f"c{i}": [i] for i in range(40)}}))
    seen: list[tuple[str, int, int]] = []
    deltaic.Table.convert(root, progress=lambda *at: seen.append(at), app_transaction=("load", 1))
    assert deltaic.Table(root).snapshot().num_rows == 60
    assert seen[-1] == ("files", 60, 60)
    assert len(stats(root)["0/000.parquet"]["minValues"]) == 32  # type: ignore[arg-type]
    assert [row["id"] for row in content(root)] == list(range(60))
