"""Every reference table that deltaic reads has the same rows when Spark reads it by a native scan."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic.spark as ds
from deltaic import UnsupportedFeature
from tests.golden.reference import GOLDEN, reference
from tests.golden.rows import difference
from tests.golden.test_golden import as_read, padded
from tests.golden.variants import holds_variants

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXPECTATIONS = Path(__file__).parents[1] / "golden" / "expectations.json"
VERDICTS: dict[str, str] = json.loads(EXPECTATIONS.read_text()) if EXPECTATIONS.exists() else {}
READ = [name for name, verdict in VERDICTS.items() if verdict == "read" and "@" not in name]


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@pytest.mark.skipif(not GOLDEN.is_dir(), reason="../shared/golden is not beside the project")
@pytest.mark.parametrize("name", READ)
def test_table(spark: SparkSession, tmp_path: Path, name: str) -> None:
    known = reference(name)
    if known.latest.rows is None:
        pytest.skip("the reference has no rows for this table")
    # Hadoop checks its hidden checksums (.<name>.crc), of which a few are stale.
    copy = shutil.copytree(known.folder, tmp_path / "t", ignore=shutil.ignore_patterns(".*.crc"))
    if holds_variants(known.schema):
        with pytest.raises(UnsupportedFeature, match="has type variant"):
            ds.read(spark).load(copy)
        return
    rows = ds.read(spark).load(copy).toArrow()
    assert difference(padded(rows, known.schema), as_read(known.latest, rows)) is None
