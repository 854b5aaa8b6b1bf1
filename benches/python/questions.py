"""The predicates of the operations, as each peer spells them from."""

from __future__ import annotations

# Few files overlap it: each file's `column_1` spans 1,000 of a million values.
RANGE_COLUMN, RANGE_LOW, RANGE_HIGH = "column_1", 500_000, 500_200
RANGE = f"{RANGE_COLUMN} between {RANGE_LOW} and {RANGE_HIGH}"
DAY = "2025-07-04"
PARTITION = f"day = '{DAY}'"
