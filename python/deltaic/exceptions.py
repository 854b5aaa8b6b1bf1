"""Every exception and warning that deltaic raises.

The Rust core imports these classes and raises them: there is one definition of each, and it is here.
All of them derive from `DeltaicError`. A wrong argument (an unknown column in ``columns=``, an unknown
storage option, a naive time) is a plain `ValueError` or `TypeError` instead.
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
    """The base of everything that can go wrong with a table.

    Args:
        message: What went wrong, and where.
        context: The same as data: ``path``, ``version``, ``field``, ``feature`` …, whichever apply.
        hint: What to do about it, if that is known.

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
    """The class name in upper snake case: stable, for programs to compare."""

    message: str
    """What went wrong, without the hint."""

    context: dict[str, object]
    """Where it went wrong, as data; empty where there is nothing to add."""

    hint: str | None
    """What to do, or None."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.code = _code_of(cls.__name__)

    def __init__(
        self, message: str, *, context: Mapping[str, object] | None = None, hint: str | None = None
    ) -> None:
        # Pickle and copy call the class with `args` and then restore the instance's dictionary, so the
        # message alone must be enough to make one, and the rest must live in that dictionary.
        super().__init__(message)
        self.message = message
        self.context = dict(context or {})
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class TableNotFound(DeltaicError):
    """There is no Delta table at this place: no such folder, or one without a log."""


class TableExists(DeltaicError):
    """There is a Delta table at this place already, and none was to be replaced."""


class VersionNotFound(DeltaicError):
    """The table has no such version, or none at that time; the message gives the range it has."""


class UnsupportedFeature(DeltaicError):
    """The table's protocol asks for something that this release does not implement; it is named."""


class UnsupportedExpression(DeltaicError):
    """A predicate is well formed and asks for something that cannot be evaluated here."""


class CorruptLog(DeltaicError):
    """The transaction log is damaged: a commit that cannot be read, or a gap between commits."""


class CorruptData(DeltaicError):
    """A data or deletion-vector file is missing, truncated or damaged."""


class PathEscape(DeltaicError):
    """The log names a path outside the table's root and outside ``allowed_roots``."""


class InvalidPredicate(DeltaicError):
    """A predicate does not parse, or names a column that is not there."""


class SchemaMismatch(DeltaicError):
    """The data does not have the table's schema."""


class ConstraintViolation(DeltaicError):
    """A row breaks a constraint of the table, such as NOT NULL."""


class StorageError(DeltaicError):
    """The store failed, refused, or can only be read."""


class CommitConflict(DeltaicError):
    """Another writer committed something that this commit cannot follow; nothing was written to the log."""


class ConcurrentAppend(CommitConflict):
    """The winner added files that this operation would have had to read."""


class ConcurrentDeleteRead(CommitConflict):
    """The winner removed a file that this operation has read."""


class ConcurrentDeleteDelete(CommitConflict):
    """The winner removed a file that this operation removes too."""


class ConcurrentTransaction(CommitConflict):
    """The winner moved the same application transaction or metadata domain."""


class MetadataChanged(CommitConflict):
    """The winner changed the table's metadata: schema, partitioning or properties."""


class ProtocolChanged(CommitConflict):
    """The winner changed the table's protocol."""


class ConcurrentWrite(CommitConflict):
    """Other writers won every attempt."""


class CommitUnknown(DeltaicError):
    """Whether the commit landed could not be learnt; read the version it names before trying again."""


class InternalError(DeltaicError):
    """deltaic itself has a fault; ``context["place"]`` says where. Please report it."""


class DeltaicWarning(UserWarning):
    """Something derived was passed over, and the table was read without it (a damaged hint, say).

    Or it could not be written behind a commit, which stands without it (a checkpoint, say).
    """
