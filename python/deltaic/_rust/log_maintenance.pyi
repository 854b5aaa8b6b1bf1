from typing import final

@final
class CheckpointWritten:
    """A checkpoint (protocol: Checkpoints)."""

    @property
    def version(self) -> int: ...
    @property
    def path(self) -> str:
        """Its file, or its top-level file, relative to the table's root."""

    @property
    def actions(self) -> int | None:
        """The number of its actions; None if an existing checkpoint does not specify it."""

    @property
    def size_in_bytes(self) -> int:
        """The total size of its files."""

    @property
    def sidecars(self) -> list[str]: ...
    @property
    def reused_sidecars(self) -> int:
        """How many of the sidecars, the first ones, an older checkpoint references too."""

    @property
    def is_new(self) -> bool: ...

@final
class Compacted:
    """A log compaction file (protocol: Log Compaction Files)."""

    @property
    def path(self) -> str: ...
    @property
    def actions(self) -> int:
        """The number of its actions; 0 if it already existed."""

    @property
    def size_in_bytes(self) -> int:
        """0 if it already existed."""

    @property
    def is_new(self) -> bool: ...

@final
class CleanedUp:
    """The files that a log cleanup deleted, or would delete (protocol: Metadata Cleanup)."""

    @property
    def files(self) -> list[tuple[str, int, str]]:
        """Path, bytes and reason of each file."""

    @property
    def oldest_kept(self) -> int | None:
        """The oldest version that can be read afterwards; None if no commit is deleted."""

    @property
    def kept(self) -> str | None:
        """Why no commit is deleted, if none is."""

    @property
    def not_deleted(self) -> list[str]:
        """Files that may have expired but were not deleted."""
