from typing import final

from .batches import BatchReader
from .scan import ScanTask
from .schema import Schema

@final
class Changes:
    """What a range of versions changed."""

    @property
    def schema(self) -> Schema:
        """The columns that come out; what tells the change is among them."""

    def batches(self) -> BatchReader:
        """The rows one batch after the other, the oldest version's first.

        Raises:
            CorruptData, PathEscape, StorageError: At any batch.
        """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A PyCapsule of an ArrowArrayStream; each call reads anew."""

    def count(self) -> int:
        """How many rows; they are read for it."""

    def tasks(self) -> list[ScanTask]:
        """One task for each file.

        Raises:
            ValueError: Inferred changes compare files with each other.
        """

    def explain(self) -> str:
        """Versions, files and bytes."""
