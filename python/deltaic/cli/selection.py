"""The table, snapshot and columns that the arguments of a command select."""

from __future__ import annotations

import argparse

import deltaic

__all__ = ["open_snapshot", "open_table", "selected_columns"]


def open_table(options: argparse.Namespace) -> deltaic.Table:
    """Returns the table of the path."""
    return deltaic.Table(
        options.path,
        storage_options=options.storage_options or None,
        allowed_roots=options.allowed_roots,
        **({} if options.max_line_bytes is None else {"max_line_bytes": options.max_line_bytes}),
    )


def open_snapshot(options: argparse.Namespace) -> deltaic.Snapshot:
    """Returns the snapshot at the version or time of the arguments, else the newest."""
    return open_table(options).snapshot(version=options.at_version, timestamp=options.timestamp)


def selected_columns(options: argparse.Namespace) -> list[str] | None:
    """Returns the names of ``--columns``; None for all columns."""
    return None if options.columns is None else [name.strip() for name in options.columns.split(",")]
