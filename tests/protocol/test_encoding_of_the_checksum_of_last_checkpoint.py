"""Heading *How to URL encode keys and string values*: the checksum of `_last_checkpoint` of encoded text."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import deltaic

from .handmade_log import HandmadeTable, ids, metadata, protocol


@pytest.mark.parametrize("encoded", ["a%20%2B%C3%A9~-._%2A", "a+%2B%C3%A9~-._*"])
def test_text_is_encoded_strictly(tmp_path: Path, encoded: str) -> None:
    """protocol: how-to-url-encode-keys-and-string-values.1, how-to-url-encode-keys-and-string-values.2."""
    table = HandmadeTable(tmp_path / "t")
    first = [protocol(), metadata(), table.data("a.parquet", ids(1))]
    table.commit(*first)
    table.checkpoint(0, first)
    canonical = f'"extra"="{encoded}","size"=3,"version"=0'
    digest = hashlib.md5(canonical.encode(), usedforsecurity=False).hexdigest()
    table.hint(0, 3, extra="a +é~-._*", checksum=digest)
    report = deltaic.Table(table.root).check()
    assert ("_last_checkpoint" not in str(report)) == ("%20" in encoded)
