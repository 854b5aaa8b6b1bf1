"""The matrix of shapes at a small scale: deltaic reads the rows that pyarrow reads, of every writer."""

from __future__ import annotations

from .harness import need, printed, run

# Those of Spark take long to start: `make bench-matrix` compares them.
WRITERS = "pyarrow,polars,duckdb,deltaic"


def test_the_rows_of_every_cell_are_right() -> None:
    need("polars", "duckdb")
    done = run("reading_matrix.py", "--check", "--rows", "48000", "--writers", WRITERS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cells have the rows that pyarrow reads" in done.stdout


def test_cells_contain_every_possible_pair() -> None:
    program = """
from itertools import combinations, product
from matrix.cells import VALUES, Cell, cells
settings = [cell for cell in (Cell(*each) for each in product(*VALUES.values())) if cell.is_possible]
both = list(combinations(VALUES, 2))
pairs = lambda of: {(a, getattr(cell, a), b, getattr(cell, b)) for cell in of for a, b in both}
print(len(cells()) <= 100, pairs(cells()) == pairs(settings))
"""
    assert printed(program).split() == ["True", "True"]
