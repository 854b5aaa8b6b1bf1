from typing import final

from .arrow_table import ArrowTable

@final
class NativeScanPlan:
    """A native scan: a snapshot's files, read by Spark's Parquet reader."""

    @property
    def num_files(self) -> int:
        """The number of files to read."""

    @property
    def files_of_snapshot(self) -> int:
        """The number of files of the snapshot."""

    @property
    def files_after_partitions(self) -> int:
        """The number of files left after partition pruning."""

    @property
    def size_in_bytes(self) -> int:
        """The total size of the files to read, according to the log."""

    @property
    def largest_file_in_bytes(self) -> int:
        """The size of the largest of them; 0 without files."""

    @property
    def is_in_folders(self) -> bool:
        """Whether Spark can read every file's partition values from its folders, unchanged."""

    @property
    def files(self) -> ArrowTable:
        """One row per file, by its ordinal (protocol: Partition Values, Row Tracking)."""

    @property
    def vectors(self) -> ArrowTable | None:
        """The deleted rows in blocks of 4096; None if they are too many (protocol: Deletion Vectors)."""

    @property
    def file_list(self) -> ArrowTable:
        """The files' URIs and lengths in bytes, by ordinal."""

    def kept(self, tree: str) -> bytes | None:
        """Returns a byte for each file, 0 if no row passes the filters; None if they leave out no file."""

    def sink_log(self, *, ordinals: bool) -> bytes:
        """Returns the log of a streaming sink; with `ordinals`, the files' ordinals replace their times."""
