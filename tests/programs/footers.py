"""The columns of a Parquet file, as text that two writers have in common."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq

__all__ = ["columns_of"]


def columns_of(path: Path) -> str:
    """Returns the columns of a file, without the names that Parquet leaves to writers.

    These are the names of the whole and of the entries of maps.
    """
    # The first line is the address of an object.
    _, _, text = str(pq.read_metadata(path).schema).partition("\n")
    text = re.sub(r"^(required group field_id=-1) \w+", r"\1 schema", text)
    return text.replace("repeated group field_id=-1 entries {", "repeated group field_id=-1 key_value {")
