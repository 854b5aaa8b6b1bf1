"""JUnit reports, one per part of the test run: the results of every test, Python and Rust alike.

A Python test is recorded by its module (`tests.api.test_scan`) and its name with parameters; a Rust test by
the root file of its binary (`rust/log/src/lib.rs`) and its path (`segment::tests::gaps`).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Result:
    """The outcome of one test in one run. The reason is that of a skip, or what a failed test printed."""

    group: str
    name: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """The results of one part, and the time when they were written (seconds since 1970)."""

    part: str
    written: float
    results: list[Result]


def read_report(path: Path) -> list[Result]:
    """Reads the results of a JUnit file; an expected failure counts as skipped."""
    # Our own file: parsing it with the standard library is safe.
    return [_result(case) for case in ET.parse(path).iter("testcase")]  # noqa: S314


def _result(case: ET.Element) -> Result:
    group, name = case.get("classname", ""), case.get("name", "")
    failures = [*case.iter("failure"), *case.iter("error")]
    if failures:
        printed = [failure.text or failure.get("message") or "" for failure in failures]
        return Result(group, name, FAILED, "\n".join(printed).strip())
    skip = case.find("skipped")
    if skip is None:
        return Result(group, name, PASSED)
    expected = "expected to fail: " if skip.get("type") == "pytest.xfail" else ""
    return Result(group, name, SKIPPED, expected + (skip.get("message") or "no reason given"))


def write_report(path: Path, results: Iterable[Result]) -> None:
    """Writes results as JUnit XML."""
    suite = ET.Element("testsuite", name=path.stem)
    for result in results:
        case = ET.SubElement(suite, "testcase", classname=result.group, name=result.name)
        if result.outcome == FAILED:
            ET.SubElement(case, "failure").text = NOT_IN_XML.sub("\ufffd", result.reason)
        elif result.outcome == SKIPPED:
            ET.SubElement(case, "skipped", message=result.reason)
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def reports_in(folder: Path) -> Iterator[Report]:
    """Reads all reports of a folder, by name."""
    for path in sorted(folder.glob("*.xml")):
        yield Report(path.stem, path.stat().st_mtime, read_report(path))
