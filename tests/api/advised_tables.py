"""Tables to be advised on, and the advice by its code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

import deltaic
from tests.api.log_files import write_commit

IDS = pa.schema([("id", pa.int64())])


def ids(*values: int) -> pa.Table:
    return pa.table({"id": values}, schema=IDS)


def found(table: deltaic.Table, code: str, filters: list[str] | None = None) -> deltaic.Recommendation:
    [finding] = [finding for finding in table.advise(filters) if finding.code == code]
    return finding


def codes(table: deltaic.Table, filters: list[str] | None = None) -> set[str]:
    return {finding.code for finding in table.advise(filters)}


def do(table: deltaic.Table, action: str) -> None:
    """Runs an action as a user would paste it."""
    exec(action, {"deltaic": deltaic, "table": table})  # noqa: S102 - the text under test


def with_files(root: Path, files: list[dict[str, Any]]) -> None:
    """Commits files that do not exist: the advice reads the log only."""
    defaults = {"modificationTime": 1_700_000_000_000, "dataChange": True, "partitionValues": {}}
    write_commit(root, 1, *({"add": {**defaults, **file}} for file in files))
