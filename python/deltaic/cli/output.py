"""Output of the commands: tables for users, JSON for programs.

On a terminal with rich, tables of up to 1,000 rows are drawn; others are aligned plain text, one line per
row.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Generator, Sequence
from shutil import get_terminal_size

from deltaic.cli.fitted_lines import fitted
from deltaic.maintenance.check import Report, printable

__all__ = ["emit", "emit_error", "emit_json", "emit_report", "emit_summary", "emit_table", "flushed_stdout"]

_GAP = "  "

# rich takes about a millisecond per row and wraps long cells: long lists are printed as lines.
_MOST_ROWS_DRAWN = 1000

_STYLES = {"Damage": "bold red", "Warnings": "bold yellow", "Good to know": "bold cyan"}


def emit(text: str) -> None:
    """Writes one line to stdout."""
    sys.stdout.write(text + "\n")


def emit_summary(text: str) -> None:
    """Writes what a command did to stdout; on a terminal, its lines fit in the width."""
    emit(fitted(text, get_terminal_size().columns) if sys.stdout.isatty() else text)


def emit_json(value: object) -> None:
    """Writes one JSON document to stdout."""
    # Escapes non-ASCII characters if the encoding of stdout may lack them.
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    json.dump(value, sys.stdout, ensure_ascii=not is_unicode, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def emit_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], numeric: frozenset[str] | set[str] = frozenset()
) -> None:
    """Writes a table of texts to stdout.

    Args:
        header: The names of the columns.
        rows: The cells, as many per row as in the header.
        numeric: The right-aligned columns.
    """
    lines = [[printable(text) for text in line] for line in (header, *rows)]
    flush_right = [name in numeric for name in header]
    if len(rows) <= _MOST_ROWS_DRAWN and sys.stdout.isatty() and _draw(lines, flush_right):
        return
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, flush_right, strict=True)
        )
        emit(_GAP.join(cells).rstrip())


def _draw(lines: Sequence[Sequence[str]], flush_right: Sequence[bool]) -> bool:
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        return False
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, right in zip(lines[0], flush_right, strict=True):
        table.add_column(Text(name), justify="right" if right else "left", overflow="fold")
    for row in lines[1:]:
        # As Text, so that brackets in the data are not interpreted as markup.
        table.add_row(*(Text(text) for text in row))
    Console().print(table)
    return True


def emit_report(report: Report) -> None:
    """Writes a check's report to stdout; in colours on a terminal with rich."""
    text = str(report)
    if not sys.stdout.isatty() or not _draw_report(text):
        emit(text)


def _draw_report(report: str) -> bool:
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        return False
    console = Console(highlight=False, soft_wrap=True)
    for number, line in enumerate(report.splitlines()):
        text = Text(line)
        stripped = line.strip()
        if number == 0 or line.startswith("The table is"):
            text.stylize("bold")
        elif line in _STYLES:
            text.stylize(_STYLES[line])
        elif line.startswith("  ") and stripped.partition(" ")[0].isupper():
            text.stylize("bold")
        elif stripped.startswith(("What it means:", "What to do:")):
            start = len(line) - len(stripped)
            text.stylize("italic", start, line.index(":") + 1)
        console.print(text)
    return True


def emit_error(text: str) -> None:
    """Writes one line to stderr, if there is one."""
    # After `2>&-` there is no stderr, and print would write to stdout instead.
    if sys.stderr is not None:
        if sys.stderr.isatty():
            text = fitted(text, get_terminal_size().columns)
        print(text, file=sys.stderr)


@contextlib.contextmanager
def flushed_stdout() -> Generator[None, None, None]:
    """Flushes stdout at the end; a closed pipe (`| head`) is not an error."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Otherwise Python reports an error when it closes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
