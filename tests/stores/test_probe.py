"""Whether a store is safe for commits is tested in a temporary folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import deltaic
from deltaic.cli import main

from .store import Store, strict_s3
from .strict_store import Fault, StrictStore


def test_every_store_here_is_safe(each: Store) -> None:
    """protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2."""
    uri = each.fresh()
    assert deltaic.probe_store(uri, each.options) is None
    assert not deltaic.Table.exists(uri, each.options)


def test_a_disk_is_safe_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("x")
    deltaic.probe_store(tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["kept"]


def test_an_empty_folder_stays_and_none_is_left(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for place in (empty, tmp_path / "new"):
        deltaic.probe_store(place)
    assert [path.name for path in tmp_path.rglob("*")] == ["empty"]


def test_probe_files_are_removed(strict: StrictStore) -> None:
    strict.objects["t/kept"] = b"x"
    deltaic.probe_store("s3://tables/t", strict_s3(strict.port).options)
    assert strict.objects == {"t/kept": b"x"}
    assert strict.asked("PUT", "_probe-.*json") == 2 + 5 * 8


@pytest.mark.parametrize("vouched", [{}, {"aws_conditional_put": "etag"}])
def test_a_store_that_overwrites_is_not_safe(strict: StrictStore, vouched: dict[str, str]) -> None:
    strict.ignores_conditions = True
    with pytest.raises(deltaic.StorageError, match=r"overwrites|not safe") as caught:
        deltaic.probe_store("s3://tables/t", strict_s3(strict.port, **vouched).options)
    assert caught.value.hint
    assert strict.objects == {}


def test_a_store_that_forbids_writing_is_reported(strict: StrictStore) -> None:
    strict.faults = [Fault("PUT", "", 403, times=float("inf"))]
    with pytest.raises(deltaic.StorageError, match="permission denied"):
        deltaic.probe_store("s3://tables/t", strict_s3(strict.port).options)


def test_the_command_line_states_which_promise_is_broken(
    strict: StrictStore, capsys: pytest.CaptureFixture[str]
) -> None:
    strict.ignores_conditions = True
    options = strict_s3(strict.port, aws_conditional_put="etag").options
    given = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    assert main(["probe", "s3://tables/t", *given]) == 1
    told = capsys.readouterr()
    assert [line.rsplit("  ")[-1] for line in told.out.splitlines()[1:]] == ["broken"] + ["not learnt"] * 3
    assert "not safe" in told.err
    assert main(["probe", "s3://tables/t", "--json", *given]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["safe"], said["promises"]["once"]) == (False, "broken")
    assert "not safe" in said["error"]
    strict.ignores_conditions = False
    assert main(["probe", "s3://tables/t", "--json", *given]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["safe"], set(said["promises"].values()), said["error"]) == (True, {"kept"}, None)


WITHOUT_ROOM = """
import resource, sys, deltaic
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    deltaic.probe_store(sys.argv[1])
except deltaic.StorageError:
    print("told")
"""


@pytest.mark.parametrize("below", ["", "new/place"])
def test_a_disk_without_room_retains_nothing(tmp_path: Path, below: str) -> None:
    """On a full disk folders can be created but no bytes written, and a listing does not show folders."""
    place = str(tmp_path / below)
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_ROOM, place], capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("told\n", "")
    assert list(tmp_path.iterdir()) == []
