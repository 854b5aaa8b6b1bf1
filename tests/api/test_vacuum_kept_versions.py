"""`Table.vacuum(keep_versions=…)`: versions that can be read afterwards."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import deltaic
from tests.api.aged_files import age, files_of
from tests.api.vacuum_tables import ids, made, many, orphan, rows

NOW = timedelta(0)


def is_readable(table: deltaic.Table, version: int) -> bool:
    try:
        rows(table, version)
    except deltaic.CorruptData:
        return False
    return True


@pytest.mark.parametrize("mode", ["full", "lite"])
def test_kept_versions_can_be_read(root: Path, mode: str) -> None:
    table = made(root)
    for number in range(1, 6):
        table.overwrite(ids(number))
    orphan(root)
    age(root)
    assert len(table.vacuum(mode=mode, keep_versions=[2, 4], dry_run=True).paths) == 2 + (mode == "full")
    table.vacuum(mode=mode, keep_versions=[2, 4])
    assert [version for version in range(6) if is_readable(table, version)] == [0, 2, 4, 5]
    # They expire when they are not kept any more, also for a vacuum by the log.
    assert table.vacuum(mode=mode).deleted_files == 2
    assert rows(table) == [5]


def test_vectors_of_kept_versions_remain(root: Path) -> None:
    table = made(root, many(), enableDeletionVectors="true")
    table.delete("id % 2 = 0")
    table.delete("id % 3 = 0")
    table.overwrite(ids(1))
    age(root)
    table.vacuum(keep_versions=[2])
    assert rows(table, 2) == list(range(1, 1000, 2))
    assert not is_readable(table, 3)


def test_a_version_that_does_not_exist_is_an_error(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    age(root)
    before = files_of(root)
    with pytest.raises(deltaic.VersionNotFound):
        table.vacuum(keep_versions=[1, 7])
    with pytest.raises(ValueError, match="keep_versions must be at least 0"):
        table.vacuum(keep_versions=[-1])
    with pytest.raises(TypeError, match=r"write keep_versions=\["):
        table.vacuum(keep_versions=1)  # type: ignore[arg-type]
    assert files_of(root) == before


def test_the_error_of_a_short_retention_names_the_versions(root: Path) -> None:
    table = made(root)
    table.overwrite(ids(1))
    age(root)
    with pytest.raises(ValueError, match="before their commit") as raised:
        table.vacuum(NOW)
    assert "could no longer be read" not in str(raised.value)
    for number in range(2, 5):
        table.overwrite(ids(number))
        age(root, timedelta(days=1))
    with pytest.raises(ValueError, match="; versions 1 to 3 could no longer be read"):
        table.vacuum(NOW)
    with pytest.raises(ValueError, match="; version 1 could no longer be read"):
        table.vacuum(timedelta(days=2, hours=12))
    table.vacuum(NOW, force=True)
    assert [is_readable(table, version) for version in (1, 2, 3, 4)] == [False, False, False, True]
