"""Regressions found by reviews: damaged tables that were read, checked or reported wrongly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import deltaic
from tests.protocol.handmade_log import Action, HandmadeTable, add, metadata, protocol, remove

from . import broken
from .cases_of_checkpoints import MARK, v2


def codes(table: HandmadeTable) -> set[str]:
    return {finding.code for finding in deltaic.Table(table.root).check().findings}


def with_compaction(
    root: Path, commits: list[list[Action]], first: int, last: int, *said: Action
) -> HandmadeTable:
    table = HandmadeTable(root)
    for actions in commits:
        table.commit(*actions)
    lines = "".join(json.dumps(action) + "\n" for action in said)
    (table.log / f"{first:020}.{last:020}.compacted.json").write_text(lines)
    return table


START = [protocol(), metadata(), add("a")]
LYING = {
    "a remove too many": (
        [START, [add("b")], [add("c")]],
        (1, 2, add("b"), add("c"), remove("a")),
    ),
    "a tombstone of a file that was added again left out": (
        [START, [add("a"), add("b")], [remove("a")]],
        (1, 2, add("b")),
    ),
    "a tombstone of a file that went, came and went left out": (
        [START, [remove("a")], [add("a"), add("b")], [remove("a")]],
        (1, 3, add("b")),
    ),
}


@pytest.mark.parametrize("what", LYING)
def test_a_compaction_that_loses_rows_or_adds_them_back_is_reported(tmp_path: Path, what: str) -> None:
    """delta#4894 and similar bugs."""
    commits, compaction = LYING[what]
    table = with_compaction(tmp_path / "t", commits, *compaction)
    assert codes(table) == {"COMPACTION_DISAGREES"}


def test_a_compaction_may_leave_out_what_came_and_went_within_it(tmp_path: Path) -> None:
    commits = [START, [add("b")], [remove("b"), add("c")]]
    table = with_compaction(tmp_path / "t", commits, 1, 2, add("c"))
    assert deltaic.Table(table.root).check().is_healthy


def test_a_compaction_may_list_features_in_another_order(tmp_path: Path) -> None:
    features = ["appendOnly", "invariants"]
    one, other = (protocol(1, 7, None, names) for names in (features, features[::-1]))
    commits = [[one, metadata(), add("a")], [add("b")]]
    table = with_compaction(tmp_path / "t", commits, 0, 1, other, metadata(), add("a"), add("b"))
    assert deltaic.Table(table.root).check().is_healthy


@pytest.mark.parametrize("folder", ["_sidecars", "_staged_commits"])
def test_a_folder_of_the_log_that_leads_out_is_found_and_not_raised(tmp_path: Path, folder: str) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(*START)
    outside = tmp_path / "outside"
    outside.mkdir()
    (table.log / folder).symlink_to(outside)
    assert deltaic.Table(table.root).snapshot().num_files == 1
    assert not deltaic.Table(table.root).check().is_healthy


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"aws_secret_access_key": "PlAnTeD\udcff"}, ValueError),
        ({"max_retries": 3}, TypeError),
        ({3: "x"}, TypeError),
        ("abc", TypeError),
        (5, TypeError),
    ],
)
def test_an_option_that_is_not_a_text_is_named_and_not_shown(options: object, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        deltaic.Table("s3://bucket/t", storage_options=options)  # pyright: ignore[reportArgumentType]
    assert "storage_options" in str(caught.value)
    assert (
        "PlAnTeD" not in f"{caught.value!s} {caught.value!r} {caught.value.args} {caught.value.__cause__!r}"
    )


def test_json_goes_through_a_pipe_that_takes_no_other_letters(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "tür")
    table.commit(*START)
    done = subprocess.run(
        [sys.executable, "-m", "deltaic", "check", str(table.root), "--json"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "uri" in json.loads(done.stdout)


def test_a_sidecar_is_named_once(tmp_path: Path) -> None:
    """A few bytes of JSON could cause a file to be read any number of times."""
    root = tmp_path / "t"
    broken.healthy(root)
    again: Action = {"sidecar": {"path": "a.parquet", "sizeInBytes": 1, "modificationTime": 0}}
    v2(MARK, *[again] * 400)(root)
    with pytest.warns(deltaic.DeltaicWarning, match="refers to one sidecar twice"):
        assert deltaic.Table(root).snapshot().num_files == 2
