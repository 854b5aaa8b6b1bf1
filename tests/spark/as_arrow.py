"""Which of the two ways to write files a test takes."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from unittest.mock import patch

from deltaic.spark.frame_write.parquet_tasks import ParquetForm

__all__ = ["by_arrow"]


@contextmanager
def by_arrow() -> Generator[None]:
    """Writes the rows of DataFrames as Arrow data, by tasks of deltaic, whatever their shape."""
    with patch.object(ParquetForm, "of", return_value=None):
        yield
