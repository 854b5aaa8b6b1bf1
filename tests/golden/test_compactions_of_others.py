"""A log compaction file of another table is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol import naive_log
from tests.protocol.handmade_log import add, metadata, protocol

from .compaction_files import compaction, lines, take_away, whole_logs
from .opening import copy_of_the_log, dated, needs_golden, opened


@needs_golden
@pytest.mark.parametrize("name", whole_logs())
def test_one_of_another_table_is_passed_over(name: str, tmp_path: Path) -> None:
    """Its metadata has the id of another table."""
    root = copy_of_the_log(name, tmp_path / "t")
    log = root / "_delta_log"
    take_away(log)
    last = naive_log.newest(log)
    expected = dated(opened(root))
    foreign = [protocol(), metadata(), add("foreign.parquet")]
    compaction(log, 1, last - 1).write_text(lines(foreign))
    assert dated(opened(root)) == expected
