"""The commands that check a table or a store: ``check`` and ``probe``."""

from __future__ import annotations

import argparse

import deltaic
from deltaic.cli.output import emit, emit_error, emit_json, emit_report, emit_table, flushed_stdout
from deltaic.cli.selection import open_table
from deltaic.values.progress import ProgressLine

__all__ = ["run_check", "run_probe"]

_UNSAFE = 1
_UNHEALTHY = {"warning": 3, "damage": 4}

_PROMISES = {
    "once": "a version is made once, and not over another",
    "one winner": "of many writers of one version exactly one wins",
    "bytes": "a version holds what its winner wrote",
    "listing": "a listing shows a version that was made",
}


def run_check(options: argparse.Namespace) -> int:
    """Shows the findings of a check; returns the exit code for its severity."""
    with ProgressLine({"log": "reading the log", "files": "looking at the data files"}) as progress:
        report = open_table(options).check(deep=options.deep, progress=progress.show)
    with flushed_stdout():
        if options.json:
            emit_json(report.to_dict())
        else:
            emit_report(report)
    return _UNHEALTHY.get(report.severity or "", 0)


def run_probe(options: argparse.Namespace) -> int:
    """Shows whether commits are safe at a location; returns the exit code."""
    error: deltaic.StorageError | None = None
    try:
        deltaic.probe_store(options.path, options.storage_options)
    except deltaic.StorageError as caught:
        error = caught
    broken = None if error is None else error.context.get("promise")

    def outcome(promise: str) -> str:
        if error is None:
            return "kept"
        return "broken" if promise == broken else "not learnt"

    outcomes = {promise: outcome(promise) for promise in _PROMISES}
    with flushed_stdout():
        if options.json:
            emit_json({"safe": error is None, "promises": outcomes, "error": error and error.message})
        else:
            rows = [[_PROMISES[promise], outcome] for promise, outcome in outcomes.items()]
            emit_table(["promise", "outcome"], rows)
            if error is None:
                emit("Commits are safe here.")
    if error is not None:
        emit_error(f"error: {error}")
        return _UNSAFE
    return 0
