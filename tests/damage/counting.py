"""What a call costs, counted and never timed: memory at its peak, requests to the store, bytes read.

A development build counts what is allocated and what stores are asked (the feature `witness`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from deltaic import _rust
from tests.required import skip_without_development_build


class Cost(NamedTuple):
    """The most bytes allocated at a time, how often stores were asked, and the bytes read of them."""

    peak: int
    requests: int
    read: int


@dataclass(frozen=True)
class Bound:
    """What a call may cost, for each byte and each file below the table's root, and besides."""

    peak_per_byte: float
    requests_per_file: float
    read_per_byte: float
    peak: int = 1 << 20
    requests: int = 8

    def keeps(self, cost: Cost, root: Path, *, peak_besides: int = 0) -> None:
        """Fails where the cost is out of proportion to the table as it is now."""
        files = files_of(root)
        size = sum(path.stat().st_size for path in files)
        assert cost.peak <= self.peak_per_byte * size + self.peak + peak_besides, (cost, size)
        assert cost.requests <= self.requests_per_file * len(files) + self.requests, (cost, len(files))
        assert cost.read <= self.read_per_byte * size, (cost, size)


def cost_of(call: Callable[[], object]) -> Cost:
    """Calls, and counts what it costs."""
    reset = getattr(_rust, "witness_reset", None)
    if reset is None:
        skip_without_development_build("witness")
    counted: Callable[[], tuple[int, int, int]] = vars(_rust)["witness"]
    reset()
    call()
    return Cost(*counted())


def files_of(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else []
