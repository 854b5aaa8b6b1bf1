"""What converting a folder of Parquet files would make."""

from __future__ import annotations

from dataclasses import dataclass

from deltaic.reading.schema import Schema
from deltaic.values.sizes import counted, readable_size

__all__ = ["ConvertPreview"]


@dataclass(frozen=True)
class ConvertPreview:
    """What `Table.convert` would do: its result with ``dry_run=True``."""

    files: int
    """The number of files of the table."""

    size_in_bytes: int
    """The size of these files in bytes."""

    num_rows: int
    """The number of rows of these files."""

    schema: Schema
    """The columns that the table would have."""

    def __str__(self) -> str:
        first = (
            f"CONVERT would make a table of {counted(self.files, 'file')} "
            f"({readable_size(self.size_in_bytes)}) with {counted(self.num_rows, 'row')}"
        )
        return f"{first}\n{self.schema}"
