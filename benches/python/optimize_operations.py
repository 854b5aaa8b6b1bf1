"""The rewrites that change no row, each with deltaic and deltalake, and their goals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from write_operations import Write

ZORDER = ["customer", "amount"]
TARGET = 128 << 20
MOST_MIB = 1024.0
GOALS = {"wall": 0.8, "peak_mib": 0.8}
OPTIMIZES = (
    Write(
        "optimize_compact",
        "files of 20,000 rows combined into files of 128 MiB",
        "small",
        "same",
        GOALS,
        most_mib=MOST_MIB,
    ),
    Write(
        "optimize_zorder",
        f"all rows in Z-order of {' and '.join(f'`{name}`' for name in ZORDER)}",
        "data",
        "same",
        GOALS,
        most_mib=MOST_MIB,
    ),
)


def call_of_optimize(peer: str, name: str) -> Callable[[str, Any], object]:
    """Returns the call of a rewrite: it takes the table, and no rows."""
    columns = ZORDER if name == "optimize_zorder" else []
    return (by_deltaic if peer == "deltaic" else by_deltalake)(columns)


def by_deltaic(columns: list[str]) -> Callable[[str, Any], object]:
    """Returns deltaic's call."""
    import deltaic

    return lambda uri, _: deltaic.Table(uri).optimize(zorder_by=columns, target_file_size=TARGET)


def by_deltalake(columns: list[str]) -> Callable[[str, Any], object]:
    """Returns deltalake's call."""
    from deltalake import DeltaTable

    if columns:
        return lambda uri, _: DeltaTable(uri).optimize.z_order(columns, target_size=TARGET)
    return lambda uri, _: DeltaTable(uri).optimize.compact(target_size=TARGET)
