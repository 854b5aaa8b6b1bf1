"""Makes the tables of the benchmarks from the protocol's text, with pyarrow and no Delta library.

Only the log is made: a classic V1 checkpoint with statistics as JSON, the commits after it, the
`_last_checkpoint` file. The data files that it names do not exist, because nothing here reads them.
Sections: Checkpoints, Checkpoint Schema, Add File and Remove File, Per-file Statistics.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workload import TableSpec

CHECKPOINT_VERSION = 10
FIRST_DAY = date(2025, 1, 1)
EPOCH_MS = 1_735_689_600_000  # 2025-01-01T00:00:00Z, so that the same spec makes the same bytes
STRINGS = pa.map_(pa.string(), pa.string())

ADD = pa.struct(
    [
        ("path", pa.string()),
        ("partitionValues", STRINGS),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        ("stats", pa.string()),
        ("tags", STRINGS),
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
    ]
)
METADATA = pa.struct(
    [
        ("id", pa.string()),
        ("format", pa.struct([("provider", pa.string()), ("options", STRINGS)])),
        ("schemaString", pa.string()),
        ("partitionColumns", pa.list_(pa.string())),
        ("configuration", STRINGS),
        ("createdTime", pa.int64()),
    ]
)
PROTOCOL = pa.struct([("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())])
TXN = pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())])
CHECKPOINT = pa.schema(
    [("txn", TXN), ("add", ADD), ("remove", REMOVE), ("metaData", METADATA), ("protocol", PROTOCOL)]
)


@dataclass(frozen=True)
class Manifest:
    """What every reader must answer about the table."""

    version: int
    num_files: int
    size_in_bytes: int
    digest: str
    """Of all live (path, size), in any order: see `digest_of`."""


def digest_of(files: Iterator[tuple[str, int]]) -> str:
    """A digest of the files that does not depend on their order."""
    total = 0
    for path, size in files:
        one = hashlib.blake2b(f"{path}\0{size}".encode(), digest_size=16).digest()
        total = (total + int.from_bytes(one, "big")) % (1 << 128)
    return f"{total:032x}"


def generate(spec: TableSpec, folder: Path) -> Manifest:
    """Write the table into an empty folder and return its manifest, which lies in it as `manifest.json`."""
    chance = random.Random(spec.seed)
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    adds = [make_add(spec, chance, number) for number in range(spec.adds)]
    removes = [make_remove(make_add(spec, chance, -1 - number)) for number in range(spec.tombstones)]
    write_checkpoint(spec, log, adds, removes)
    live = {add["path"]: add["size"] for add in adds}
    for commit in range(1, spec.commits + 1):
        version = CHECKPOINT_VERSION + commit
        new = [
            make_add(spec, chance, spec.adds + version * spec.adds_per_commit + number)
            for number in range(spec.adds_per_commit)
        ]
        gone = adds[(commit - 1) * spec.removes_per_commit : commit * spec.removes_per_commit]
        info = {"timestamp": EPOCH_MS + version * 60_000, "operation": "WRITE", "operationParameters": {}}
        actions = [{"commitInfo": info}, *({"add": add} for add in new)]
        actions += [{"remove": make_remove(add)} for add in gone]
        write_commit(log / f"{version:020}.json", actions)
        live |= {add["path"]: add["size"] for add in new}
        for add in gone:
            del live[add["path"]]
    version = CHECKPOINT_VERSION + spec.commits
    manifest = Manifest(version, len(live), sum(live.values()), digest_of(iter(live.items())))
    (folder / "manifest.json").write_text(json.dumps(asdict(manifest), indent=2) + "\n")
    return manifest


def make_add(spec: TableSpec, chance: random.Random, number: int) -> dict:
    """The add action of one file; `number` is part of its name and makes it unique."""
    day = (FIRST_DAY + timedelta(days=chance.randrange(spec.partitions))).isoformat()
    rows = chance.randrange(1_000, 100_000)
    names = [f"column_{index}" for index in range(spec.statistics_columns)]
    lows = [chance.randrange(1_000_000) for _ in names]
    # Every third column is a string, as wide as names and keys usually are.
    shown = [low if index % 3 else f"value-{low:012}" for index, low in enumerate(lows)]
    highs = [low + 1_000 if index % 3 else f"value-{low + 1_000:012}" for index, low in enumerate(lows)]
    statistics = {
        "numRecords": rows,
        "minValues": dict(zip(names, shown, strict=True)),
        "maxValues": dict(zip(names, highs, strict=True)),
        "nullCount": {name: chance.randrange(10) for name in names},
    }
    unique = f"{chance.getrandbits(128):032x}-{number}"
    return {
        "path": f"day={day}/part-{number % 100_000:05}-{unique}.c000.zstd.parquet",
        "partitionValues": {"day": day},
        "size": rows * 40 + chance.randrange(10_000),
        "modificationTime": EPOCH_MS + abs(number),
        "dataChange": True,
        "stats": json.dumps(statistics, separators=(",", ":")),
    }


def make_remove(add: dict) -> dict:
    """The tombstone of a file."""
    return {
        "path": add["path"],
        "deletionTimestamp": EPOCH_MS + 1_000,
        "dataChange": True,
        "extendedFileMetadata": True,
        "partitionValues": add["partitionValues"],
        "size": add["size"],
    }


def make_metadata(spec: TableSpec) -> dict:
    """The table's metadata: a partition column and the columns that have statistics."""
    fields = [{"name": "day", "type": "date", "nullable": True, "metadata": {}}]
    for index in range(spec.statistics_columns):
        kind = "long" if index % 3 else "string"
        fields.append({"name": f"column_{index}", "type": kind, "nullable": True, "metadata": {}})
    return {
        "id": f"{random.Random(spec.seed).getrandbits(128):032x}",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}, separators=(",", ":")),
        "partitionColumns": ["day"],
        "configuration": {},
        "createdTime": EPOCH_MS,
    }


def write_checkpoint(spec: TableSpec, log: Path, adds: list[dict], removes: list[dict]) -> None:
    """The checkpoint, one action a row, and the hint that points to it."""
    rows = [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": make_metadata(spec)}]
    rows += [{"add": {**add, "dataChange": False}} for add in adds]
    rows += [{"remove": {**remove, "dataChange": False}} for remove in removes]
    path = log / f"{CHECKPOINT_VERSION:020}.checkpoint.parquet"
    with pq.ParquetWriter(path, CHECKPOINT, compression="snappy") as writer:
        for begin in range(0, len(rows), 20_000):
            writer.write_table(pa.Table.from_pylist(rows[begin : begin + 20_000], schema=CHECKPOINT))
    hint = {"version": CHECKPOINT_VERSION, "size": len(rows)}
    (log / "_last_checkpoint").write_text(json.dumps(hint, separators=(",", ":")))


def write_commit(path: Path, actions: list[dict]) -> None:
    """A commit: one action a line."""
    path.write_text("".join(json.dumps(action, separators=(",", ":")) + "\n" for action in actions))
