"""Benchmarks merges: `merging.py [--scale 1] [--repeat 3] [--only 'merge_recent*']`, as `writing.py`.

DuckDB joins the same files with the same rows and writes nothing: a lower bound for the time of matching.
"""

from __future__ import annotations

import sys

from merge_operations import MERGES, MOST_MIB
from merge_tables import MergeTables
from writing import Section, main

TEXT = f"""\
Written by `make bench-merges`, in the way of [writes](#writes). The sources are Arrow streams of 1 % of the
rows, of which half match, except those of `merge_delete` and `merge_wide`, of which all match. The floor is
DuckDB: it counts the matches of the same files and rows, and writes nothing. Peak memory must be under
{MOST_MIB:g} MiB, and that of deltalake.

deltalake cannot write deletion vectors, so it rewrites files in all merges.

To repeat: `make bench-merges`; `make bench-merges ONLY='merge_recent*' REPEAT=5` for some merges, `make
bench-merges SCALE=0.01` for a quick run; neither of the last two rewrites this section.
"""
SECTION = Section("## Merges", TEXT, MERGES, MergeTables, floor="duckdb")

if __name__ == "__main__":
    sys.exit(main(SECTION))
