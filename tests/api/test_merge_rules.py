"""deltaic merges by the rules that delta-spark follows: see `tests/interop/merge_rules.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import deltaic
from tests.interop.merge_rules import OLD, ROWS, RULES, SCHEMA, table_of

REFUSALS = (
    ValueError,
    deltaic.ConstraintViolation,
    deltaic.InvalidPredicate,
    deltaic.SchemaMismatch,
    deltaic.UnsupportedExpression,
)


@pytest.mark.parametrize("name", RULES)
def test_rules(root: Path, name: str) -> None:
    rule = RULES[name]
    table = deltaic.Table.create(root, SCHEMA)
    table.append(table_of(ROWS))
    source = table_of(rule.source).select(rule.columns)
    merge: Any = table.merge(source, on=rule.on, target_alias="t", source_alias="s")
    for method, values, condition in rule.clauses:
        clause = getattr(merge, method)
        merge = clause(condition=condition) if values is None else clause(values, condition=condition)
    if rule.refused is not None:
        with pytest.raises(REFUSALS):
            merge.execute()
    else:
        assert merge.execute().skipped == (rule.rows is None)
    rows = [tuple(row.values()) for row in table.snapshot().scan(["id", "a"]).to_arrow().to_pylist()]
    assert sorted(rows, key=repr) == sorted(OLD if rule.rows is None else rule.rows, key=repr)
