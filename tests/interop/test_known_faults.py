"""The faults of `known_faults` still exist; what delta-spark has corrected need not be avoided any longer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .known_faults.fault import Fault
from .known_faults.table import FAULTS
from .programs import ERRORS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("fault", [one for one in FAULTS if one.program], ids=lambda one: one.name)
def test_a_fault_still_exists(spark: SparkSession, tmp_path: Path, fault: Fault) -> None:
    path = tmp_path / "t"
    *statements, last = [one.replace("{t}", f"delta.`{path}`") for one in fault.program]
    for statement in statements:
        spark.sql(statement).collect()
    if fault.error:
        with pytest.raises(ERRORS) as caught:
            spark.sql(last).collect()
        assert fault.error in str(caught.value)
        return
    spark.sql(last).collect()
    query = fault.query.replace("{t}", f"delta.`{path}`").replace("{path}", str(path))
    rows = tuple(tuple(row) for row in spark.sql(query).selectExpr(fault.column).collect())
    assert rows != fault.rows


def test_the_names_of_faults_differ() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert all(bool(fault.program) == bool(fault.error or fault.query) for fault in FAULTS)
