"""The part of a snapshot that the engines use, so that they need not import `deltaic.reading.snapshot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from deltaic.reading.scan import Scan
from deltaic.reading.schema import Schema

__all__ = ["SnapshotRows"]


class SnapshotRows(Protocol):
    """The methods of `deltaic.Snapshot` with which its rows are read."""

    @property
    def uri(self) -> str:
        """The table's location."""
        ...

    @property
    def version(self) -> int:
        """The version that is read."""
        ...

    @property
    def schema(self) -> Schema:
        """The columns, by their logical names."""
        ...

    def scan(
        self,
        columns: Sequence[str] | None = ...,
        predicate: str | None = ...,
        *,
        limit: int | None = ...,
        batch_size: int | None = ...,
        variant: Literal["arrow", "json"] = ...,
    ) -> Scan:
        """Describes a read of the version."""
        ...
