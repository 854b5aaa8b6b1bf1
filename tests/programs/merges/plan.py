"""A table and random merges into it as a value, which run again without some of them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.programs.definitions import Definition
from tests.programs.features import of_definition, of_refusal
from tests.programs.model import Effect, Model, Refused
from tests.programs.random_definition import random_definition
from tests.programs.steps import Steps
from tests.programs.values import Row
from tests.programs.verbs import Append
from tests.seed import generator

from .by_deltaic import MEMORY
from .effect import MergeEffect, apply, effect
from .features import of_merge
from .random_merge import Merges
from .verb import Merge

MERGES = 4
APPENDS = 3


@dataclass(frozen=True)
class Step:
    """An append or a merge."""

    verb: Append | Merge
    memory: int | None = None
    """Bytes of memory, so few that rows wait in temporary files."""

    def __str__(self) -> str:
        return str(self.verb) if self.memory is None else f"{self.verb} with {self.memory} bytes of memory"


@dataclass(frozen=True)
class Plan:
    """The table and the steps of a program."""

    definition: Definition
    steps: list[Step]
    features: set[str]
    """What occurs in the merges."""


def planned(number: int) -> Plan:
    """Returns a program. It depends on the model alone, never on what deltaic does."""
    chance = generator("merges", number)
    definition = random_definition(chance)
    model = Model(definition)
    steps: list[Step] = []
    for _ in range(chance.randint(1, APPENDS)):
        steps.append(Step(Steps(model, chance).first()))
        _change(model, steps[-1].verb)
    found = {*of_definition(definition)}
    for _ in range(MERGES):
        merge = Merges(model, chance).merge()
        # Generated identities are in the order of the rows, which temporary files do not keep.
        spills = not model.definition.identities and chance.random() < 0.5
        memory = chance.choice(MEMORY) if spills else None
        steps.append(Step(merge, memory))
        found |= {*of_merge(model, merge), _change(model, merge), *(["temporary files"] if spills else [])}
        if model.definition.schema != definition.schema:
            break  # merges are made for the types and columns that tables are created with
    return Plan(definition, steps, found)


def _change(model: Model, verb: Append | Merge) -> str:
    """Changes the model; returns what happened."""
    before = list(model.rows)
    try:
        found = model.effect(verb) if isinstance(verb, Append) else effect(model, verb)
    except Refused as refused:
        return of_refusal(refused)
    finally:
        assert model.rows == before
    _adds_up(before, found)
    apply(model, found)
    return "nothing" if found.is_nothing else "something"


def _adds_up(before: list[Row], found: Effect) -> None:
    """The parts of an effect of the model agree with each other."""
    assert len(found.after) == len(before) + len(found.inserts) - len(found.deletes)
    assert len(found.preimages) == len(found.postimages)
    if not isinstance(found, MergeEffect):
        return
    assert len(found.preimages) == found.metrics["numTargetRowsUpdated"]
    for change, rows in (("Updated", found.preimages), ("Deleted", found.deletes)):
        parts = [found.metrics[f"numTargetRows{kind}{change}"] for kind in ("Matched", "NotMatchedBySource")]
        assert sum(parts) == len(rows)
