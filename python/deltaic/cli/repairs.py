"""The commands that restore and repair a table, and write its symlink manifests."""

from __future__ import annotations

import argparse

from deltaic.cli.output import emit_json, emit_summary
from deltaic.cli.selection import open_table
from deltaic.commit import Commit
from deltaic.maintenance.restore import exchanged_files
from deltaic.values.progress import ProgressLine
from deltaic.values.sizes import counted, readable_size

__all__ = ["LOOKING", "run_manifest", "run_repair", "run_restore"]

LOOKING = {"log": "reading the log", "files": "looking for the files"}
"""The stages of what verifies that files exist."""


def run_restore(options: argparse.Namespace) -> None:
    """Restores an earlier version, or shows what this would do."""
    with ProgressLine(LOOKING) as progress:
        done = open_table(options).restore(
            options.at_version,
            options.timestamp,
            dry_run=options.dry_run,
            ignore_missing_files=options.ignore_missing_files,
            progress=progress.show,
        )
    if isinstance(done, Commit):
        _emit_commit(done, options)
    elif options.json:
        emit_json({name: getattr(done, name) for name in done.__dataclass_fields__})
    else:
        emit_summary(str(done))


def run_repair(options: argparse.Namespace) -> None:
    """Removes the entries of files that are gone, or shows them."""
    with ProgressLine(LOOKING) as progress:
        repaired = open_table(options).repair(dry_run=options.dry_run, progress=progress.show)
    if options.json:
        version = None if repaired.commit is None else repaired.commit.version
        emit_json({"missing_files": repaired.missing_files, "version": version})
    else:
        emit_summary(str(repaired))


def run_manifest(options: argparse.Namespace) -> None:
    """Writes symlink manifests, or shows which would be written and deleted."""
    made = open_table(options).symlink_manifest(dry_run=options.dry_run)
    if options.json:
        emit_json({"version": made.version, "written": made.written, "deleted": made.deleted})
    else:
        emit_summary(str(made))


def _emit_commit(commit: Commit, options: argparse.Namespace) -> None:
    if options.json:
        emit_json(
            {
                "version": commit.version,
                "operation": commit.operation,
                "skipped": commit.skipped,
                "metrics": commit.metrics,
                "warnings": commit.warnings,
            }
        )
    elif commit.skipped:
        then = (
            f"the version at {options.timestamp}"
            if options.at_version is None
            else f"version {options.at_version}"
        )
        emit_summary(f"Nothing to do: the newest version, {commit.version}, is already like {then}.")
    else:
        emit_summary(_summary(commit))


def _summary(commit: Commit) -> str:
    metrics = {name: int(value) for name, value in commit.metrics.items()}
    lines = exchanged_files(
        metrics["numRestoredFiles"],
        metrics["restoredFilesSize"],
        metrics["numRemovedFiles"],
        metrics["removedFilesSize"],
    )
    files = counted(metrics["numOfFilesAfterRestore"], "file")
    first = (
        f"RESTORE committed version {commit.version} with {files} "
        f"({readable_size(metrics['tableSizeAfterRestore'])})"
    )
    return "\n".join([f"{first}{':' if lines else ''}", *lines])
