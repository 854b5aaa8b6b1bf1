"""Writes the table of a cell: rows, as Parquet files of one writer, with a log."""

from __future__ import annotations

import functools
import shutil
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import deltaic
from matrix.cells import Cell

FILES = 4
_ENCODINGS = {
    "int": "DELTA_BINARY_PACKED",
    "long": "DELTA_BINARY_PACKED",
    "timestamp": "DELTA_BINARY_PACKED",
    "few_texts": "DELTA_LENGTH_BYTE_ARRAY",
    "texts": "DELTA_BYTE_ARRAY",
    "long_texts": "DELTA_BYTE_ARRAY",
    "binary": "DELTA_LENGTH_BYTE_ARRAY",
}


def make(cell: Cell, rows: int, path: Path) -> None:
    """Writes the table. A large row group fills a file of its own."""
    files = 1 if cell.group_rows > rows // FILES else FILES
    random = np.random.default_rng(zlib.crc32(cell.name.encode()))
    if cell.writer == "deltaic":
        first, *others = [table_of(cell, rows // files, random) for _ in range(files)]
        codec = {"delta.parquet.compression.codec": cell.codec}
        table = deltaic.Table.create(path, first.schema, properties=codec)
        for each in (first, *others):
            table.append(each)
        return
    path.mkdir(parents=True)
    for number in range(files):
        _write(cell, table_of(cell, rows // files, random), path / f"{number}.parquet")
    deltaic.Table.convert(path)


def table_of(cell: Cell, rows: int, random: Any) -> pa.Table:
    """Returns random rows: ``value``, and ``place``, a number below 100."""
    values = _values(cell.kind, rows, random)
    if cell.nulls:
        mask = pa.array(random.integers(0, 100, rows) < cell.nulls)
        values = pc.if_else(mask, pa.scalar(None, values.type), values)
    return pa.table({"value": values, "place": pa.array(random.integers(0, 100, rows), pa.int32())})


def delete_some(path: Path) -> None:
    """Deletes the rows of a place, by deletion vectors."""
    table = deltaic.Table(path)
    table.alter(deltaic.alter.SetProperties({"delta.enableDeletionVectors": "true"}))
    table.delete("place = 7")


def _values(kind: str, rows: int, random: Any) -> Any:
    numbers = random.integers(0, 1 << 40, rows)
    if kind in _FLAT:
        return _FLAT[kind](numbers)
    if kind == "struct":
        return pa.StructArray.from_arrays([pa.array(numbers), _texts(numbers % 1_000, "name ")], ["x", "y"])
    ends = np.concatenate(([0], np.cumsum(random.integers(0, 4, rows)))).astype(np.int32)
    items = random.integers(0, 1 << 40, int(ends[-1]))
    if kind == "list":
        return pa.ListArray.from_arrays(ends, pa.array(items))
    if kind == "list_of_texts":
        return pa.ListArray.from_arrays(ends, _texts(items % 1_000, "tag "))
    assert kind == "map", kind
    places = np.arange(len(items)) - np.repeat(ends[:-1], np.diff(ends))
    return pa.MapArray.from_arrays(ends, _texts(places, "key "), pa.array(items))


def _texts(numbers: Any, prefix: str) -> Any:
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


_FLAT: dict[str, Callable[[Any], Any]] = {
    "int": lambda numbers: pa.array((numbers % 1_000_000).astype(np.int32)),
    "long": pa.array,
    "double": lambda numbers: pa.array(numbers / 1_000),
    "decimal": lambda numbers: pa.array(numbers % 10**12).cast(pa.decimal128(22, 0)),
    "timestamp": lambda numbers: pa.array(np.sort(numbers)).cast(pa.timestamp("us", "UTC")),
    "bool": lambda numbers: pa.array(numbers % 3 == 0),
    "few_texts": lambda numbers: _texts(numbers % 7, "region "),
    "texts": lambda numbers: _texts(numbers % 25_000, "customer "),
    "long_texts": lambda numbers: _texts(numbers, "a text of some forty characters, and its number "),
    "binary": lambda numbers: _texts(numbers % 25_000, "bytes ").cast(pa.binary()),
}


def _write(cell: Cell, table: pa.Table, path: Path) -> None:
    if cell.writer == "spark":
        _write_by_spark(cell, table, path)
        return
    codec = cell.codec if cell.codec != "none" else "uncompressed"
    if cell.writer == "polars":
        import polars

        frame = polars.from_arrow(table)
        assert isinstance(frame, polars.DataFrame)
        frame.write_parquet(path, compression=codec, row_group_size=cell.group_rows)  # type: ignore[arg-type]
        return
    if cell.writer == "duckdb":
        import duckdb

        options = f"FORMAT parquet, CODEC '{codec}', ROW_GROUP_SIZE {cell.group_rows}"
        duckdb.from_arrow(table).query("t", f"COPY t TO '{path}' ({options})")
        return
    encoding = {
        "delta": _ENCODINGS.get(cell.kind, "PLAIN"),
        "split": "BYTE_STREAM_SPLIT",
    }.get(cell.encoding)
    pq.write_table(
        table,
        path,
        row_group_size=cell.group_rows,
        data_page_version=cell.pages,
        compression=cell.codec,
        use_dictionary=["value"] if cell.encoding == "dictionary" else False,
        column_encoding=None if encoding is None else {"value": encoding},
    )


def _write_by_spark(cell: Cell, table: pa.Table, path: Path) -> None:
    options = {
        "compression": cell.codec,
        "parquet.block.row.count.limit": str(cell.group_rows),
        "parquet.writer.version": {"1.0": "PARQUET_1_0", "2.0": "PARQUET_2_0"}[cell.pages],
    }
    with tempfile.TemporaryDirectory(prefix="matrix-rows-") as folder:
        pq.write_table(table, Path(folder) / "rows.parquet")
        rows = _spark().read.parquet(f"{folder}/rows.parquet").coalesce(1)
        rows.write.options(**options).parquet(f"{folder}/written")
        [file] = Path(folder, "written").glob("part-*.parquet")
        shutil.move(file, path)


@functools.cache
def _spark() -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
