"""Every reference table is the same table on S3 and on Azure as it is on a disk."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import deltaic
from tests.golden.opening import NAMES, needs_golden, state
from tests.golden.reference import reference

from .store import Store

pytestmark = needs_golden


def objects() -> Iterator[tuple[str, bytes]]:
    """All files of all logs, by their keys; what is hidden is of Hadoop's local file system."""
    for name in NAMES:
        log = reference(name).folder / "_delta_log"
        for file in sorted(log.rglob("*")):
            if file.is_file() and not file.name.startswith("."):
                yield f"golden/{name}/_delta_log/{file.relative_to(log).as_posix()}", file.read_bytes()


@pytest.fixture(scope="module")
def s3_golden(s3: Store) -> Store:
    """S3 with the tables' logs."""
    s3.put_all(objects())
    return s3


@pytest.fixture(scope="module")
def azure_golden(azure: Store) -> Store:
    """Azure with the tables' logs."""
    azure.put_all(objects())
    return azure


def answer(uri: str, options: dict[str, str] | None = None) -> Any:
    """What a table says, and what is warned of; or the class of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        try:
            snapshot = deltaic.Table(uri, storage_options=options).snapshot()
        except deltaic.DeltaicError as error:
            return type(error)
    return {**state(snapshot), "warnings": len(snapshot.warnings)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("service", ["s3", "azure"])
def test_a_reference_table_is_the_same_as_on_a_disk(
    service: str, name: str, request: pytest.FixtureRequest
) -> None:
    store: Store = request.getfixturevalue(f"{service}_golden")
    here = answer(str(reference(name).folder))
    there = answer(f"{store.scheme}://tables/golden/{name}", store.options)
    assert there == here
