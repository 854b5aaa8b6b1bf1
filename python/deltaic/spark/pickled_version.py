"""The version of this package in what is pickled for Spark's workers, which may have another one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from deltaic._rust import __version__

__all__ = ["of_this_version", "with_version"]

_NAME = "pickled by deltaic"


def with_version(state: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the state to pickle."""
    return {**state, _NAME: __version__}


def of_this_version(state: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the state that was pickled.

    Raises:
        ImportError: Another version of the package pickled it.

    Example:
        >>> of_this_version(with_version({"path": "data/events"}))
        {'path': 'data/events'}
    """
    pickled_by = state.get(_NAME)
    if pickled_by != __version__:
        raise ImportError(
            f"Spark's Python worker has deltaic {__version__} ({sys.executable}), and the session has "
            f"deltaic {pickled_by}: install one version in both",
            name="deltaic",
        )
    return {name: value for name, value in state.items() if name != _NAME}
