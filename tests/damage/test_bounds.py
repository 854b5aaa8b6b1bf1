"""No damage costs memory or requests out of proportion to the table: both are counted, neither is timed.

A development build counts what is allocated and what stores are asked (the feature `witness`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import deltaic
from deltaic import _rust

from . import broken
from .case import Case, Survivor
from .cases import EVERY

# For each byte of the table, and besides: a line costs some four times its length, one of small values more.
BYTES_PER_BYTE = 8
BYTES = 8 << 20
# For each character of a predicate: a bracket becomes a token.
BYTES_PER_CHARACTER = 300
# For each file below the table's root, and besides.
REQUESTS_PER_FILE = 3
REQUESTS = 8
# Questions that are long themselves, in characters.
LONG_QUESTIONS = {"a deep predicate": 100_006}


def begun() -> Callable[[], tuple[int, int, int]]:
    """Begins to count; what comes back tells the most bytes at a time, the requests, and the bytes read."""
    reset = getattr(_rust, "witness_reset", None)
    if reset is None:
        assert not os.environ.get("CI"), "the extension that CI builds can count"
        pytest.skip("this build of the extension does not count: make develop makes one that does")
    reset()
    counted: Callable[[], tuple[int, int, int]] = vars(_rust)["witness"]
    return counted


def files_of(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else []


def meet(root: Path, case: Case | Survivor) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(case, Survivor):
            deltaic.Table(root).snapshot()
            return
        with pytest.raises(case.error):
            case.meet(root)


def asked(case: Case | Survivor) -> int:
    return LONG_QUESTIONS.get(case.name, 0)


@pytest.mark.parametrize("case", EVERY, ids=[case.name[:60] for case in EVERY])
def test_damage_is_met_in_bounds(tmp_path: Path, case: Case | Survivor) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    case.damage(root)
    files = files_of(root)
    size = sum(path.stat().st_size for path in files)
    counted = begun()
    meet(root, case)
    peak, requests, read = counted()
    assert peak <= BYTES_PER_BYTE * size + BYTES + BYTES_PER_CHARACTER * asked(case), (peak, size)
    assert requests <= REQUESTS_PER_FILE * len(files) + REQUESTS, (requests, len(files))
    assert read <= REQUESTS_PER_FILE * size, (read, size)


def test_what_is_counted_is_there(tmp_path: Path) -> None:
    """An open costs a listing, a look for the hint and a read of each commit, and some memory for it."""
    root = tmp_path / "t"
    broken.healthy(root)
    commits = sum(path.stat().st_size for path in files_of(root / "_delta_log"))
    counted = begun()
    snapshot = deltaic.Table(root).snapshot()
    peak, requests, read = counted()
    assert snapshot.version == 1
    assert peak > commits
    assert requests == 4
    assert read == commits
