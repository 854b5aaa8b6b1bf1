"""Record batches whose exported C structures are changed before deltaic imports them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pyarrow as pa


class ArrowSchema(ctypes.Structure):
    """`struct ArrowSchema` of the C data interface."""


class ArrowArray(ctypes.Structure):
    """`struct ArrowArray` of the C data interface."""


class ArrowArrayStream(ctypes.Structure):
    """`struct ArrowArrayStream` of the C stream interface."""


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    ("get_next", ctypes.c_void_p),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# pyarrow's own structures are never released: releasing them after a change could crash in pyarrow.
ALIVE: list[object] = []


def capsule(structure: ctypes.Structure, name: bytes) -> object:
    ALIVE.append(structure)
    return new_capsule(ctypes.addressof(structure), name, None)


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))
def release_array(array: Any) -> None:
    array.contents.release = None


@ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))
def release_schema(schema: Any) -> None:
    schema.contents.release = None


def copied(structure: Any, release: Any) -> Any:
    """Deep-copies the structures into separate memory."""
    type_ = type(structure)
    copy = type_.from_buffer_copy(structure)
    copy.release = ctypes.cast(release, ctypes.c_void_p)
    parts = [copied(structure.children[index].contents, release) for index in range(structure.n_children)]
    copy.children = (ctypes.POINTER(type_) * (len(parts) + 1))(*map(ctypes.pointer, parts)) if parts else None
    if structure.dictionary:
        copy.dictionary = ctypes.pointer(copied(structure.dictionary.contents, release))
    if type_ is ArrowArray and structure.n_buffers:
        buffers = structure.buffers[: structure.n_buffers]
        copy.buffers = (ctypes.c_void_p * (len(buffers) + 1))(*buffers)
    ALIVE.append((copy, parts))
    return copy


class Changed:
    """A record batch that is exported by `__arrow_c_array__` and then changed."""

    def __init__(self, batch: pa.RecordBatch, change: Callable[[ArrowArray, ArrowSchema], None]) -> None:
        self.batch, self.change = batch, change

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        del requested_schema
        array, schema = ArrowArray(), ArrowSchema()
        self.batch._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))
        ALIVE.append((array, schema))
        array, schema = copied(array, release_array), copied(schema, release_schema)
        self.change(array, schema)
        return capsule(schema, b"arrow_schema"), capsule(array, b"arrow_array")


class ChangedStream:
    """A stream of record batches that is exported by `__arrow_c_stream__` and then changed."""

    def __init__(self, batches: list[pa.RecordBatch], change: Callable[[ArrowArrayStream], None]) -> None:
        self.batches, self.change = batches, change

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        del requested_schema
        stream = ArrowArrayStream()
        reader = pa.RecordBatchReader.from_batches(self.batches[0].schema, self.batches)
        reader._export_to_c(ctypes.addressof(stream))
        self.change(stream)
        return capsule(stream, b"arrow_array_stream")


def below(structure: Any, *indexes: int) -> Any:
    """Returns the descendant at the given child indices."""
    for index in indexes:
        structure = structure.children[index].contents
    return structure
