"""Validation of option values, given as Python values or as text."""

from __future__ import annotations

__all__ = ["as_count", "as_flag", "as_text", "as_version"]


def as_flag(name: str, value: object) -> bool:
    """Validates a boolean.

    Raises:
        ValueError: It is neither true nor false.

    Example:
        >>> as_flag("rowIds", True), as_flag("rowIds", "False")
        (True, False)
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise ValueError(f"{name} must be true or false, not {value!r}")


def as_count(name: str, value: object) -> int:
    """Validates a number that is not negative.

    Raises:
        ValueError: It is not such a number.

    Example:
        >>> as_count("maxRecordsPerFile", "1000")
        1000
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise ValueError(f"{name} must be a number (0, 1, 2 …), not {value!r}")


def as_text(name: str, value: object) -> str | None:
    """Validates text, or None if the option is not set.

    Raises:
        ValueError: It has another type.
    """
    if value is None or isinstance(value, str):
        return value
    raise ValueError(f"{name} must be text, not {value!r}")


def as_version(name: str, value: object) -> int:
    """Validates a version of a table.

    Raises:
        ValueError: It is not a version.

    Example:
        >>> as_version("versionAsOf", 3), as_version("versionAsOf", "12")
        (3, 12)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise ValueError(f"{name} must be a version (0, 1, 2 …), not {value!r}")
