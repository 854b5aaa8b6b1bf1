"""Every reference table is examined, or raises a typed error."""

from __future__ import annotations

import json
import warnings

import pytest

import deltaic

from .opening import NAMES, NOT_OPENED, needs_golden
from .reference import reference


@needs_golden
@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_examined(name: str) -> None:
    table = deltaic.Table(reference(name).folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        if name in NOT_OPENED:
            with pytest.raises(NOT_OPENED[name]):
                table.advise()
            return
        snapshot = table.snapshot()
        flat = [name for name in snapshot.schema.names if name]
        advice = table.advise(flat)
        page = table.html_report(flat)
    assert advice.version == snapshot.version
    assert advice.num_files == snapshot.num_files
    assert page.endswith("</html>\n")
    assert {"delta-spark", "Trino"} <= {client.name for client in advice.clients}
    # Locations and texts in code are not divided.
    assert [line for line in str(advice).splitlines() if len(line) > 80 and not {"/", '"'} & set(line)] == []
    json.dumps(advice.to_dict(), allow_nan=False)
    for column in advice.columns:
        if column.average_depth is not None:
            assert 1 <= column.average_depth <= (column.maximum_depth or 0) <= column.files
