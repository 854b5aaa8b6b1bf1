"""The commit that a refresh finds: added to the log during the measurement, and removed afterwards."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLLOWING = "following_commit.json"


def place_of(table: Path) -> Path:
    """Returns the path of the version after the table's last."""
    version = json.loads((table / "manifest.json").read_text())["version"]
    return table / "_delta_log" / f"{version + 1:020}.json"


@contextmanager
def committed(table: Path) -> Iterator[None]:
    """Provides the table with one more version."""
    shutil.copyfile(table / FOLLOWING, place_of(table))
    try:
        yield
    finally:
        place_of(table).unlink()
