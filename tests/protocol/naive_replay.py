"""Naive action reconciliation as the protocol defines it: commit by commit, into dictionaries.

Its result is the expected state of a snapshot. It ignores checkpoints (`naive_log` reads them), since they
do not change the state.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .handmade_log import Action

FileKey = tuple[str, str | None]
_MILLISECONDS = {"hour": 3_600_000, "day": 86_400_000, "week": 7 * 86_400_000}


@dataclass
class State:
    """The state of a table at a version."""

    protocol: dict[str, Any] = field(default_factory=dict[str, Any])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    files: dict[FileKey, dict[str, Any]] = field(default_factory=dict[FileKey, dict[str, Any]])
    tombstones: dict[FileKey, dict[str, Any]] = field(default_factory=dict[FileKey, dict[str, Any]])
    transactions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    domains: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def actions(self) -> list[Action]:
        """Returns the actions of a checkpoint of this state."""
        singles: list[Action] = [{"protocol": self.protocol}, {"metaData": self.metadata}]
        many = {
            "add": self.files,
            "remove": self.tombstones,
            "txn": self.transactions,
            "domainMetadata": self.domains,
        }
        return singles + [{kind: body} for kind, bodies in many.items() for body in bodies.values()]

    def live_transactions(self) -> dict[str, int]:
        """Returns the version of each application, without those whose known time has expired."""
        told = (self.metadata.get("configuration") or {}).get("delta.setTransactionRetentionDuration")
        if told is None:
            return {name: body["version"] for name, body in self.transactions.items()}
        _, number, unit = told.split()
        oldest = time.time() * 1000 - int(number) * _MILLISECONDS[unit.rstrip("s")]
        live = {n: b for n, b in self.transactions.items() if (b.get("lastUpdated") or oldest) >= oldest}
        return {name: body["version"] for name, body in live.items()}


def replay(commits: Iterable[Iterable[Action]]) -> State:
    """Returns the state after these commits, oldest first."""
    state = State()
    for commit in commits:
        for action in commit:
            _apply(state, action)
    return state


def unique_id(vector: dict[str, Any] | None) -> str | None:
    """``deletionVector.uniqueId``."""
    if vector is None:
        return None
    offset = vector.get("offset")
    return vector["storageType"] + vector["pathOrInlineDv"] + (f"@{offset}" if offset is not None else "")


def canonical_path(path: str) -> str:
    """Returns one spelling for the paths of one file: ``/p``, ``file:/p`` and ``file:///p`` are the same."""
    if path.startswith("file:"):
        return "/" + path.removeprefix("file:").lstrip("/")
    return path


def _apply(state: State, action: Action) -> None:
    (kind, body), *more = action.items()
    assert not more
    if kind == "protocol":
        state.protocol = body
    elif kind == "metaData":
        state.metadata = body
    elif kind == "txn":
        state.transactions[body["appId"]] = body
    elif kind == "domainMetadata":
        state.domains.pop(body["domain"], None)
        if not body["removed"]:
            state.domains[body["domain"]] = body
    elif kind in ("add", "remove"):
        key = (canonical_path(body["path"]), unique_id(body.get("deletionVector")))
        ours, others = (state.files, state.tombstones) if kind == "add" else (state.tombstones, state.files)
        others.pop(key, None)
        ours[key] = body
