"""A random program as a value: a table and steps, which run again without some of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from tests.seed import generator

from . import alterations, features
from .alterations import Alter
from .definitions import Definition
from .expressions import Expression
from .merges.effect import apply
from .model import Model, Refused
from .random_definition import random_definition
from .steps import Steps
from .verbs import Maintain, RowVerb

STEPS = 5
PREDICATES = 3


@dataclass(frozen=True)
class Step:
    """A verb, and what is done to the table after it."""

    verb: RowVerb | Maintain | Alter
    conditions: list[Expression]
    """The predicates of scans."""
    reopens: bool

    def __str__(self) -> str:
        return str(self.verb)


@dataclass(frozen=True)
class Plan:
    """The table and the steps of a program."""

    definition: Definition
    steps: list[Step]
    last: Definition
    """The table after the steps."""
    features: set[str]
    """What occurs in it."""


def planned(number: int) -> Plan:
    """Returns a program. It depends on the model alone, never on what deltaic does."""
    chance = generator("programs", number)
    definition = random_definition(chance)
    model = Model(definition)
    found = {*features.of_definition(definition)}
    steps: list[Step] = []
    for verb in _verbs(model, chance):
        found |= {*features.of_verb(verb)}
        try:
            _change(model, verb, chance)
        except Refused as refused:
            found.add(features.of_refusal(refused))
        conditions = [Steps(model, chance).condition() for _ in range(PREDICATES)]
        steps.append(Step(verb, conditions, chance.random() < 0.3))
    return Plan(definition, steps, model.definition, found)


def _verbs(model: Model, chance: random.Random) -> Iterator[RowVerb | Maintain | Alter]:
    """Yields verbs for the rows that the model has then."""
    steps = Steps(model, chance)
    yield steps.first()
    for _ in range(chance.randint(1, STEPS)):
        yield steps.next()


def _change(model: Model, verb: RowVerb | Maintain | Alter, chance: random.Random) -> None:
    """Changes the model; raises `Refused`."""
    if isinstance(verb, Alter):
        alterations.apply(model, verb, chance)
    elif not isinstance(verb, Maintain):
        apply(model, alterations.effect(model, verb, chance))
