"""What each reference table turned out to be: ``expectations.json``, described in `test_golden.py`."""

from __future__ import annotations

import json
from pathlib import Path

EXPECTATIONS = Path(__file__).with_name("expectations.json")


def expectations() -> dict[str, str]:
    return json.loads(EXPECTATIONS.read_text()) if EXPECTATIONS.exists() else {}


def update(name: str, found: dict[str, str]) -> None:
    kept = {key: outcome for key, outcome in expectations().items() if key.partition("@")[0] != name}
    EXPECTATIONS.write_text(json.dumps(dict(sorted({**kept, **found}.items())), indent=1) + "\n")


def readable() -> list[str]:
    return sorted(name for name, outcome in expectations().items() if outcome == "read" and "@" not in name)
