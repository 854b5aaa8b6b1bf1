from typing import final

@final
class WriteTask:
    """What another process needs to write files of a table without its log."""

    @property
    def uri(self) -> str:
        """The root of the table."""

    def write(self, data: object) -> str:
        """Writes the rows to new files. Returns these as JSON text.

        Raises:
            SchemaMismatch, ConstraintViolation, UnsupportedFeature, StorageError: No file is left.
        """

    def to_bytes(self) -> bytes:
        """Serializes all that is needed to write, including the storage options."""

    @staticmethod
    def from_bytes(data: bytes) -> WriteTask:
        """The inverse of `to_bytes`.

        Raises:
            ValueError: The bytes are not a task of this release.
        """
