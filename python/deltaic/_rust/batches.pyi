from typing import final

@final
class BatchReader:
    """The batches of a scan or a task. Its errors keep their class, which an Arrow stream cannot carry."""

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
        """The PyCapsules of an ArrowSchema and an ArrowArray; a conversion is left to the consumer."""
