"""What can be read once: streams of rows, and iterators of files or positions.

A used one looks like an empty one, so a second use raises instead of being taken as empty. The extension
remembers the streams that it read.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import cast

from deltaic import _rust

__all__ = ["UsedIterators", "again", "is_read_again", "kept"]

_used: list[weakref.ref[object]] = []
_kept: list[tuple[weakref.ref[object], _rust.ArrowTable]] = []


def is_read_again(data: object) -> bool:
    """Whether rows are known to be readable again: in memory or a scan, not a stream.

    >>> import pyarrow
    >>> table = pyarrow.table({"id": [1]})
    >>> is_read_again(table), is_read_again(table.to_reader())
    (True, False)
    """
    return _rust.is_read_once(data) is False


def kept(data: object, memory: object = None) -> object:
    """Returns the rows of a stream for a dry run, and keeps them for the call after it; other data unchanged.

    Args:
        data: The rows.
        memory: The most bytes that are kept; those of a write when None.

    Raises:
        ValueError: The rows take more, or were read before.

    >>> import pyarrow
    >>> stream = pyarrow.table({"id": [1]}).to_reader()
    >>> rows = kept(stream)
    >>> rows.num_rows, again(stream) is rows
    (1, True)
    """
    known = again(data)
    if known is not data or not _rust.is_read_once(data):
        return known
    rows = _rust.read_rows(data, cast("int | None", memory))
    _kept.append((weakref.ref(data), rows))
    return rows


def again(data: object) -> object:
    """Returns the rows that a dry run kept of a stream; other data unchanged."""
    _kept[:] = [(known, rows) for known, rows in _kept if known() is not None]
    return next((rows for known, rows in _kept if known() is data), data)


class UsedIterators:
    """The iterators that a transaction has read, together with its further runs.

    >>> iterators = UsedIterators()
    >>> positions = iter([0, 7])
    >>> iterators.use("positions", positions)
    >>> list(positions)
    [0, 7]
    >>> iterators.use("positions", positions)
    Traceback (most recent call last):
        ...
    ValueError: positions are an iterator that was read before: it can be read once
    hint: pass a list
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        # Those that weak references cannot refer to, such as of a list.
        self._held: list[object] = []

    def use(self, name: str, values: object) -> None:
        """Remembers values that are about to be read, if they are an iterator.

        Raises:
            ValueError: They were read before.
        """
        if not isinstance(values, Iterator):
            return
        given = cast("object", values)
        _used[:] = [known for known in _used if known() is not None]
        if any(known() is given for known in _used) or any(held is given for held in self._held):
            raise ValueError(
                f"{name} are an iterator that was read before: it can be read once\nhint: pass a list"
            )
        try:
            _used.append(weakref.ref(given))
        except TypeError:
            self._held.append(given)
