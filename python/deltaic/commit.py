"""One commit of a table's history."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from deltaic import _rust
from deltaic.exceptions import CorruptLog, DeltaicWarning
from deltaic.values.sizes import counted
from deltaic.values.times import from_millis, shown_millis

__all__ = ["Commit"]

# The metrics shown in a repr: name, noun and verb.
_COUNTS = (
    ("numFiles", "file", ""),
    ("numAddedFiles", "file", " added"),
    ("numRestoredFiles", "file", " restored"),
    ("numRemovedFiles", "file", " removed"),
    ("numOutputRows", "row", ""),
    ("numDeletedRows", "row", " deleted"),
    ("numUpdatedRows", "row", " updated"),
    ("numTargetRowsUpdated", "row", " updated"),
    ("numTargetRowsDeleted", "row", " deleted"),
    ("numTargetRowsInserted", "row", " inserted"),
)

_ADVICE = "do not repeat the operation (upkeep=False disables this work after a commit)"


@dataclass(frozen=True)
class Commit:
    """One version of a table: the result of a writing method, or an entry of `Table.history`.

    Values that another writer omitted from its ``commitInfo`` are None or empty.

    >>> from datetime import datetime, timezone
    >>> Commit(3, datetime(2026, 11, 22, 9, tzinfo=timezone.utc), {"operation": "OPTIMIZE"})
    <deltaic.Commit 3 OPTIMIZE at 2026-11-22 09:00:00 UTC>
    """

    version: int
    """The version that this commit created."""

    timestamp: datetime
    """The commit's time, in UTC: the in-commit timestamp if the table has them, else its file's time."""

    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The whole ``commitInfo``, as in the log; empty if the commit has none."""

    conflicts_resolved: list[str] = field(default_factory=list[str])
    """For a writing method: concurrent commits that won earlier attempts without conflict, one text each."""

    skipped: bool = False
    """For a writing method: whether nothing was committed, because nothing changes or because the table
    already records this version of the application or a later one. ``version`` is then the newest version or
    the one that records it, with no ``info``."""

    warnings: tuple[str, ...] = ()
    """For a writing method: failures of post-commit maintenance, one text each. The commit is complete."""

    @property
    def operation(self) -> str | None:
        """The operation, as named by the writer: ``"WRITE"``, ``"CREATE TABLE"``, ``"MERGE"``."""
        return _text(self.info.get("operation"))

    @property
    def parameters(self) -> dict[str, Any]:
        """The operation's parameters, values as in the log (most writers record each as text)."""
        return _mapping(self.info.get("operationParameters"))

    @property
    def metrics(self) -> dict[str, int | str]:
        """The operation's metrics: counts of files and rows, bytes, milliseconds. Whole numbers are ints."""
        return {name: _number(value) for name, value in _mapping(self.info.get("operationMetrics")).items()}

    @property
    def engine(self) -> str | None:
        """The program that wrote the commit, as named in ``engineInfo``."""
        return _text(self.info.get("engineInfo"))

    @property
    def read_version(self) -> int | None:
        """The version that the writer read."""
        value = self.info.get("readVersion")
        return value if isinstance(value, int) else None

    @property
    def is_blind_append(self) -> bool | None:
        """Whether the commit only added files and read none."""
        value = self.info.get("isBlindAppend")
        return value if isinstance(value, bool) else None

    def __repr__(self) -> str:
        """Returns one line: the version, operation, time and metrics."""
        words = self.operation or ("skipped" if self.skipped else "without an operation")
        # Another writer's text may have any length and any characters.
        shown = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in words[:80])
        metrics = self.metrics
        if "numTargetRowsCopied" in metrics:
            # The output rows of a merge include those that were only copied.
            metrics.pop("numOutputRows", None)
        counts = [
            f"{counted(count, noun)}{done}"
            for name, noun, done in _COUNTS
            if isinstance(count := metrics.get(name), int) and count
        ]
        if self.warnings:
            counts.append(counted(len(self.warnings), "warning"))
        much = f": {', '.join(counts)}" if counts else ""
        return f"<deltaic.Commit {self.version} {shown} at {self.timestamp:%Y-%m-%d %H:%M:%S %Z}{much}>"


def from_rust(rust: _rust.Commit) -> Commit:
    """Converts a commit of the core."""
    try:
        info: object = json.loads(rust.commit_info) if rust.commit_info is not None else {}
    except (RecursionError, ValueError) as error:
        raise CorruptLog(
            f"the commitInfo of version {rust.version} cannot be read: {error}",
            context={"version": rust.version, "field": "commitInfo"},
            hint="request fewer commits with limit=, or restore the commit from a backup of the table",
        ) from error
    try:
        made = from_millis(rust.timestamp_ms)
    except OverflowError as error:
        raise CorruptLog(
            f"version {rust.version} was committed {shown_millis(rust.timestamp_ms)}, which no calendar has",
            context={"version": rust.version, "field": "timestamp"},
            hint="set the time of the commit's file, or request fewer commits with limit=",
        ) from error
    return Commit(
        rust.version, made, _mapping(info), rust.conflicts_resolved, rust.skipped, tuple(rust.warnings)
    )


def announced(rust: _rust.Commit, stacklevel: int) -> Commit:
    """Converts a new commit of the core and emits its warnings, attributed to the caller."""
    commit = from_rust(rust)
    for text in commit.warnings:
        message = f"version {commit.version} is committed, but {text}; {_ADVICE}"
        # If warnings are turned into errors, the caller would take the commit for failed, and repeat it.
        with suppress(DeltaicWarning):
            warnings.warn(message, DeltaicWarning, stacklevel=stacklevel)
    return commit


def to_app_transaction(given: tuple[str, int] | None) -> tuple[str, int] | None:
    """Validates ``app_transaction=``.

    Raises:
        TypeError: It is not a pair of a name and an integer.
        ValueError: The name is empty, or the number is negative or exceeds 63 bits.
    """
    if given is None:
        return None
    # Checked for callers without a type checker.
    if not isinstance(given, tuple) or len(given) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"app_transaction must be a name and a version, such as ('nightly', 7), not {given!r}"
        )
    app_id, version = given
    if not isinstance(app_id, str) or not isinstance(version, int) or isinstance(version, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"app_transaction must be a name and a version, such as ('nightly', 7), not {given!r}"
        )
    if not app_id:
        raise ValueError("app_transaction needs a name, which identifies your application")
    if not 0 <= version < 1 << 63:
        raise ValueError(f"the version of app_transaction must be between 0 and 2**63 - 1, not {version}")
    return app_id, version


def to_commit_info(info: Mapping[str, object] | None) -> str | None:
    """Converts ``commit_info=`` to the JSON text that the core takes.

    Raises:
        TypeError: It is not a mapping, or contains a value that JSON cannot represent.
    """
    if info is None:
        return None
    # Checked for callers without a type checker.
    if not isinstance(info, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"commit_info must be a mapping of names to JSON values, not {type(info).__name__}")
    try:
        return json.dumps(dict(info), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"commit_info holds a value that JSON cannot: {error}") from error


def _mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | str:
    # Delta writers record metrics as text, though a few write numbers.
    if isinstance(value, int):
        return value
    text = str(value)
    # Python rejects integers of thousands of digits; such a text is not a metric either.
    return int(text) if len(text) < 40 and text.lstrip("-").isdecimal() and text.isascii() else text
