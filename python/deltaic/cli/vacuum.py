"""The command ``vacuum``."""

from __future__ import annotations

import argparse
import contextlib
import re
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from deltaic.cli.output import emit_json, emit_summary
from deltaic.cli.selection import open_table
from deltaic.maintenance.vacuum import Vacuum
from deltaic.values.optional import require
from deltaic.values.progress import ProgressLine

__all__ = ["run_vacuum", "to_retention"]

_MOST_FILES = 50
_UNITS = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}
_RETENTION = re.compile(r"([0-9]+(?:\.[0-9]+)?)([dhms]?)")


def to_retention(text: str) -> timedelta:
    """Parses a duration such as ``7d``, ``36h``, ``30m`` or ``0s``; without a unit, hours.

    Raises:
        argparse.ArgumentTypeError: It is not a duration.

    >>> to_retention("36h") == to_retention("36") == to_retention("1.5d")
    True
    """
    found = _RETENTION.fullmatch(text.strip())
    if found:
        with contextlib.suppress(OverflowError):
            return timedelta(**{_UNITS[found[2] or "h"]: float(found[1])})
    raise argparse.ArgumentTypeError(f"expected a duration such as 7d, 36h, 30m or 0s, not {text!r}")


def run_vacuum(options: argparse.Namespace) -> None:
    """Deletes files that the table no longer needs, and shows which."""
    with ProgressLine({"files": "listing the table", "deletions": "deleting files"}) as progress:
        try:
            vacuumed = open_table(options).vacuum(
                options.retention,
                "lite" if options.lite else "full",
                None if options.inventory is None else _read_inventory(options.inventory),
                dry_run=options.dry_run,
                force=options.force,
                clones=options.clones,
                keep_versions=options.keep_versions,
                progress=progress.show,
            )
        except ValueError as error:
            if str(error).startswith("The inventory"):
                raise ValueError(f"{options.inventory}: {error}") from None
            raise
    if options.json:
        emit_json(_as_json(vacuumed))
    else:
        emit_summary(_in_lines(vacuumed))


def _in_lines(vacuumed: Vacuum) -> str:
    """Formats a vacuum with its first files.

    >>> from deltaic.maintenance.vacuum import VacuumedFile
    >>> files = [VacuumedFile(f"{number}.parquet", 1) for number in range(1_052)]
    >>> _in_lines(Vacuum(files, timedelta(days=7), is_dry_run=True)).splitlines()[-1]
    '  … and 1,002 more (all with --json)'
    """
    lines = str(vacuumed).splitlines()
    shown = lines[: _MOST_FILES + 1]
    if len(lines) > len(shown):
        shown.append(f"  … and {len(lines) - len(shown):,} more (all with --json)")
    return "\n".join(shown)


def _read_inventory(file: Path) -> Any:  # Any: pyarrow ships no types
    require("pyarrow", "Reading an inventory")
    try:
        if file.suffix == ".parquet":
            return import_module("pyarrow.parquet").read_table(file)
        return import_module("pyarrow.csv").read_csv(file)
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        raise ValueError(f"The inventory cannot be read: {error}") from None


def _as_json(vacuumed: Vacuum) -> dict[str, object]:
    return {
        "dry_run": vacuumed.is_dry_run,
        "retention_seconds": vacuumed.retention.total_seconds(),
        "deleted_files": vacuumed.deleted_files,
        "deleted_folders": vacuumed.deleted_folders,
        "size_in_bytes": vacuumed.size_in_bytes,
        "versions": None if vacuumed.versions is None else list(vacuumed.versions),
        "files": [{"path": file.path, "size_in_bytes": file.size_in_bytes} for file in vacuumed.files],
    }
