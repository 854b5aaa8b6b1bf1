"""`Table.check` finds and names each kind of damage, and changes nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import deltaic
from tests.protocol import handmade_log as log
from tests.repository.markdown import TOP

from . import broken
from .check_cases import CASES, Case
from .check_damage import (
    checkpoint,
    checksum,
    compaction,
    handmade,
    json_checkpoint,
    state,
    v2_checkpoint,
    with_statistics,
)
from .error_text import judge_text
from .tree import tree

PAGE = (TOP / "docs/reference/check.md").read_text()
CODES = dict(re.findall(r"^\| `([A-Z_]+)` \| (\w+) \|", PAGE, re.MULTILINE))
# A store that denies access to one file is simulated in Rust; the others are tested below and with their
# cause.
ELSEWHERE = {"UNREADABLE_FILE", "CANNOT_BE_OPENED", "NOT_ALL_COMPARED"}


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_each_damage_is_found_and_nothing_else(tmp_path: Path, case: Case) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    case.damage(root)
    before = tree(root)
    report = deltaic.Table(root).check(deep=case.deep)
    assert tree(root) == before
    assert {finding.code for finding in report.findings} == set(case.codes), str(report)
    about = [finding for finding in report.findings if finding.code == case.codes[0]]
    assert case.place in about[0].place, about[0].place
    for finding in report.findings:
        judge_text(str(finding))
        assert finding.meaning in PAGE
        assert finding.remedy in PAGE
    assert json.loads(report.to_json())["counts"] == dict(report.counts)


def test_every_code_is_provoked() -> None:
    assert set(CODES) - {case.codes[0] for case in CASES} == ELSEWHERE


@pytest.mark.parametrize("more", [None, checkpoint(), v2_checkpoint, checksum(), compaction()])
def test_a_healthy_table_has_no_findings(tmp_path: Path, more: broken.Damage | None) -> None:
    broken.healthy(tmp_path / "t")
    if more is not None:
        more(tmp_path / "t")
    report = deltaic.Table(tmp_path / "t").check(deep=True)
    assert report.findings == ()
    assert report.is_healthy
    assert report.severity is None
    assert (report.versions, report.commits, report.live_files, report.data_files) == ((0, 1), 2, 2, 2)


@pytest.mark.parametrize("written", [checkpoint, json_checkpoint, lambda change: compaction(change=change)])
@pytest.mark.parametrize("stats", [None, "{}", '{"tightBounds": false, "minValues": {}, "numRecords": 2e0}'])
def test_statistics_are_compared_by_what_they_state(tmp_path: Path, written: Any, stats: str | None) -> None:
    """A copy may omit statistics or write them in another form."""
    root = tmp_path / "t"
    broken.healthy(root)
    written(with_statistics(stats))(root)
    assert deltaic.Table(root).check().findings == ()


def test_statistics_that_only_a_struct_has_contradict_nothing(tmp_path: Path) -> None:
    """If the first checkpoint has no `stats`, a later one that has may be correct."""
    root = tmp_path / "t"
    broken.healthy(root)
    checkpoint(with_statistics(None))(root)
    held = state(root)
    for version in range(2):
        log.commit_path(root, version).unlink()
    table = handmade(root)
    table.commit({"commitInfo": {}})
    table.checkpoint(2, held)
    assert deltaic.Table(root).check().findings == ()


@pytest.mark.parametrize("field", ["tableSizeBytes", "numFiles", "metadata", "protocol"])
def test_a_checksum_is_compared_in_every_field_it_must_have(tmp_path: Path, field: str) -> None:
    """The finding marks the state as doubtful and names the field.

    protocol: state-validation.1, state-validation-reader-requirements.2,
    state-validation-reader-requirements.3
    """
    root = tmp_path / "t"
    broken.healthy(root)
    others = {
        "metadata": log.metadata(configuration={"another": "one"})["metaData"],
        "protocol": log.protocol(1, 7, None, ["appendOnly"])["protocol"],
    }
    checksum(**{field: others.get(field, 12345)})(root)
    [finding, *_] = deltaic.Table(root).check().findings
    assert finding.code == "CHECKSUM_DISAGREES"
    assert finding.field == field
    assert finding.version == 1


def test_more_compactions_than_can_be_compared_are_reported(tmp_path: Path) -> None:
    table = log.HandmadeTable(tmp_path / "t")
    table.create()
    for number in range(15):
        table.commit(log.txn("a", number))
    for first in range(1, 15):
        for last in range(first + 1, 16):
            name = f"{first:020}.{last:020}.compacted.json"
            (table.log / name).write_text(json.dumps(log.txn("a", last - 1)))
    report = deltaic.Table(table.root).check()
    assert set(report.counts) == {"NOT_ALL_COMPARED"}
    assert report.is_healthy


def test_all_that_is_wrong_is_found_at_once(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = broken.healthy(root)
    broken.line("{")(root)
    broken.line("[]")(root)
    table.commit({"commitInfo": {}}, log.add("c", values={"day": "x"}))
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    (root / "_delta_log" / "2.json").write_text("")
    report = deltaic.Table(root).check()
    places = [(finding.code, finding.version, finding.line) for finding in report.findings]
    assert places == [
        ("DAMAGED_COMMIT", 1, 2),
        ("DAMAGED_COMMIT", 1, 3),
        ("BAD_PARTITION_VALUE", 2, 2),
        ("CANNOT_BE_OPENED", 1, 2),
        ("NEARLY_RIGHT_NAME", None, None),
        ("BROKEN_HINT", None, None),
    ]


def test_consequences_of_damage_are_not_reported(tmp_path: Path) -> None:
    """After a damaged commit, a checkpoint restores a known state."""
    root = tmp_path / "t"
    broken.healthy(root)
    checkpoint()(root)
    checksum()(root)
    broken.torn(root)
    report = deltaic.Table(root).check()
    assert [finding.code for finding in report.findings] == ["DAMAGED_COMMIT"]
    assert report.live_files == 2


def test_a_log_that_was_cleaned_up_is_healthy(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = broken.healthy(root)
    checkpoint()(root)
    table.commit({"commitInfo": {}})
    for version in range(2):
        log.commit_path(root, version).unlink()
    report = deltaic.Table(root).check(deep=True)
    assert report.findings == ()
    assert (report.versions, report.commits, report.live_files) == ((1, 2), 1, 2)


def test_actions_of_a_checkpoint_are_checked_too(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = broken.healthy(root)
    odd = log.add("c", values={"day": "x"}, stats='{"numRecords":-1}')
    checkpoint(lambda held: [*held, odd, log.remove("d", timestamp=-1)])(root)
    table.commit({"commitInfo": {}})
    for version in range(2):
        log.commit_path(root, version).unlink()
    report = deltaic.Table(root).check()
    codes = {finding.code for finding in report.findings}
    assert codes == {"BAD_PARTITION_VALUE", "IMPOSSIBLE_STATISTICS", "ODD_TOMBSTONE_TIME"}


def test_many_of_a_kind_are_twenty_and_a_count(tmp_path: Path) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    broken.more(*(log.add(f"f{number}") for number in range(50)))(root)
    report = deltaic.Table(root).check()
    assert report.counts == {"MISSING_PARTITION_VALUE": 50}
    assert len(report.findings) == 20
    assert "MISSING_PARTITION_VALUE (50 times)" in str(report)
    assert "and 30 more" in str(report)


@pytest.mark.parametrize("what", ["nothing", "a folder", "a plain file"])
def test_a_place_without_a_table_raises(tmp_path: Path, what: str) -> None:
    root = tmp_path / "t"
    if what == "a folder":
        root.mkdir()
    elif what == "a plain file":
        root.write_text("")
    with pytest.raises(deltaic.TableNotFound):
        deltaic.Table(root).check()


def test_no_secret_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    broken.path_in_log("https://user:topsecret@example.com/a.parquet?sig=topsecret")(root)
    report = deltaic.Table(root).check(deep=True)
    assert [finding.code for finding in report.findings] == ["FILE_OUTSIDE_OF_TABLE"]
    assert "topsecret" not in f"{report} {report!r} {report.to_json()}"
