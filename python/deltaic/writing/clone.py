"""What a shallow clone of a table would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deltaic.values.sizes import counted, readable_size

if TYPE_CHECKING:
    from deltaic import _rust

__all__ = ["ClonePreview", "clone_preview_from_rust"]


@dataclass(frozen=True)
class ClonePreview:
    """What a shallow clone would do: the result of `Table.clone` with ``dry_run=True``.

    >>> print(ClonePreview(7, 3, 4096, removed_files=1, removed_bytes=900))
    CLONE of version 7 would refer to 3 files (4.0 KiB), and remove 1 file (900 B) of the replaced table
    >>> print(ClonePreview(7, 1, 900))
    CLONE of version 7 would refer to 1 file (900 B)
    """

    source_version: int
    """The version that would be cloned."""

    files: int
    """The number of files that the clone would have."""

    size_in_bytes: int
    """The size of these files in bytes. None of them would be read or copied."""

    removed_files: int = 0
    """The number of files that would be removed from the table that is replaced."""

    removed_bytes: int = 0
    """The size of these files in bytes."""

    def __str__(self) -> str:
        line = (
            f"CLONE of version {self.source_version} would refer to {counted(self.files, 'file')} "
            f"({readable_size(self.size_in_bytes)})"
        )
        if self.removed_files:
            removed = f"{counted(self.removed_files, 'file')} ({readable_size(self.removed_bytes)})"
            line += f", and remove {removed} of the replaced table"
        return line


def clone_preview_from_rust(source_version: int, found: _rust.ClonePreview) -> ClonePreview:
    """Converts the result of the Rust core."""
    return ClonePreview(
        source_version,
        found.files,
        found.bytes,
        removed_files=found.removed_files,
        removed_bytes=found.removed_bytes,
    )
