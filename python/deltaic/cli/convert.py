"""The command that makes a table of existing Parquet files."""

from __future__ import annotations

import argparse

import deltaic
from deltaic.cli.output import emit_json, emit_summary
from deltaic.values.progress import ProgressLine
from deltaic.values.sizes import counted
from deltaic.writing.convert import ConvertPreview

__all__ = ["add_convert_arguments", "run_convert"]


def add_convert_arguments(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Adds the arguments of the command, and returns it."""
    command.add_argument(
        "--partition-schema",
        metavar="COLUMNS",
        help="the partition columns with their types, such as 'day date, city string'",
    )
    command.add_argument(
        "--no-statistics", action="store_true", help="record only the number of rows of each file"
    )
    return command


def run_convert(options: argparse.Namespace) -> None:
    """Converts a folder, or shows what this would make."""
    with ProgressLine({"log": "reading the log", "files": "reading the footers"}) as progress:
        done = deltaic.Table.convert(
            options.path,
            _to_columns(options.partition_schema),
            statistics=not options.no_statistics,
            storage_options=dict(options.storage_options) or None,
            dry_run=bool(options.dry_run),
            progress=progress.show,
        )
    if isinstance(done, ConvertPreview):
        if options.json:
            emit_json(
                {
                    "files": done.files,
                    "size_in_bytes": done.size_in_bytes,
                    "num_rows": done.num_rows,
                    "schema": done.schema.to_json(),
                }
            )
        else:
            emit_summary(str(done))
    elif options.json:
        emit_json(
            {
                "version": done.version,
                "operation": done.operation,
                "metrics": done.metrics,
                "warnings": done.warnings,
            }
        )
    else:
        files = counted(int(done.metrics["numConvertedFiles"]), "file")
        emit_summary(f"CONVERT committed version {done.version} with {files}")


def _to_columns(text: str | None) -> list[deltaic.Column] | None:
    """Parses columns as in a CREATE TABLE statement, without nested types: partition columns have none.

    >>> [(column.name, column.type) for column in _to_columns("day date, price decimal(10, 2)")]
    [('day', 'date'), ('price', 'decimal(10, 2)')]
    """
    if text is None:
        return None
    parts = [""]
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    columns: list[deltaic.Column] = []
    for part in parts:
        name, _, of = part.strip().partition(" ")
        if not of.strip():
            raise ValueError(
                f"a partition column is a name and a type, such as 'day date', not {part.strip()!r}"
            )
        columns.append(deltaic.Column(name.strip("`"), of.strip()))
    return columns
