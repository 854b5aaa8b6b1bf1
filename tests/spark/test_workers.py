"""Spark's Python workers: the driver's Python runs in local mode, and a missing package is explained."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="missing: PySpark")

import deltaic
import deltaic.spark as ds
from deltaic.spark import pickled_version
from deltaic.spark.source.data_source import DeltaicSource
from deltaic.spark.source.registration import active
from deltaic.spark.workers import use_python_of_driver

from .python_source import in_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("master", "named", "own"),
    [("local[*]", None, True), ("local[2]", "python3", False), ("yarn", None, False)],
)
def test_the_python_of_the_driver_runs(
    monkeypatch: pytest.MonkeyPatch, master: str, named: str | None, *, own: bool
) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    if named is not None:
        monkeypatch.setenv("PYSPARK_PYTHON", named)
    context = SimpleNamespace(master=master, pythonExec="python3")
    use_python_of_driver(context)
    assert context.pythonExec == (sys.executable if own else "python3")


def test_workers_without_the_package(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if spark.version.startswith("4.0"):
        pytest.skip("Spark 4.0 plans with the Python that it started with")
    deltaic.Table.create(tmp_path / "t", pa.schema({"id": pa.int64()}))
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "deltaic.py").write_text("raise ModuleNotFoundError(\"No module named 'deltaic'\")")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={hidden}:$PYTHONPATH exec {sys.executable} "$@"\n')
    python.chmod(0o700)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(python))
    session = spark.newSession()
    ds.register(session)
    # The source "deltaic" of an enabled session started with another Python.
    with active(session), pytest.raises(ImportError, match="PYSPARK_PYTHON"):
        session.read.format(in_python(session)).load(str(tmp_path / "t"))


def test_another_version_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(DeltaicSource({"path": "data/events"}))
    assert pickle.loads(pickled).options == {"path": "data/events"}
    monkeypatch.setattr(pickled_version, "__version__", "0.0.1")
    with pytest.raises(ImportError, match=r"0\.0\.1 .* the session has deltaic"):
        pickle.loads(pickled)
