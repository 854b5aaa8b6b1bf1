"""Memory and requests remain proportional to the table for any damage when opening, appending or checking."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

import deltaic

from . import broken, check_cases
from .case import Case, Survivor
from .cases import EVERY
from .counting import MEETING, Bound, cost_of, files_of

APPENDING = Bound(peak_per_byte=8, requests_per_file=3, read_per_byte=3)
# A check inspects each value separately, and rereads a file for each comparison.
CHECKING = Bound(peak_per_byte=20, requests_per_file=4, read_per_byte=4)
# Each bracket of a predicate becomes a token.
BYTES_PER_CHARACTER = 300
# Length of predicates that are long themselves, in characters.
LONG_REQUESTS = {"a deep predicate": 100_006}

# The damage determines the cost, so that cases without damage are left out.
DAMAGED = [case for case in EVERY if case.damage is not broken.nothing]
NAMES = [case.name[:60] for case in DAMAGED]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A healthy table."""
    broken.healthy(tmp_path / "t")
    return tmp_path / "t"


@pytest.mark.parametrize("case", EVERY, ids=[case.name[:60] for case in EVERY])
def test_damage_is_met_in_bounds(root: Path, case: Case | Survivor) -> None:
    case.damage(root)
    cost = cost_of(lambda: meet(root, case))
    MEETING.keeps(cost, root, peak_besides=BYTES_PER_CHARACTER * LONG_REQUESTS.get(case.name, 0))


def meet(root: Path, case: Case | Survivor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(case, Survivor):
            broken.opened(root)
            return
        with pytest.raises(case.error):
            case.meet(root)


@pytest.mark.parametrize("case", DAMAGED, ids=NAMES)
def test_an_append_to_a_damaged_table_retains_its_bounds(root: Path, case: Case | Survivor) -> None:
    case.damage(root)
    APPENDING.keeps(cost_of(lambda: append(root, case)), root)


def append(root: Path, case: Case | Survivor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(case, Survivor):
            broken.appended(root)
            return
        # An append may not read damaged data files, and checks features before their use.
        with suppress(case.error, deltaic.UnsupportedFeature):
            broken.appended(root)


@pytest.mark.parametrize("case", DAMAGED, ids=NAMES)
def test_a_check_of_a_damaged_table_retains_its_bounds(root: Path, case: Case | Survivor) -> None:
    case.damage(root)
    CHECKING.keeps(cost_of(lambda: check(root, case)), root)


def check(root: Path, case: Case | Survivor) -> None:
    if isinstance(case, Case) and case.error is deltaic.TableNotFound:
        with pytest.raises(deltaic.TableNotFound):
            deltaic.Table(root).check(deep=True)
        return
    deltaic.Table(root).check(deep=True)


@pytest.mark.parametrize("case", check_cases.CASES, ids=[case.name for case in check_cases.CASES])
def test_a_check_is_bounded(root: Path, case: check_cases.Case) -> None:
    case.damage(root)
    CHECKING.keeps(cost_of(lambda: deltaic.Table(root).check(deep=True)), root)


def test_counts_agree_with_rows(root: Path) -> None:
    """Opening costs a listing, a request for the hint, a read of each commit, and memory for them."""
    commits = sum(path.stat().st_size for path in files_of(root / "_delta_log"))
    cost = cost_of(lambda: broken.opened(root))
    assert cost.peak > commits
    assert cost.requests == 4
    assert cost.read == commits


def test_an_append_costs_an_open_a_look_and_three_files(root: Path) -> None:
    """The data file, the commit and the checksum of the version; nothing is read again.

    One more request, on local disk only, where it is cheap, checks that the table was not replaced.
    """
    opening = cost_of(lambda: broken.opened(root))
    began = time.monotonic()
    appending = cost_of(lambda: broken.appended(root))
    # A commit that takes a second is verified by the log, which is read again.
    is_verified = time.monotonic() - began >= 1
    assert appending.requests == opening.requests + 1 + 3 or is_verified
    assert appending.read == opening.read or is_verified


def test_a_check_reads_each_commit_twice(root: Path) -> None:
    """First to check each line, then to open the table as a reader does."""
    commits = sum(path.stat().st_size for path in files_of(root / "_delta_log"))
    assert cost_of(lambda: deltaic.Table(root).check()).read == 2 * commits
