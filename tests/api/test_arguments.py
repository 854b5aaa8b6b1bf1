"""Arguments that make no sense, and bounds too large for the machine: each is said by name, or works."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import commit_file

TOO_LARGE = [sys.maxsize, 2**63, 2**64, 2**70, 10**23]
ROW = pa.table({"id": [6], "name": ["six"]})

BOUNDS: dict[str, tuple[int, Callable[[deltaic.Table, Any], object]]] = {
    "history.limit": (0, lambda table, value: table.history(limit=value)),
    "append.max_attempts": (1, lambda table, value: table.append(ROW, max_attempts=value)),
    "scan.limit": (0, lambda table, value: table.snapshot().scan(limit=value).to_arrow()),
    "scan.batch_size": (1, lambda table, value: table.snapshot().scan(batch_size=value).to_arrow()),
    "Table.max_line_bytes": (
        1,
        lambda table, value: deltaic.Table(table.uri, max_line_bytes=value).snapshot(),
    ),
}
"""The least of each bound, and a call that uses it."""


@pytest.mark.parametrize("value", TOO_LARGE)
def test_a_bound_that_is_too_large_is_none(numbers: deltaic.Table, value: int) -> None:
    assert len(numbers.history(limit=value)) == 3
    assert numbers.append(ROW, max_attempts=value).version == 3
    snapshot = deltaic.Table(numbers.uri, max_line_bytes=value).snapshot()
    assert snapshot.scan(limit=value).to_arrow().num_rows == 7
    assert snapshot.scan(limit=value).count() == 7
    assert snapshot.scan(batch_size=value).to_arrow().num_rows == 7


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_below_its_least_is_named(numbers: deltaic.Table, bound: str) -> None:
    least, call = BOUNDS[bound]
    name = bound.partition(".")[2]
    for value in (least - 1, -(2**70)):
        with pytest.raises(ValueError, match=re.escape(f"{name} is at least {least}, not {value}")):
            call(numbers, value)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("value", ["1", True, 1.0], ids=repr)
def test_a_bound_that_is_no_number_is_named(numbers: deltaic.Table, bound: str, value: object) -> None:
    name = bound.partition(".")[2]
    with pytest.raises(TypeError, match=f"{name} is a whole number, not {type(value).__name__}"):
        BOUNDS[bound][1](numbers, value)


@pytest.mark.parametrize("value", ["1", True, 1.0, b"1"], ids=repr)
def test_a_version_is_a_whole_number(numbers: deltaic.Table, value: Any) -> None:
    with pytest.raises(TypeError, match=f"version is a whole number, not {type(value).__name__}"):
        numbers.snapshot(version=value)


def test_a_version_may_be_a_number_of_another_library(numbers: deltaic.Table) -> None:
    numpy = pytest.importorskip("numpy")
    assert numbers.snapshot(version=numpy.int64(1)).version == 1


def test_progress_is_a_function(numbers: deltaic.Table, root: Path) -> None:
    """Told before anything is read: the log is damaged, and the argument is what is wrong."""
    commit_file(root, 0).unlink()
    with pytest.raises(TypeError, match="progress is a function of three arguments, not int"):
        numbers.check(progress=5)  # type: ignore[arg-type]


PLACES: dict[str, Callable[[Any], object]] = {
    "uri of Table": deltaic.Table,
    "uri of create": lambda place: deltaic.Table.create(place, ROW.schema),
    "uri of exists": deltaic.Table.exists,
    "uri of probe_store": deltaic.probe_store,
    "allowed_roots of Table": lambda place: deltaic.Table("memory://t", allowed_roots=[place]),
}


@pytest.mark.parametrize("call", PLACES)
def test_a_path_that_is_not_text_is_said_to_be_none(call: str, tmp_path: Path) -> None:
    name = call.partition(" ")[0]
    folder = tmp_path / os.fsdecode(b"SECRET\xff")
    for path in (folder, str(folder)):
        with pytest.raises(
            ValueError, match=f"{name} is not text: its character {len(str(folder)) - 1} "
        ) as e:
            PLACES[call](path)
        assert type(e.value) is ValueError
        assert "SECRET" not in str(e.value)
    for wrong in (b"bytes", 5, None):
        with pytest.raises(TypeError, match=f"{name} is a path or a URI .* not {type(wrong).__name__}"):
            PLACES[call](wrong)
