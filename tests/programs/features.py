"""What occurs in a program: properties and columns of its table, forms of verbs, and reasons of refusals."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from .alterations import Alter
from .definitions import Definition
from .merges.verb import Clause, Kind, Merge
from .model import Refused
from .random_definition import FEATURES, SETTINGS
from .values import LEAVES, VARIANT, type_name
from .verbs import Append, Delete, Maintain, Overwrite, RowVerb, Together, Update

PROPERTIES = [f"{name}={value}" for one in (*FEATURES, *SETTINGS) for name, value in one.items()]
PROPERTIES += [f"delta.columnMapping.mode={mode}" for mode in ("name", "id")]
PROPERTIES += ["delta.enableIcebergCompatV2=true"]
TYPES = sorted({type_name(kind) for kind in LEAVES})
OF_TABLES = [*PROPERTIES, *(f"column {kind}" for kind in [*TYPES, "struct", "list", "map", "variant"])]
OF_TABLES += ["partitioned", "partitioned by several", "clustered", "constraint", "invariant"]
OF_TABLES += ["char", "varchar", "default", "generated column", "generated partition column"]
OF_TABLES += ["identity always", "identity by default", "created by columns", "created by a schema"]
OF_CLAUSES = [f"{Kind.MATCHED.value} {action}" for action in ("Update", "UpdateAll", "Delete")]
OF_CLAUSES += [f"{Kind.NOT_MATCHED.value} {action}" for action in ("Insert", "InsertAll")]
OF_CLAUSES += [f"{Kind.NOT_MATCHED_BY_SOURCE.value} {action}" for action in ("Update", "Delete")]
OF_VERBS = ["append", "append without a column", "append that raises", "append of empty text as NULL"]
OF_VERBS += ["append with a new column", "overwrite all", "overwrite where", "overwrite dynamic"]
OF_VERBS += ["overwrite with a new schema", "delete all", "delete where", "update all", "update where"]
OF_VERBS += ["alter add", "alter rename", "alter drop", "alter widen"]
OF_VERBS += [
    "checkpoint",
    "compact_log",
    "clean_up",
    "optimize",
    "purge",
    "statistics",
    "vacuum",
    "clone",
    "repair",
]
OF_VERBS += ["merge", *OF_CLAUSES, "transaction", "transaction that raises"]
OF_VERBS += [f"transaction with {verb}" for verb in ("Append", "Overwrite", "Delete", "Update")]
OF_REFUSALS = ["NOT NULL", "length", "condition", "generated value", "overflow", "no match"]
OF_REFUSALS += ["generated identity", "raised", "update of an identity", "several matches"]
OF_PROGRAMS = [*OF_TABLES, *OF_VERBS, *(f"refused: {reason}" for reason in OF_REFUSALS)]
"""What the programs of a run must have."""


def of_definition(definition: Definition) -> Iterator[str]:
    """Yields the features of a table."""
    for name, value in definition.properties.items():
        yield f"{name}={value}"
    for column in definition.schema:
        yield f"column {_kind(column.type)}"
    by = definition.partition_by
    found = {
        "partitioned": by,
        "partitioned by several": len(by) > 1,
        "clustered": definition.cluster_by,
        "constraint": definition.constraints,
        "invariant": definition.invariants,
        "default": definition.defaults,
        "generated column": definition.generated,
        "generated partition column": definition.generated.keys() & set(by),
        "created by columns": definition.is_created_by_columns,
        "created by a schema": not definition.is_created_by_columns,
    }
    yield from (name for name, has in found.items() if has)
    yield from (kind for kind, _ in definition.lengths.values())
    for identity in definition.identities.values():
        yield "identity always" if identity.always else "identity by default"


def _kind(kind: pa.DataType) -> str:
    if pa.types.is_nested(kind):
        return "struct" if pa.types.is_struct(kind) else "map" if pa.types.is_map(kind) else "list"
    return "variant" if kind == VARIANT else type_name(kind)


def of_verb(verb: RowVerb | Maintain | Alter) -> Iterator[str]:
    """Yields the forms of a verb."""
    match verb:
        case Alter():
            yield f"alter {verb.how}"
        case Maintain():
            yield verb.how
        case Append():
            yield from _of_append(verb)
        case Overwrite():
            yield _of_overwrite(verb)
        case Delete():
            yield f"delete {'all' if verb.where is None else 'where'}"
        case Update():
            yield f"update {'all' if verb.where is None else 'where'}"
        case Together():
            yield "transaction that raises" if verb.raises_at_end else "transaction"
            yield from (f"transaction with {type(one).__name__}" for one in verb.verbs)
        case Merge():
            yield "merge"
            yield from map(of_clause, verb.clauses)


def _of_append(verb: Append) -> Iterator[str]:
    if verb.added is not None:
        yield "append with a new column"
        return
    yield "append"
    if any(name not in verb.columns for row in verb.rows for name in row):
        yield "append without a column"
    if verb.raises_at_end:
        yield "append that raises"
    if verb.empty_is_null:
        yield "append of empty text as NULL"


def _of_overwrite(verb: Overwrite) -> str:
    if verb.replaces is not None:
        return "overwrite with a new schema"
    return f"overwrite {'dynamic' if verb.is_dynamic else 'all' if verb.where is None else 'where'}"


def of_clause(clause: Clause) -> str:
    """Returns the kind and action of a clause of a merge."""
    return f"{clause.kind.value} {type(clause.action).__name__}"


REASONS = {
    "length of": "length",
    "generated value of": "generated value",
    "overflow": "overflow",
    "partition value of": "partition value",
    "a new row does not match": "no match",
    "values": "generated identity",
    "update of": "update of an identity",
    "the source raises": "raised",
    "the block raises": "raised",
    "several source rows": "several matches",
    "the source lacks": "lacking columns",
}
"""The reasons of refusals, by the beginning of their texts."""


def of_refusal(refused: Refused) -> str:
    """Returns the reason of a refusal without its details."""
    text = str(refused)
    for beginning, reason in REASONS.items():
        if text.startswith(beginning):
            return f"refused: {reason}"
    # Other texts are the name of a condition and its expression, which may end with these words too.
    return "refused: NOT NULL" if text.endswith(" NOT NULL") and ": " not in text else "refused: condition"
