"""The remaining budget of files for a batch."""

from __future__ import annotations

from collections.abc import Sequence

from deltaic.spark.stream.options import Limits

__all__ = ["Budget"]


class Budget:
    """The remaining limits of a batch. The first file is always accepted, so no limit blocks a stream."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._files = 0
        self._bytes = 0

    def take(self, sizes: Sequence[int | None]) -> int:
        """Returns how many of these files are accepted, in order. None is a file that is not read.

        Args:
            sizes: Their sizes in bytes.

        Example:
            >>> Budget(Limits(max_files=2)).take([10, None, 10, 10])
            3
        """
        for number, size in enumerate(sizes):
            if size is None:
                continue
            if self._is_spent(1):
                return number
            self._files += 1
            self._bytes += max(size, 0)
        return len(sizes)

    def take_all(self, sizes: Sequence[int | None]) -> int:
        """Does the same for files that must be in one batch: accepts all of them, or 0."""
        read = [size for size in sizes if size is not None]
        if read and self._is_spent(len(read)):
            return 0
        self._files += len(read)
        self._bytes += sum(max(size, 0) for size in read)
        return len(sizes)

    def _is_spent(self, more: int) -> bool:
        if self._files == 0:
            return False
        max_files, max_bytes = self._limits.max_files, self._limits.max_bytes
        too_many = max_files is not None and self._files + more > max_files
        return too_many or (max_bytes is not None and self._bytes >= max_bytes)
