from typing import final

from .arrow_table import ArrowTable

@final
class HandOver:
    """A snapshot's files, handed over to Spark's Parquet reader."""

    @property
    def num_files(self) -> int:
        """How many files are handed over."""

    @property
    def files_of_snapshot(self) -> int:
        """How many files the snapshot has."""

    @property
    def files_after_partitions(self) -> int:
        """How many of them the predicate leaves by their partition values."""

    @property
    def size_in_bytes(self) -> int:
        """The files that are handed over, as the log states their sizes."""

    @property
    def largest_file_in_bytes(self) -> int:
        """The largest of them; 0 where there is none."""

    @property
    def is_in_folders(self) -> bool:
        """Whether Spark reads every file's partition values from its folders, unchanged."""

    @property
    def files(self) -> ArrowTable:
        """One row a file, by its ordinal (protocol: Partition Values, Row Tracking)."""

    @property
    def vectors(self) -> ArrowTable | None:
        """The deleted rows in blocks of 4096; None where they are too many (protocol: Deletion Vectors)."""

    def sink_log(self, *, ordinals: bool) -> bytes:
        """The log of a streaming sink; with the files' ordinals in place of their times, or not."""
