"""The command that makes a shallow clone."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from deltaic.cli.output import emit_json, emit_summary
from deltaic.cli.repairs import LOOKING
from deltaic.cli.selection import open_table
from deltaic.values.progress import ProgressLine
from deltaic.values.sizes import counted, readable_size
from deltaic.writing.clone import ClonePreview

__all__ = ["add_clone_arguments", "run_clone"]


def add_clone_arguments(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Adds the arguments of the command, besides those of all commands; returns the parser."""
    parser.add_argument("target", metavar="TARGET", help="the folder or URI of the clone, on the same store")
    parser.add_argument(
        "--replace", action="store_true", help="replace the table at the target; its history remains"
    )
    parser.add_argument(
        "--property",
        dest="properties",
        type=_to_property,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a property of the clone, besides those of the table; may be repeated",
    )
    return parser


def run_clone(options: argparse.Namespace) -> None:
    """Makes a shallow clone, or shows what it would be."""
    table, replaces = open_table(options), options.replace
    with ProgressLine(LOOKING) as progress:
        done = table.clone(
            options.target,
            options.at_version,
            options.timestamp,
            if_exists="replace" if replaces else "error",
            properties=dict(options.properties),
            dry_run=bool(options.dry_run),
            progress=progress.show,
        )
    if isinstance(done, ClonePreview):
        if options.json:
            emit_json(asdict(done))
        else:
            emit_summary(str(done))
    elif options.json:
        emit_json(
            {
                "version": done.version,
                "operation": done.operation,
                "parameters": done.parameters,
                "metrics": done.metrics,
                "warnings": done.warnings,
            }
        )
    else:
        metrics = {name: int(value) for name, value in done.metrics.items()}
        files = (
            f"{counted(metrics['sourceNumOfFiles'], 'file')} ({readable_size(metrics['sourceTableSize'])})"
        )
        source = done.parameters["sourceVersion"]
        emit_summary(f"CLONE of version {source} committed version {done.version}, which refers to {files}")


def _to_property(text: str) -> tuple[str, str]:
    """Parses ``KEY=VALUE``.

    Raises:
        argparse.ArgumentTypeError: There is no name or no equals sign.

    >>> _to_property("delta.appendOnly=true")
    ('delta.appendOnly', 'true')
    """
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise argparse.ArgumentTypeError("a property is KEY=VALUE")
    return name.strip(), value
