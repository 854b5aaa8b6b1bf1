"""The watch detects secrets in every output."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import planted
from .test_panics import pytest_in

WATCHED = """
import logging, subprocess, sys, warnings
import pytest
import deltaic

SECRET = "PlAn" + "TeD-here"

def test_an_error_that_no_client_sees():
    deltaic.StorageError("the store failed", context={"url": f"https://x/?sig={SECRET}"})

def test_a_hint():
    deltaic.StorageError("the store failed", hint=SECRET)

def test_a_value_error():
    with pytest.raises(ValueError):
        raise ValueError(SECRET)

def test_a_cause():
    with pytest.raises(ValueError):
        try:
            raise OSError(SECRET)
        except OSError as error:
            raise ValueError("no") from error

def test_a_warning():
    with pytest.warns(deltaic.DeltaicWarning):
        warnings.warn(deltaic.DeltaicWarning(SECRET))

def test_a_log():
    logging.getLogger("any").debug("%s", SECRET)
    logging.getLogger("any").warning("%s", SECRET)

def test_printed_output():
    print(SECRET)

def test_printed_errors():
    print(SECRET, file=sys.stderr)

def test_a_subprocess():
    subprocess.run([sys.executable, "-c", "import sys; print(sys.argv[1])", SECRET], capture_output=True)

def test_a_repr():
    deltaic.Table(f"/tmp/{SECRET}")

def test_a_traceback():
    assert not SECRET

def test_a_credential_that_no_client_knows():
    deltaic.Table("s3://b/t", storage_options={"aws_region": "r", "aws_secret_access_key": "wJalrXUtnFEMI"})

def test_another_that_no_client_knows():
    options = {"fs.azure.sas.c.acc.dfs.core.windows.net": "sv=1&sig=abcdefgh"}
    deltaic.Table.exists("abfss://c@acc.dfs.core.windows.net/t?", storage_options=options)

def test_locations_of_credentials():
    options = {"aws_web_identity_token_file": "/run/token", "aws_access_key_id": "short"}
    with pytest.raises(ValueError):
        deltaic.Table("s3://b/t?", storage_options=options)

def test_the_environment_is_planted():
    import os
    assert all(os.environ[name] for name in ("AWS_SECRET_ACCESS_KEY", "AZURE_STORAGE_ACCOUNT_KEY"))

def test_innocent():
    print("nothing")
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_the_watch_fails_a_test_that_reports(tmp_path: Path, processes: str) -> None:
    (tmp_path / "test_watched.py").write_text(WATCHED)
    said = pytest_in(tmp_path, "tests.boundary.secret_watch", "-n", processes)
    assert "13 failed, 3 passed" in said
    assert "a planted secret stands in an error (StorageError)" in said
    assert "the option aws_secret_access_key of a test has a value that this watch does not know" in said
    assert "the option fs.azure.sas.c.acc.dfs.core.windows.net of a test" in said
    # The watch itself prints none.
    assert "TeD-here" not in said


def test_every_planted_value_is_known_by_a_mark() -> None:
    for name, value in planted.ENVIRONMENT.items():
        assert planted.found_in(value), name
