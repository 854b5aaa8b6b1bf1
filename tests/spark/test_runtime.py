"""Classes of deltaic in Spark's driver: compiled once for a user, and never taken from another user."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

pytest.importorskip("pyspark", reason="missing: PySpark")

from deltaic.spark.runtime import compiled_jar as jars
from deltaic.spark.runtime.java_text import JavaText, java_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = JavaText(
    "deltaic.trial", "package deltaic.trial; public final class One { public int one() { return 1; } }"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "deltaic" / "spark-runtime"


def jar_of(spark: SparkSession) -> bytes:
    return jars.compiled_jar(cast("Any", spark)._jvm, spark.version, TEXT)


def names(jar: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(jar)) as archive:
        return archive.namelist()


def test_the_text_is_one_compilation_unit() -> None:
    made = java_text()
    assert made == java_text()
    assert made.text.startswith(f"package {made.package};\nimport ")
    assert made.text.count("package ") == 1
    assert "@PACKAGE@" not in made.text


def test_a_jar_is_compiled_once(spark: SparkSession, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = jar_of(spark)
    assert names(first) == ["deltaic/trial/One.class"]
    [kept] = cache.iterdir()
    assert (kept.read_bytes(), cache.stat().st_mode & 0o777) == (first, 0o700)
    monkeypatch.setattr(jars, "_compile", lambda *_: pytest.fail("it is in the cache"))
    assert jar_of(spark) == first


def test_changed_bytes_are_compiled_again(spark: SparkSession, cache: Path) -> None:
    first = jar_of(spark)
    [kept] = cache.iterdir()
    kept.write_bytes(first + b"more")
    assert names(jar_of(spark)) == names(first)
    [kept] = cache.iterdir()
    assert kept.read_bytes() != first + b"more"


@pytest.mark.parametrize("how", ["open to others", "a link", "a file"])
def test_a_folder_that_others_can_write_is_not_used(spark: SparkSession, cache: Path, how: str) -> None:
    cache.parent.mkdir(parents=True)
    if how == "open to others":
        cache.mkdir()
        cache.chmod(0o777)
    elif how == "a link":
        elsewhere = cache.with_name("elsewhere")
        elsewhere.mkdir(mode=0o700)
        cache.symlink_to(elsewhere)
    else:
        cache.write_text("")
    assert names(jar_of(spark)) == ["deltaic/trial/One.class"]
    assert cache.is_file() or not list(cache.iterdir())


def test_versions_have_jars_of_their_own(spark: SparkSession, cache: Path) -> None:
    jvm = cast("Any", spark)._jvm
    jars.compiled_jar(jvm, "4.3.0", TEXT)
    jars.compiled_jar(jvm, "4.3.1-vendor/../x", TEXT)
    assert len(list(cache.iterdir())) == 2
