"""Sessions that are enabled in any order, new ones, and a new context; queries of many threads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

from . import own_process

pytest.importorskip("pyspark", reason="missing: PySpark")


@pytest.mark.parametrize("pinned", ["true", "false"])
def test_sessions_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinned: str) -> None:
    """Threads of Python have threads of Spark of their own, or share them."""
    table = deltaic.Table.create(tmp_path / "t", pa.schema({"id": pa.int64()}))
    for start in range(0, 30, 10):
        table.append(pa.table({"id": range(start, start + 10)}))
    monkeypatch.setenv("PYSPARK_PIN_THREAD", pinned)
    found: dict[str, Any] = own_process.run("lifecycle", str(tmp_path / "t"))
    native = {"format": 30, "way": "native:", "stream": 30}
    assert found == {
        "registered": {**native, "way": "data"},
        "registered, enabled": native,
        "new session": native,
        "enabled, registered": native,
        "threads": [number + 1 for number in range(24)],
        "a new context": native,
    }
