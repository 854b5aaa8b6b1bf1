"""What a data file claims of itself is not believed: how many rows, where they are, what they unpack to."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.border import panic_watch

from . import broken
from .cases_of_data import by_hand
from .counting import cost_of
from .test_bounds import MEETING

FEWER = "the rows that the pages hold are read, whatever the footer says; a count goes by the footer"


@pytest.mark.xfail(strict=True, reason=FEWER)
@pytest.mark.parametrize("rows", [0, 1, 3, 2**40, 2**63 - 1])
def test_a_file_whose_footer_counts_other_rows_than_its_pages(tmp_path: Path, rows: int) -> None:
    """It has lost rows, or found some: it is damaged, and is not read as if it were not."""
    root = tmp_path / "t"
    broken.healthy(root)
    by_hand(claims={"rows": rows})(root)
    for meet in (broken.scanned, broken.projected("id"), broken.selected("id > 1")):
        with pytest.raises(deltaic.CorruptData) as caught:
            meet(root)
        assert caught.value.context["path"] == broken.FIRST_FILE


@pytest.mark.xfail(strict=True, reason="room is made for what a page says that it unpacks to")
@pytest.mark.parametrize("codec", ["snappy", "gzip", "zstd", "lz4_raw"])
def test_a_page_gets_room_for_what_is_in_it(tmp_path: Path, codec: str) -> None:
    """It may be read or refused, in proportion to its bytes."""
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
@pytest.mark.xfail(strict=True, reason="the library panics; what catches that does not know the version")
@pytest.mark.parametrize("claim", [{"at": -1}, {"packed": -(2**30)}])
def test_columns_that_start_before_their_file(tmp_path: Path, claim: dict[str, int]) -> None:
    """They are damage like any other, and nothing breaks off."""
    root = tmp_path / "t"
    broken.healthy(root)
    by_hand(claims=claim)(root)
    panic_watch.fresh()
    with pytest.raises(deltaic.CorruptData) as caught:
        broken.scanned(root)
    assert panic_watch.fresh() == []
    assert (caught.value.context["path"], caught.value.context["version"]) == (broken.FIRST_FILE, 1)
