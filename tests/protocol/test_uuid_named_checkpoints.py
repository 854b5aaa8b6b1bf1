"""UUID-named checkpoints: which tables have them.

Headings *Problems with multi-part checkpoints* and *Handling Backward compatibility while moving to
UUID-named v2 Checkpoints*.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

V2 = {"delta.checkpointPolicy": "v2"}


@pytest.mark.parametrize("properties", [{}, V2], ids=["classic", "v2"])
def test_only_the_feature_gives_checkpoints_a_uuid(tmp_path: Path, properties: dict[str, str]) -> None:
    # protocol: handling-backward-compatibility-while-moving-to-uuid-named-v2-checkpoints.1,
    # problems-with-multi-part-checkpoints.4
    root = tmp_path / "t"
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64())]), properties=properties)
    name = Path(table.checkpoint().path).name
    uuid = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    kind = rf"\.checkpoint\.{uuid}\.(json|parquet)" if properties else r"\.checkpoint\.parquet"
    assert re.fullmatch(rf"0{{20}}{kind}", name)
