"""Cost of a call, counted instead of timed: peak memory, requests to the store, bytes read.

A development build counts allocations and store requests (the feature `witness`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from deltaic import _rust
from tests.required import skip_without_development_build


class Cost(NamedTuple):
    """Peak of allocated bytes, number of store requests, and bytes read."""

    peak: int
    requests: int
    read: int


@dataclass(frozen=True)
class Bound:
    """Bounds per byte and per file below the table's root, plus fixed amounts."""

    peak_per_byte: float
    requests_per_file: float
    read_per_byte: float
    peak: int = 1 << 20
    requests: int = 8

    def keeps(self, cost: Cost, root: Path, *, peak_besides: int = 0) -> None:
        """Fails if the cost is not proportional to the current size of the table."""
        files = files_of(root)
        size = sum(path.stat().st_size for path in files)
        assert cost.peak <= self.peak_per_byte * size + self.peak + peak_besides, (cost, size)
        assert cost.requests <= self.requests_per_file * len(files) + self.requests, (cost, len(files))
        assert cost.read <= self.read_per_byte * size, (cost, size)


# A line costs about four times its length, one with small values more.
MEETING = Bound(peak_per_byte=8, requests_per_file=3, read_per_byte=3)
"""The bounds of opening or reading a damaged table."""


def cost_of(call: Callable[[], object]) -> Cost:
    """Returns the cost of a call."""
    reset = getattr(_rust, "witness_reset", None)
    if reset is None:
        skip_without_development_build("witness")
    counted: Callable[[], tuple[int, int, int]] = vars(_rust)["witness"]
    reset()
    call()
    return Cost(*counted())


def files_of(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else []
