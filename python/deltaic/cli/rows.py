"""The commands that read rows: ``head``, ``changes`` and ``count``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from deltaic.cli.output import emit, emit_json, emit_table
from deltaic.cli.selection import open_snapshot, open_table, selected_columns
from deltaic.cli.values import cell, json_value
from deltaic.values.optional import require

__all__ = ["run_changes", "run_count", "run_head"]


def run_head(options: argparse.Namespace) -> None:
    """Shows some rows of a snapshot."""
    scan = open_snapshot(options).scan(
        selected_columns(options), options.where, limit=options.n, variant="json"
    )
    _emit_rows(scan.to_arrow(), as_json=options.json)


def run_changes(options: argparse.Namespace) -> None:
    """Shows the row-level changes of a range of versions."""
    pyarrow = require("pyarrow", "Showing rows")
    scan = open_table(options).changes(
        options.first, options.last, selected_columns(options), infer=options.infer
    )
    batches: list[Any] = []
    wanted: int = sys.maxsize if options.n is None else options.n
    # Read no more batches than are shown.
    for batch in scan if wanted else ():
        batches.append(batch.slice(0, wanted))
        wanted -= batches[-1].num_rows
        if not wanted:
            break
    table = pyarrow.Table.from_batches(batches, pyarrow.schema(scan.schema))
    _emit_rows(table, as_json=options.json)


def run_count(options: argparse.Namespace) -> None:
    """Shows the number of rows."""
    number = open_snapshot(options).scan(predicate=options.where).count()
    if options.json:
        emit_json({"count": number})
    else:
        emit(str(number))


def _emit_rows(table: Any, *, as_json: bool) -> None:  # Any: pyarrow ships no types
    rows: list[dict[str, Any]] = table.to_pylist()
    if as_json:
        emit_json([json_value(row) for row in rows])
        return
    cells = [[cell(value) for value in row.values()] for row in rows]
    emit_table(table.column_names, cells, numeric=_numeric(table.schema))


def _numeric(schema: Any) -> set[str]:
    types = require("pyarrow", "Showing rows").types
    checks: list[Callable[[Any], bool]] = [types.is_integer, types.is_floating, types.is_decimal]
    return {field.name for field in schema if any(check(field.type) for check in checks)}
