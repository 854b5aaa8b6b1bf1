"""Timestamps outside of datetime's range: shown as numbers, and an error where a datetime is required."""

from __future__ import annotations

from pathlib import Path

import pytest

import deltaic
from deltaic.cli import main
from tests.protocol import handmade_log as log

from . import broken
from .check_damage import info, timed

PAST = 2**63 - 1
BEFORE = -(2**63)


@pytest.fixture(params=[PAST, BEFORE])
def millis(request: pytest.FixtureRequest) -> int:
    return request.param


def test_a_time_of_a_commit(tmp_path: Path, millis: int, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    timed([info(millis)])(root)
    snapshot = deltaic.Table(root).snapshot()
    assert f"committed at {millis} ms since 1970" in repr(snapshot)
    with pytest.raises(deltaic.CorruptLog, match=str(millis)) as caught:
        _ = snapshot.timestamp
    assert caught.value.context == {"version": 3, "field": "timestamp"}
    with pytest.raises(deltaic.CorruptLog, match="version 3"):
        deltaic.Table(root).history()
    for command in ("show", "history"):
        assert main([command, str(root)]) == 1
        assert capsys.readouterr().err.startswith("error: ")
    report = deltaic.Table(root).check()
    assert {finding.code for finding in report.findings} >= {"IMPOSSIBLE_TIME"}


def test_a_time_of_a_file_is_shown(tmp_path: Path, millis: int, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "t"
    log.HandmadeTable(root).create(log.add("a", modificationTime=millis))
    for more in ([], ["--json"]):
        assert main(["files", str(root), *more]) == 0
        assert f"{millis} ms since 1970" in capsys.readouterr().out
