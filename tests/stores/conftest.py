"""The stores: each is started once, when a test first needs it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from . import emulators, store
from .strict_store import StrictStore, strict_store

SERVICES = ("s3", "azure", "google")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Removes the store settings of the machine from the environment."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)


def _emulator(command: list[str] | str, name: str, factory: pytest.TempPathFactory) -> Iterator[store.Store]:
    if isinstance(command, str):
        pytest.skip(command)
    make = {"s3": store.s3, "azure": store.azure}[name]
    with emulators.running(command, factory.mktemp(name) / "log") as port:
        made = make(port)
        made.make_bucket()
        yield made


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[store.Store]:
    """S3."""
    yield from _emulator(emulators.moto(), "s3", tmp_path_factory)


@pytest.fixture(scope="session")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[store.Store]:
    """Azure."""
    yield from _emulator(emulators.azurite(), "azure", tmp_path_factory)


@pytest.fixture(scope="session")
def google() -> Iterator[store.Store]:
    """Google's store. No available emulator supports its preconditions, so the strict store is used."""
    with strict_store() as strict:
        yield store.google(strict.port)


@pytest.fixture(params=SERVICES)
def each(request: pytest.FixtureRequest) -> store.Store:
    """Each of the stores."""
    found: store.Store = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def strict() -> Iterator[StrictStore]:
    """A strict store for a single test, to be scripted."""
    with strict_store() as made:
        yield made
