"""The plan that Spark prints for a DataFrame."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def plan_of(frame: DataFrame) -> str:
    with io.StringIO() as text, redirect_stdout(text):
        frame.explain()
        return text.getvalue()
