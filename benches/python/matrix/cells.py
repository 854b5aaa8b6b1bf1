"""The cells of the matrix: pairwise combinations of how a column of Parquet can be written."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

TEXTS = ("few_texts", "texts", "long_texts", "binary")
NESTED = ("list", "list_of_texts", "struct", "map")
NUMBERS = ("int", "long", "double", "decimal", "timestamp", "bool")
# The encodings that only pyarrow lets choose, by the types that have them.
DELTA = ("int", "long", "timestamp", *TEXTS)
SPLIT = ("double",)


@dataclass(frozen=True, order=True)
class Cell:
    """One column."""

    kind: str
    writer: str
    encoding: str
    """``dictionary``, ``plain``, ``delta`` or ``split``; ``own`` is what the writer chooses."""
    group_rows: int
    pages: str
    """The version of data pages."""
    codec: str
    nulls: int
    """Per cent."""

    @property
    def name(self) -> str:
        """All settings in one word."""
        return "-".join(str(getattr(self, each.name)) for each in fields(self))

    @property
    def is_text(self) -> bool:
        """Whether the values are text or binary."""
        return self.kind in TEXTS

    @property
    def is_possible(self) -> bool:
        """Whether the writer can write it."""
        if self.writer != "pyarrow" and self.encoding != "own":
            return False
        if self.writer == "pyarrow" and self.encoding == "own":
            return False
        if self.encoding == "delta" and self.kind not in DELTA:
            return False
        if self.encoding == "split" and self.kind not in SPLIT:
            return False
        # Others write pages of one version, and deltaic row groups of one size.
        if self.writer not in ("pyarrow", "spark") and self.pages != "1.0":
            return False
        return self.writer != "deltaic" or self.group_rows == 2_000_000


VALUES: dict[str, tuple[Any, ...]] = {
    "kind": (*NUMBERS, *TEXTS, *NESTED),
    "writer": ("pyarrow", "polars", "duckdb", "deltaic", "spark"),
    "encoding": ("dictionary", "plain", "delta", "split", "own"),
    "group_rows": (10_000, 128_000, 2_000_000),
    "pages": ("1.0", "2.0"),
    "codec": ("snappy", "zstd", "none"),
    "nulls": (0, 10, 90),
}


def cells() -> list[Cell]:
    """Returns cells that contain every possible pair of values.

    Example:
        >>> 80 <= len(cells()) <= 100
        True
    """
    possible = [cell for cell in map(Cell, *_columns()) if cell.is_possible]
    pairs = {cell: frozenset(_pairs(cell)) for cell in possible}
    missing = set(itertools.chain.from_iterable(pairs.values()))
    found: list[Cell] = []
    while missing:
        first = min(missing)
        candidates = [cell for cell in possible if first in pairs[cell]]
        best = max(candidates, key=lambda cell: (len(pairs[cell] & missing), zlib.crc32(cell.name.encode())))
        missing -= pairs[best]
        found.append(best)
    return sorted(found)


def _columns() -> list[tuple[object, ...]]:
    return [tuple(column) for column in zip(*itertools.product(*VALUES.values()), strict=True)]


def _pairs(cell: Cell) -> Iterator[tuple[str, str, str, str]]:
    for first, second in itertools.combinations(VALUES, 2):
        yield first, str(getattr(cell, first)), second, str(getattr(cell, second))
