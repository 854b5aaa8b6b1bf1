"""Log compaction files beside the logs of reference tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tests.protocol import naive_log
from tests.protocol.handmade_log import Action

from .opening import OPENED
from .reference import reference

COMMITS_AT_LEAST = 3


def whole_logs() -> list[str]:
    """Returns the tables with at least `COMMITS_AT_LEAST` commits, all versions from 0 on."""
    logs = {name: reference(name).folder / "_delta_log" for name in OPENED}
    versions = {name: naive_log.commit_versions(log) for name, log in logs.items()}
    enough = [name for name in OPENED if len(versions[name]) >= COMMITS_AT_LEAST]
    return [name for name in enough if versions[name] == list(range(naive_log.newest(logs[name]) + 1))]


def compaction(log: Path, first: int, last: int) -> Path:
    return log / f"{first:020}.{last:020}.compacted.json"


def lines(actions: Iterable[Action]) -> str:
    return "".join(json.dumps(action) + "\n" for action in actions)


def take_away(log: Path) -> None:
    for path in log.glob("*.compacted.json"):
        path.unlink()
