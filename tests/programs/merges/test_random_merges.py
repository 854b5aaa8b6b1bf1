"""Random merges have every kind of clause, key and refusal, and the model's effects add up."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import pyarrow as pa

from tests.programs.model import Model, Refused
from tests.programs.random_definition import random_definition
from tests.programs.steps import Steps
from tests.seed import generator

from .effect import allows_multiple_matches, effect, multiple_matches
from .evolution import evolved, widens
from .random_merge import Merges
from .verb import Delete, Insert, InsertAll, Kind, Merge, Update, UpdateAll

MERGES = 1500


def model_of(chance: random.Random) -> Model:
    """Returns a table with some rows."""
    model = Model(random_definition(chance))
    for _ in range(chance.randint(0, 2)):
        with suppress(Refused):
            found = model.effect(Steps(model, chance).first())
            model.known, model.marks = found.after, found.marks
    return model


def features_of(model: Model, merge: Merge) -> Iterator[str]:
    """Yields what a merge has."""
    for clause in merge.clauses:
        yield f"{clause.kind.value} {type(clause.action).__name__}"
        yield f"{clause.kind.value} {'without' if clause.condition is None else 'with'} condition"
        if isinstance(clause.action, Update) and any(len(path) > 1 for path in clause.action.values):
            yield "field of a struct"
    own = {column.name: column.type for column in model.definition.schema}
    for column in merge.schema:
        if own.get(column.name, column.type) != column.type:
            yield "other type"
        if column.name not in own:
            yield "other name"
    yield "<=>" if " <=> " in merge.on.sql else "no <=>"
    if multiple_matches(model.rows, merge):
        yield "several, allowed" if allows_multiple_matches(merge) else "several, refused"
    if merge.evolves:
        after = evolved(model.definition, merge).schema
        yield "new column" if len(after) > len(own) else "no new column"
        if any(pa.types.is_struct(kind) and after.field(name).type != kind for name, kind in own.items()):
            yield "new field"
        if widens(model.definition, merge):
            yield "wider type"
    if merge.on.sql in ("TRUE", "FALSE"):
        yield merge.on.sql


def test_every_feature() -> None:
    counts: Counter[str] = Counter()
    for number in range(MERGES):
        chance = generator("random merges", number)
        model = model_of(chance)
        before = list(model.rows)
        merge = Merges(model, chance).merge()
        counts.update(features_of(model, merge))
        try:
            found = effect(model, merge)
        except Refused as refused:
            counts[str(refused).split(":", maxsplit=1)[0].split(" ")[0]] += 1
            continue
        finally:
            assert model.rows == before
        counts["nothing" if found.is_nothing else "something"] += 1
        changed = len(found.inserts) - len(found.deletes)
        assert len(found.after) == len(before) + changed
        assert len(found.preimages) == len(found.postimages) == found.metrics["numTargetRowsUpdated"]
        for change, rows in (("Updated", found.preimages), ("Deleted", found.deletes)):
            parts = [
                found.metrics[f"numTargetRows{kind}{change}"] for kind in ("Matched", "NotMatchedBySource")
            ]
            assert sum(parts) == len(rows)
    actions = {
        Kind.MATCHED: (Update, UpdateAll, Delete),
        Kind.NOT_MATCHED: (Insert, InsertAll),
        Kind.NOT_MATCHED_BY_SOURCE: (Update, Delete),
    }
    expected = [f"{kind.value} {action.__name__}" for kind, found in actions.items() for action in found]
    expected += [f"{kind.value} {has} condition" for kind in Kind for has in ("with", "without")]
    expected += ["field of a struct", "other type", "other name", "<=>", "no <=>", "TRUE", "FALSE"]
    expected += ["new column", "no new column", "new field", "wider type"]
    expected += ["several, allowed", "several, refused", "several", "overflow", "nothing", "something"]
    assert not [feature for feature in expected if not counts[feature]], counts
