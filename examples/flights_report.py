"""Prints the results of the flights example, and counts the wrong ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table as Grid

__all__ = ["Report", "lasted", "numbers", "timed"]


@dataclass
class Report:
    """Prints results and counts the wrong ones."""

    console: Console = field(default_factory=lambda: Console(highlight=False, soft_wrap=True))
    wrong: int = 0

    def say(self, text: object, style: str | None = None) -> None:
        """Print a line or a table."""
        self.console.print(text, style=style)

    @contextmanager
    def chapter(self, title: str) -> Iterator[None]:
        """Print a headline and the time that the chapter took."""
        self.say(f"\n[bold cyan]{title}[/]")
        began = time.perf_counter()
        yield
        self.say(f"  [dim]{lasted(began)}[/]")

    def check(self, what: str, got: object, expected: object) -> None:
        """Compare a result with the one from the source."""
        if got == expected:
            self.say(f"  [green]✓[/] {what}: {shown(got)}")
        else:
            self.wrong += 1
            self.say(f"  [bold red]✗ {what}: {shown(got)}, expected {shown(expected)}[/]")


def shown(value: object) -> str:
    """Format a number with separators, and a list by its length."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{len(value):,} rows" if isinstance(value, list) else str(value)


def numbers(name: str, *columns: str) -> Grid:
    """Return a grid with a column of names and columns of numbers."""
    grid = Grid(name, box=None, padding=(0, 2), header_style="dim")
    for column in columns:
        grid.add_column(column, justify="right")
    return grid


def lasted(began: float) -> str:
    """Format the time since `began`."""
    seconds = time.perf_counter() - began
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


@contextmanager
def timed(report: Report, what: str) -> Iterator[None]:
    """Print a step and its time."""
    began = time.perf_counter()
    yield
    report.say(f"  {what} [dim]in {lasted(began)}[/]")
