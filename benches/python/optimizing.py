"""Benchmarks `optimize`: `optimizing.py [--scale 1] [--repeat 3] [--only optimize_zorder]`.

It works as `writing.py` does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import gcd
from pathlib import Path

import pyarrow as pa

from optimize_operations import MOST_MIB, OPTIMIZES
from run import table_of
from write_tables import WriteTables
from writing import Section, main

SMALL_FILES = 1_000
TEXT = f"""\
Written by `make bench-optimize`, in the way of [writes](#writes): small files are combined, and all rows
are rewritten in Z-order of two columns. No row may change. Peak memory must be under {MOST_MIB:g} MiB, and
at most 0.8 of that of deltalake.

To repeat: `make bench-optimize`; `make bench-optimize ONLY=optimize_zorder REPEAT=5` for one of them, `make
bench-optimize SCALE=0.01` for a quick run; neither of the last two rewrites this section.
"""


class OptimizeTables(WriteTables):
    """Tables whose files are rewritten: many small files, and large ones."""

    MODULES = (*WriteTables.MODULES, "optimize_operations", "optimizing")

    def base(self, name: str) -> Path:
        """Returns a table that must not be changed."""
        if name != "small":
            return super().base(name)
        # All files have as many rows.
        files = gcd(SMALL_FILES, self.spec.rows)
        workload = replace(self.workload, name="small", table=replace(self.spec, files=files))
        return table_of(workload, self.tables)[0]

    def rows_after(self, name: str) -> Callable[[], Iterator[pa.Table]]:  # noqa: ARG002
        """Returns a generator of the rows, which stay the same."""
        return self.numbered


SECTION = Section("## Optimize", TEXT, OPTIMIZES, OptimizeTables)

if __name__ == "__main__":
    sys.exit(main(SECTION))
