"""The expressions that are compared, by family: each over the columns of `values.table()`."""

from __future__ import annotations

from .of_conditions import OF_CONDITIONS
from .of_numbers import OF_NUMBERS
from .of_texts import OF_TEXTS
from .of_times import OF_TIMES

FAMILIES = OF_NUMBERS | OF_CONDITIONS | OF_TEXTS | OF_TIMES
