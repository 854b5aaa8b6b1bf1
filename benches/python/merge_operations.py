"""The merges, each with deltaic, deltalake and the same join by DuckDB, and their goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from write_operations import SHOPS, Write

ON = "target.id = source.id"
WIDE_COLUMNS = 200
SET = ("c001", "c100", "c199")
MOST_MIB = 1024.0


@dataclass(frozen=True)
class Merge(Write):
    """A merge; the file of its source has the same name as its answer."""

    on: str = ON
    clauses: str = "upsert"
    """`upsert`, `insert`, `delete` or `update`: a few columns."""

    def table_of(self, peer: str) -> str:
        """Returns the table of a peer: deltalake cannot write deletion vectors, so it rewrites files."""
        return self.table if peer == "deltaic" else self.table.removesuffix("_vectors")


def merge(name: str, what: str, table: str, source: str, wall: float, **options: str) -> Merge:
    goals = {"wall": wall, "peak_mib": 1.0}
    return Merge(name, what, table, source, goals, source, MOST_MIB, **options)


MERGES = (
    merge(
        "merge_recent_vectors",
        "1 % of the newest rows: half are updated by deletion vectors, half inserted",
        "data_vectors",
        "recent",
        0.2,
    ),
    merge("merge_recent_rewrite", "the same by rewriting files", "data", "recent", 0.8),
    merge(
        "merge_random_vectors",
        "the same of rows in all files by deletion vectors",
        "data_vectors",
        "random",
        0.5,
    ),
    merge("merge_random_rewrite", "the same by rewriting files", "data", "random", 0.8),
    merge(
        "merge_skewed_vectors",
        "the same, but all rows that are inserted have one key",
        "data_vectors",
        "skewed",
        0.5,
    ),
    merge("merge_skewed_rewrite", "the same by rewriting files", "data", "skewed", 0.8),
    merge(
        "merge_partition",
        f"as many rows into one of {SHOPS} partitions, by deletion vectors",
        "partitioned_vectors",
        "partition",
        0.5,
        on=f"{ON} AND target.quantity = source.quantity",
    ),
    merge(
        "merge_insert",
        "the rows of `merge_random_vectors` that match none, without an update",
        "data_vectors",
        "inserted",
        0.5,
        clauses="insert",
    ),
    merge("merge_delete", "rows of all files by keys", "data_vectors", "keys_deleted", 0.5, clauses="delete"),
    merge(
        "merge_delete_rewrite", "the same by rewriting files", "data", "keys_deleted", 0.8, clauses="delete"
    ),
    merge(
        "merge_wide",
        f"{len(SET)} of {WIDE_COLUMNS} columns of 1 % of the rows of another table",
        "wide_vectors",
        "wide",
        0.5,
        clauses="update",
    ),
    merge("merge_wide_rewrite", "the same by rewriting files", "wide", "wide", 0.8, clauses="update"),
)


def call_of_merge(peer: str, name: str) -> Callable[[str, Any], object]:
    """Returns the call of a merge: it takes the table and a stream of rows."""
    (found,) = (one for one in MERGES if one.name == name)
    calls = {"deltaic": by_deltaic, "deltalake": by_deltalake, "duckdb": by_duckdb}
    return calls[peer](found)


def with_clauses(started: Any, merge: Merge) -> Any:
    """Adds the clauses to a merge that was started: deltaic and deltalake name them alike."""
    clauses = {
        "upsert": lambda: started.when_matched_update_all().when_not_matched_insert_all(),
        "insert": started.when_not_matched_insert_all,
        "delete": started.when_matched_delete,
        "update": lambda: started.when_matched_update({name: f"source.{name}" for name in SET}),
    }
    return clauses[merge.clauses]()


def by_deltaic(merge: Merge) -> Callable[[str, Any], object]:
    """Returns deltaic's call."""
    import deltaic

    def call(uri: str, rows: pa.RecordBatchReader) -> object:
        started = deltaic.Table(uri).merge(rows, on=merge.on)
        return with_clauses(started, merge).execute()

    return call


def by_deltalake(merge: Merge) -> Callable[[str, Any], object]:
    """Returns deltalake's call."""
    from deltalake import DeltaTable

    def call(uri: str, rows: pa.RecordBatchReader) -> object:
        options = {"source_alias": "source", "target_alias": "target"}
        # A streamed source would not skip files by its keys.
        started = DeltaTable(uri).merge(rows, merge.on, streamed_exec=False, **options)
        return with_clauses(started, merge).execute()

    return call


def by_duckdb(merge: Merge) -> Callable[[str, Any], object]:
    """Returns DuckDB's join of the files with the rows: it counts the matches and writes nothing."""
    import duckdb

    connection = duckdb.connect()

    def call(uri: str, rows: pa.RecordBatchReader) -> object:
        files = [str(path) for path in Path(uri).rglob("*.parquet") if "_delta_log" not in path.parts]
        target = connection.read_parquet(files, hive_partitioning=True).set_alias("target")
        source = connection.from_arrow(rows).set_alias("source")
        return target.join(source, merge.on).aggregate("count(*)").fetchall()[0]

    return call
