"""The rows and files of the newest version."""

from __future__ import annotations

from typing import Any

import deltaic


def all_rows(table: deltaic.Table, **options: Any) -> list[dict[str, Any]]:
    """Returns the rows in the order of `id`; the options are those of a scan."""
    return table.snapshot().scan(**options).to_arrow().sort_by("id").to_pylist()


def files_of(table: deltaic.Table) -> list[dict[str, Any]]:
    """Returns the files with their statistics."""
    return table.snapshot().files(stats=True).to_arrow().to_pylist()
