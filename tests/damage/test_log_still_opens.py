"""Damage that leaves a table readable: wrong redundant files, and invalid paths that are not followed."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import deltaic
from tests.protocol import handmade_log as log

from . import broken
from .case import Survivor
from .cases import SURVIVORS
from .cases_of_paths import ESCAPES, OTHER_NAMES
from .error_text import judge_text
from .tree import tree


@pytest.mark.parametrize("path", ESCAPES)
def test_a_log_with_a_foreign_path_opens(tmp_path: Path, path: str) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    broken.path_in_log(path)(root)
    snapshot = deltaic.Table(root).snapshot()
    assert path in snapshot.files().to_arrow()["path"].to_pylist()
    assert snapshot.scan(predicate="day < DATE '2026-11-05'").to_arrow().num_rows == 4
    assert deltaic.Table(root).append(broken.good_rows()).version == 2


def test_a_foreign_path_is_named_without_its_query(tmp_path: Path) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    broken.path_in_log("https://user:topsecret@example.com/a.parquet?sig=topsecret")(root)
    with pytest.raises(deltaic.PathEscape) as caught:
        broken.scanned(root)
    assert "topsecret" not in f"{caught.value!s} {caught.value!r} {caught.value.context}"


def test_a_missing_column_is_filled_where_null_is_allowed(tmp_path: Path) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    deltaic.Table(root).append(broken.good_rows().drop_columns(["id"]))
    rows = deltaic.Table(root).snapshot().scan(predicate="id IS NULL").to_arrow().to_pylist()
    assert [row["name"] for row in rows] == ["z"]


@pytest.mark.parametrize("case", SURVIVORS, ids=[case.name[:60] for case in SURVIVORS])
def test_damage_that_a_table_survives(tmp_path: Path, case: Survivor) -> None:
    """protocol: state-validation-reader-requirements.4."""
    root = tmp_path / "t"
    broken.healthy(root)
    case.damage(root)
    before = tree(root)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        snapshot = deltaic.Table(root).snapshot()
    assert (snapshot.version, snapshot.num_files) == (case.version, case.files)
    if case.warning:
        assert [warning for warning in snapshot.warnings if case.warning in warning], snapshot.warnings
    else:
        assert snapshot.warnings == []
    assert [str(warning.message) for warning in caught] == snapshot.warnings
    for warning in snapshot.warnings:
        judge_text(warning)
    if case.rows is not None:
        assert snapshot.scan().to_arrow().num_rows == case.rows
    if case.holds is not None:
        assert case.holds(snapshot)
    assert tree(root) == before
    assert {path: kept for path, kept in tree_after_an_append(root).items() if path in before} == before


def tree_after_an_append(root: Path) -> dict[str, str]:
    version = deltaic.Table(root).snapshot().version
    assert deltaic.Table(root).append(broken.good_rows()).version == version + 1
    return tree(root)


def test_sizes_of_the_log_are_not_trusted(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = broken.healthy(root)
    for version in range(2):
        actions = log.read_commit(root, version)
        for action in actions:
            if "add" in action:
                action["add"]["size"] = 2**62 if version else 1
        table.commit(*actions, version=version)
    assert deltaic.Table(root).snapshot().scan().to_arrow().num_rows == 4


def test_a_line_as_long_as_the_limit_is_read_and_a_longer_one_is_not(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = log.HandmadeTable(root)
    table.create({"commitInfo": {"text": "x" * 20_000}})
    assert deltaic.Table(root).snapshot().version == 0
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(root, max_line_bytes=10_000).snapshot()
    assert "max_line_bytes" in str(caught.value)
    longest = max(len(line) for line in log.commit_path(root, 0).read_bytes().splitlines())
    assert deltaic.Table(root, max_line_bytes=longest).snapshot().version == 0


def test_errors_of_older_versions_do_not_spoil_newer_ones(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = broken.healthy(root)
    table.commit(log.metadata(broken.SCHEMA_STRING, ["day"], {"a": "b"}))
    actions = [*log.read_commit(root, 0), *log.read_commit(root, 1), *log.read_commit(root, 2)]
    kept = [action for action in actions if "metaData" not in action] + [actions[-1]]
    table.checkpoint(2, kept)
    broken.torn(root)
    assert deltaic.Table(root).snapshot().scan().to_arrow().num_rows == 4
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(root).snapshot(version=1)
    assert json.dumps(caught.value.context["version"]) == "1"


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_rows_of_a_file_with_two_names_are_not_counted(tmp_path: Path, name: str) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    broken.path_in_log(name, stats='{"numRecords":2}')(root)
    snapshot = deltaic.Table(root).snapshot()
    for count in (snapshot.scan().count, lambda: snapshot.num_rows):
        with pytest.raises(deltaic.CorruptLog, match="in the table twice"):
            count()
    assert snapshot.scan(predicate="day = DATE '2026-11-02'").to_arrow().num_rows == 2
