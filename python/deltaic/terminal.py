"""Output of the command line: tables for users, JSON for programs.

On a terminal with rich, tables of up to 1,000 rows are drawn; others are aligned plain text, one line per
row.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, cast

from deltaic.check import Report, printable

__all__ = [
    "ProgressLine",
    "cell",
    "emit",
    "emit_json",
    "emit_report",
    "emit_table",
    "json_value",
    "utc",
]

_LONGEST_CELL = 60
_GAP = "  "
# rich takes about a millisecond per row and wraps long cells: long lists are printed as lines.
_MOST_ROWS_DRAWN = 1000


def emit(text: str) -> None:
    """Writes one line to stdout."""
    sys.stdout.write(text + "\n")


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


class ProgressLine:
    """A progress line on stderr, if stderr is a terminal; erased at the end.

    Args:
        stages: The display name of each stage.
    """

    def __init__(self, stages: Mapping[str, str]) -> None:
        self._stages = stages
        self._shown = 0

    def show(self, stage: str, done: int, total: int) -> None:
        """Shows the number of completed steps and the total."""
        # If the process was started without a stderr, sys.stderr is None.
        if sys.stderr is None or not sys.stderr.isatty():
            return
        text = f"{self._stages.get(stage, stage)}: {done:,} of {total:,}"
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()


_STYLES = {"Damage": "bold red", "Warnings": "bold yellow", "Good to know": "bold cyan"}


def emit_report(report: Report) -> None:
    """Writes a check's report to stdout; in colours on a terminal with rich."""
    text = str(report)
    if not sys.stdout.isatty() or not _draw_report(text):
        emit(text)


def _draw_report(letter: str) -> bool:
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        return False
    console = Console(highlight=False, soft_wrap=True)
    for number, line in enumerate(letter.splitlines()):
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


def utc(moment: datetime) -> str:
    """Formats a time as ISO 8601 in UTC, with milliseconds unless they are zero.

    >>> utc(datetime(2026, 11, 1, tzinfo=timezone.utc))
    '2026-11-01T00:00:00Z'
    """
    precision = "milliseconds" if moment.microsecond else "seconds"
    return moment.astimezone(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


def json_value(value: object) -> Any:  # Any: whatever json.dump takes
    """Converts a value of a row to JSON.

    Dates and times become ISO 8601 text (timestamps with a zone in UTC, with a ``Z``), decimals text, bytes
    Base64, NaN and the infinities their names, maps lists of pairs.

    >>> json_value({"day": date(2026, 11, 1), "price": Decimal("9.50"), "raw": b"hi", "x": float("nan")})
    {'day': '2026-11-01', 'price': '9.50', 'raw': 'aGk=', 'x': 'NaN'}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return _not_finite(value)
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            return value.isoformat()
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        return {name: json_value(inner) for name, inner in fields.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(inner) for inner in cast("Sequence[object]", value)]
    return value


def cell(value: object) -> str:
    """Formats a value of a row for a table: NULL for None; long texts are truncated with an ellipsis.

    >>> cell(None), cell("tram"), cell([1, 2])
    ('NULL', 'tram', '[1, 2]')
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        text = value
    elif isinstance(value, bytes):
        text = f"0x{value.hex()}"
    else:
        plain = json_value(value)
        text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
