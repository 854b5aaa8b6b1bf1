"""Wrong claims of a data file about itself: number of rows, their position and uncompressed size."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.boundary import panic_watch
from tests.protocol.handmade_parquet import Long, thrift

from . import broken
from .cases_of_data import by_hand
from .counting import MEETING, cost_of


@pytest.mark.parametrize("rows", [0, 1, 3, 2**40, 2**63 - 1])
def test_a_file_whose_footer_counts_other_rows_than_its_pages(tmp_path: Path, rows: int) -> None:
    """Rows are missing or added: the file is damaged and must not be read."""
    root = tmp_path / "t"
    broken.healthy(root)
    by_hand(claims={"rows": rows})(root)
    for meet in (broken.scanned, broken.projected("id"), broken.selected("id > 1")):
        with pytest.raises(deltaic.CorruptData) as caught:
            meet(root)
        assert caught.value.context["path"] == broken.FIRST_FILE


@pytest.mark.parametrize("codec", ["snappy", "gzip", "zstd", "lz4_raw"])
def test_a_page_gets_room_for_what_is_in_it(tmp_path: Path, codec: str) -> None:
    """It may be read or refused, with memory in proportion to its bytes."""
    root = tmp_path / "t"
    broken.healthy(root)
    number = {"snappy": 1, "gzip": 2, "zstd": 6, "lz4_raw": 7}[codec]
    by_hand(
        codec=number, compress=lambda body: pa.compress(body, codec, asbytes=True), claims={"size": 1 << 28}
    )(root)

    def meet() -> None:
        with suppress(deltaic.CorruptData):
            broken.scanned(root)

    MEETING.keeps(cost_of(meet), root)


@pytest.mark.breaks_off
@pytest.mark.parametrize("claim", [{"at": -1}, {"packed": -(2**30)}])
def test_columns_that_start_before_their_file(tmp_path: Path, claim: dict[str, int]) -> None:
    """An ordinary error, without a panic."""
    root = tmp_path / "t"
    broken.healthy(root)
    by_hand(claims=claim)(root)
    panic_watch.fresh()
    with pytest.raises(deltaic.CorruptData) as caught:
        broken.scanned(root)
    assert panic_watch.fresh() == []
    assert (caught.value.context["path"], caught.value.context["version"]) == (broken.FIRST_FILE, 1)


def deep_file(levels: int) -> bytes:
    """Returns a file of one row whose only value is within the given number of structs."""
    names = ["a", *["g"] * (levels - 1), "x"]
    elements: list[dict[int, object]] = [{4: "schema", 5: 1}]
    elements += [{3: 0, 4: name, 5: 1} for name in names[:-1]]
    elements.append({1: 2, 3: 0, 4: "x"})
    page = thrift({1: 0, 2: 8, 3: 8, 5: {1: 1, 2: 0, 3: 3, 4: 3}}) + struct.pack("<q", 7)
    size = Long(len(page))
    column = {1: 2, 2: [0, 3], 3: names, 4: 0, 5: Long(1), 6: size, 7: size, 9: Long(4)}
    group = {1: [{2: Long(4), 3: column}], 2: size, 3: Long(1)}
    footer = thrift({1: 1, 2: elements, 3: Long(1), 4: [group], 6: "hand"})
    return b"PAR1" + page + footer + struct.pack("<I", len(footer)) + b"PAR1"


@pytest.mark.parametrize("levels", [600, 5_000, 100_000])
def test_a_schema_that_nests_without_end(tmp_path: Path, levels: int) -> None:
    """Readers recurse into the schema and the stack is limited, even if the column is not selected."""
    root = tmp_path / "t"
    broken.healthy(root)
    (root / broken.FIRST_FILE).write_bytes(deep_file(levels))
    for meet in (broken.scanned, broken.projected("id"), broken.selected("id > 1")):
        with pytest.raises(deltaic.CorruptData, match="nests deeper"):
            meet(root)
    assert not deltaic.Table(root).check(deep=True).is_healthy


@pytest.mark.parametrize("levels", [600, 100_000])
def test_a_checkpoint_that_nests_without_end(tmp_path: Path, levels: int) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    (root / f"_delta_log/{1:020}.checkpoint.parquet").write_bytes(deep_file(levels))
    with pytest.warns(deltaic.DeltaicWarning, match="nests deeper"):
        assert deltaic.Table(root).snapshot().num_files == 2


@pytest.mark.parametrize("codec", ["snappy", "gzip", "zstd", "lz4", "brotli"])
def test_a_page_may_unpack_to_very_much(tmp_path: Path, codec: str) -> None:
    """Four million zeros compress to a few bytes, which is valid."""
    root = tmp_path / "t"
    broken.healthy(root)
    zeros = pa.table({"id": pa.array([0], pa.int64()).take(pa.array([0] * (1 << 22), pa.int32()))})
    zeros = zeros.append_column("name", pa.array(["x"]).take(pa.array([0] * (1 << 22), pa.int32())))
    pq.write_table(
        zeros, root / broken.FIRST_FILE, compression=codec, use_dictionary=False, data_page_size=1 << 30
    )
    assert deltaic.Table(root).snapshot().scan(predicate="id = 0").count() == 1 << 22
