"""Kills the driver of writes, and writes again: `python -m tests.spark.killed_writers 5`.

Run by hand: each turn starts several JVMs. Prints what remains after each kill; fails if a row is lost or
doubled, or if a reader sees anything but a whole write.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

import deltaic

ROWS = 1_000
PROGRAM = "tests.spark.programs.killed_writer"


def attempt(point: str, kind: str, path: Path) -> int:
    """Runs the writer; returns its exit code."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.spark.programs.killed_writer",
        point,
        kind,
        str(path),
    ]
    settings = {**os.environ, "PYSPARK_PYTHON": sys.executable, "LC_ALL": "C.UTF-8"}
    ended = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if ended.returncode not in (0, -9):
        raise SystemExit(f"{kind} {point}: {ended.stderr[-2000:]}")
    return ended.returncode


def check(point: str, kind: str) -> None:
    """Kills a write at a point, looks at the table, and writes again."""
    with tempfile.TemporaryDirectory(prefix="killed-") as folder:
        path = Path(folder)
        deltaic.write(path / "source", pa.table({"id": range(ROWS)}))
        if attempt(point, kind, path) == 0:
            raise SystemExit(f"{kind} {point}: the writer was not killed")
        exists = deltaic.Table.exists(path / "target")
        if exists != (point == "committed"):
            raise SystemExit(f"{kind} {point}: the table {'exists' if exists else 'does not exist'}")
        for _ in range(2):
            if attempt("none", kind, path) != 0:
                raise SystemExit(f"{kind} {point}: the second writer was killed")
        table = deltaic.Table(path / "target")
        if sorted(table.to_arrow()["id"].to_pylist()) != list(range(ROWS)):
            raise SystemExit(f"{kind} {point}: rows are lost or doubled")
        live = set(table.files().to_arrow()["path"].to_pylist())
        orphans = {file.name for file in (path / "target").glob("*.parquet")} - live
        print(f"{kind} {point}: {ROWS} rows once, {len(orphans)} unreferenced files", flush=True)


def main() -> None:
    """Runs all points as often as the argument says."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for _ in range(turns):
        for kind in ("batch", "stream", "batch as arrow", "stream as arrow"):
            for point in ("planned", "written", "committed"):
                check(point, kind)


if __name__ == "__main__":
    main()
