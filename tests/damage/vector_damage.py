"""Ways to give the first data file an invalid deletion vector, and the expected errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import deltaic
from tests.protocol import handmade_log as log
from tests.protocol.handmade_vectors import (
    FEATURE,
    VectorFile,
    array,
    bitmap,
    vector,
)

from . import broken
from .case import Case

# The deletion vector is that of the first file, with rows 0 and 1. Errors name this file and the version.
WHERE: dict[str, object] = {"path": broken.FIRST_FILE, "version": 1}
RIGHT = vector(0)
ZERO = bitmap({0: array([0])})
VECTOR_FILE = VectorFile(Path()).name


def with_vector(descriptor: dict[str, Any], file: int = 0) -> broken.Damage:
    """Sets this deletion vector on the first data file, or on the second."""

    def apply(root: Path) -> None:
        first = log.read_commit(root, 0)
        broken.instead(FEATURE, *[action for action in first if "protocol" not in action])(root)
        actions = log.read_commit(root, file)
        for action in actions:
            if "add" in action:
                action["add"].update(descriptor)
        broken.instead(*actions, version=file)(root)

    return apply


def file_of(
    change: Callable[[bytes], bytes | None] = bytes, cardinality: int = 1, **others: Any
) -> broken.Damage:
    """A deletion vector file, changed or missing; and other descriptor fields in the log."""

    def apply(root: Path) -> None:
        file = VectorFile(root)
        with_vector(file.push(RIGHT, cardinality, **others))(root)
        body = change(file.body)
        if body is not None:
            file.write(body)

    return apply


def in_its_place(put: Callable[[str], broken.Damage]) -> broken.Damage:
    """Something other than a regular file at the path of the deletion vector file."""

    def apply(root: Path) -> None:
        with_vector(VectorFile(root).push(RIGHT, 1))(root)
        put(f"../{VECTOR_FILE}")(root)

    return apply


def case(name: str, damage: broken.Damage, error: type[Exception], *says: str, **context: object) -> Case:
    return Case(f"a vector {name}", damage, broken.scanned, error, says, {**WHERE, **context})


def file_case(name: str, damage: broken.Damage, *says: str, **context: object) -> Case:
    """The deletion vector file is damaged; the error names it, too."""
    return case(name, damage, deltaic.CorruptData, *says, vector=VECTOR_FILE, **context)
