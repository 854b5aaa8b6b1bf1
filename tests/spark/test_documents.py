"""The examples of the Spark documentation run in an empty folder, in the order of their page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.repository.markdown import run_page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


DOCUMENTS = (
    "README.md",
    "docs/guides/coming-from-delta-spark.md",
    "docs/guides/spark.md",
    "docs/guides/streaming.md",
)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_examples_run_in_an_empty_folder(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.chdir(tmp_path)
    # A session of its own: a page enables it.
    assert run_page(document, tmp_path, spark=spark.newSession()) > 0
