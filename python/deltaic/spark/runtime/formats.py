"""The formats "deltaic" and "delta" of a JVM, which Spark finds by the list of services in a jar."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["add_formats"]

_PY4J: Any = import_module("py4j.protocol")  # has no types
_SERVICE = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"


def add_formats(spark: SparkSession, classes: Any, loader: Any) -> None:
    """Adds the formats to a JVM, once; "delta" only if no jar provides it.

    Args:
        spark: A classic session.
        classes: The package of the classes of deltaic.
        loader: The class loader that has them.
    """
    jvm: Any = spark._jvm  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no public way
    names = [
        str(provider.getClass().getName())
        for provider in (classes.FormatProvider(), classes.DeltaFormatProvider())
        if _class_of(spark, str(provider.shortName())) is None
    ]
    if not names:
        return
    folder = tempfile.mkdtemp(prefix="deltaic-formats-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    jar = Path(folder, "formats.jar")
    with zipfile.ZipFile(jar, "w") as out:
        out.writestr(_SERVICE, "\n".join(names))
    loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())


def _class_of(spark: SparkSession, name: str) -> str | None:
    """Returns the class of a format; None if there is none, or only a data source in Python."""
    jvm: Any = spark._jvm  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    session: Any = spark._jsparkSession  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    sources = jvm.org.apache.spark.sql.execution.datasources.DataSource
    try:
        found = str(sources.lookupDataSource(name, session.sessionState().conf()).getName())
    except (PySparkException, _PY4J.Py4JJavaError):
        return None
    return None if found.endswith(".PythonDataSourceV2") else found
