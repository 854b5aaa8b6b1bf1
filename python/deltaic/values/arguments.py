"""Validation of arguments: an error names the argument and the expected value."""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Iterable, Mapping
from typing import cast

__all__ = ["bounded_int", "byte_size", "flag", "names", "options", "place", "text", "whole_number"]

_SIZE = re.compile(r"(\d+)\s*(?:([kmgt]?)b|([kmgt])(?:ib)?|)", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def whole_number(name: str, value: object) -> int:
    """Validates an integer; accepts those of numpy and others too, but not a bool.

    Raises:
        TypeError: It has another type.

    >>> whole_number("version", 3)
    3
    """
    # True would be 1, and is always a mistake.
    if not isinstance(value, bool):
        try:
            return operator.index(value)  # pyright: ignore[reportArgumentType] - tests whether it is an integer
        except TypeError:
            pass
    raise TypeError(f"{name} must be an integer, not {type(value).__name__}")


def bounded_int(name: str, value: object, *, minimum: int) -> int:
    """Validates an integer with a minimum; values above the machine's limit are clamped to it.

    Raises:
        ValueError: It is below the minimum.
        TypeError: It is not an integer.

    >>> bounded_int("limit", 10, minimum=0)
    10
    >>> bounded_int("limit", 2**70, minimum=0) == sys.maxsize
    True
    """
    number = whole_number(name, value)
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {number}")
    return min(number, sys.maxsize)


def byte_size(name: str, value: object, *, minimum: int) -> int:
    """Validates a number of bytes, given as an integer or as text with a unit of powers of 1024.

    Raises:
        ValueError: It is below the minimum, or the text is no size.
        TypeError: It has another type.

    >>> [byte_size("memory", size, minimum=1) for size in (4096, "4096", "4 KiB", "4kb", "4k")]
    [4096, 4096, 4096, 4096, 4096]
    """
    if not isinstance(value, str):
        return bounded_int(name, value, minimum=minimum)
    size = _SIZE.fullmatch(value.strip())
    if size is None:
        raise ValueError(f'{name} may not be {value!r}: give a number of bytes, or a text such as "256 MiB"')
    return bounded_int(name, int(size[1]) << _UNITS[(size[2] or size[3] or "").lower()], minimum=minimum)


def flag(name: str, value: object) -> bool:
    """Validates a bool.

    Raises:
        TypeError: It has another type.

    >>> flag("upkeep", False)
    False
    """
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def text(name: str, value: object) -> str:
    """Validates text that can be encoded as UTF-8.

    Raises:
        TypeError: It has another type.
        ValueError: It contains an unpaired surrogate.

    >>> text("operation", "WRITE")
    'WRITE'
    """
    if not isinstance(value, str):
        advice = "" if value is None else ": put it in quotes"
        raise TypeError(f"{name} must be a string, not {type(value).__name__}{advice}")
    if not _is_text(value):
        raise ValueError(f"{name} cannot be encoded as UTF-8: {value!a}")
    return value


def names(name: str, value: object, *, what: str = "names") -> list[str]:
    """Validates a list of texts.

    Raises:
        TypeError: It has another type, such as a single text.
        ValueError: One of them cannot be encoded as UTF-8.

    >>> names("columns", ("id", "day"))
    ['id', 'day']
    """
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list of {what}: write {name}=[{value!r}]")
    if not isinstance(value, Iterable) or isinstance(value, Mapping):
        raise TypeError(
            f"{name} must be a list of {what}, not {type(cast('object', value)).__name__}: write {name}=[…]"
        )
    return [text(f"each of {name}", one) for one in cast("Iterable[object]", value)]


def place(name: str, value: str | os.PathLike[str]) -> str:
    """Converts a path or URI to text. ``~`` at its start is the home folder, as in a shell.

    Raises:
        ValueError: It cannot be encoded as UTF-8, such as the name of a file that is not UTF-8.
        TypeError: It is neither text nor a path.

    >>> import pathlib
    >>> place("uri", pathlib.PurePosixPath("/data/rides"))
    '/data/rides'
    """
    try:
        path: object = os.fspath(value)
    except TypeError:
        path = value
    if not isinstance(path, str):
        raise TypeError(
            f"{name} must be a path or URI as a string or pathlib.Path, not {type(path).__name__}"
        )
    if path.startswith("~"):
        path = os.path.expanduser(path)  # noqa: PTH111 - pathlib would change the rest of the path
    try:
        path.encode()
    except UnicodeEncodeError as error:
        # The text itself may contain a secret, so the error omits it.
        raise ValueError(
            f"{name} is not valid UTF-8: character {error.start} represents an invalid byte; "
            "rename that folder, or use a link with a valid name"
        ) from None
    return path


def options(name: str, value: object) -> dict[str, str]:
    """Validates a mapping of text to text. Errors never show a value: it may be a secret.

    Raises:
        ValueError: A name or value cannot be encoded as UTF-8.
        TypeError: It is not a mapping, or a name or value is not text.

    >>> options("storage_options", {"aws_region": "eu-west-1"})
    {'aws_region': 'eu-west-1'}
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping of names to strings, not {type(value).__name__}")
    found: dict[str, str] = {}
    for key, setting in cast("Mapping[object, object]", value).items():
        if not isinstance(key, str):
            raise TypeError(f"a name in {name} must be a string, not {type(key).__name__}")
        if not isinstance(setting, str):
            write = f'write "{str(setting).lower()}"' if isinstance(setting, bool) else "put it in quotes"
            raise TypeError(
                f"the value of {key!r} in {name} must be a string, not {type(setting).__name__}: {write}"
            )
        if not (_is_text(key) and _is_text(setting)):
            raise ValueError(f"{name} contains bytes that are not UTF-8, in the name or the value of {key!a}")
        found[key] = setting
    return found


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
