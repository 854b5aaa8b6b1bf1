"""The parts of a pyarrow expression, parsed from its pickle.

pyarrow exposes only the text of an expression. Its pickle is an Arrow file of one row: literals and options
are columns, and the schema's metadata lists the calls, fields and literals in order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

__all__ = ["Part", "Parts"]


@dataclass
class Part:
    """A call, a field or a literal; its entries are those from `start` to `end` (exclusive)."""

    start: int
    function: str | None = None
    arguments: list[Part] = field(default_factory=list["Part"])
    end: int = 0
    depth: int = 0
    """The nesting depth of its calls; 0 for a field or a literal."""


class Parts:
    """A parsed expression.

    Raises:
        ValueError: Its format is not known.
    """

    def __init__(self, expression: Any) -> None:
        self._pyarrow: Any = import_module("pyarrow")
        try:
            self._rebuild, (data,) = expression.__reduce__()
            self._batch: Any = import_module("pyarrow.ipc").open_file(data).get_batch(0)
            self._entries = list(_metadata_in_order(self._batch.schema))
        except (AttributeError, NotImplementedError, TypeError, self._pyarrow.ArrowException) as error:
            raise ValueError(f"the expression cannot be parsed: {error}") from error
        self._whole = expression
        self.columns: set[str] = set()
        """The names of the top-level columns that it uses."""
        [self.root] = self._nested()

    def _nested(self) -> list[Part]:
        # Not recursive, because a chain of a thousand ANDs is a thousand calls deep.
        top = Part(0)
        open_calls = [top]
        below = 0
        for at, (key, value) in enumerate(self._entries):
            if key == "call":
                open_calls.append(Part(at, value))
                continue
            if key == "options":
                continue
            if key == "end":
                part = open_calls.pop()
                part.depth = 1 + max((argument.depth for argument in part.arguments), default=0)
            elif key == "nested_field_ref":
                below = int(value)
                part = Part(at)
            elif key in ("field_ref", "literal"):
                if key == "field_ref" and below:
                    # The first names the column, the others its nested fields.
                    below -= 1
                    part = open_calls[-1].arguments[-1]
                    self.columns.update([value] if part.end == part.start + 1 else [])
                    part.end = at + 1
                    continue
                part = Part(at)
                self.columns.update([value] if key == "field_ref" else [])
            else:
                raise ValueError(f"the expression has a part {key!r}")
            part.end = at + 1
            open_calls[-1].arguments.append(part)
        if len(open_calls) != 1 or below:
            raise ValueError("the expression ends too early")
        return top.arguments

    def options(self, part: Part) -> dict[str, Any]:
        """Returns the options of a call; empty without options."""
        key, value = self._entries[part.end - 2]
        return self._batch.column(int(value))[0].as_py() if key == "options" else {}

    def path(self, part: Part) -> list[str] | None:
        """Returns the names of a column and of the fields in it, outermost first; None for other parts."""
        names = [value for key, value in self._entries[part.start : part.end] if key == "field_ref"]
        return names if names and part.function is None else None

    def expression(self, part: Part) -> Any:
        """Returns a part as a separate expression."""
        if part is self.root:
            return self._whole
        pyarrow = self._pyarrow
        pairs: list[tuple[str, str]] = []
        # The file needs one row, so there is always one column.
        columns: list[Any] = [pyarrow.array([True])]
        for key, value in self._entries[part.start : part.end]:
            number = value
            if key in ("literal", "options"):
                number = str(len(columns))
                columns.append(self._batch.column(int(value)))
            pairs.append((key, number))
        fields = [pyarrow.field("", column.type) for column in columns]
        schema = pyarrow.schema(fields, metadata=pyarrow.KeyValueMetadata(pairs))
        sink = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_file(sink, schema) as writer:
            writer.write_batch(pyarrow.record_batch(columns, schema=schema))
        return self._rebuild(sink.getvalue())


def _metadata_in_order(schema: Any) -> Iterator[tuple[str, str]]:
    """Yields all entries of a schema's metadata, including duplicate keys, which pyarrow's dict drops."""
    capsule = schema.__arrow_c_schema__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # Arrow's C data interface: the struct starts with three string pointers, the third is the metadata.
    texts = ctypes.cast(pointer(capsule, b"arrow_schema"), ctypes.POINTER(ctypes.c_void_p * 3))
    place = texts.contents[2]
    if place is None:
        return

    def number() -> int:
        nonlocal place
        value = ctypes.c_int32.from_address(place).value
        place += ctypes.sizeof(ctypes.c_int32)
        return value

    def text() -> str:
        nonlocal place
        length = number()
        value = ctypes.string_at(place, length)
        place += length
        return value.decode()

    for _ in range(number()):
        yield text(), text()
