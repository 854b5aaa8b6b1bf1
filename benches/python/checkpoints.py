"""Writes the checkpoint of a generated log. Sections: Checkpoints, Checkpoint Schema, Sidecar Files.

As delta-spark writes: Snappy, files sorted by path within a piece, adds and tombstones mixed. A piece (a row
group, a part or a sidecar) has 100,000 adds at full scale, close to the number in a row group of 128 MB with
JSON statistics of 20 columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import actions
from files import Files, columns_of, files_of
from history import CHECKPOINT_VERSION, base, buried
from workload import TableSpec

STRINGS = pa.map_(pa.string(), pa.string())
NAMES = pa.list_(pa.string())
VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
        ("maxRowIndex", pa.int64()),
    ]
)
REMOVE = pa.struct(
    [
        ("path", pa.string()),
        ("deletionTimestamp", pa.int64()),
        ("dataChange", pa.bool_()),
        ("extendedFileMetadata", pa.bool_()),
        ("partitionValues", STRINGS),
        ("size", pa.int64()),
        ("deletionVector", VECTOR),
        ("baseRowId", pa.int64()),
        ("defaultRowCommitVersion", pa.int64()),
    ]
)
METADATA = pa.struct(
    [
        ("id", pa.string()),
        ("name", pa.string()),
        ("description", pa.string()),
        ("format", pa.struct([("provider", pa.string()), ("options", STRINGS)])),
        ("schemaString", pa.string()),
        ("partitionColumns", NAMES),
        ("configuration", STRINGS),
        ("createdTime", pa.int64()),
    ]
)
PROTOCOL = pa.struct(
    [
        ("minReaderVersion", pa.int32()),
        ("minWriterVersion", pa.int32()),
        ("readerFeatures", NAMES),
        ("writerFeatures", NAMES),
    ]
)
TXN = pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())])
DOMAIN = pa.struct([("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())])
SIDECAR = pa.struct(
    [
        ("path", pa.string()),
        ("sizeInBytes", pa.int64()),
        ("modificationTime", pa.int64()),
        ("tags", STRINGS),
    ]
)
ARROW = {
    "string": pa.string(),
    "long": pa.int64(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def write(spec: TableSpec, log: Path) -> None:
    """Writes the checkpoint in the spec's form, and the hint that references it."""
    size = 2 + spec.adds + spec.tombstones
    hint: dict[str, object] = {"version": CHECKPOINT_VERSION, "size": size, "numOfAddFiles": spec.adds}
    head = [{"protocol": actions.protocol(spec)}, {"metaData": actions.metadata(spec)}]
    stem = f"{CHECKPOINT_VERSION:020}.checkpoint"
    if spec.form == "v1":
        write_file(log / f"{stem}.parquet", classic(spec), headed(head, classic(spec), pieces(spec)))
    elif spec.form == "v1_parts":
        hint["parts"] = spec.pieces
        for index, piece in enumerate(headed(head, classic(spec), pieces(spec))):
            write_file(log / f"{stem}.{index + 1:010}.{spec.pieces:010}.parquet", classic(spec), [piece])
    else:
        write_v2(spec, log, head)
    (log / "_last_checkpoint").write_text(json.dumps(hint, separators=(",", ":")))


def write_v2(spec: TableSpec, log: Path, head: list[dict]) -> None:
    """Writes the sidecars, and a top-level Parquet file that references them."""
    (log / "_sidecars").mkdir()
    both = pa.schema([("add", add_type(spec)), ("remove", REMOVE)])
    stem = f"{CHECKPOINT_VERSION:020}.checkpoint"
    top = [{"checkpointMetadata": {"version": CHECKPOINT_VERSION}}, *head]
    for index, piece in enumerate(pieces(spec)):
        uuid = actions.UUID.format(number=10_000 + index)
        name = f"{stem}.{index + 1:010}.{spec.pieces:010}.{uuid}.parquet"
        write_file(log / "_sidecars" / name, both, [piece.select(both.names)])
        size = (log / "_sidecars" / name).stat().st_size
        top.append({"sidecar": {"path": name, "sizeInBytes": size, "modificationTime": actions.EPOCH_MS}})
    extra = [("checkpointMetadata", pa.struct([("version", pa.int64()), ("tags", STRINGS)]))]
    schema = pa.schema([*classic(spec), *extra, ("sidecar", SIDECAR)])
    table = pa.Table.from_pylist(top, schema=schema)
    write_file(log / f"{stem}.{actions.UUID.format(number=20_000)}.parquet", schema, [table])


def classic(spec: TableSpec) -> pa.Schema:
    """Returns the columns of a checkpoint without sidecars."""
    kinds = [("txn", TXN), ("add", add_type(spec)), ("remove", REMOVE)]
    return pa.schema([*kinds, ("metaData", METADATA), ("protocol", PROTOCOL), ("domainMetadata", DOMAIN)])


def add_type(spec: TableSpec) -> pa.StructType:
    """Returns the type of `add`, with the statistics in the spec's form."""
    fields = [
        ("path", pa.string()),
        ("partitionValues", STRINGS),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        ("tags", STRINGS),
        ("deletionVector", VECTOR),
        ("baseRowId", pa.int64()),
        ("defaultRowCommitVersion", pa.int64()),
        ("clusteringProvider", pa.string()),
    ]
    if spec.statistics == "json":
        return pa.struct([*fields, ("stats", pa.string())])
    parsed = [("partitionValues_parsed", pa.struct([("day", pa.date32())]))]
    return pa.struct([*fields, ("stats_parsed", parsed_type(spec)), *parsed])


def parsed_type(spec: TableSpec) -> pa.StructType:
    """Returns the type of `stats_parsed`."""
    values = pa.struct([(name, ARROW[kind]) for name, kind in columns_of(spec).items()])
    counts = pa.struct([(name, pa.int64()) for name in columns_of(spec)])
    kinds = [("minValues", values), ("maxValues", values), ("nullCount", counts)]
    return pa.struct([("numRecords", pa.int64()), *kinds])


def pieces(spec: TableSpec) -> Iterator[pa.Table]:
    """Yields the adds and tombstones of each piece, sorted by path."""
    adds, removes = (np.array_split(numbers, spec.pieces) for numbers in (base(spec), buried(spec)))
    for some, gone in zip(adds, removes, strict=True):
        files, tombstones = files_of(spec, some), files_of(spec, gone, statistics=False)
        tables = [pa.table({"add": add_column(spec, files)})]
        tables.append(pa.table({"remove": remove_column(tombstones)}))
        both = pa.concat_tables(tables, promote_options="default")
        order = pc.sort_indices(pa.concat_arrays([files.path, tombstones.path]))
        yield both.combine_chunks().take(order)


def add_column(spec: TableSpec, files: Files) -> pa.StructArray:
    """Returns each file's add."""
    known = {
        "path": files.path,
        "partitionValues": partition_values(files),
        "size": files.size,
        "modificationTime": files.modification_time,
        "dataChange": pa.array(np.zeros(len(files), dtype=bool)),
    }
    if spec.statistics == "json":
        known["stats"] = actions.statistics_text(files)
    else:
        kind = parsed_type(spec)
        groups = {"minValues": files.low, "maxValues": files.high, "nullCount": files.null_count}
        parsed = {name: of(kind.field(name).type, values, files) for name, values in groups.items()}
        known["stats_parsed"] = of(kind, {"numRecords": files.num_records, **parsed}, files)
        known["partitionValues_parsed"] = pa.StructArray.from_arrays([files.day], names=["day"])
    return of(add_type(spec), known, files)


def remove_column(files: Files) -> pa.StructArray:
    """Returns each file's tombstone."""
    known = {
        "path": files.path,
        "deletionTimestamp": pa.array(np.full(len(files), actions.DELETED_MS)),
        "dataChange": pa.array(np.zeros(len(files), dtype=bool)),
        "extendedFileMetadata": pa.array(np.ones(len(files), dtype=bool)),
        "partitionValues": partition_values(files),
        "size": files.size,
    }
    return of(REMOVE, known, files)


def of(kind: pa.StructType, known: dict[str, pa.Array], files: Files) -> pa.StructArray:
    """Returns a struct column whose other fields are null."""
    fields = list(kind)
    columns = [known.get(field.name, pa.nulls(len(files), field.type)) for field in fields]
    return pa.StructArray.from_arrays(columns, fields=fields)


def partition_values(files: Files) -> pa.MapArray:
    """Returns the partition values as in the log: text by column name."""
    offsets = pa.array(np.arange(len(files) + 1, dtype=np.int32))
    return pa.MapArray.from_arrays(offsets, pa.array(["day"] * len(files)), files.day.cast(pa.string()))


def headed(head: list[dict], schema: pa.Schema, groups: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yields the groups, the first preceded by a few other actions."""
    first = pa.Table.from_pylist(head, schema=schema)
    yield pa.concat_tables([first, next(groups)], promote_options="default")
    yield from groups


def write_file(path: Path, schema: pa.Schema, groups: Iterable[pa.Table]) -> None:
    """Writes a Parquet file of actions, one row group per table; missing columns are null."""
    with pq.ParquetWriter(path, schema, compression="snappy", use_deprecated_int96_timestamps=True) as writer:
        for group in groups:
            known = dict(zip(group.column_names, group.columns, strict=True))
            columns = [known.get(field.name, pa.nulls(len(group), field.type)) for field in schema]
            table = pa.table(columns, schema=schema).combine_chunks()
            writer.write_table(table, row_group_size=table.num_rows)
