"""Heading *Writer Requirements for In-Commit Timestamps*: times of commits, and since when."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import SetDescription, SetProperties
from tests.api.log_files import actions, commit_file, of_kind, set_commit_time, write_commit

ENABLED = {"delta.enableInCommitTimestamps": "true"}
SINCE_VERSION = "delta.inCommitTimestampEnablementVersion"
SINCE_TIME = "delta.inCommitTimestampEnablementTimestamp"
HOUR = 3_600_000


def rows(*numbers: int) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64())})


def time_of(root: Path, version: int) -> int:
    """Returns the in-commit timestamp of a commit, which must be in its first action."""
    first, *rest = actions(root, version)
    assert list(first) == ["commitInfo"]
    assert not [action for action in rest if "commitInfo" in action]
    found = first["commitInfo"]["inCommitTimestamp"]
    assert type(found) is int
    return found


def configuration(root: Path, version: int) -> dict[str, str]:
    [metadata] = of_kind(root, version, "metaData")
    return metadata["configuration"]


def now() -> int:
    return time.time_ns() // 1_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "t"


def test_every_commit_begins_with_its_time(root: Path) -> None:
    """Whatever the verb, and later than the commit before.

    protocol: writer-requirements-for-in-commit-timestamps.1, writer-requirements-for-in-commit-timestamps.2,
    writer-requirements-for-in-commit-timestamps.3, commit-provenance-information.1,
    commit-provenance-information.2
    """
    begin = now()
    table = deltaic.Table.create(root, rows().schema, properties=ENABLED)
    table.append(rows(1, 2, 3))
    table.update({"id": "id + 10"}, "id = 1")
    table.delete("id = 2")
    table.alter(SetDescription("numbers"))
    table.overwrite(rows(4))
    times = [time_of(root, version) for version in range(6)]
    assert all(earlier < later for earlier, later in pairwise(times))
    assert begin <= times[0]
    assert times[-1] <= now() + len(times)
    assert not {SINCE_VERSION, SINCE_TIME} & configuration(root, 0).keys(), "enabled from the start"


def test_a_time_is_later_than_that_of_the_commit_before(root: Path) -> None:
    """Even if the clock of its writer was ahead.

    protocol: writer-requirements-for-in-commit-timestamps.3
    """
    table = deltaic.Table.create(root, rows().schema, properties=ENABLED)
    ahead = now() + HOUR
    write_commit(root, 1, {"commitInfo": {"operation": "OTHER", "inCommitTimestamp": ahead}})
    table.append(rows(1))
    assert time_of(root, 2) == ahead + 1


def test_the_table_records_since_when_its_commits_have_times(root: Path) -> None:
    """In properties, which later commits keep.

    protocol: writer-requirements-for-in-commit-timestamps.4, writer-requirements-for-in-commit-timestamps.5,
    writer-requirements-for-in-commit-timestamps.6
    """
    table = deltaic.Table.create(root, rows().schema)
    table.append(rows(1))
    assert "inCommitTimestamp" not in actions(root, 1)[0]["commitInfo"]
    table.alter(SetProperties(ENABLED))
    recorded = configuration(root, 2)
    assert recorded[SINCE_VERSION] == "2"
    assert recorded[SINCE_TIME] == str(time_of(root, 2))
    table.alter(SetDescription("numbers"))
    later = configuration(root, 3)
    assert (later[SINCE_VERSION], later[SINCE_TIME]) == (recorded[SINCE_VERSION], recorded[SINCE_TIME])
    # Times of older commits are those of their files.
    set_commit_time(root, 0, 1_600_000_000_000)
    assert [commit.timestamp.timestamp() for commit in table.history() if commit.version == 0] == [1.6e9]


def test_the_record_names_the_version_that_the_commit_became(root: Path) -> None:
    """If another commit won.

    protocol: writer-requirements-for-in-commit-timestamps.5, writer-requirements-for-in-commit-timestamps.6
    """
    table = deltaic.Table.create(root, rows().schema)
    with deltaic.Table(root).transaction() as tx:
        tx.alter(SetProperties(ENABLED))
        table.append(rows(1))
    assert of_kind(root, 1, "add"), "the append won"
    recorded = configuration(root, 2)
    assert (recorded[SINCE_VERSION], recorded[SINCE_TIME]) == ("2", str(time_of(root, 2)))


def test_the_first_time_is_later_than_the_file_of_the_commit_before(root: Path) -> None:
    """protocol: writer-requirements-for-in-commit-timestamps.7."""
    deltaic.Table.create(root, rows().schema)
    ahead = now() + HOUR
    set_commit_time(root, 0, ahead)
    deltaic.Table(root).alter(SetProperties(ENABLED))
    assert time_of(root, 1) > ahead == commit_file(root, 0).stat().st_mtime_ns // 1_000_000
    assert configuration(root, 1)[SINCE_TIME] == str(time_of(root, 1))
