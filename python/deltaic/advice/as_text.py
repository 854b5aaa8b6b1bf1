"""Advice as text of at most 80 columns."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator

from deltaic.advice.recommendation import Recommendation
from deltaic.advice.results import AdviceResults
from deltaic.maintenance.check import printable
from deltaic.values.sizes import counted, readable_size

__all__ = ["advice_lines"]

_WIDTH = 80


def advice_lines(advice: AdviceResults, *, command_path: str | None = None) -> Iterator[str]:
    """Formats the advice.

    Args:
        advice: What to format.
        command_path: The table's path for commands: then commands are shown instead of Python where there
            are any.
    """
    yield from _wrapped(f"Advice on {printable(advice.uri)}", "", "  ")
    rows = "" if advice.num_rows is None else f", {counted(advice.num_rows, 'row')}"
    size = f"{counted(advice.num_files, 'file')}, {readable_size(advice.size_in_bytes)}{rows}"
    yield f"  version {advice.version}: {size}"
    if not advice.findings:
        yield ""
        yield "Nothing to improve was found."
    for finding in advice.findings:
        yield ""
        yield from _finding(finding, command_path)
    yield from _columns(advice)
    yield from _clients(advice)
    yield from _downgrade(advice)


def _finding(finding: Recommendation, command_path: str | None) -> Iterator[str]:
    yield from _wrapped(f"{finding.severity.upper()}  {finding.code}", "", "  ")
    yield from _wrapped(f"{printable(finding.title)}.", "  ", "  ")
    if finding.detail:
        yield from _wrapped(printable(finding.detail), "  ", "  ")
    if finding.effect:
        yield from _wrapped(f"Effect: {printable(finding.effect)}.", "  ", "    ")
    if command_path is not None and finding.command:
        yield f"  Run:    {printable(finding.command.replace('PATH', shlex.quote(command_path), 1))}"
    else:
        yield from _code(finding.action, "  Run:    ")


def _columns(advice: AdviceResults) -> Iterator[str]:
    known = [column for column in advice.columns if column.average_depth is not None]
    if not known:
        return
    yield ""
    yield "Clustering: how many files contain a value of the column"
    for column in known:
        name = printable(column.name)
        depth = f"{column.average_depth:,.1f} of {counted(column.files, 'file')}"
        overlapping = column.overlapping_files or 0
        yield from _wrapped(
            f"{name}: {depth} on average, at most {column.maximum_depth:,}; "
            f"{counted(overlapping, 'file')} overlap{'s' if overlapping == 1 else ''}",
            "  ",
            "    ",
        )


def _clients(advice: AdviceResults) -> Iterator[str]:
    if not advice.clients:
        return
    yield ""
    yield f"{'Client':<22}{'reads':<16}writes"
    for client in advice.clients:
        yield f"  {client.name:<20}{client.reads:<16}{client.writes}"
        missing = [*client.obstacles, *(f"{name}?" for name in client.unknown)]
        if missing:
            yield from _wrapped(f"without {printable(', '.join(missing))}", "    ", "      ")


def _downgrade(advice: AdviceResults) -> Iterator[str]:
    if not advice.downgrade:
        return
    yield ""
    yield "To let more clients in, drop features in this order"
    for step in advice.downgrade:
        name = printable(step.feature)
        if step.action:
            yield from _wrapped(f"{name}; effect: {printable(step.note)}", "  ", "    ")
            yield from _code(step.action, "    ")
        else:
            yield from _wrapped(f"{name} remains: {printable(step.note)}", "  ", "    ")


def _code(text: str, first: str) -> Iterator[str]:
    """Breaks lines of Python after commas, so that they can still be copied."""
    for number, line in enumerate(text.splitlines()):
        shown = printable(line)
        indent = first if not number else " " * len(first)
        while len(indent) + len(shown) > _WIDTH:
            room = shown.rfind(", ", 0, _WIDTH - len(indent))
            if room < 0:
                room = shown.rfind("(", 0, _WIDTH - len(indent))
            if room < 0:
                break
            yield f"{indent}{shown[: room + 1]}"
            indent, shown = " " * (len(first) + 4), shown[room + 1 :].lstrip()
        yield f"{indent}{shown}"


def _wrapped(text: str, first: str, following: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=following, break_on_hyphens=False
    )
