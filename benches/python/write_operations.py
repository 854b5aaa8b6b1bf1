"""The operations that write, each with deltaic and deltalake, and their goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CHANGED = "customer < 10000"  # one row of 100, in every file
REPLACED = 7
SHOPS = 50
"""The number of values of `quantity` in the rows that are appended: the partitions."""
MEMORY = {"peak_mib": 0.5}
MOST_MIB = 600.0


@dataclass(frozen=True)
class Write:
    """An operation, and its goals as shares of deltalake's figures."""

    name: str
    what: str
    table: str
    """The table before: `empty`, `empty_partitioned`, `data`, `vectors` or `partitioned`."""
    answer: str
    """The expected rows: `rows`, `deleted`, `updated` or `overwritten`."""
    goals: dict[str, float]
    source: str = ""
    """The file with the rows to write."""
    most_mib: float = MOST_MIB
    """The largest peak memory."""

    def table_of(self, peer: str) -> str:
        """Returns the table of a peer: deltalake cannot write deletion vectors, so it rewrites files."""
        return "data" if (peer, self.table) == ("deltalake", "vectors") else self.table


WRITES = (
    Write(
        "append",
        "all rows to an empty table",
        "empty",
        "rows",
        {"wall": 0.7, "cpu": 0.9, **MEMORY},
        "rows",
    ),
    Write(
        "append_partitioned",
        f"the same, partitioned by a column of {SHOPS} values",
        "empty_partitioned",
        "rows",
        {"wall": 0.7, "cpu": 0.9, **MEMORY},
        "rows",
    ),
    Write(
        "delete_vectors",
        "1 % of the rows, in all files, by deletion vectors",
        "vectors",
        "deleted",
        {"wall": 0.2, "cpu": 0.2, **MEMORY},
    ),
    Write(
        "delete_rewrite",
        "the same by rewriting the files",
        "data",
        "deleted",
        {"wall": 0.8, "cpu": 0.8, **MEMORY},
    ),
    Write(
        "update_vectors",
        "one column of 1 % of the rows, in all files, by deletion vectors",
        "vectors",
        "updated",
        {"wall": 0.2, "cpu": 0.2, **MEMORY},
    ),
    Write(
        "update_rewrite",
        "the same by rewriting the files",
        "data",
        "updated",
        {"wall": 0.8, "cpu": 0.8, **MEMORY},
    ),
    Write(
        "overwrite_partition",
        f"one of the {SHOPS} partitions by as many other rows",
        "partitioned",
        "overwritten",
        {"wall": 0.7, "cpu": 0.9, **MEMORY},
        "replacement",
    ),
)


def call_of(peer: str, name: str) -> Callable[[str, Any], object]:
    """Returns the call of an operation: it takes the table and a stream of rows."""
    return (by_deltaic if peer == "deltaic" else by_deltalake)(name.partition("_")[0])


def by_deltaic(verb: str) -> Callable[[str, Any], object]:
    """Returns deltaic's call of a verb."""
    import deltaic

    calls: dict[str, Callable[[str, Any], object]] = {
        "append": lambda uri, rows: deltaic.Table(uri).append(rows),
        "delete": lambda uri, _: deltaic.Table(uri).delete(CHANGED),
        "update": lambda uri, _: deltaic.Table(uri).update({"amount": "amount + 1"}, CHANGED),
        "overwrite": lambda uri, rows: deltaic.Table(uri).overwrite(rows, where=f"quantity = {REPLACED}"),
    }
    return calls[verb]


def by_deltalake(verb: str) -> Callable[[str, Any], object]:
    """Returns deltalake's call of a verb."""
    from deltalake import DeltaTable, write_deltalake

    calls: dict[str, Callable[[str, Any], object]] = {
        "append": lambda uri, rows: write_deltalake(uri, rows, mode="append"),
        "delete": lambda uri, _: DeltaTable(uri).delete(CHANGED),
        "update": lambda uri, _: DeltaTable(uri).update({"amount": "amount + 1"}, predicate=CHANGED),
        "overwrite": lambda uri, rows: write_deltalake(
            uri, rows, mode="overwrite", predicate=f"quantity = {REPLACED}"
        ),
    }
    return calls[verb]
