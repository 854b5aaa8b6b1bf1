"""The literals of polars' JSON, and their values in a comparison with a column of the table."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

from deltaic.engines.conditions import Untranslatable
from deltaic.values.predicates import Literal

__all__ = ["PolarsLiteral", "compared_as_they_are", "entry", "shortened", "value_beside"]

_INTEGERS = {"byte", "short", "integer", "long"}
_FLOATS = {"float", "double"}
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (a time without a zone is one of the types)
_MICROS = {"Milliseconds": 1000, "Microseconds": 1}
# Up to these limits every integer is exact in single and in double precision.
_EXACT = {"float": 2**24, "double": 2**53}


def shortened(node: Any) -> str:
    """Truncates a part for an error message."""
    return json.dumps(node)[:100]


def entry(node: Any) -> tuple[str, Any]:
    """Returns the name and content of an object with one entry, polars' format of each part."""
    if isinstance(node, str):
        return node, None
    try:
        [(name, inside)] = node.items()
    except (AttributeError, ValueError) as error:
        raise Untranslatable(f"the form of {shortened(node)}") from error
    return name, inside


class PolarsLiteral:
    """A literal in polars' format. A number written in Python has no type yet: its kind is `Dyn`."""

    def __init__(self, inside: Any) -> None:
        family, scalar = entry(inside)
        if family == "Scalar" and "value" in scalar:
            # The format until 1.34, with the type next to the value.
            scalar = scalar["value"]
        self.kind, self.raw = entry(scalar)
        if family == "Dyn":
            self.kind = f"Dyn{self.kind}"
        elif family != "Scalar":
            raise Untranslatable(f"a literal {family}")


def value_beside(value: PolarsLiteral, data_type: Any) -> Literal:
    """Returns the value that polars compares a column with."""
    of_kind: Mapping[str, Callable[[Any, str], Literal | None]] = {
        "DynInt": _integer,
        "DynFloat": _dynamic_float,
        **dict.fromkeys(("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"), _integer),
        "Float32": _single,
        "Float64": _double,
        "Decimal": _decimal,
        "String": lambda raw, kind: raw if kind == "string" else None,
        "Boolean": lambda raw, kind: raw if kind == "boolean" else None,
        "Binary": lambda raw, kind: bytes(raw) if kind == "binary" else None,
        "Date": _date,
        "Datetime": _time,
    }
    convert = of_kind.get(value.kind)
    found = convert(value.raw, str(data_type)) if convert and value.raw is not None else None
    if found is None:
        raise Untranslatable(f"a comparison of a column of type {data_type} with a literal {value.kind}")
    return found


def _integer(raw: Any, kind: str) -> Literal | None:
    number = int(raw)
    fits = kind in _INTEGERS or kind.startswith("decimal") or abs(number) <= _EXACT.get(kind, -1)
    return number if fits else None


def _dynamic_float(raw: float, kind: str) -> Literal | None:
    # Cast to the column's type before the comparison.
    return _single(raw, kind) if kind == "float" else _double(raw, kind)


def _single(raw: float, kind: str) -> Literal | None:
    rounded: float = struct.unpack("<f", struct.pack("<f", raw))[0]
    return rounded if kind in _FLOATS else None


def _double(raw: float, kind: str) -> Literal | None:
    # Compared with a single-precision column in either precision: exact only if both are equal.
    return raw if kind == "double" or (kind == "float" and _single(raw, kind) == raw) else None


def _decimal(raw: Any, kind: str) -> Literal | None:
    unscaled, _, scale = raw
    return Decimal(int(unscaled)).scaleb(-scale, Context(prec=40)) if kind.startswith("decimal") else None


def _date(raw: int, kind: str) -> Literal | None:
    return (_EPOCH + timedelta(days=raw)).date() if kind in ("date", "timestamp_ntz") else None


def _time(raw: Any, kind: str) -> Literal | None:
    count, unit, zone = raw
    if unit not in _MICROS:
        return None
    time = _EPOCH + timedelta(microseconds=count * _MICROS[unit])
    if kind == "timestamp" and zone == {"inner": "UTC"}:
        return time.replace(tzinfo=timezone.utc)
    return time if kind in ("timestamp_ntz", "date") and zone is None else None


def compared_as_they_are(polars_type: str, data_type: str) -> bool:
    """Whether values of a polars type are compared with a column's values without a cast."""
    if polars_type == "Null":
        return True
    if data_type in _INTEGERS:
        return polars_type in ("Int8", "Int16", "Int32", "Int64")
    exact = {
        "double": ("Float64", "Float32"),
        "float": ("Float64", "Float32"),
        "string": ("String",),
        "boolean": ("Boolean",),
        "binary": ("Binary",),
        "date": ("Date",),
        "timestamp": ("Datetime(time_unit='us', time_zone='UTC')",),
        "timestamp_ntz": ("Datetime(time_unit='us', time_zone=None)",),
    }
    if data_type.startswith("decimal"):
        return polars_type.startswith("Decimal")
    return polars_type in exact.get(data_type, ())
