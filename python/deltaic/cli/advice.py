"""The commands that examine a table: ``doctor`` and ``report``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deltaic.advice.as_text import advice_lines
from deltaic.cli.output import emit, emit_json
from deltaic.cli.selection import open_table
from deltaic.values.sizes import readable_size

__all__ = ["run_doctor", "run_report"]


def run_doctor(options: argparse.Namespace) -> None:
    """Shows what could be improved, how, and with which effect."""
    advice = open_table(options).advise(options.filters or None)
    if options.json or options.format == "json":
        emit_json(advice.to_dict())
    else:
        emit("\n".join(advice_lines(advice, command_path=options.path)))


def run_report(options: argparse.Namespace) -> None:
    """Writes a page about the table."""
    page = open_table(options).html_report(options.filters or None).encode()
    output: Path = options.output
    if str(output) == "-":
        sys.stdout.buffer.write(page)
        return
    output.write_bytes(page)
    if options.json:
        emit_json({"output": str(output), "size_in_bytes": len(page)})
    else:
        emit(f"{output}: {readable_size(len(page))}")
