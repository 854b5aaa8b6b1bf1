"""Cases of damaged tables with the expected result: an error that names the location, or a readable table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import deltaic

from . import broken

State = Callable[[deltaic.Snapshot], object]


# Placeholder for the table's own URI in an error's context.
TABLE = "the table's URI"


@dataclass(frozen=True)
class Case:
    """A damage, an operation on the table, and the expected error: parts of its message, and its context."""

    name: str
    damage: broken.Damage
    meet: broken.Meeting
    error: type[Exception]
    says: tuple[str, ...] = ()
    context: dict[str, object] = field(default_factory=dict[str, object])
    append_too: bool = False


def as_parameters(cases: list[Case]) -> list[Any]:
    """Returns parameters for `pytest.mark.parametrize`."""
    return [pytest.param(case, id=case.name[:60]) for case in cases]


@dataclass(frozen=True)
class Survivor:
    """Damage that leaves the table readable: the expected warning, if any, and the expected state."""

    name: str
    damage: broken.Damage
    warning: str = ""
    version: int = 1
    files: int = 2
    # Expected rows of a scan; None if data files are missing.
    rows: int | None = 4
    # A further condition on the snapshot.
    holds: State | None = None


def log_case(name: str, damage: broken.Damage, *says: str, **context: object) -> Case:
    """Damage of the log: opening and appending raise the same error."""
    return Case(name, damage, broken.opened, deltaic.CorruptLog, says, context, append_too=True)


def commit_case(name: str, damage: broken.Damage, *says: str, version: int = 1, **context: object) -> Case:
    """Damage of a commit; the error names the commit."""
    path = f"_delta_log/{version:020}.json"
    return log_case(name, damage, *says, version=version, path=path, **context)


def state_case(name: str, damage: broken.Damage, *says: str, field: str) -> Case:
    """The replayed state is invalid: the error names the version that was read."""
    return log_case(name, damage, *says, field=field, table=TABLE, version=1)


def line_case(name: str, text: str, *says: str, **context: object) -> Case:
    """An invalid second line in commit 1; the error names the line."""
    return commit_case(name, broken.line(text), *says, line=2, **context)


def refusal(
    name: str, damage: broken.Damage, feature: str, *, meet: broken.Meeting = broken.opened, **context: object
) -> Case:
    """A table that needs a feature that deltaic does not support; the error names it."""
    context = {"feature": feature, "table": TABLE, "version": 1, **context}
    return Case(name, damage, meet, deltaic.UnsupportedFeature, (feature,), context, append_too=True)


def writer_refusal(name: str, damage: broken.Damage, feature: str) -> Case:
    """A table that can be read but not written."""
    context: dict[str, object] = {"feature": feature, "table": TABLE, "version": 1}
    return Case(name, damage, broken.appended, deltaic.UnsupportedFeature, (feature,), context)


def data_case(name: str, damage: broken.Damage, *says: str, **context: object) -> Case:
    """Damage of the first data file; a scan names it."""
    context = {"path": broken.FIRST_FILE, "version": 1, **context}
    return Case(name, damage, broken.scanned, deltaic.CorruptData, (broken.FIRST_FILE, *says), context)


def request(name: str, meet: broken.Meeting, error: type[Exception], *says: str, **context: object) -> Case:
    """An invalid request to a healthy table."""
    return Case(name, broken.nothing, meet, error, says, context)
