"""In an enabled session, `format("delta")` and a path in SQL read reference tables as `ds.read` does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.reference import GOLDEN, reference

from .reference_rows import READ, arrow_of, prove, without_stale_checksums

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="missing: ../shared/golden beside the project")


@pytest.fixture(scope="module")
def sql(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    for name, value in spark.conf.getAll.items():
        if name.startswith("spark.sql.session"):
            session.conf.set(name, value)
    return ds.enable(session)


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@pytest.mark.parametrize("name", READ)
def test_table(sql: SparkSession, tmp_path: Path, name: str) -> None:
    known = reference(name)
    copy = without_stale_checksums(known.folder, tmp_path)
    read = ds.read(sql).load(copy)
    by_format = sql.read.format("delta").load(str(copy))
    by_name = sql.table(f"delta.`{copy}`")
    for frame in (by_format, by_name):
        # test_golden compares the rows of this plan. That of deleted rows and of the data source is another
        # one each time.
        if not frame.sameSemantics(read):
            prove(known, known.latest, arrow_of(frame), deltaic.Table(copy).snapshot().schema.to_json())
    ways = {ds.explain(frame).splitlines()[1].split(":")[0] for frame in (read, by_format, by_name)}
    assert len(ways) == 1
