"""Each heading of the protocol with a requirement has a test in `tests/protocol`."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import pytest

from tests.evidence.claims import claims_in

TOP = Path(__file__).resolve().parents[2]
REQUIREMENTS = TOP.parent / "shared" / "protocol"
TABLES = ("requirements.tsv", "requirements-beyond.tsv")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.skipif(not REQUIREMENTS.is_dir(), reason="the requirements are not next to the project")
def test_each_heading_has_a_test() -> None:
    excepted = {row["id"] for row in rows(TOP / "tests" / "requirements_exceptions.tsv")}
    headings: dict[str, set[str]] = defaultdict(set)
    for name in TABLES:
        for row in rows(REQUIREMENTS / name):
            if row["id"] not in excepted:
                headings[row["section"]].add(row["id"])
    tested = {claim.id for claim in claims_in(TOP, ["tests/protocol"]) if claim.test}
    missing = {heading for heading, named in headings.items() if not named & tested}
    assert not missing, "no test in tests/protocol names an id of: " + ", ".join(sorted(missing))
