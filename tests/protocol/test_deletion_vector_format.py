"""Heading *Deletion Vector Format*: keys and the magic number of a handmade vector."""

from __future__ import annotations

from pathlib import Path

import pytest

import deltaic

from .handmade_log import HandmadeTable, ids, metadata
from .handmade_vectors import FEATURE, PORTABLE, buckets_of, inline, portable


@pytest.mark.parametrize(
    ("key", "magic", "about"),
    [
        pytest.param(0, PORTABLE, None, id="right"),
        pytest.param(1 << 31, PORTABLE, "most significant bit", id="key"),
        pytest.param(0, PORTABLE + 1, str(PORTABLE + 1), id="magic number"),
    ],
)
def test_only_the_format_of_the_protocol_is_read(
    tmp_path: Path, key: int, magic: int, about: str | None
) -> None:
    """protocol: deletion-vector-format.1, deletion-vector-format.2."""
    table = HandmadeTable(tmp_path / "t")
    vector = inline(portable([(key, buckets_of([1])[0])], magic=magic), 1)
    table.commit(FEATURE, metadata(), table.data("a.parquet", ids(5, 6, 7), **vector))
    scan = deltaic.Table(table.root).snapshot().scan()
    if about is None:
        assert scan.to_arrow()["id"].to_pylist() == [5, 7]
        return
    with pytest.raises(deltaic.DeltaicError, match=about):
        scan.to_arrow()
