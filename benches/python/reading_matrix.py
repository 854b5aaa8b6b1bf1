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
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import deltaic
from child import QUIET
from matrix.cell_tables import make
from matrix.cells import NESTED, Cell, cells

OPERATIONS = ("iterate", "to_arrow", "to_polars")
LIBRARIES = ("deltaic", "polars", "deltalake")


class Library:
    """A process that reads with one library."""

    def __init__(self, name: str) -> None:
        command = [sys.executable, str(Path(__file__).parent / "matrix" / "cell_child.py"), name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **QUIET}
        )

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Returns the answer to one question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"failed": "the process ended"}

    def stop(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()


def differences(path: Path) -> str | None:
    """Returns how the rows differ from those that pyarrow reads; None if they are equal."""
    files = deltaic.Table(path).files().to_arrow()["path"].to_pylist()
    expected = pa.concat_tables(pq.read_table(path / file) for file in sorted(files))
    found = deltaic.Table(path).to_arrow()
    if len(found) != len(expected):
        return f"{len(found)} rows instead of {len(expected)}"
    values = found["value"].combine_chunks()
    others = expected["value"].cast(values.type).combine_chunks()
    return None if sorted_values(values).equals(sorted_values(others)) else "other values"


def sorted_values(values: Any) -> Any:
    """Returns values in an order that does not depend on that of files."""
    if pa.types.is_nested(values.type):
        return pa.array(sorted(map(str, values.to_pylist())))
    return values.sort()


def measured(cell: Cell, path: Path, libraries: dict[str, Library], repeat: int) -> dict[str, Any]:
    """Returns the CPU seconds by operation and library."""
    found: dict[str, dict[str, float]] = {}
    for operation in OPERATIONS:
        for name, library in libraries.items():
            said = library.ask(table=str(path), operation=operation, repeat=repeat)
            if "failed" in said:
                print(f"  {cell.name} {operation}: {name} cannot read it: {said['failed'][:150]}", flush=True)
            if "cpu" in said:
                found.setdefault(operation, {})[name] = said["cpu"]
    return found


def main() -> None:
    """Measures all cells, and prints a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="*")
    parser.add_argument("--check", action="store_true", help="compare rows only")
    given = parser.parse_args()
    chosen = [cell for cell in cells() if any(fnmatch.fnmatch(cell.name, p) for p in given.only.split(","))]
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
                wrong = differences(path)
                if wrong is not None:
                    raise SystemExit(f"{cell.name}: {wrong}")
                shown = []
                for operation, cpus in measured(cell, path, libraries, given.repeat).items():
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
