"""Number of file system calls on a local log, counted by ``strace``."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.protocol.handmade_log import HandmadeTable, add

COMMITS = 300

REFRESH = """
import os, sys
import deltaic

table = deltaic.Table(sys.argv[1])
snapshot = table.snapshot()
os.path.exists("/begin")
assert table.snapshot().version == snapshot.version
os.path.exists("/end")
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="install strace to count system calls")
def test_a_refresh_requests_each_file_of_the_log_once(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create()
    for number in range(1, COMMITS):
        table.commit(add(f"{number}.parquet"))
    trace = tmp_path / "trace"
    command = ["strace", "--follow-forks", "--trace=%%stat", "--output", str(trace)]
    subprocess.run([*command, sys.executable, "-c", REFRESH, str(table.root)], check=True, timeout=300)
    traced = trace.read_text()
    refresh = traced[traced.index('"/begin"') : traced.index('"/end"')]
    lookups = Counter(re.findall(r"_delta_log/(\d{20}\.json)\"", refresh))
    assert len(lookups) == COMMITS
    # The current version is additionally checked to be the same file.
    often = {name: count for name, count in lookups.items() if count > 1}
    assert sum(lookups.values()) <= COMMITS + 2, often
