"""Reads tables with one library: `cell_child.py LIBRARY` answers each line of JSON with one.

A line names a table, an operation, and how often it is timed after a run that is not.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any


def deltaic_calls() -> dict[str, Callable[[str], int]]:
    """deltaic: its scan, and its whole results."""
    import deltaic

    def scan(path: str, predicate: str | None = None) -> Any:
        return deltaic.Table(path).snapshot().scan(["value"], predicate)

    return {
        "iterate": lambda path: sum(len(batch) for batch in scan(path)),
        "filter": lambda path: sum(len(batch) for batch in scan(path, "place = 7")),
        "to_arrow": lambda path: len(scan(path).to_arrow()),
        "to_polars": lambda path: len(scan(path).to_polars()),
    }


def polars_calls() -> dict[str, Callable[[str], int]]:
    """polars: its streaming engine by batches, and whole frames."""
    import polars as pl

    def rows(path: str) -> Any:
        return pl.scan_delta(path).select("value")

    def count(frame: Any) -> int:
        return sum(len(part) for part in frame.collect_batches(maintain_order=False, engine="streaming"))

    return {
        "iterate": lambda path: count(rows(path)),
        "filter": lambda path: count(pl.scan_delta(path).filter(pl.col("place") == 7).select("value")),
        "to_arrow": lambda path: len(rows(path).collect().to_arrow()),
        "to_polars": lambda path: len(rows(path).collect()),
    }


def deltalake_calls() -> dict[str, Callable[[str], int]]:
    """deltalake: its stream of Arrow batches."""
    import deltalake
    import pyarrow as pa

    def reader(path: str, predicate: str | None = None) -> Any:
        rows = deltalake.DeltaTable(path).scan(["value"], predicate)
        return pa.RecordBatchReader.from_stream(rows)

    return {
        "iterate": lambda path: sum(len(batch) for batch in reader(path)),
        "filter": lambda path: sum(len(batch) for batch in reader(path, "place = 7")),
        "to_arrow": lambda path: len(reader(path).read_all()),
    }


CALLS = {"deltaic": deltaic_calls, "polars": polars_calls, "deltalake": deltalake_calls}


def main() -> None:
    """Answers until there are no more lines."""
    library = sys.argv[1]
    importlib.import_module("pyarrow")
    calls = CALLS[library]()
    for line in sys.stdin:
        asked = json.loads(line)
        call = calls.get(asked["operation"])
        try:
            found = {"absent": True} if call is None else timed(call, asked["table"], asked["repeat"])
        except Exception as error:  # noqa: BLE001 - a library may raise any error
            found = {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(found), flush=True)


def timed(call: Callable[[str], int], table: str, repeat: int) -> dict[str, Any]:
    """Returns the number of rows, and the medians of CPU and wall seconds."""
    rows = call(table)
    cpus, walls = [], []
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        call(table)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {"rows": rows, "cpu": median(cpus), "wall": median(walls)}


if __name__ == "__main__":
    main()
