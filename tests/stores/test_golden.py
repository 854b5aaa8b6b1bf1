"""Every reference table has the same state on S3 as on a disk, and every fourth one on Azure, too."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deltaic
from tests.golden.opening import NAMES, needs_golden, state
from tests.golden.reference import reference

from .store import Store

pytestmark = needs_golden

TIME = 1_700_000_000


ON = {"s3": NAMES, "azure": NAMES[::4]}
"""The tables by store: what depends on the table alone is shown by the first store."""


def objects(names: list[str], *, are_compactions: bool) -> Iterator[tuple[str, bytes]]:
    """Yields the compaction files of logs, or the other files, by key, without hidden files."""
    for name in names:
        log = reference(name).folder / "_delta_log"
        for file in sorted(log.rglob("*")):
            is_meant = file.name.endswith(".compacted.json") == are_compactions
            if is_meant and file.is_file() and not file.name.startswith("."):
                yield f"golden/{name}/_delta_log/{file.relative_to(log).as_posix()}", file.read_bytes()


def filled(store: Store) -> Store:
    """Uploads the tables' logs. A compaction file is used only if it is not older than its commits."""
    for are_compactions in [False, True]:
        store.put_all(objects(ON[store.name], are_compactions=are_compactions))
    return store


@pytest.fixture(scope="module")
def s3_golden(s3: Store) -> Store:
    """S3 with the tables' logs."""
    return filled(s3)


@pytest.fixture(scope="module")
def azure_golden(azure: Store) -> Store:
    """Azure with the tables' logs."""
    return filled(azure)


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables' logs, all files with the same time: times of the copies have no meaning."""
    root = tmp_path_factory.mktemp("disk")
    for are_compactions in [False, True]:
        for key, content in objects(NAMES, are_compactions=are_compactions):
            file = root / key
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            os.utime(file, (TIME, TIME))
    return root


def answer(uri: str, options: dict[str, str] | None = None) -> Any:
    """Returns state and number of warnings of a table; or the class of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        try:
            snapshot = deltaic.Table(uri, storage_options=options).snapshot()
        except deltaic.DeltaicError as error:
            return type(error)
    return {**state(snapshot), "warnings": len(snapshot.warnings)}


@pytest.mark.parametrize(("service", "name"), [(service, name) for service in ON for name in ON[service]])
def test_a_reference_table_is_the_same_as_on_a_disk(
    service: str, name: str, on_disk: Path, request: pytest.FixtureRequest
) -> None:
    store: Store = request.getfixturevalue(f"{service}_golden")
    here = answer(str(on_disk / "golden" / name))
    there = answer(f"{store.scheme}://tables/golden/{name}", store.options)
    assert there == here
