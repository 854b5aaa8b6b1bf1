from typing import final

from .batches import BatchReader
from .schema import Schema

@final
class Scan:
    """What to read from a snapshot."""

    @property
    def schema(self) -> Schema:
        """The columns that come out."""

    def batches(self) -> BatchReader:
        """The rows one batch after the other, from the start.

        Raises:
            CorruptData, PathEscape, StorageError: Here or at any batch.
        """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A PyCapsule of an ArrowArrayStream; each call reads anew."""

    def count(self) -> int:
        """How many rows; from the log alone where that is exact."""

    def tasks(self) -> list[ScanTask]:
        """One task for each file that may hold a row."""

    def explain(self) -> str:
        """Files, row groups, pages, rows and bytes: in all, and what is left of them."""

@final
class ScanTask:
    """A piece of a scan that can be read elsewhere."""

    @property
    def path(self) -> str:
        """The file, as in the log."""

    @property
    def size_in_bytes(self) -> int: ...
    @property
    def predicate(self) -> str | None:
        """What is asked of the file's rows, as SQL text; None where every row matches."""

    @property
    def schema(self) -> Schema:
        """The columns that come out."""

    def batches(self) -> BatchReader:
        """The rows one batch after the other, from the start.

        Raises:
            CorruptData, PathEscape, StorageError: Here or at any batch.
        """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A PyCapsule of an ArrowArrayStream; each call reads anew."""

    def to_bytes(self) -> bytes:
        """All that is needed to read it, the storage options included."""

    @staticmethod
    def from_bytes(data: bytes) -> ScanTask:
        """The inverse of `to_bytes`.

        Raises:
            ValueError: The bytes are not a task of this release.
        """
