"""Statistics of reference tables: row counts, and bounds that are the same from a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deltaic
from tests.protocol.snapshot_state import vector_of

from .checkpoints import bases, has_all_commits, without_checkpoints
from .opening import OPENED, copy_of_the_log, needs_golden, opened
from .reference import reference

COUNTED = [name for name in OPENED if reference(name).latest.num_rows is not None]


@needs_golden
@pytest.mark.parametrize("name", COUNTED)
def test_the_number_of_rows_is_right_or_not_known(name: str) -> None:
    """Rows that a deletion vector deletes are not counted."""
    known = reference(name)
    assert opened(known.folder).num_rows in (known.latest.num_rows, None)


@needs_golden
@pytest.mark.parametrize("name", [name for name in OPENED if bases(name) and has_all_commits(name)])
def test_statistics_are_the_same_from_a_checkpoint(name: str, tmp_path: Path) -> None:
    """As structs or as JSON; a checkpoint may leave them out, but must not differ from the commits."""
    by_checkpoint = copy_of_the_log(name, tmp_path / "a")
    by_commits = copy_of_the_log(name, tmp_path / "b")
    without_checkpoints(by_commits / "_delta_log")
    found, expected = statistics(opened(by_checkpoint)), statistics(opened(by_commits))
    assert found.keys() == expected.keys()
    for file, leaves in found.items():
        for leaf, value in leaves.items():
            if value is not None:
                assert repr(value) == repr(expected[file][leaf]), f"{leaf} of {file}"


def statistics(snapshot: deltaic.Snapshot) -> dict[tuple[str, str], dict[str, Any]]:
    """Returns the statistics per file (path and deletion vector), one value per leaf column."""
    kinds = ("num_records", "tight_bounds", "min", "max", "null_count")
    return {
        (row["path"], vector_of(row)): dict(
            leaf for kind in kinds if kind in row for leaf in leaves(kind, row[kind])
        )
        for row in snapshot.files(stats=True).to_arrow().to_pylist()
    }


def leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for child, inner in value.items():
            yield from leaves(f"{name}.{child}", inner)
    else:
        yield name, value
