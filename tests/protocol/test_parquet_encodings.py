"""Data files of every compression codec, both versions of data pages, and every encoding of values."""

from __future__ import annotations

import struct
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from . import handmade_parquet as parquet
from .handmade_log import HandmadeTable, field, ids, metadata, protocol, schema
from .handmade_parquet import Node
from .table_of_one_file import read, written

# Every codec that pyarrow can write.
CODECS = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]
ROWS = 3_000
START = datetime(1969, 12, 31)  # noqa: DTZ001
INNER = pa.struct([("x", pa.int64()), ("z", pa.string())])
VALUES = {
    "i": pa.array([None if at % 7 == 0 else at * at - 10**6 for at in range(ROWS)], pa.int32()),
    "l": pa.array([at * 10**12 for at in range(ROWS)], pa.int64()),
    "b": pa.array([at % 3 == 0 for at in range(ROWS)]),
    "f": pa.array([at / 7 for at in range(ROWS)], pa.float32()),
    "d": pa.array([-at / 7 for at in range(ROWS)], pa.float64()),
    "s": pa.array([None if at % 5 == 0 else f"prefix {at // 10} é" for at in range(ROWS)]),
    "y": pa.array([bytes([at % 256]) * (at % 4) for at in range(ROWS)], pa.binary()),
    "n": pa.array([Decimal(at).scaleb(-2) for at in range(ROWS)], pa.decimal128(20, 2)),
    "t": pa.array([START + timedelta(minutes=at) for at in range(ROWS)], pa.timestamp("us")),
    "a": pa.array(
        [None if at % 11 == 0 else list(range(at % 4)) for at in range(ROWS)], pa.list_(pa.int64())
    ),
    "st": pa.array(
        [{"x": at, "z": None} for at in range(ROWS)], pa.struct([("x", pa.int64()), ("z", pa.string())])
    ),
}
KINDS: dict[str, Any] = {
    "i": "integer",
    "l": "long",
    "b": "boolean",
    "f": "float",
    "d": "double",
    "s": "string",
    "y": "binary",
    "n": "decimal(20,2)",
    "t": "timestamp_ntz",
    "a": {"type": "array", "elementType": "long", "containsNull": True},
    "st": {"type": "struct", "fields": [field("x"), field("z", "string")]},
}
DATA = pa.table(VALUES)
COLUMNS = [field(name, kind) for name, kind in KINDS.items()]


def round_trip(root: Path, **how: Any) -> None:
    """Asserts that the rows of the file are those written, in a full and in a partial scan."""
    table = HandmadeTable(root)
    file = table.data("a.parquet", DATA)
    pq.write_table(DATA, root / "a.parquet", **how)
    needs = protocol(3, 7, ["timestampNtz"], ["timestampNtz"])
    table.commit(needs, metadata(schema(*COLUMNS)), file)
    snapshot = deltaic.Table(root).snapshot()
    assert snapshot.scan().to_arrow().to_pylist() == DATA.to_pylist()
    some = snapshot.scan(["s", "a"], "l >= 2990000000000000").to_arrow().to_pylist()
    assert some == DATA.select(["s", "a"]).slice(2990).to_pylist()


@pytest.mark.parametrize("page", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_and_both_versions_of_pages(tmp_path: Path, codec: str, page: str) -> None:
    """protocol: beyond:parquet.1."""
    how: dict[str, Any] = {"compression": codec, "data_page_version": page, "data_page_size": 2_000}
    round_trip(tmp_path / "dictionaries", use_dictionary=True, **how)
    round_trip(tmp_path / "plain", use_dictionary=False, row_group_size=1_000, **how)


def test_a_codec_for_each_column(tmp_path: Path) -> None:
    names = ["i", "l", "b", "f", "d", "s", "y", "n", "t"]
    codecs = {name: CODECS[at % len(CODECS)] for at, name in enumerate(names)}
    round_trip(tmp_path / "t", compression=codecs)


@pytest.mark.parametrize("version", ["1.0", "2.4", "2.6"])
def test_every_version_of_the_format(tmp_path: Path, version: str) -> None:
    how: dict[str, Any] = {"version": version}
    if version != "2.6":
        how["coerce_timestamps"] = "us"
    round_trip(tmp_path / "t", **how)


ENCODINGS: dict[str, dict[str, str]] = {
    "delta": {"i": "DELTA_BINARY_PACKED", "l": "DELTA_BINARY_PACKED", "t": "DELTA_BINARY_PACKED"},
    "lengths and prefixes": {
        "s": "DELTA_BYTE_ARRAY",
        "y": "DELTA_LENGTH_BYTE_ARRAY",
        "n": "DELTA_BYTE_ARRAY",
    },
    "split": dict.fromkeys(("i", "l", "f", "d", "n"), "BYTE_STREAM_SPLIT"),
    "runs of booleans": {"b": "RLE"},
    "plain": dict.fromkeys("ilbfdsyn", "PLAIN"),
}


@pytest.mark.parametrize("page", ["1.0", "2.0"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding(tmp_path: Path, encoding: str, page: str) -> None:
    """protocol: delta-data-type-to-parquet-type-mappings.2."""
    round_trip(
        tmp_path / "t", use_dictionary=False, column_encoding=ENCODINGS[encoding], data_page_version=page
    )


@pytest.mark.parametrize(
    "how", [{"write_page_index": True}, {"write_statistics": False}, {"write_page_checksum": True}]
)
def test_files_next_to_the_values(tmp_path: Path, how: dict[str, bool]) -> None:
    round_trip(tmp_path / "t", **how, data_page_size=500)


def in_frames(body: bytes, size: int) -> bytes:
    """Compresses LZ4 as Hadoop does: each block is preceded by its two lengths."""
    out = b""
    for start in range(0, len(body), size):
        part = body[start : start + size]
        packed = pa.compress(part, codec="lz4_raw", asbytes=True)
        out += struct.pack(">II", len(part), len(packed)) + packed
    return out


SHORT_LAST = pytest.mark.xfail(
    strict=True,
    raises=deltaic.CorruptData,
    reason="the library breaks off before a last block that is shorter than the one before it",
)


@pytest.mark.parametrize("size", [100_000, pytest.param(100, marks=SHORT_LAST)])
def test_the_lz4_of_hadoop(tmp_path: Path, size: int) -> None:
    """The codec is deprecated in the format, but such files exist."""
    node = Node("id", parquet.OPTIONAL, parquet.INT64)
    root = written(
        tmp_path / "t",
        [node],
        {"id": [(0, 1, at) for at in range(200)]},
        codec=parquet.OLD_LZ4,
        compress=lambda body: in_frames(body, size),
    )
    assert pq.read_table(root / "a.parquet")["id"].to_pylist() == list(range(200))
    assert [row["id"] for row in read(root, field("id"))] == list(range(200))


@pytest.mark.parametrize("codec", [3, 99])
def test_a_codec_that_is_not_known_is_an_error(tmp_path: Path, codec: int) -> None:
    """No reader supports LZO any more, and 99 does not exist."""
    node = Node("id", parquet.OPTIONAL, parquet.INT64)
    root = written(tmp_path / "t", [node], {"id": [(0, 1, 1)]}, codec=codec)
    with pytest.raises((deltaic.CorruptData, deltaic.UnsupportedFeature)) as caught:
        read(root, field("id"))
    assert caught.value.context["path"] == "a.parquet"


@pytest.mark.parametrize("codec", ["zstd", "snappy", "uncompressed", "nonsense"])
def test_the_property_for_codecs_is_for_writers(tmp_path: Path, codec: str) -> None:
    """The file itself specifies its compression."""
    table = HandmadeTable(tmp_path / "t")
    properties = {"delta.parquet.compression.codec": codec, "delta.parquet.format.version": "2.12.0"}
    file = table.data("a.parquet", ids(1))
    pq.write_table(ids(1, 2), table.root / "a.parquet", compression="gzip")
    table.commit(protocol(), metadata(configuration=properties), file)
    assert deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist() == [1, 2]


def test_a_file_without_row_groups_and_one_with_empty_ones(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    files = [table.data(f"{at}.parquet", ids()) for at in range(2)]
    pq.ParquetWriter(table.root / "0.parquet", ids().schema).close()
    with pq.ParquetWriter(table.root / "1.parquet", ids().schema) as writer:
        for rows in (ids(), ids(1), ids(), ids(2)):
            writer.write_table(rows)
    table.create(*files)
    assert deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist() == [1, 2]
    assert deltaic.Table(table.root).snapshot().scan().count() == 2
