"""The race with a peer at a small scale: commits are counted, and no time is checked."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

RACES = Path(__file__).resolve().parents[2] / "benches" / "python" / "races.py"
LOSS = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from race_place import OnDisk
from races import Table, wrong
place = OnDisk(Path(sys.argv[2]))
print(wrong(Table("deltaic", place, place.fresh("deltaic")), 1, 2))
"""


def python(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_commit_of_each_peer_lands() -> None:
    if importlib.util.find_spec("deltalake") is None:
        pytest.skip("missing: deltalake, a peer")
    said = python(str(RACES), "--writers", "2", "--commits", "4", "--turns", "2").splitlines()
    landed = [line for line in said if "8 commits landed, none is lost and none doubled" in line]
    assert [line.split()[4] for line in landed] == ["deltaic", "deltalake"]


@pytest.mark.parametrize(("numbers", "said"), [([0, 1], ""), ([0, 0], "1 commits are lost, 1 doubled")])
def test_lost_and_duplicate_rows_are_detected(tmp_path: Path, numbers: list[int], said: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    log = tmp_path / "deltaic" / "_delta_log"
    log.mkdir(parents=True)
    for version, number in enumerate(numbers, start=1):
        pq.write_table(pa.table({"writer": [0], "number": [number]}), log.parent / f"{version}.parquet")
        action = json.dumps({"add": {"path": f"{version}.parquet"}})
        (log / f"{version:020}.json").write_text(action + "\n")
    assert python("-c", LOSS, str(RACES.parent), str(tmp_path)).strip() == said
