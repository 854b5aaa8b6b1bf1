"""Stubs of `rust/python/src/batches.rs`."""

from typing import final

@final
class BatchReader:
    """An iterator over the batches of a scan or a task."""

    def __iter__(self) -> BatchReader: ...
    def __next__(self) -> Batch:
        """The next batch.

        Raises:
            CorruptData, PathEscape, StorageError: The file cannot be read.
        """

@final
class Batch:
    """One batch, as Arrow."""

    @property
    def num_rows(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """The PyCapsules of an ArrowSchema and an ArrowArray."""
