"""Every exception and warning that deltaic raises.

The Rust core imports and raises these classes, so that each is defined only here. All of them derive from
`DeltaicError`. An invalid argument (an unknown column in ``columns=``, an unknown storage option, a naive
time) raises a plain `ValueError` or `TypeError` instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

__all__ = [
    "CommitConflict",
    "CommitUnknown",
    "ConcurrentAppend",
    "ConcurrentDeleteDelete",
    "ConcurrentDeleteRead",
    "ConcurrentTransaction",
    "ConcurrentWrite",
    "ConstraintViolation",
    "CorruptData",
    "CorruptLog",
    "DeltaicError",
    "DeltaicWarning",
    "InternalError",
    "InvalidPredicate",
    "MetadataChanged",
    "PathEscape",
    "ProtocolChanged",
    "SchemaMismatch",
    "StorageError",
    "TableExists",
    "TableNotFound",
    "UnsupportedExpression",
    "UnsupportedFeature",
    "VersionNotFound",
]


def _code_of(class_name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).upper()


class DeltaicError(Exception):
    """Base class of all errors of a table.

    Args:
        message: What went wrong, and where.
        context: The same as data: ``path``, ``version``, ``field``, ``feature`` …, as far as they apply.
        hint: How to fix it, if known.
        retryable: Whether the same operation may succeed if it is run again.

    >>> error = TableNotFound("no table", context={"path": "file:///data/"}, hint="create it")
    >>> error.code
    'TABLE_NOT_FOUND'
    >>> error.context["path"]
    'file:///data/'
    >>> print(error)
    no table
    hint: create it
    """

    code: ClassVar[str] = "DELTAIC_ERROR"
    """The class name in upper snake case: stable, for comparison in programs."""

    message: str
    """What went wrong, without the hint."""

    context: dict[str, object]
    """Where it went wrong, as data; may be empty."""

    hint: str | None
    """How to fix it, or None."""

    retryable: bool
    """Whether the same operation may succeed if it is run again: after a conflict, on the newest version, and
    after a failure of the store that may pass, such as a timeout. False for `CommitUnknown`: the commit may
    have succeeded."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.code = _code_of(cls.__name__)

    def __init__(
        self,
        message: str,
        *,
        context: Mapping[str, object] | None = None,
        hint: str | None = None,
        retryable: bool = False,
    ) -> None:
        # Pickle and copy call the class with `args` and then restore the instance's `__dict__`, so the
        # message must be the only required argument, and all other values must be in `__dict__`.
        super().__init__(message)
        self.message = message
        self.context = dict(context or {})
        self.hint = hint
        self.retryable = retryable

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class TableNotFound(DeltaicError):
    """There is no Delta table at this location: the folder does not exist, or it has no log."""


class TableExists(DeltaicError):
    """A Delta table already exists at this location, and replacing it was not requested."""


class VersionNotFound(DeltaicError):
    """The table has no such version, or none at that time; the message gives the available range."""


class UnsupportedFeature(DeltaicError):
    """The table's protocol requires a feature that this release does not implement; the message names it."""


class UnsupportedExpression(DeltaicError):
    """A predicate is well formed but uses an expression that cannot be evaluated here."""


class CorruptLog(DeltaicError):
    """The transaction log is damaged: a commit that cannot be read, or a gap between commits."""


class CorruptData(DeltaicError):
    """A data or deletion-vector file is missing, truncated or damaged."""


class PathEscape(DeltaicError):
    """The log references a path outside the table's root and outside ``allowed_roots``."""


class InvalidPredicate(DeltaicError):
    """A predicate does not parse, or names an unknown column."""


class SchemaMismatch(DeltaicError):
    """The data does not match the table's schema."""


class ConstraintViolation(DeltaicError):
    """A row violates a constraint of the table, such as NOT NULL."""


class StorageError(DeltaicError):
    """The store failed, denied access, or is read-only."""


class CommitConflict(DeltaicError):
    """Another writer's commit conflicts with this one; nothing was written to the log."""


class ConcurrentAppend(CommitConflict):
    """The winning commit added files that this operation would have had to read."""


class ConcurrentDeleteRead(CommitConflict):
    """The winning commit removed a file that this operation read."""


class ConcurrentDeleteDelete(CommitConflict):
    """The winning commit removed a file that this operation removes too."""


class ConcurrentTransaction(CommitConflict):
    """The winning commit changed the same application transaction or metadata domain."""


class MetadataChanged(CommitConflict):
    """The winning commit changed the table's metadata: schema, partitioning or properties."""


class ProtocolChanged(CommitConflict):
    """The winning commit changed the table's protocol."""


class ConcurrentWrite(CommitConflict):
    """Other writers won every attempt."""


class CommitUnknown(DeltaicError):
    """No definitive response to the commit request; read the version named in the message before retrying."""


class InternalError(DeltaicError):
    """Internal error in deltaic; ``context["place"]`` gives the place. Please report it."""


class DeltaicWarning(UserWarning):
    """A derived file was skipped while reading the table (a damaged hint, say).

    Or it could not be written after a commit, which is nevertheless complete (a checkpoint, say).
    """
