"""Compares reading tables of every shape: `reading_matrix.py [--rows 2000000] [--repeat 3] [--only texts]`.

Prints the CPU seconds of each library for each cell, and how often deltaic takes at most as many as the
better of the others. The rows are compared with pyarrow's before anything is timed.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import deltaic
from child import QUIET
from matrix.cell_tables import delete_some, make
from matrix.cells import NESTED, VALUES, Cell, cells

# The last is to iterate over a table with deletion vectors.
OPERATIONS = ("iterate", "filter", "to_arrow", "to_polars", "vectors")
LIBRARIES = ("deltaic", "polars", "deltalake")


class Library:
    """A process that reads with one library."""

    def __init__(self, name: str) -> None:
        command = [sys.executable, str(Path(__file__).parent / "matrix" / "cell_child.py"), name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **QUIET}
        )

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Returns the answer to one query."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"failed": "the process ended"}

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()


def written(path: Path) -> pa.Table:
    """Returns the rows of the files, as pyarrow reads them."""
    files = deltaic.Table(path).files().to_arrow()["path"].to_pylist()
    return pa.concat_tables(pq.read_table(path / file) for file in sorted(files))


def ensure_equal(cell: Cell, pairs: dict[str, tuple[pa.Table, deltaic.Scan]]) -> None:
    """Ends the program if a scan has other rows than expected."""
    for name, (expected, scan) in pairs.items():
        wrong = difference(scan.to_arrow(), expected)
        if wrong is not None:
            raise SystemExit(f"{cell.name}, {name}: {wrong}")


def difference(found: pa.Table, expected: pa.Table) -> str | None:
    """Returns how rows differ; None if they are equal in some order."""
    if len(found) != len(expected):
        return f"{len(found)} rows instead of {len(expected)}"
    values = found["value"].combine_chunks()
    others = expected["value"].combine_chunks()
    if not pa.types.is_nested(values.type):
        others = others.cast(values.type)
    return None if sorted_values(values).equals(sorted_values(others)) else "other values"


def sorted_values(values: Any) -> Any:
    """Returns values in an order that does not depend on that of files."""
    views = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    values = values.cast(views.get(values.type, values.type))
    if pa.types.is_nested(values.type):
        return pa.array(sorted(map(str, values.to_pylist())))
    return values.sort()


def measured(
    cell: Cell, path: Path, rows: dict[str, int], libraries: dict[str, Library], repeat: int
) -> dict[str, dict[str, float]]:
    """Returns the CPU seconds by operation and library; `rows` has operations and the sizes of results."""
    found: dict[str, dict[str, float]] = {}
    for operation, count in rows.items():
        asked = "iterate" if operation == "vectors" else operation
        for name, library in libraries.items():
            said = library.ask(table=str(path), operation=asked, repeat=repeat)
            if said.get("rows", count) != count:
                said = {"failed": f"{said['rows']} rows instead of {count}"}
            if "failed" in said:
                print(f"  {cell.name} {operation}: {name} cannot read it: {said['failed'][:150]}", flush=True)
            if "cpu" in said:
                found.setdefault(operation, {})[name] = said["cpu"]
    return found


def compared(
    cell: Cell, path: Path, libraries: dict[str, Library], repeat: int
) -> dict[str, dict[str, float]]:
    """Compares the rows of a table with those that pyarrow reads, and returns CPU seconds."""
    expected = written(path)
    is_place = pc.equal(expected["place"], 7)
    few, most = expected.filter(is_place), expected.filter(pc.invert(is_place))
    before = deltaic.Table(path).snapshot()
    ensure_equal(
        cell,
        {
            "all rows": (expected, before.scan()),
            "views": (expected, before.scan(strings="view")),
            "filter": (few, before.scan(predicate="place = 7")),
        },
    )
    rows = dict.fromkeys(OPERATIONS, len(expected)) | {"filter": len(few)}
    del rows["vectors"]
    found = measured(cell, path, rows, libraries, repeat)
    delete_some(path)
    ensure_equal(cell, {"vectors": (most, deltaic.Table(path).snapshot().scan())})
    return found | measured(cell, path, {"vectors": len(most)}, libraries, repeat)


def main() -> None:
    """Measures all cells, and prints a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="*")
    parser.add_argument("--writers", default=",".join(VALUES["writer"]), help="spark needs pyspark and Java")
    parser.add_argument("--check", action="store_true", help="compare rows only")
    given = parser.parse_args()
    writers, only = given.writers.split(","), given.only.split(",")
    if "spark" in writers and find_spec("pyspark") is None:
        print("pyspark is not installed: the cells of Spark are left out")
        writers.remove("spark")
    chosen = [cell for cell in cells() if cell.writer in writers]
    chosen = [cell for cell in chosen if any(fnmatch.fnmatch(cell.name, pattern) for pattern in only)]
    libraries = {} if given.check else {name: Library(name) for name in LIBRARIES}
    ratios: list[tuple[float, Cell, str]] = []
    if libraries:
        print(f"| cell | {' | '.join(OPERATIONS)} |\n|---|{'---|' * len(OPERATIONS)}", flush=True)
    try:
        for cell in chosen:
            rows = given.rows // 4 if cell.kind in NESTED else given.rows
            with tempfile.TemporaryDirectory(prefix="matrix-") as folder:
                path = Path(folder) / "table"
                make(cell, rows, path)
                shown = []
                for operation, cpus in compared(cell, path, libraries, given.repeat).items():
                    best = min((cpu for name, cpu in cpus.items() if name != "deltaic"), default=None)
                    ratio = cpus["deltaic"] / best if best and "deltaic" in cpus else float("nan")
                    ratios.append((ratio, cell, operation))
                    shown.append(f"{ratio:.2f} ({', '.join(f'{cpu * 1e3:.0f}' for cpu in cpus.values())})")
                if libraries:
                    print(f"| {cell.name} | {' | '.join(shown)} |", flush=True)
    finally:
        for library in libraries.values():
            library.stop()
    print(f"{len(chosen)} cells have the rows that pyarrow reads")
    for operation in OPERATIONS if libraries else ():
        _summarize(operation, [(ratio, cell) for ratio, cell, of in ratios if of == operation])


def _summarize(operation: str, ratios: list[tuple[float, Cell]]) -> None:
    def share(of: list[float], most: float) -> str:
        return f"{sum(ratio <= most for ratio in of)} of {len(of)} at most {most}"

    every = [ratio for ratio, _ in ratios]
    texts = [ratio for ratio, cell in ratios if cell.is_text]
    print(f"{operation}: {share(every, 1.0)}, {share(every, 1.1)}; text: {share(texts, 0.9)}")


if __name__ == "__main__":
    main()
