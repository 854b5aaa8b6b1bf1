"""The floor: the same bytes read and parsed without Delta, by the fastest code available to Python.

Nothing is replayed: tombstones remove no file, and the answer is only the number of parsed add actions.
Parquet is read by pyarrow, memory-mapped and on all cores, and only the required columns. Commits are read by
pyarrow's JSON reader with a schema. If two keys of a text are required (the range), the text is split at the
key; the keys of one huge commit (the listing) are found by a regular expression that relies on their order.
Both are faster than a parser. Texts are processed per row group and not kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
import pyarrow.parquet as pq

from peers import Call
from predicates import DAY, RANGE_COLUMN, RANGE_HIGH, RANGE_LOW

if TYPE_CHECKING:
    from answers import Answer

PROGRAM = "pass"
KEYS = ("path", "size", "modificationTime", "partitionValues", "deletionVector")
KEY_LEAVES = [*(f"add.{name}" for name in KEYS), "remove.path", "remove.deletionVector"]
SMALL_COMMIT = 16 << 20
LONGEST_NUMBER = 20
BLOCK = 8 << 20
ARROW = {
    "string": pa.string(),
    "long": pa.int64(),
    "double": pa.float64(),
    "date": pa.timestamp("s"),  # the JSON reader knows no dates
    "timestamp": pa.timestamp("us"),
}
LINE = (
    r'^\{"add":\{"path":"(?P<path>[^"]*)","partitionValues":\{"day":"(?P<day>[^"]*)"\},'
    r'"size":(?P<size>\d+),"modificationTime":(?P<time>\d+)'
)


def is_one_huge_commit(log: Path) -> bool:
    """Whether most of the log is version 0."""
    first = log / f"{0:020}.json"
    return first.exists() and first.stat().st_size > SMALL_COMMIT


def keys(uri: str) -> Any:
    """Reads the key columns of all adds and removes."""
    log = Path(uri) / "_delta_log"
    if is_one_huge_commit(log):
        whole_lines = {"has_header": False, "separator": "\x01", "quote_char": None, "new_columns": ["line"]}
        lines = pl.scan_csv(log / "*.json", **whole_lines)
        groups = lines.select(pl.col("line").str.extract_groups(LINE)).collect()["line"]
        return [groups.struct.field("path").to_arrow()], groups
    tables = parquet(log, KEY_LEAVES)
    late = json_adds(log, stats=False)
    return [*add_field(tables, "path"), *field_of(late, "path")], tables


def statistics(uri: str) -> Any:
    """Reads the key columns, and all statistics as typed columns."""
    log = Path(uri) / "_delta_log"
    schema = statistics_schema(uri)

    def typed(adds: pa.StructArray) -> tuple[pa.Array, Any]:
        path = pc.struct_field(adds, "path")
        if "stats_parsed" in field_names(adds):
            return path, adds
        keys = [pc.struct_field(adds, name) for name in field_names(adds) if name != "stats"]
        return path, (keys, typed_statistics(pc.struct_field(adds, "stats"), schema))

    wanted = "add.stats_parsed" if has_struct_statistics(log) else "add.stats"
    found = by_row_group(log, [*KEY_LEAVES, wanted], typed)
    found += [typed(chunk) for chunk in json_adds(log, stats=True).chunks]
    return [path for path, _ in found], found


def pruned_by_range(uri: str) -> Any:
    """Reads the key columns, and computes which files' minimum and maximum overlap the range."""
    log = Path(uri) / "_delta_log"

    def kept(adds: pa.StructArray) -> tuple[pa.Array, Any]:
        if "stats_parsed" in field_names(adds):
            names = [["stats_parsed", kind, RANGE_COLUMN] for kind in ("minValues", "maxValues")]
            low, high = (pc.struct_field(adds, name) for name in names)
        else:
            low, high = bounds_in_text(pc.struct_field(adds, "stats"))
        keys = [pc.struct_field(adds, name) for name in field_names(adds) if not name.startswith("stats")]
        mask = pc.and_(pc.greater_equal(high, RANGE_LOW), pc.less_equal(low, RANGE_HIGH))
        return pc.struct_field(adds, "path"), (keys, mask)

    bounds = [f"add.stats_parsed.{kind}.{RANGE_COLUMN}" for kind in ("minValues", "maxValues")]
    wanted = bounds if has_struct_statistics(log) else ["add.stats"]
    found = by_row_group(log, [*KEY_LEAVES, *wanted], kept)
    found += [kept(chunk) for chunk in json_adds(log, stats=True).chunks]
    return [path for path, _ in found], found


def pruned_by_partition(uri: str) -> Any:
    """Reads the key columns, and computes which files are in the partition."""
    paths, tables = keys(uri)
    days = [chunk.items for chunk in add_field(tables, "partitionValues")]
    return paths, [pc.equal(day, DAY) for day in days]


def refreshed(uri: str) -> Any:
    """Lists the log, and reads and parses the newest commit."""
    log = Path(uri) / "_delta_log"
    newest = max(entry.name for entry in os.scandir(log) if entry.name.endswith(".json"))
    return [json.loads(line) for line in (log / newest).read_bytes().splitlines()]


def parquet_files(log: Path) -> list[Path]:
    """Returns all files of the checkpoint that contain adds."""
    return sorted(log.glob("_sidecars/*.parquet")) or sorted(log.glob("*.parquet"))


def has_struct_statistics(log: Path) -> bool:
    """Whether the checkpoint has statistics as columns; False without a checkpoint."""
    files = parquet_files(log)
    return bool(files) and "stats_parsed" in field_names(pq.read_schema(files[0]).field("add"))


def field_names(adds: pa.Field | pa.StructArray) -> set[str]:
    """Returns the fields of a struct."""
    return {field.name for field in adds.type}


def by_row_group(log: Path, leaves: list[str], work: Callable[[pa.StructArray], Any]) -> list[Any]:
    """Applies a function to the adds of each row group of the checkpoint, on all cores."""

    def done(job: tuple[Path, int]) -> Any:
        path, group = job
        table = pq.ParquetFile(path, memory_map=True).read_row_group(group, columns=leaves, use_threads=False)
        return [work(chunk) for chunk in table["add"].chunks]

    files = parquet_files(log)
    jobs = [(path, group) for path in files for group in range(pq.read_metadata(path).num_row_groups)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [found for some in pool.map(done, jobs) for found in some]


def parquet(log: Path, leaves: list[str]) -> list[pa.Table]:
    """Reads these leaf columns from every file of the checkpoint."""
    return [pq.ParquetFile(path, memory_map=True).read(columns=leaves) for path in parquet_files(log)]


def add_field(tables: list[pa.Table], name: str) -> list[pa.Array]:
    """Returns a field of `add`, chunk by chunk."""
    return [pc.struct_field(chunk, name) for table in tables for chunk in table["add"].chunks]


def field_of(adds: pa.ChunkedArray, name: str) -> list[pa.Array]:
    """Returns a field of the commits' adds, chunk by chunk."""
    return [pc.struct_field(chunk, name) for chunk in adds.chunks]


def json_adds(log: Path, *, stats: bool) -> pa.ChunkedArray:
    """Reads the adds of all commits."""
    fields = [("path", pa.string()), ("size", pa.int64()), ("modificationTime", pa.int64())]
    fields.append(("partitionValues", pa.struct([("day", pa.string())])))
    if stats:
        fields.append(("stats", pa.string()))
    files = sorted(Path(entry.path) for entry in os.scandir(log) if entry.name.endswith(".json"))
    source = files[0] if len(files) == 1 else pa.BufferReader(b"".join(path.read_bytes() for path in files))
    return parsed(source, pa.schema([("add", pa.struct(fields))]))["add"]


def parsed(source: Any, schema: pa.Schema) -> pa.Table:
    """Parses lines of JSON: only the fields of the schema."""
    read = pj.ReadOptions(block_size=BLOCK)
    parse = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    return pj.read_json(source, read_options=read, parse_options=parse)


def typed_statistics(texts: pa.StringArray, schema: pa.Schema) -> pa.Table:
    """Parses the texts into typed columns."""
    texts = texts.drop_null()
    offsets = pa.array([0, len(texts)], pa.int32())
    lines = pc.binary_join(pa.ListArray.from_arrays(offsets, texts), "\n")[0].as_buffer()
    return parsed(pa.BufferReader(lines), schema) if lines.size else schema.empty_table()


def bounds_in_text(texts: pa.StringArray) -> list[pa.Array]:
    """Extracts minimum and maximum of the range's column: the values after its first two occurrences."""
    pieces = pc.split_pattern(texts, f'"{RANGE_COLUMN}":', max_splits=2).flatten()
    heads = pc.utf8_slice_codeunits(pieces, 0, LONGEST_NUMBER)
    found = [heads.take(pa.array(range(at, len(heads), 3), pa.int64())) for at in (1, 2)]
    return [pc.extract_regex(head, r"^(?P<number>-?\d+)").field("number").cast(pa.int64()) for head in found]


def statistics_schema(uri: str) -> pa.Schema:
    """Returns the typed columns of the statistics."""
    from files import columns_of
    from workload import TableSpec

    spec = TableSpec(**json.loads((Path(uri) / "manifest.json").read_text())["spec"])
    values = pa.struct([(name, ARROW[kind]) for name, kind in columns_of(spec).items()])
    counts = pa.struct([(name, pa.int64()) for name in columns_of(spec)])
    kinds = [("minValues", values), ("maxValues", values), ("nullCount", counts)]
    return pa.schema([("numRecords", pa.int64()), *kinds])


def answer(result: Any) -> Answer:
    """Returns the number of parsed adds."""
    from answers import Answer

    return Answer(adds_in_log=sum(len(paths) - paths.null_count for paths in result[0]))


def refreshed_answer(lines: list[dict]) -> Answer:
    """Returns the number of parsed adds."""
    from answers import Answer

    return Answer(adds_in_log=sum("add" in line for line in lines))


CALLS = {
    "open_and_list": Call(keys, answer),
    "open_and_list_statistics": Call(statistics, answer),
    "open_and_prune_range": Call(pruned_by_range, answer),
    "open_and_prune_partition": Call(pruned_by_partition, answer),
    "refresh": Call(refreshed, refreshed_answer),
}
