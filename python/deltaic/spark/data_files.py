"""The data files of a snapshot, as Spark is told of them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from deltaic.exceptions import CorruptData, CorruptLog, PathEscape, UnsupportedFeature

__all__ = ["DataFile", "data_files", "data_uri"]

_ABSOLUTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?=/)")
# A name of bytes that are no UTF-8 comes through as it is.
_ANY_BYTES = "surrogateescape"
# What java.net.URI takes in a path as it stands; the rest is percent-encoded.
_AS_IT_STANDS = "/:@!$&'()*+,;=-._~"
# Stores that Hadoop, and so Spark, has no name for.
_UNKNOWN_TO_HADOOP = {"memory": "write the table to a folder first", "az": "use the store's abfss:// address"}


class DataFile(NamedTuple):
    """One file of a snapshot that Spark can open."""

    uri: str
    """Absolute and percent-encoded once."""

    size: int
    """Its length in bytes."""


def data_uri(table_uri: str, path: str) -> str:
    """The URI of a file from its `path` in the log.

    Writers differ in what they encode, so the text is decoded once and encoded again.

    Args:
        table_uri: The table's own URI, with a slash at its end.
        path: As in the log: relative to the table and percent-encoded, or a URI, or an absolute path.

    Raises:
        PathEscape: The path leaves the table's folder.

    Example:
        >>> data_uri("file:///data/", "p=a%20b/ü.parquet")
        'file:///data/p=a%20b/%C3%BC.parquet'
    """
    root, decoded = _decoded(table_uri), _decoded(path)
    scheme, _, root_path = root.partition("://")
    if absolute := _ABSOLUTE.match(path):
        scheme, rest = absolute[1], decoded[absolute.end() :]
        # file:/a and file:///a are one place.
        whole = rest.removeprefix("//") if rest.startswith("//") else rest
    elif decoded.startswith("/"):
        whole = root_path.partition("/")[0] + decoded
    else:
        whole = root_path + decoded
    text = f"{scheme}://{posixpath.normpath(whole)}"
    if not text.startswith(root):
        raise PathEscape(
            f"the log names a data file outside of the table's folder: {path}",
            context={"path": path},
            hint="a table whose files lie elsewhere, such as a shallow clone, is not read through Spark yet",
        )
    return quote(text, safe=_AS_IT_STANDS, errors=_ANY_BYTES)


def _decoded(uri: str) -> str:
    return unquote(uri, errors=_ANY_BYTES)


def data_files(
    table_uri: str, version: int, paths: Iterable[str], sizes: Iterable[int]
) -> Iterator[DataFile]:
    """Every file with its true size.

    Spark reads no row group that lies beyond the size it is given, and says nothing. So a local file is
    measured; elsewhere the log's word stands.

    Raises:
        CorruptData: A local file is missing or empty.
        CorruptLog: A size that no Parquet file has, or one file under two spellings of its path.
        PathEscape: A path leaves the table's folder.
        UnsupportedFeature: A store or a file name that Spark passes over.
    """
    known: dict[str, str] = {}
    for path, size in zip(paths, sizes, strict=True):
        uri = data_uri(table_uri, path)
        if (other := known.setdefault(uri, path)) != path:
            raise CorruptLog(
                f"one file is in the table twice, as {other!r} and as {path!r}: its rows would be read twice",
                context={"path": path, "version": version, "field": "add.path"},
                hint="restore the commit that names the file again from a backup of the table",
            )
        _refuse_what_spark_passes_over(uri, path)
        local = _local_path(uri)
        true_size = size if local is None else _measure(local, path, version)
        if true_size <= 0:
            raise CorruptLog(
                f"version {version} says that data file {path} has {size} bytes",
                context={"path": path, "version": version, "size": size},
            )
        yield DataFile(uri, true_size)


def _refuse_what_spark_passes_over(uri: str, path: str) -> None:
    scheme = uri.partition(":")[0]
    if hint := _UNKNOWN_TO_HADOOP.get(scheme):
        raise UnsupportedFeature(
            f"Spark cannot read {scheme}:// addresses, as of data file {path}",
            context={"path": path},
            hint=hint,
        )
    # Spark takes such files for hidden ones and leaves out their rows without a word.
    if uri.rpartition("/")[2].startswith(("_", ".", "%5F", "%2E")):
        raise UnsupportedFeature(
            f"Spark's own reader skips data file {path}, because of how its name begins",
            context={"path": path},
            hint="read the table with deltaic.Table(path).snapshot().scan()",
        )


def _local_path(uri: str) -> Path | None:
    return Path(_decoded(uri).removeprefix("file://")) if uri.startswith("file://") else None


def _measure(local: Path, path: str, version: int) -> int:
    try:
        size = local.stat().st_size
    except OSError as error:
        raise CorruptData(
            f"data file {path} of version {version} cannot be opened: {error.strerror}",
            context={"path": path, "version": version},
            hint="restore the file, or read a version that does not need it",
        ) from error
    if size == 0:
        raise CorruptData(
            f"data file {path} of version {version} is empty", context={"path": path, "version": version}
        )
    return size
