"""How features that known clients lack are dropped, as lines of Python."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from deltaic.advice.facts import CLUSTERING_DOMAIN, TableFacts, clustering_columns

__all__ = ["DowngradeStep", "downgrade_path", "features_after"]

_REWRITE = "table.purge()"
_ROW_IDS = "delta.rowTracking"


@dataclass(frozen=True)
class DowngradeStep:
    """How to drop one feature of the table, or why it cannot be dropped."""

    feature: str
    action: str
    """Lines of Python that run with ``table`` as the table and ``import deltaic``, in their order; empty if
    the feature cannot be dropped."""
    note: str
    """What the table loses, or why the feature cannot be dropped."""

    def to_dict(self) -> dict[str, str]:
        """Returns the step as plain values."""
        return {"feature": self.feature, "action": self.action, "note": self.note}


@dataclass(frozen=True)
class _Rule:
    note: str
    properties: tuple[str, ...] = ()
    """Properties that are removed first."""
    blocked: Callable[[TableFacts], str] = lambda _: ""
    """Returns why the feature cannot be dropped; empty if it can."""
    before: Callable[[TableFacts], list[str]] = lambda _: []
    """Returns lines that must run after the properties are removed."""
    first: Callable[[TableFacts], list[str]] = lambda _: []
    """Returns changes that are made with the removal of the properties."""
    protects_history: bool = False
    """Whether the feature `checkpointProtection` protects the history that used it."""

    @property
    def effect(self) -> str:
        protection = "; writers need checkpointProtection then, until the history is truncated"
        return self.note + (protection if self.protects_history else "")


def _has_key(*keys: str) -> Callable[[TableFacts], bool]:
    return lambda facts: any(key in (field.get("metadata") or {}) for field in _fields(facts) for key in keys)


def _blocked_if(uses: Callable[[TableFacts], bool], why: str) -> Callable[[TableFacts], str]:
    return lambda facts: why if uses(facts) else ""


def _has_type(name: str) -> Callable[[TableFacts], bool]:
    return lambda facts: name in json.dumps(_types(facts))


def _vectors(facts: TableFacts) -> list[str]:
    has_vectors = import_module("pyarrow.compute").count(facts.deleted_rows).as_py() > 0
    return [_REWRITE] if has_vectors else []


def _domains_blocking(facts: TableFacts) -> str:
    others = set(facts.snapshot.domain_metadata) - {CLUSTERING_DOMAIN, _ROW_IDS}
    return f"the table has the domain {sorted(others)[0]}" if others else ""


def _columns_without_clustering(facts: TableFacts) -> list[str]:
    return ["deltaic.alter.ClusterBy()"] if clustering_columns(facts.snapshot) else []


def _classic_checkpoints(facts: TableFacts) -> list[str]:
    policy = facts.snapshot.properties.get("delta.checkpointPolicy", "classic")
    if policy == "classic":
        return []
    return ['deltaic.alter.SetProperties({"delta.checkpointPolicy": "classic"})']


_COPY = 'copy the rows into a new table: deltaic.write("NEW_PATH", table.snapshot().scan())'

# In an order in which no feature is needed by a later one.
_RULES: Mapping[str, _Rule] = {
    "icebergCompatV3": _Rule("Iceberg clients no longer read it", ("delta.enableIcebergCompatV3",)),
    "icebergCompatV2": _Rule("Iceberg clients no longer read it", ("delta.enableIcebergCompatV2",)),
    "icebergCompatV1": _Rule("Iceberg clients no longer read it", ("delta.enableIcebergCompatV1",)),
    "clustering": _Rule("new rows are no longer clustered", first=_columns_without_clustering),
    "rowTracking": _Rule("rows lose their IDs", ("delta.enableRowTracking",)),
    "domainMetadata": _Rule("nothing, once clustering and row IDs are dropped", blocked=_domains_blocking),
    "deletionVectors": _Rule(
        "changes of rows rewrite files",
        ("delta.enableDeletionVectors",),
        before=_vectors,
        protects_history=True,
    ),
    "typeWidening": _Rule(
        "types can no longer be widened",
        ("delta.enableTypeWidening",),
        blocked=_blocked_if(_has_key("delta.typeChanges"), f"a column's type was widened; {_COPY}"),
        protects_history=True,
    ),
    "v2Checkpoint": _Rule(
        "checkpoints have no sidecars",
        first=_classic_checkpoints,
        protects_history=True,
    ),
    "inCommitTimestamp": _Rule("times are those of files", ("delta.enableInCommitTimestamps",)),
    "vacuumProtocolCheck": _Rule("a vacuum of old clients may not check the writer features"),
    "materializePartitionColumns": _Rule(
        "new files lack partition columns", ("delta.enableMaterializePartitionColumnsFeature",)
    ),
    "changeDataFeed": _Rule("changes are no longer recorded", ("delta.enableChangeDataFeed",)),
    "checkConstraints": _Rule(
        "nothing, the table has no constraint",
        blocked=_blocked_if(
            lambda facts: any(name.startswith("delta.constraints.") for name in facts.snapshot.properties),
            "the table has CHECK constraints; drop those that are not needed first",
        ),
    ),
    "generatedColumns": _Rule(
        "nothing, no column is generated",
        blocked=_blocked_if(_has_key("delta.generationExpression"), f"a column is generated; {_COPY}"),
    ),
    "identityColumns": _Rule(
        "nothing, no column is an identity",
        blocked=_blocked_if(_has_key("delta.identity.start"), f"a column is an identity; {_COPY}"),
    ),
    "allowColumnDefaults": _Rule(
        "nothing, no column has a default",
        blocked=_blocked_if(
            _has_key("CURRENT_DEFAULT"),
            "a column has a default; remove it with SetDefault(column, None) first",
        ),
    ),
    "timestampNtz": _Rule(
        "nothing, no column has the type",
        blocked=_blocked_if(
            _has_type("timestamp_ntz"), f"a column is timestamp_ntz; {_COPY} with other types"
        ),
        protects_history=True,
    ),
    "variantType": _Rule(
        "nothing, no column has the type",
        blocked=_blocked_if(
            _has_type("variant"), "a column is a variant; drop it first, or copy the rows as JSON"
        ),
        protects_history=True,
    ),
    "columnMapping": _Rule("", blocked=lambda _: f"files may have other column names; {_COPY}"),
    "checkpointProtection": _Rule("", blocked=lambda _: "it protects history that still exists"),
}


def downgrade_path(facts: TableFacts, obstacles: Collection[str]) -> tuple[DowngradeStep, ...]:
    """Returns how to drop the features that known clients lack, in an order that works.

    Args:
        facts: The table.
        obstacles: The features that at least one known client does not support.
    """
    return tuple(_steps(facts, obstacles))


def features_after(facts: TableFacts, steps: Collection[DowngradeStep]) -> set[str] | None:
    """Returns the features that remain after the steps; None if no step drops one."""
    dropped = {step.feature for step in steps if step.action}
    if not dropped:
        return None
    protects = any(_RULES[name].protects_history for name in dropped)
    return (set(facts.features) - dropped) | ({"checkpointProtection"} if protects else set())


def _steps(facts: TableFacts, obstacles: Collection[str]) -> Iterator[DowngradeStep]:
    known = [name for name in _RULES if name in facts.features and name in obstacles]
    remaining = set(facts.features)
    for name in known:
        rule = _RULES[name]
        needed_by = _needed_by(name, remaining)
        why = rule.blocked(facts) or (f"the feature {needed_by} needs it" if needed_by else "")
        if why:
            yield DowngradeStep(name, "", why)
        else:
            remaining.discard(name)
            yield DowngradeStep(name, "\n".join(_lines(name, rule, facts)), rule.effect)
    for name in sorted(set(obstacles) & facts.features - _RULES.keys()):
        yield DowngradeStep(name, "", "deltaic cannot drop it")


def _lines(name: str, rule: _Rule, facts: TableFacts) -> Iterator[str]:
    properties = [key for key in rule.properties if key in facts.snapshot.properties]
    changes = rule.first(facts)
    if properties:
        changes = [f"deltaic.alter.UnsetProperties({json.dumps(properties)})", *changes]
    between = rule.before(facts)
    drop = f'deltaic.alter.DropFeature("{name}")'
    # A classic checkpoint is written of a version without the policy.
    is_separate = bool(between) or (name == "v2Checkpoint" and bool(changes))
    if is_separate and changes:
        yield f"table.alter({', '.join(changes)})"
        changes = []
    yield from between
    yield f"table.alter({', '.join([*changes, drop])})"


def _needed_by(name: str, remaining: Collection[str]) -> str:
    needs = {
        "domainMetadata": ("clustering", "rowTracking"),
        "rowTracking": ("icebergCompatV3",),
        "vacuumProtocolCheck": ("catalogManaged",),
        "inCommitTimestamp": ("catalogManaged",),
        "timestampNtz": ("timestampNanos",),
        "variantType": ("variantShredding",),
    }
    return next((other for other in needs.get(name, ()) if other in remaining), "")


def _fields(facts: TableFacts) -> Iterator[dict[str, Any]]:
    waiting: list[Any] = [facts.schema]
    while waiting:
        kind = waiting.pop()
        if not isinstance(kind, dict):
            continue
        for field in kind.get("fields") or []:  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            yield field
            waiting.append(field["type"])
        waiting += [kind.get(part) for part in ("elementType", "keyType", "valueType")]  # pyright: ignore[reportUnknownMemberType]


def _types(facts: TableFacts) -> list[Any]:
    kinds: list[Any] = []
    for field in _fields(facts):
        kind: Any = field["type"]
        kinds += (
            [kind]
            if isinstance(kind, str)
            else [kind.get(part) for part in ("elementType", "keyType", "valueType") if kind.get(part)]
        )
    return [kind for kind in kinds if isinstance(kind, str)]
