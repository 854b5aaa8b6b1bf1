"""The command that computes the statistics of files again: ``recompute-statistics``."""

from __future__ import annotations

import argparse
import dataclasses

import deltaic
from deltaic.cli.output import emit_json, emit_summary
from deltaic.cli.selection import open_table, selected_columns
from deltaic.values.progress import ProgressLine
from deltaic.values.sizes import counted

__all__ = ["run_recompute_statistics"]


def run_recompute_statistics(options: argparse.Namespace) -> None:
    """Writes the statistics of files again, or shows what would be done."""
    table = open_table(options)
    columns = selected_columns(options)
    if options.dry_run:
        with ProgressLine() as progress:
            found = table.recompute_statistics(columns, options.where, dry_run=True, progress=progress.show)
        if options.json:
            emit_json(dataclasses.asdict(found))
        else:
            emit_summary(str(found))
        return
    with ProgressLine() as progress:
        commit = table.recompute_statistics(columns, options.where, progress=progress.show)
    if options.json:
        version = None if commit.skipped else commit.version
        emit_json({"version": version, "metrics": commit.metrics})
    else:
        emit_summary(_summary(commit))


def _summary(commit: deltaic.Commit) -> str:
    if commit.skipped:
        return f"Nothing to do: the statistics of version {commit.version} are those of its files."
    metrics = {name: int(value) for name, value in commit.metrics.items()}
    read = counted(metrics["numFilesRead"], "file")
    return f"Version {commit.version}: {metrics['numFilesUpdated']:,} of {read} got other statistics."
