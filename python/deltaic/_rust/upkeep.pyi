from typing import final

@final
class CheckpointWritten:
    """A checkpoint that stands (protocol: Checkpoints)."""

    @property
    def version(self) -> int: ...
    @property
    def path(self) -> str:
        """Its file, or its top level, below the table's root."""

    @property
    def actions(self) -> int | None:
        """How many it holds; None where one that was there does not say."""

    @property
    def size_in_bytes(self) -> int:
        """Of all its files."""

    @property
    def sidecars(self) -> list[str]: ...
    @property
    def is_new(self) -> bool: ...

@final
class Compacted:
    """A log compaction file that stands (protocol: Log Compaction Files)."""

    @property
    def path(self) -> str: ...
    @property
    def actions(self) -> int:
        """How many it holds; 0 where it was there before."""

    @property
    def size_in_bytes(self) -> int:
        """0 where it was there before."""

    @property
    def is_new(self) -> bool: ...

@final
class CleanedUp:
    """What a cleanup of the log deleted, or would (protocol: Metadata Cleanup)."""

    @property
    def files(self) -> list[tuple[str, int, str]]:
        """Path, bytes and reason of each file."""

    @property
    def oldest_kept(self) -> int | None:
        """The oldest version that can be read afterwards; None where the log is not cut."""

    @property
    def kept(self) -> str | None:
        """Why the log is not cut, where it is not."""

    @property
    def passed_over(self) -> list[str]:
        """What was left although it may have expired."""
