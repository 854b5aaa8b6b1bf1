"""Times the first read of a fresh process: `spark_cold.py [--repeat 3]`, with and without compiled classes.

From before `import deltaic.spark`, in a session that has run a query of its own, until the first answer.
Plain Parquet gives the part that is Spark's: its first read also loads and compiles.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

CHILD = """
import json, sys, time
from spark_ways import SETTINGS
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[2]").config(map=SETTINGS).getOrCreate()
spark.range(3).where("id > 1").count()
begin = time.perf_counter()
if sys.argv[2] == "parquet":
    frame = spark.read.parquet(sys.argv[1])
else:
    import deltaic.spark as ds

    frame = ds.read(spark).load(sys.argv[1])
rows = frame.where("id >= 0").count()
print(json.dumps({"seconds": time.perf_counter() - begin, "rows": rows}))
"""
CASES = ("parquet", "compiled before", "not compiled")
ROWS = 1_000


def seconds(case: str, table: str, cache: Path) -> float:
    """Runs one process and returns its time."""
    for jar in cache.rglob("*.jar") if case == "not compiled" else ():
        jar.unlink()
    here = Path(__file__).resolve().parent
    said = subprocess.run(
        [sys.executable, "-c", CHILD, table, case],
        cwd=here,
        env={**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(here), "LC_ALL": "C.UTF-8"},
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    found = json.loads(next(line for line in said.stdout.splitlines() if line.startswith("{")))
    if found["rows"] != ROWS:
        raise SystemExit(f"{case}: {found['rows']} rows instead of {ROWS}")
    return found["seconds"]


def main() -> None:
    """Prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3, help="processes of each case (default 3)")
    repeat = parser.parse_args().repeat
    import pyarrow as pa

    import deltaic

    with tempfile.TemporaryDirectory() as scratch:
        table = str(Path(scratch, "t"))
        rows = pa.table({"id": pa.array(range(ROWS), pa.int64())})
        deltaic.Table.create(table, rows.schema).append(rows)
        cache = Path(scratch, "cache")
        seconds("not compiled", table, cache)
        found: dict[str, list[float]] = {case: [] for case in CASES}
        for _ in range(repeat):
            for case in CASES:
                found[case].append(seconds(case, table, cache))
        for case, values in found.items():
            print(f"{case:16} {median(values):.2f} s ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
