"""In CI, a test that is skipped for something that CI has to provide fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence.reports import read_report
from tests.repository.markdown import TOP
from tests.required import RELEASE_WHEEL

SKIPS = """
import pytest
from tests.required import skip_without_development_build

@pytest.fixture
def server():
    pytest.skip("missing: moto, the S3 server")

def test_server(server): ...
def test_in_body(): pytest.skip("missing: Java")
@pytest.mark.skipif(True, reason="missing: ../shared")
def test_mark(): ...
@pytest.mark.parametrize("name", [])
def test_empty(name): ...
def test_feature(): skip_without_development_build("witness")
def test_platform(): pytest.skip("only on Windows")
@pytest.mark.xfail(raises=ZeroDivisionError)
def test_expected(): 1 / 0
def test_passes(): ...
"""
MODULE = """
import pytest
pytest.importorskip("no_such_package", reason="missing: no_such_package")
def test_never(): ...
"""


def outcomes(folder: Path, source: str, **environment: str) -> dict[str, str]:
    """The outcome of each test of a module."""
    (folder / "test_module.py").write_text(source)
    report = folder / "report.xml"
    kept = {name: value for name, value in os.environ.items() if name not in {"CI", RELEASE_WHEEL}}
    command = [sys.executable, "-m", "pytest", "-p", "tests.required", "-q", "-c", os.devnull]
    command += ["--rootdir", str(folder), f"--junitxml={report}", "-o", "pythonpath=", str(folder)]
    environment = {**kept, "PYTHONPATH": str(TOP), **environment}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return {result.name: result.outcome for result in read_report(report)}


@pytest.mark.parametrize(("ci", "expected"), [("", "skipped"), ("true", "failed")])
def test_requirements_in_ci(tmp_path: Path, ci: str, expected: str) -> None:
    found = outcomes(tmp_path, SKIPS, CI=ci)
    required = {name for name, outcome in found.items() if outcome == expected}
    assert required >= {"test_server", "test_in_body", "test_mark", "test_empty[NOTSET]", "test_feature"}
    assert (found["test_platform"], found["test_expected"], found["test_passes"]) == (
        "skipped",
        "skipped",
        "passed",
    )


@pytest.mark.parametrize(("ci", "expected"), [("", "skipped"), ("true", "failed")])
def test_requirements_of_a_module_in_ci(tmp_path: Path, ci: str, expected: str) -> None:
    assert outcomes(tmp_path, MODULE, CI=ci) == {"test_module": expected}


def test_a_release_wheel_is_expected_to_lack_development_features(tmp_path: Path) -> None:
    found = outcomes(tmp_path, SKIPS, CI="true", **{RELEASE_WHEEL: "1"})
    assert (found["test_feature"], found["test_server"]) == ("skipped", "failed")
