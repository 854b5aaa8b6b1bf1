"""Log files without read permission: they are named in the error, or skipped if they are optional."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deltaic

from . import broken
from .check_damage import checkpoint, checksum, compaction, log_file
from .error_text import judge_text

# Root may read every file, so tests that run as root drop that capability.
WITHOUT_RIGHTS = [
    "setpriv",
    "--bounding-set=-dac_override,-dac_read_search",
    "--inh-caps=-dac_override,-dac_read_search",
]
ASK = """
import json, sys, warnings
import deltaic
warnings.simplefilter("ignore")
try:
    snapshot = deltaic.Table(sys.argv[1]).snapshot()
    print(json.dumps({"files": snapshot.num_files, "warnings": snapshot.warnings}))
except deltaic.DeltaicError as error:
    print(json.dumps({"error": type(error).__name__, "text": str(error), "path": error.context["path"]}))
"""
COMMIT = f"_delta_log/{1:020}.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The healthy table."""
    broken.healthy(tmp_path / "t")
    return tmp_path / "t"


def asked_by_a_user(root: Path) -> dict[str, object]:
    prefix = WITHOUT_RIGHTS if os.geteuid() == 0 else []
    if prefix and (
        shutil.which(prefix[0]) is None
        or subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0
    ):
        pytest.skip("running as root, and setpriv cannot give its rights away here")
    done = subprocess.run(
        [*prefix, sys.executable, "-c", ASK, str(root)],
        env={**os.environ, "PYTHONPATH": str(Path(deltaic.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_the_healthy_table_is_everybodys(root: Path) -> None:
    assert asked_by_a_user(root) == {"files": 2, "warnings": []}


@pytest.mark.parametrize("name", [COMMIT, "_delta_log"])
def test_required_unreadable_files_are_named(root: Path, name: str) -> None:
    (root / name).chmod(0)
    answer = asked_by_a_user(root)
    (root / name).chmod(0o755)
    assert (answer["error"], answer["path"]) == ("StorageError", name)
    assert "permission denied" in str(answer["text"])
    assert "hint: check the permissions" in str(answer["text"])
    judge_text(str(answer["text"]))


@pytest.mark.parametrize(
    ("damage", "name"),
    [
        (log_file("_last_checkpoint", '{"version":1,"size":4}'), "_delta_log/_last_checkpoint"),
        (checkpoint(), f"_delta_log/{1:020}.checkpoint.parquet"),
        (checksum(), f"_delta_log/{1:020}.crc"),
        (compaction(), f"_delta_log/{0:020}.{1:020}.compacted.json"),
    ],
    ids=["hint", "checkpoint", "checksum", "compaction"],
)
def test_unreadable_optional_files_are_skipped(root: Path, damage: broken.Damage, name: str) -> None:
    damage(root)
    (root / name).chmod(0)
    answer = asked_by_a_user(root)
    assert answer["files"] == 2
    [warning] = answer["warnings"] if isinstance(answer["warnings"], list) else []
    assert "skipped" in warning
