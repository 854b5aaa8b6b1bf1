"""The examples of docs/guides/stores.md run on simulations of the stores that they name."""

from __future__ import annotations

import pytest

from tests.repository.markdown import blocks

from .emulators import AZURE_ACCOUNT, AZURE_KEY
from .store import Store

DOCUMENT = "docs/guides/stores.md"


def run(index: int, changes: dict[str, str]) -> None:
    """Runs a block of the page, with the store in the environment, and with changed names and keys."""
    text = blocks(DOCUMENT, "python")[index]
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    exec(compile(text, f"{DOCUMENT}, block {index}", "exec"), {})  # noqa: S102 (our own document)


def test_the_page_has_an_example_for_each_store() -> None:
    schemes = [text.split("://")[0].rsplit('"', 1)[-1] for text in blocks(DOCUMENT, "python")]
    assert schemes == ["s3", "abfss", "gs"]


def test_s3(s3: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.options["aws_endpoint"])
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    run(0, {"…": "PlAnTeD"})


def test_azure(azure: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", azure.options["azure_storage_endpoint"])
    monkeypatch.setenv("AZURE_ALLOW_HTTP", "true")
    run(1, {"myaccount": AZURE_ACCOUNT, "bXkga2V5": AZURE_KEY})


def test_google(google: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in google.options.items():
        monkeypatch.setenv(f"GOOGLE_{name.removeprefix('google_')}".upper(), value)
    monkeypatch.delenv("GOOGLE_MAX_RETRIES")
    run(2, {})
