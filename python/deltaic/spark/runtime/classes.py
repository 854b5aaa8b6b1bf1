"""deltaic's classes in Spark's driver: loaded once in each JVM, after a self-test."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from deltaic.spark.runtime.compiled_jar import compiled_jar
from deltaic.spark.runtime.java_text import java_text
from deltaic.values.optional import require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["JavaClasses", "RuntimeUnavailable", "java_classes", "list_file", "loaded_classes"]

_LOADERS = ("MutableURLClassLoader", "ChildFirstURLClassLoader")


class RuntimeUnavailable(Exception):
    """Why this Spark does not run deltaic's classes."""


@dataclass(frozen=True)
class JavaClasses:
    """Classes in a driver."""

    package: Any
    """Their package, as an attribute of py4j's view of the JVM."""
    jar: str
    """The path of their jar."""


@dataclass
class _Outcome:
    jvm: Any
    purpose: str
    classes: JavaClasses | None = None
    why_not: str = ""


_lock = Lock()
_outcomes: list[_Outcome] = []


def java_classes(spark: SparkSession) -> Any:
    """Returns the package of the classes that read, as an attribute of py4j's view of the JVM.

    Raises:
        RuntimeUnavailable: This Spark cannot compile, load or run them.
    """
    return loaded_classes(spark, "", _try).package


def loaded_classes(spark: SparkSession, purpose: str, test: Callable[[Any], None]) -> JavaClasses:
    """Returns the classes of a purpose (see `java_text`).

    Args:
        spark: A classic session.
        purpose: The folder of the Java text.
        test: Raises if the classes of this package do not work. It is called once in each JVM.

    Raises:
        RuntimeUnavailable: This Spark cannot compile, load or run them.
    """
    jvm: Any = cast("Any", spark)._jvm  # noqa: SLF001 - no public way
    with _lock:
        known = (each for each in _outcomes if each.jvm is jvm and each.purpose == purpose)
        outcome = next(known, None)
        if outcome is None:
            outcome = _load(spark, jvm, purpose, test)
            _outcomes.append(outcome)
    if outcome.classes is None:
        raise RuntimeUnavailable(outcome.why_not)
    return outcome.classes


def _load(spark: SparkSession, jvm: Any, purpose: str, test: Callable[[Any], None]) -> _Outcome:
    try:
        text = java_text(purpose)
        loader = jar_loader(jvm)
        if loader is None:
            raise RuntimeUnavailable("its class loader takes no further classes")
        folder = tempfile.mkdtemp(prefix="deltaic-runtime-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        jar = Path(folder, f"{text.package}.jar")
        jar.write_bytes(compiled_jar(jvm, spark.version, text))
        loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
        classes = getattr(jvm.deltaic, text.package.rpartition(".")[2])
        ensure: Any = import_module("pyspark.java_gateway").ensure_callback_server_started
        ensure(spark.sparkContext._gateway)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        test(classes)
    except Exception as error:  # noqa: BLE001 - whatever a vendor's build raises, the data source reads
        of_java = getattr(error, "java_exception", None)
        text = f"{type(error).__name__}: {error}" if of_java is None else str(of_java.toString())
        return _Outcome(jvm, purpose, why_not=text.splitlines()[0][:300])
    return _Outcome(jvm, purpose, JavaClasses(classes, str(jar)))


def jar_loader(jvm: Any) -> Any:
    """Returns the class loader of the driver that takes further jars; None if it has none."""
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while loader is not None:
        if loader.getClass().getSimpleName() in _LOADERS:
            return loader
        loader = loader.getParent()
    return None


def _try(classes: Any) -> None:
    pa = require("pyarrow", "deltaic.spark.read")
    files = pa.table(
        {
            "uri": ["file:///1", "file:///2"],
            "length": pa.array([1, 1], pa.int64()),
            "time": pa.array([0, 0], pa.int64()),
            "value": pa.array([1, None], pa.int64()),
        }
    )
    asked: list[str] = []

    def leave_out_none(tree: str) -> bytes:
        asked.append(tree)
        return b"\x01\x01"

    path = list_file(files)
    try:
        wrong = classes.SelfTest.run(path, Callback(leave_out_none))
    finally:
        Path(path).unlink()
    if wrong is None and len(asked) != 1:
        wrong = "filters do not reach Python"
    if wrong is not None:
        raise RuntimeUnavailable(f"its self-test failed: {wrong}")


def list_file(files: Any) -> str:
    """Writes a list of files for `SnapshotIndex` to a temporary file; the caller deletes it."""
    pa = require("pyarrow", "deltaic.spark.read")
    number, path = tempfile.mkstemp(prefix="deltaic-files-", suffix=".arrow")
    with open(number, "wb") as file, pa.ipc.new_stream(file, files.schema) as writer:  # noqa: PTH123
        writer.write_table(files)
    return path


class Callback:
    """A function of Python as a `java.util.function.Function`; an error is the answer null."""

    class Java:
        """How py4j knows what it implements."""

        implements = ("java.util.function.Function",)

    def __init__(self, function: Any) -> None:
        self._function = function

    def apply(self, argument: Any) -> Any:
        """Calls the function: an exception must not reach py4j, which would print it and answer text."""
        try:
            return self._function(argument)
        except Exception:  # noqa: BLE001
            return None
