"""Table properties that configure data files: append follows them, or warns if it does not."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import SetProperties
from deltaic.writing.ignored_properties import IGNORED, UNREADABLE
from tests.api.log_files import of_kind

ROWS = pa.table({"id": list(range(1000)), "name": [f"name of {number}" for number in range(1000)]})


def made(root: Path, rows: pa.Table = ROWS, **properties: str) -> list[Path]:
    """Returns the data files of a table with these properties; asserts that the rows round-trip."""
    named = {f"delta.{key.replace('__', '.')}": value for key, value in properties.items()}
    table = deltaic.Table.create(root, rows.schema, properties=named)
    table.append(rows)
    assert table.snapshot().scan().to_arrow().sort_by(rows.column_names[0]) == rows
    return sorted(root.rglob("*.parquet"))


@pytest.mark.filterwarnings("ignore:.*Spark cannot read:deltaic.DeltaicWarning")
@pytest.mark.parametrize(
    ("codec", "packed", "name"),
    [
        (None, "ZSTD", ".zstd"),
        ("zstd", "ZSTD", ".zstd"),
        ("Snappy", "SNAPPY", ".snappy"),
        ("gzip", "GZIP", ".gz"),
        ("brotli", "BROTLI", ".br"),
        ("lz4", "UNKNOWN", ".lz4hadoop"),  # pyarrow reads Hadoop's LZ4 framing under this name
        ("lz4_raw", "LZ4", ".lz4raw"),
        ("uncompressed", "UNCOMPRESSED", ""),
        ("none", "UNCOMPRESSED", ""),
    ],
)
def test_files_use_the_codec_of_the_table(root: Path, codec: str | None, packed: str, name: str) -> None:
    """protocol: beyond:parquet.1."""
    [file] = made(root, **({} if codec is None else {"parquet__compression__codec": codec}))
    columns = pq.read_metadata(file).row_group(0).to_dict()["columns"]
    assert {column["compression"] for column in columns} == {packed}
    assert file.name.endswith(f".c000{name}.parquet")
    assert pq.read_table(file) == ROWS


@pytest.mark.parametrize(
    ("version", "second"), [(None, False), ("1.0.0", False), ("2.12.0", True), ("2.9.0", True)]
)
def test_pages_have_the_version_that_the_table_requests(
    root: Path, version: str | None, second: bool
) -> None:
    """protocol: beyond:parquet.1: data page version 2 delta-encodes integers."""
    rows = pa.table({"id": pa.array(range(200_000), pa.int64())})
    [file] = made(root, rows, **({} if version is None else {"parquet__format__version": version}))
    assert pq.read_metadata(file).format_version == ("2.6" if second else "1.0")
    encodings = pq.read_metadata(file).row_group(0).column(0).encodings
    assert ("DELTA_BINARY_PACKED" in encodings) == second
    assert pq.read_table(file) == rows


@pytest.mark.parametrize("length", [None, 0, 1, 5, 40])
def test_texts_are_cut_where_the_table_states(root: Path, length: int | None) -> None:
    prefix = 32 if length is None else length
    texts = ["b" * 50, "c" * 50, "d\U0010ffff" * 25]
    rows = pa.table({"name": texts, "short": ["x", "y", "z"]})
    made(root, rows, **({} if length is None else {"dataSkippingStringPrefixLength": str(length)}))
    [add] = of_kind(root, 1, "add")
    stats = json.loads(add["stats"])
    assert stats["minValues"]["name"] == texts[0][:prefix] <= texts[0]
    if prefix in (1, 5):  # the truncated part begins with the largest code point, so no upper bound exists
        assert "name" not in stats["maxValues"]
    else:
        most = stats["maxValues"]["name"]
        assert texts[-1] < most
        assert most[:-1] == texts[-1][:prefix]
    assert stats["minValues"]["short"] == ("" if prefix == 0 else "x")
    assert stats["maxValues"]["short"] == ("\x7f" if prefix == 0 else "z")
    snapshot = deltaic.Table(root).snapshot()
    for text in texts:
        assert snapshot.scan(predicate=f"name = '{text}'").count() == 1


def test_files_are_in_random_folders_where_the_table_requests(tmp_path: Path) -> None:
    rows = pa.table({"day": [1, 1, 2], "id": [1, 2, 3]})
    for length, written in (("1", 1), ("2", 2), (None, 2), ("40", 40)):
        root = tmp_path / str(length)
        properties = {"delta.randomizeFilePrefixes": "true"}
        if length is not None:
            properties["delta.randomPrefixLength"] = length
        table = deltaic.Table.create(root, rows.schema, partition_by=["day"], properties=properties)
        table.append(rows)
        adds = of_kind(root, 1, "add")
        assert {add["partitionValues"]["day"] for add in adds} == {"1", "2"}
        for add in adds:
            assert re.fullmatch(rf"[a-z2-7]{{{written}}}/part-[^/]*\.parquet", add["path"])
            assert (root / unquote(add["path"])).is_file()
        assert table.snapshot().scan().to_arrow().sort_by("id") == rows


def test_random_folders_differ(root: Path) -> None:
    properties = {"delta.randomizeFilePrefixes": "true", "delta.randomPrefixLength": "20"}
    table = deltaic.Table.create(root, ROWS.schema, properties=properties)
    for _ in range(3):
        table.append(ROWS)
    assert len({file.parent for file in root.rglob("*.parquet")}) == 3


def test_files_grow_as_large_as_the_table_requests(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.targetFileSize": "1 kb"})
    table.append(pa.Table.from_batches(ROWS.to_batches(max_chunksize=250)))
    assert len(list(root.rglob("*.parquet"))) == 4
    assert table.snapshot().scan().to_arrow().sort_by("id") == ROWS


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("delta.targetFileSize", "foo", "100mb"),
        ("delta.targetFileSize", "0", "100mb"),
        ("delta.parquet.compression.codec", "lzo", "zstd"),
        ("delta.parquet.format.version", "2", "2.12.0"),
        ("delta.randomPrefixLength", "0", "from 1 on"),
        ("delta.randomPrefixLength", "256", "255"),
        ("delta.dataSkippingStringPrefixLength", "-1", "from 0 on"),
    ],
)
def test_a_value_that_cannot_be_obeyed_is_refused(root: Path, name: str, value: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(name)) as caught:
        deltaic.Table.create(root, ROWS.schema, properties={name: value})
    assert says in str(caught.value)
    assert not root.exists()
    table = deltaic.Table.create(root, ROWS.schema)
    with pytest.raises(ValueError, match=re.escape(name)):
        table.alter(SetProperties({name: value}))


# For each property that deltaic ignores, a value that requests the unsupported behaviour.
ASKING = {name: "hudi" if name.endswith("enabledFormats") else "true" for name in IGNORED}


def create(table: deltaic.Table, name: str, value: str) -> object:
    return deltaic.Table.create(f"{table.uri}{name}", ROWS.schema, properties={name: value})


def alter(table: deltaic.Table, name: str, value: str) -> object:
    return table.alter(SetProperties({"owner": "fleet", name.upper(): value}))


def stage(table: deltaic.Table, name: str, value: str) -> object:
    with table.transaction() as tx:
        tx.alter(SetProperties({name: value}))
    return tx.committed


def set_in_transaction(table: deltaic.Table, name: str, value: str) -> object:
    with table.transaction() as tx:
        tx.set_properties({name: value})
    return tx.committed


@pytest.mark.parametrize("verb", [create, alter, stage, set_in_transaction])
@pytest.mark.parametrize("name", ASKING)
def test_ignored_properties_are_reported(
    root: Path, name: str, verb: Callable[[deltaic.Table, str, str], object]
) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    with pytest.warns(deltaic.DeltaicWarning, match=re.escape(f"deltaic ignores {name}:")) as caught:
        verb(table, name, ASKING[name])
    [warning] = caught
    assert warning.filename == __file__


@pytest.mark.parametrize("verb", [create, alter, stage, set_in_transaction])
@pytest.mark.parametrize("value", ["brotli", "BROTLI"])
def test_a_codec_that_spark_cannot_read_is_warned_of(
    root: Path, value: str, verb: Callable[[deltaic.Table, str, str], object]
) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    name = "delta.parquet.compression.codec"
    with pytest.warns(deltaic.DeltaicWarning, match=f"{name} is brotli: Spark cannot read") as caught:
        verb(table, name, value)
    [warning] = caught
    assert warning.filename == __file__


@pytest.mark.parametrize("codec", ["zstd", "snappy", "gzip", "lz4", "lz4_raw", "uncompressed", "none"])
def test_a_codec_that_all_can_read_is_not_spoken_of(root: Path, codec: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        deltaic.Table.create(root, ROWS.schema, properties={"delta.parquet.compression.codec": codec})


def test_a_codec_without_a_writer_is_refused(root: Path) -> None:
    """No Parquet reader includes LZO."""
    with pytest.raises(ValueError, match="lzo"):
        deltaic.Table.create(root, ROWS.schema, properties={"delta.parquet.compression.codec": "lzo"})
    assert not root.exists()


@pytest.mark.parametrize("value", ["true", "false"])
def test_optimized_writes_are_how_files_are_written(root: Path, value: str) -> None:
    """A write of many batches makes one file for each partition, whether the property is set or not."""
    schema = pa.schema([("id", pa.int64()), ("part", pa.string())])
    properties = {"delta.autoOptimize.optimizeWrite": value}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = deltaic.Table.create(root, schema, partition_by=["part"], properties=properties)
    batches = [
        pa.record_batch({"id": [n, n + 1, n + 2], "part": ["a", "b", "c"]}, schema=schema) for n in range(50)
    ]
    table.append(pa.RecordBatchReader.from_batches(schema, batches))
    assert table.snapshot().num_files == 3
    assert table.snapshot().num_rows == 150


def test_a_warning_made_an_error_does_not_undo_the_table(root: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        deltaic.Table.create(root, ROWS.schema, properties={"delta.autoOptimize": "true"})
        table = deltaic.Table(root)
        assert table.alter(SetProperties({"delta.autoOptimize.autoCompact": "true"})).version == 1


@pytest.mark.parametrize("name", ASKING)
def test_unset_options_are_not_shown(root: Path, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = "" if name.endswith("enabledFormats") else "false"
        table = deltaic.Table.create(root, ROWS.schema, properties={name: value})
    assert table.snapshot().properties[name] == value


def test_the_documents_name_what_is_not_obeyed() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/table-properties.md").read_text()
    assert [name for name in IGNORED if f"`{name}`" not in page] == []
    assert [value for _, value in UNREADABLE if f"`{value}`, which" not in page] == []
