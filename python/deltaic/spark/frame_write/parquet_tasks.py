"""Writes the rows of a DataFrame by Spark's own Parquet writer, in a classic session.

No row leaves the JVM. The writer knows the bounds of each column when it closes a file; deltaic makes the
statistics of the log from them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DoubleType,
    IntegerType,
    MapType,
    StringType,
    StructType,
)

from deltaic import _rust
from deltaic.exceptions import SchemaMismatch
from deltaic.spark.frame_write.task_errors import to_text
from deltaic.spark.runtime.classes import JavaClasses, RuntimeUnavailable, loaded_classes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["ParquetForm", "ParquetTasks", "why_not"]

_LOCAL = "file://"
# As the core, and faster than the level that Parquet's writer has by default.
_SETTINGS = {"parquet.compression.codec.zstd.level": "1"}


@dataclass(frozen=True)
class ParquetForm:
    """What Spark's writer needs to write files of a table."""

    columns: StructType
    """The columns under their names in files."""
    settings: Mapping[str, str]
    """The settings of the writer."""
    random_prefix: int
    """The length of the random folder names of files; 0 for none."""
    text_bytes: int
    """The number of bytes of text that bounds need."""

    @classmethod
    def of(cls, job: _rust.WriteJob) -> ParquetForm | None:
        """Returns the form; None if Spark's writer cannot write the files, or is slower than deltaic's tasks.

        It is slower for rows that are mostly text, and for partitions, whose rows it sorts.
        """
        found = job.parquet_form()
        # Spark may reach another store by other credentials.
        if found is None or not job.uri.startswith(_LOCAL):
            return None
        given = json.loads(found)
        columns = StructType.fromJson(json.loads(given["columns"]))
        leaves = _leaves(columns)
        if sum(isinstance(leaf, StringType | BinaryType) for leaf in leaves) * 2 > len(leaves):
            return None
        settings = {
            **_SETTINGS,
            "parquet.compression": given["codec"],
            "parquet.writer.version": "v2" if given["second_version"] else "v1",
        }
        return cls(columns, settings, given["random_prefix"], given["text_bytes"])

    def takes(self, rows: StructType) -> bool:
        """Whether rows have exactly the types of the columns, in their order."""
        return _is_same(rows, self.columns)


class ParquetTasks:
    """The tasks of one write."""

    def __init__(
        self, frame: DataFrame, job: _rust.WriteJob, form: ParquetForm, most_rows: int | None
    ) -> None:
        """Prepares the tasks.

        Args:
            frame: The rows to write, in the order of the table's columns.
            job: The planned write.
            form: What the writer needs.
            most_rows: The maximum number of rows of a file.

        Raises:
            RuntimeUnavailable: This Spark cannot compile, load or run the classes of deltaic.
        """
        classes = _classes(frame.sparkSession)
        root = _LOCAL + unquote(job.uri.removeprefix(_LOCAL)).rstrip("/")
        _ensure_names(frame.sparkSession, root)
        self.token = uuid.uuid4().hex
        """Marks the errors of these tasks."""
        self._job = job
        names = zip(form.columns.fields, frame.columns, strict=True)
        of_java: Any = frame
        self._write = classes.package.FrameWrite(
            of_java._jdf,  # noqa: SLF001 - no public way
            root,
            form.random_prefix,
            form.columns.json(),
            form.settings,
            {field.name: _invalid_text(name, self.token) for field, name in names},
            form.text_bytes,
            most_rows or 0,
            classes.jar,
        )

    def run(self) -> str:
        """Runs the tasks; returns the files as JSON. After a failure none remains.

        Raises:
            PySparkException: The job failed or was cancelled.
        """
        try:
            return self._job.given_files(self._write.run())
        except BaseException:
            # On a thread of its own: after an interruption the connection of this one still waits.
            discarding = Thread(target=self._discard, daemon=True)
            discarding.start()
            discarding.join()
            raise

    def _discard(self) -> None:
        # A file that cannot be deleted remains as an unreferenced file.
        with suppress(Exception):
            self._write.discard()

    def reported(self) -> str:
        """Returns the files to delete after a failure: the classes have deleted them."""
        return "[]"


def why_not(spark: SparkSession) -> str | None:
    """Returns why this Spark's own writer writes no tables; None if it does."""
    try:
        _classes(spark)
    except RuntimeUnavailable as error:
        return str(error)
    return None


def _classes(spark: SparkSession) -> JavaClasses:
    return loaded_classes(spark, "write", lambda package: _try(spark, package))


def _ensure_names(spark: SparkSession, root: str) -> None:
    """Verifies that Java finds the names of files in a folder.

    Raises:
        RuntimeUnavailable: Its locale replaces other letters than ASCII.
    """
    session: Any = spark
    encoding = str(session._jvm.System.getProperty("sun.jnu.encoding"))  # noqa: SLF001 - no public way
    if not root.isascii() and encoding.upper() not in ("UTF-8", "UTF8"):
        raise RuntimeUnavailable(f"names of files are in {encoding} in its JVM")


_TRIED = (
    StructType().add("number", DoubleType()).add("text", StringType()).add("list", ArrayType(IntegerType()))
)
_EXPECTED = [
    {"path": ["number"], "nulls": 0, "min": "AAAAAAAA+D8=", "max": "AAAAAAAA+H8="},
    {"path": ["text"], "nulls": 1, "min": "dGU=", "max": "dGU="},
    {"path": ["list", "list", "element"], "nulls": 2},
    {"path": ["list"], "nulls": 1},
]


def _try(spark: SparkSession, package: Any) -> None:
    """Writes a file: the bounds must show NaN, and text is cut off.

    Raises:
        RuntimeUnavailable: Something is not as expected.
    """
    expected = json.dumps({"rows": 2, "columns": _EXPECTED}, separators=(",", ":"))
    session: Any = spark
    with TemporaryDirectory(prefix="deltaic-") as folder:
        wrong = package.WriteSelfTest.run(
            session._jsparkSession,  # noqa: SLF001 - no public way
            Path(folder, "tried.parquet").as_uri(),
            _TRIED.json(),
            {"parquet.compression": "uncompressed"},
            expected,
        )
    if wrong is not None:
        raise RuntimeUnavailable(f"its self-test failed: {wrong}")


def _invalid_text(name: str, token: str) -> str:
    error = SchemaMismatch(
        f"the text of column {name} is not valid UTF-8 in a row",
        context={"field": name},
        hint="store such values in a column of type binary",
    )
    return to_text(error, token)


def _leaves(kind: DataType) -> list[DataType]:
    if isinstance(kind, StructType):
        return [leaf for field in kind.fields for leaf in _leaves(field.dataType)]
    if isinstance(kind, ArrayType):
        return _leaves(kind.elementType)
    if isinstance(kind, MapType):
        return _leaves(kind.keyType) + _leaves(kind.valueType)
    return [kind]


def _is_same(given: DataType, wanted: DataType) -> bool:
    """Whether types are the same but for names, and for whether their parts may be NULL."""
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        pairs = zip(given.fields, wanted.fields, strict=False)
        return len(given.fields) == len(wanted.fields) and all(
            _is_same(part.dataType, field.dataType) for part, field in pairs
        )
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return _is_same(given.elementType, wanted.elementType)
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        return _is_same(given.keyType, wanted.keyType) and _is_same(given.valueType, wanted.valueType)
    return given == wanted
