"""What can be wrong with a table, and what must come of it: an error that says where, or the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import deltaic

from . import broken

State = Callable[[deltaic.Snapshot], object]


# Stands for the table's own URI where an error tells it.
TABLE = "the table's URI"


@dataclass(frozen=True)
class Case:
    """How a table is damaged, how it is met, and what must be said: words of the message, and the context."""

    name: str
    damage: broken.Damage
    meet: broken.Meeting
    error: type[Exception]
    says: tuple[str, ...] = ()
    context: dict[str, object] = field(default_factory=dict[str, object])
    append_too: bool = False


def as_parameters(cases: list[Case]) -> list[Any]:
    """Cases for `pytest.mark.parametrize`."""
    return [pytest.param(case, id=case.name[:60]) for case in cases]


@dataclass(frozen=True)
class Survivor:
    """Damage that a table survives: the warning that tells of it, if any, and the state that is read."""

    name: str
    damage: broken.Damage
    warning: str = ""
    version: int = 1
    files: int = 2
    # How many rows a scan gives; none where files are named that are not there.
    rows: int | None = 4
    # What holds of the snapshot besides.
    holds: State | None = None


def log_case(name: str, damage: broken.Damage, *says: str, **context: object) -> Case:
    """Damage of the log: the table does not open, and an append meets the same."""
    return Case(name, damage, broken.opened, deltaic.CorruptLog, says, context, append_too=True)


def commit_case(name: str, damage: broken.Damage, *says: str, version: int = 1, **context: object) -> Case:
    """Damage of a commit, which is named."""
    path = f"_delta_log/{version:020}.json"
    return log_case(name, damage, *says, version=version, path=path, **context)


def state_case(name: str, damage: broken.Damage, *says: str, field: str) -> Case:
    """What all commits together say about the table is wrong: the version that was read is named."""
    return log_case(name, damage, *says, field=field, table=TABLE, version=1)


def line_case(name: str, text: str, *says: str, **context: object) -> Case:
    """A second line of commit 1 that is wrong, which is named too."""
    return commit_case(name, broken.line(text), *says, line=2, **context)


def refusal(
    name: str, damage: broken.Damage, feature: str, *, meet: broken.Meeting = broken.opened, **context: object
) -> Case:
    """What an implementation that has more may read, and this one refuses by name."""
    context = {"feature": feature, "table": TABLE, "version": 1, **context}
    return Case(name, damage, meet, deltaic.UnsupportedFeature, (feature,), context, append_too=True)


def writer_refusal(name: str, damage: broken.Damage, feature: str) -> Case:
    """What may be read, and not written."""
    context: dict[str, object] = {"feature": feature, "table": TABLE, "version": 1}
    return Case(name, damage, broken.appended, deltaic.UnsupportedFeature, (feature,), context)


def data_case(name: str, damage: broken.Damage, *says: str, **context: object) -> Case:
    """Damage of the first data file: a scan names it."""
    context = {"path": broken.FIRST_FILE, "version": 1, **context}
    return Case(name, damage, broken.scanned, deltaic.CorruptData, (broken.FIRST_FILE, *says), context)


def question(name: str, meet: broken.Meeting, error: type[Exception], *says: str, **context: object) -> Case:
    """A question or a demand that a healthy table cannot answer."""
    return Case(name, broken.nothing, meet, error, says, context)
