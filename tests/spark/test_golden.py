"""Every reference table that deltaic reads has the same rows when Spark reads it natively, or is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.reference import GOLDEN, reference
from tests.golden.rows import difference
from tests.golden.test_golden import as_read, padded
from tests.golden.variants import holds_variants

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXPECTATIONS = Path(__file__).parents[1] / "golden" / "expectations.json"
VERDICTS: dict[str, str] = json.loads(EXPECTATIONS.read_text()) if EXPECTATIONS.exists() else {}
# A table that the reference has no rows of says nothing here.
READ = [
    name
    for name, verdict in VERDICTS.items()
    if verdict == "read" and "@" not in name and (not GOLDEN.is_dir() or reference(name).latest.rows)
]


def beyond_spark(snapshot: deltaic.Snapshot) -> str | None:
    """What no native scan expresses."""
    if snapshot.properties.get("delta.columnMapping.mode") == "id":
        return "found by ids"
    return "type variant" if holds_variants(json.loads(snapshot.schema.to_json())) else None


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@pytest.mark.skipif(not GOLDEN.is_dir(), reason="../shared/golden is not beside the project")
@pytest.mark.parametrize("name", READ)
def test_table(spark: SparkSession, tmp_path: Path, name: str) -> None:
    known = reference(name)
    # Hadoop checks its hidden checksums (.<name>.crc), of which a few are stale.
    copy = shutil.copytree(known.folder, tmp_path / "t", ignore=shutil.ignore_patterns(".*.crc"))
    beyond = beyond_spark(deltaic.Table(copy).snapshot())
    frame = ds.read(spark).load(copy)
    if beyond:
        assert beyond in ds.explain(frame)
        assert "data source" in ds.explain(frame)
    else:
        assert "native" in ds.explain(frame)
    rows = frame.toArrow()
    assert difference(padded(rows, known.schema), as_read(known.latest, rows)) is None
