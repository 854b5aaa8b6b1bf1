"""Memory, requests and bytes read for a large table are proportional to its size.

All operations that read a whole log run on every table at full size and at a tenth of it.
"""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from . import large_tables as large
from .counting import Bound, Cost, cost_of, files_of

# Growth of the cost for ten times the size: buffers double, and parts are concatenated once.
GROWTH = 16
# Fixed allowance in bytes, requests and bytes read: the first read of a small file returns all of it, and
# further passes need no request.
SPARE = Cost(1 << 20, 8, 1 << 20)
# JSON is kept almost as it is; rows of compressed Parquet need a multiple of their size.
TEXT = Bound(peak_per_byte=3, requests_per_file=2.5, read_per_byte=2.5)
PARQUET = Bound(peak_per_byte=12, requests_per_file=2.5, read_per_byte=2.5)
# A checkpoint may be due: it reads the live files again and writes them one row group at a time.
KEPT_UP_TEXT = Bound(peak_per_byte=6, requests_per_file=5, read_per_byte=4, peak=6 << 20, requests=16)
KEPT_UP_PARQUET = Bound(peak_per_byte=20, requests_per_file=5, read_per_byte=5, peak=6 << 20, requests=16)
# A check remembers each file and each path, and reads twice what it compares.
CHECKED_TEXT = Bound(peak_per_byte=5, requests_per_file=2.5, read_per_byte=3.5)
# A checkpoint's statistics are read once more, to be compared with those of the commits.
CHECKED_PARQUET = Bound(peak_per_byte=20, requests_per_file=2.5, read_per_byte=4.5)


@dataclass(frozen=True)
class Large:
    """How a table is made and its size, and the expected results of opening and checking it."""

    make: large.Maker
    number: int
    error: type[deltaic.DeltaicError] | None = None
    findings: tuple[str, ...] = ()
    is_parquet: bool = False


TABLES = [
    Large(large.one_commit, 20_000),
    Large(large.many_commits, 2_000),
    Large(large.checkpoint, 30_000, is_parquet=True),
    Large(large.long_partition_values, 2_000),
    Large(large.tombstones, 10_000),
    Large(large.broken_lines, 20_000, deltaic.CorruptLog, ("DAMAGED_COMMIT", "CANNOT_BE_OPENED")),
    Large(large.file_twice_at_the_end, 20_000, deltaic.CorruptLog, ("DUPLICATE_FILE", "CANNOT_BE_OPENED")),
    Large(large.nearly_named, 2_000, findings=("NEARLY_RIGHT_NAME",)),
    Large(large.broken_checkpoints, 1_000, findings=("BROKEN_CHECKPOINT",)),
]


@pytest.fixture(params=TABLES, ids=lambda table: table.make.__name__)
def table(request: pytest.FixtureRequest) -> Large:
    """Returns each table."""
    found: Large = request.param
    return found


class Made:
    """The tables that were made in a folder, each once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, table: Large, number: int) -> Path:
        """Returns the folder of a table, to be read only."""
        root = self.folder / table.make.__name__ / str(number)
        if not root.exists():
            table.make(root, number)
        return root


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("large"))


def keeps(
    table: Large,
    made: Made,
    verb: Callable[[Path], object],
    text: Bound,
    parquet: Bound,
    *,
    copy_to: Path | None = None,
) -> None:
    """Asserts that the cost of an operation is proportional to the table, and grows accordingly.

    An operation that writes gets a copy of the table.
    """
    bound = parquet if table.is_parquet else text
    costs: list[Cost] = []
    for number in (table.number // 10, table.number):
        root = made(table, number)
        if copy_to is not None:
            root = Path(shutil.copytree(root, copy_to / str(number)))
        cost = cost_of(lambda root=root: verb(root))
        bound.keeps(cost, root)
        costs.append(cost)
    for small, whole, spare in zip(*costs, SPARE, strict=True):
        assert whole <= GROWTH * small + spare, costs


def opens(table: Large, verb: Callable[[deltaic.Table], object]) -> Callable[[Path], None]:
    """Returns the operation, which must raise the table's error if it has one."""

    def meet(root: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if table.error is None:
                verb(deltaic.Table(root))
                return
            with pytest.raises(table.error):
                verb(deltaic.Table(root))

    return meet


def test_a_large_table_is_opened_in_bounds(made: Made, table: Large) -> None:
    keeps(table, made, opens(table, deltaic.Table.snapshot), TEXT, PARQUET)


def test_files_of_a_large_table_are_selected_in_bounds(made: Made, table: Large) -> None:
    def select(of: deltaic.Table) -> None:
        of.snapshot().files(predicate="id = 5 AND day = '2026-11-05'")

    keeps(table, made, opens(table, select), TEXT, PARQUET)


def test_an_append_to_a_large_table_retains_its_bounds(made: Made, tmp_path: Path, table: Large) -> None:
    def append(of: deltaic.Table) -> None:
        of.append(pa.table({"id": [1], "name": ["x"]}), upkeep=False)

    keeps(table, made, opens(table, append), TEXT, PARQUET, copy_to=tmp_path)


def test_the_maintenance_of_a_large_table_retains_its_bounds(
    made: Made, tmp_path: Path, table: Large
) -> None:
    def append(of: deltaic.Table) -> None:
        of.append(pa.table({"id": [1], "name": ["x"]}))

    keeps(table, made, opens(table, append), KEPT_UP_TEXT, KEPT_UP_PARQUET, copy_to=tmp_path)


def test_a_history_of_a_large_table_is_read_in_bounds(made: Made, table: Large) -> None:
    def history(root: Path) -> None:
        # It reads fewer kinds of actions, and may not find the damage.
        with suppress(table.error or ()):
            deltaic.Table(root).history()

    keeps(table, made, history, TEXT, PARQUET)


def test_a_check_of_a_large_table_retains_its_bounds(made: Made, table: Large) -> None:
    def check(root: Path) -> None:
        report = deltaic.Table(root).check()
        assert set(report.counts) == set(table.findings)

    keeps(table, made, check, CHECKED_TEXT, CHECKED_PARQUET)


def test_the_tables_are_large(made: Made, table: Large) -> None:
    size = sum(path.stat().st_size for path in files_of(made(table, table.number)))
    assert 500_000 < size < 10_000_000
