"""Paths in the log that lead out of the table or to missing files."""

from __future__ import annotations

import deltaic

from . import broken
from .case import Case, Survivor

ESCAPES = [
    "../outside.parquet",
    "..",
    "day=2026-11-05/../../outside.parquet",
    "./../outside.parquet",
    "..//outside.parquet",
    "..%2Foutside.parquet",
    "..%2foutside.parquet",
    "%2e%2e/outside.parquet",
    "%2E%2e%2Foutside.parquet",
    "day=2026-11-05/%2e%2e/%2e%2e/outside.parquet",
    "/etc/passwd",
    "//etc/passwd",
    "%2Fetc%2Fpasswd",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "FILE:///etc/passwd",
    "file:///etc/../etc/passwd",
    "file://host/share/a.parquet",
    "s3://bucket/a.parquet",
    "gs://bucket/a.parquet",
    "abfss://container@account.dfs.core.windows.net/a.parquet",
    "hdfs://host:8020/a.parquet",
    "memory://a/a.parquet",
    "http://example.com/a.parquet",
    "https://example.com/a.parquet",
    "https://example.com",
    ".",
    "",
]
# Paths within the table, to files that do not exist.
DANGLING = [
    "gone.parquet",
    "%252e%252e/outside.parquet",
    "%252Fetc%252Fpasswd",
    "...",
    ".../outside.parquet",
    "..\\outside.parquet",
    "C:\\outside.parquet",
    "C:outside.parquet",
    "a:b/../c.parquet",
    "~/outside.parquet",
    "$HOME/outside.parquet",
    "%zz.parquet",
    "%",
    "a?query",
    "a#fragment",
    "a/" * 2_000 + "b",
]
# No file can have such a name.
IMPOSSIBLE = ["a%00b.parquet", "a\0b.parquet", "a%0Ab.parquet", "a\nb.parquet", "%C3%28.parquet"]


# Other spellings of the first file, which is already in the table.
OTHER_NAMES = [
    f"./{broken.FIRST_FILE}",
    broken.FIRST_FILE.replace("/", "//"),
    broken.FIRST_FILE.replace("a.parquet", "%61.parquet"),
    broken.FIRST_FILE.replace("=", "%3D"),
    f"gone/../{broken.FIRST_FILE}",
    f"gone/%2e%2e%2F{broken.FIRST_FILE}",
]


def shown(path: str) -> str:
    return ascii(path) if len(path) < 60 else f"{path[:20]!a} and so on, {len(path)} characters"


# Paths that differ in the error from those in the log: without a possible secret, or decoded where that
# shows the fault.
TOLD = {
    "abfss://container@account.dfs.core.windows.net/a.parquet": "abfss://account.dfs.core.windows.net/a.parquet",
    "a?query": "a",
    "a#fragment": "a",
    "a%00b.parquet": "a\0b.parquet",
    "a%0Ab.parquet": "a\nb.parquet",
}


def scan_case(path: str, error: type[Exception]) -> Case:
    context: dict[str, object] = {"path": TOLD.get(path, path), "version": 1}
    return Case(f"a path {shown(path)}", broken.path_in_log(path), broken.scanned, error, context=context)


PATHS = [
    *(scan_case(path, deltaic.PathEscape) for path in ESCAPES),
    *(scan_case(path, deltaic.CorruptData) for path in DANGLING),
    *(scan_case(path, deltaic.CorruptLog) for path in IMPOSSIBLE),
    scan_case("x" * 5_000, deltaic.StorageError),
    *(
        Case(
            f"the first file again as {shown(path)}",
            broken.path_in_log(path),
            broken.scanned,
            deltaic.CorruptLog,
            ("in the table twice", broken.FIRST_FILE, path),
            {"path": path, "field": "add.path", "version": 1},
        )
        for path in OTHER_NAMES
    ),
    Case(
        "a link out of the table",
        broken.link_out_of_the_table,
        broken.scanned,
        deltaic.PathEscape,
        context={"path": broken.FIRST_FILE, "version": 1},
    ),
    # Opening does not follow these paths.
    *(
        Survivor(f"a path {shown(path)}, unread", broken.path_in_log(path), files=3, rows=None)
        for path in [*ESCAPES, *IMPOSSIBLE]
    ),
]

NAMES = {
    "by case": ("A.parquet", "a.parquet"),
    "by normal form": ("\u00e9.parquet", "e\u0301.parquet"),
    "by a space at the end": ("a.parquet ", "a.parquet"),
    "by a letter that looks the same": ("\u0430.parquet", "a.parquet"),
}
ALIKE = [
    Survivor(
        f"paths that differ {how}",
        lambda root, paths=paths: [broken.path_in_log(path)(root) for path in paths],
        files=4,
        rows=None,
    )
    for how, paths in NAMES.items()
]
