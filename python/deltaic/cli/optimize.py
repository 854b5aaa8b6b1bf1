"""The commands that rewrite a table's files: ``optimize`` and ``purge``."""

from __future__ import annotations

import argparse
import dataclasses

import deltaic
from deltaic.cli.output import emit_json, emit_summary
from deltaic.cli.selection import open_table
from deltaic.values.progress import ProgressLine
from deltaic.values.sizes import readable_size

__all__ = ["run_optimize", "run_purge"]


def run_optimize(options: argparse.Namespace) -> None:
    """Combines small files or sorts rows, or shows what would be done."""
    table = open_table(options)
    columns = [] if options.zorder_by is None else [name.strip() for name in options.zorder_by.split(",")]
    if options.dry_run:
        found = table.optimize(
            options.where,
            zorder_by=columns,
            full=options.full,
            target_file_size=options.target_file_size,
            dry_run=True,
        )
        if options.json:
            emit_json(dataclasses.asdict(found))
        else:
            emit_summary(str(found))
        return
    with ProgressLine() as progress:
        commit = table.optimize(
            options.where,
            zorder_by=columns,
            full=options.full,
            target_file_size=options.target_file_size,
            progress=progress.show,
        )
    _show(commit, options, "files", "can be combined")


def run_purge(options: argparse.Namespace) -> None:
    """Removes deleted rows and dropped columns from files, or shows what would be done."""
    table = open_table(options)
    if options.dry_run:
        found = table.purge(options.where, dry_run=True)
        if options.json:
            emit_json(dataclasses.asdict(found))
        else:
            emit_summary(str(found))
        return
    with ProgressLine() as progress:
        commit = table.purge(options.where, progress=progress.show)
    _show(commit, options, "file", "has deleted rows or dropped columns")


def _show(commit: deltaic.Commit, options: argparse.Namespace, files: str, candidates: str) -> None:
    if options.json:
        version = None if commit.skipped else commit.version
        emit_json({"version": version, "metrics": commit.metrics})
    elif commit.skipped:
        emit_summary(f"Nothing to do: no {files} of version {commit.version} {candidates}.")
    else:
        emit_summary(_summary(commit))


def _summary(commit: deltaic.Commit) -> str:
    metrics = {name: int(value) for name, value in commit.metrics.items()}
    before = f"{metrics['numRemovedFiles']:,} files ({readable_size(metrics['numRemovedBytes'])})"
    after = f"{metrics['numAddedFiles']:,} ({readable_size(metrics['numAddedBytes'])})"
    vectors = metrics["numDeletionVectorsRemoved"]
    purged = f" The deleted rows of {vectors:,} of them were removed." if vectors else ""
    return f"Version {commit.version}: {before} became {after}.{purged}"
