"""What each peer does for an operation, and what it answered. Imported in a fresh process per measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def deltaic_open_and_list(uri: str) -> Any:
    """Path, size, time and partition values of every live file, as Arrow."""
    import deltaic

    snapshot = deltaic.Table(uri).snapshot()
    return snapshot.version, snapshot.files()


def deltalake_open_and_list(uri: str) -> Any:
    """The same from delta-rs, whose listing has the statistics too."""
    import deltalake

    table = deltalake.DeltaTable(uri)
    return table.version(), table.get_add_actions(flatten=True)


def deltaic_answer(result: Any) -> tuple[int, list[tuple[str, int]]]:
    """Version and (path, size) of the files."""
    version, files = result
    table = files.to_arrow()
    return version, list(zip(table["path"].to_pylist(), table["size"].to_pylist(), strict=True))


def deltalake_answer(result: Any) -> tuple[int, list[tuple[str, int]]]:
    """Version and (path, size) of the files."""
    import pyarrow

    version, files = result
    table = pyarrow.table(files)
    return version, list(zip(table["path"].to_pylist(), table["size_bytes"].to_pylist(), strict=True))


OPERATIONS: dict[tuple[str, str], Callable[[str], Any]] = {
    ("deltaic", "open_and_list"): deltaic_open_and_list,
    ("deltalake", "open_and_list"): deltalake_open_and_list,
}
ANSWERS: dict[str, Callable[[Any], tuple[int, list[tuple[str, int]]]]] = {
    "deltaic": deltaic_answer,
    "deltalake": deltalake_answer,
}
MODULES = {"deltaic": "deltaic", "deltalake": "deltalake"}
