"""Every reference table that deltaic reads has the same rows by `deltaic.spark.read`, in every version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.reference import GOLDEN, reference
from tests.golden.rows import difference

from .reference_rows import READ, arrow_of, beyond_spark, older_versions, prove, without_stale_checksums

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

needs_golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason="missing: ../shared/golden beside the project")
OLDER = older_versions()
ROW_IDS = [name for name in READ if (GOLDEN / name / "expected" / "row_ids").is_dir()]


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@needs_golden
@pytest.mark.parametrize("name", READ)
def test_table(spark: SparkSession, tmp_path: Path, name: str) -> None:
    known = reference(name)
    copy = without_stale_checksums(known.folder, tmp_path)
    snapshot = deltaic.Table(copy).snapshot()
    frame = ds.read(spark).load(copy)
    way = ds.explain(frame).splitlines()[1]
    if beyond := beyond_spark(snapshot):
        assert "data source" in way
        assert beyond in way
    else:
        assert "native" in way
    prove(known, known.latest, arrow_of(frame), snapshot.schema.to_json())


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@needs_golden
@pytest.mark.parametrize(("name", "version"), OLDER)
def test_older_version(spark: SparkSession, tmp_path: Path, name: str, version: int) -> None:
    known = reference(name)
    copy = without_stale_checksums(known.folder, tmp_path)
    schema = deltaic.Table(copy).snapshot(version=version).schema.to_json()
    frame = ds.read(spark).option("versionAsOf", version).load(copy)
    prove(known, known.older[version], arrow_of(frame), schema)


@needs_golden
@pytest.mark.parametrize("name", ROW_IDS)
def test_row_ids(spark: SparkSession, name: str) -> None:
    """The same as the core returns, which the golden tests compare with delta-spark.

    protocol: reader-requirements-for-row-tracking.1
    """
    folder = reference(name).folder
    frame = ds.read(spark).option("rowIds", True).load(folder)
    assert "native" in ds.explain(frame)
    ours = deltaic.Table(folder).snapshot().scan(row_ids=True).to_arrow()
    assert difference(frame.toArrow(), ours) is None


@needs_golden
def test_tables_with_row_ids_are_there() -> None:
    assert len(ROW_IDS) >= 4
