"""Generated predicates on every reference table: no file with a matching row is skipped, no row is wrong."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from .expectations import readable
from .generated_predicates import KINDS, Generator
from .naive_predicate import TRUE, columns_of
from .opening import needs_golden, opened
from .reference import reference
from .rows import column_keys

# With a condition of each kind, for each table.
TREES = 7
# For the tables that must leave out files.
PREDICATES = 40
# Columns with minima greater than some of their rows: readers that use them, delta-spark too, skip rows.
WRONG_STATISTICS = {"delta-rs/issue_1374": "timestamp"}
# Bound on rows evaluated per table; large tables get fewer predicates, but not fewer than `LEAST`.
ROWS_OF_ALL = 1_000_000
LEAST = 4
# Up to this number of rows, results are compared by row; larger ones are counted.
ROWS = 2_000


@needs_golden
@pytest.mark.parametrize("name", readable())
def test_no_row_is_lost_and_none_is_added(name: str) -> None:
    """protocol: per-file-statistics.4, per-file-statistics.5, partition-value-serialization.1."""
    snapshot = opened(reference(name).folder)
    tasks = snapshot.scan().tasks()
    parts = [task.read().read_all() for task in tasks]
    if not parts or not parts[0].column_names or not any(part.num_rows for part in parts):
        assert snapshot.scan(predicate="TRUE").count() == 0
        return
    table = pa.concat_tables(parts)
    file_of_row = np.repeat(np.arange(len(parts)), [part.num_rows for part in parts])
    columns = columns_of(table, json.loads(snapshot.schema.to_json()))
    columns = [column for column in columns if column.path != (WRONG_STATISTICS.get(name),)]
    count = max(LEAST, min(len(KINDS) + TREES, ROWS_OF_ALL // table.num_rows))
    for predicate in islice(Generator(columns, name).shapes(TREES), count):
        matches = predicate.answers == TRUE
        kept = set(snapshot.files(predicate.sql).to_arrow()["path"].to_pylist())
        needed = {tasks[index].path for index in set(file_of_row[matches].tolist())}
        assert needed <= kept, predicate.sql
        scan = snapshot.scan(predicate=predicate.sql)
        expected = np.flatnonzero(matches)
        if len(expected) > ROWS:
            assert scan.count() == len(expected), predicate.sql
        else:
            found, right = scan.to_arrow(), table.take(expected)
            # Rows in the order of the tasks need no conversion to be compared.
            assert found.equals(right) or Counter(keys(found)) == Counter(keys(right)), predicate.sql


@needs_golden
def test_the_wrong_statistics_are_wrong() -> None:
    """Otherwise the column must be tested like all others."""
    for name, column in WRONG_STATISTICS.items():
        folder = reference(name).folder
        logs = "\n".join(log.read_text() for log in (folder / "_delta_log").glob("*.json"))
        actions = [json.loads(line) for line in logs.splitlines()]
        added = {action["add"]["path"]: action["add"] for action in actions if "add" in action}
        too_high = 0
        for task in opened(folder).scan().tasks():
            minimum = json.loads(added[task.path]["stats"])["minValues"][column]
            smallest = min(task.read().read_all()[column].to_pylist())
            too_high += (
                minimum is not None and datetime.fromisoformat(minimum.replace("Z", "+00:00")) > smallest
            )
        assert too_high, name


@needs_golden
def test_files_are_left_out() -> None:
    """The other tests are meaningful only if files are skipped."""
    left_out = matching = 0
    for name in ("delta-spark-fresh/zorder", "delta-spark-fresh/partition_types_struct_stats"):
        snapshot = opened(reference(name).folder)
        columns = columns_of(snapshot.scan().to_arrow(), json.loads(snapshot.schema.to_json()))
        for predicate in Generator(columns, name).predicates(PREDICATES):
            matching += bool((predicate.answers == TRUE).any())
            left_out += snapshot.files(predicate.sql).num_rows < snapshot.num_files
    assert matching >= PREDICATES
    assert left_out >= PREDICATES


def keys(table: pa.Table) -> list[Any]:
    """Returns a key for each row; equal keys mean equal rows."""
    return list(zip(*(column_keys(table[name]) for name in table.column_names), strict=True))
