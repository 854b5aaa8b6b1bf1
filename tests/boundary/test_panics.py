"""An internal fault is an `InternalError` with its location, never the end of the process or of the data."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import _rust

from . import panic_watch
from .scripts import run

pytestmark = pytest.mark.breaks_off
PLACE = "rust/python/src/for_tests/provoke.rs:"


class Stream:
    """An object that exports an Arrow stream, as pyarrow expects it."""

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, _: object = None) -> object:
        return self.capsule


@pytest.mark.parametrize("at", ["call", "wait"])
def test_a_call_that_breaks_off_states_where(at: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(deltaic.InternalError, match="Internal error in deltaic") as caught:
        _rust.provoke(at)
    error = caught.value
    assert str(error.context["place"]).startswith(PLACE)
    assert "report" in (error.hint or "")
    # The panic message is not shown, since it may contain anything; and nothing is printed outside of Python.
    assert "provoked" not in str(error)
    assert capfd.readouterr() == ("", "")
    assert panic_watch.fresh()[0].startswith(PLACE)


@pytest.mark.parametrize("at", ["task", "blocking"])
def test_background_failures_are_recorded(at: str, root: Path) -> None:
    panic_watch.fresh()
    _rust.provoke(at)
    assert [place.startswith(PLACE) for place in panic_watch.fresh()] == [True]
    assert deltaic.Table(root).snapshot().num_rows == 6


def test_a_stream_that_breaks_off_is_an_error_of_any_client_reads_it() -> None:
    with pytest.raises(pa.ArrowInvalid, match=f"InternalError: .*{PLACE}"):
        pa.table(Stream(_rust.provoke("next")))
    reader = pa.RecordBatchReader.from_stream(Stream(_rust.provoke("next")))
    with pytest.raises(pa.ArrowInvalid, match="InternalError"):
        reader.read_next_batch()


def test_an_iterator_that_breaks_off_does_not_end() -> None:
    batches = _rust.provoke("batches")
    with pytest.raises(deltaic.InternalError) as caught:
        next(batches)
    assert str(caught.value.context["place"]).startswith(PLACE)
    # A StopIteration would look like the end of the data.
    with pytest.raises(RuntimeError, match="start the scan again"):
        next(batches)


@pytest.mark.parametrize("at", ["drop", "batches-drop"])
def test_a_fault_in_putting_a_stream_away_is_reported_to_the_hook(
    at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[BaseException | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_value))
    stream = _rust.provoke(at)
    del stream
    gc.collect()
    [error] = told
    assert isinstance(error, deltaic.InternalError)
    assert str(error.context["place"]).startswith(PLACE)


def test_the_process_lives_on_after_every_fault(root: Path) -> None:
    said = run(
        """
        sys.unraisablehook = lambda _: None
        class Stream:
            def __init__(self, capsule): self.capsule = capsule
            def __arrow_c_stream__(self, _=None): return self.capsule
        def everything(_=None):
            for at in ["call", "wait", "task", "blocking", "next", "drop", "batches", "batches-drop"]:
                try:
                    made = _rust.provoke(at)
                    if at in ("next", "drop"): pa.table(Stream(made))
                    if at == "batches": next(made)
                except (deltaic.InternalError, pa.ArrowInvalid): pass
                made = None
        threads = [threading.Thread(target=everything) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        say(str(deltaic.Table(sys.argv[1]).snapshot().scan().to_arrow().num_rows))
        say(str(len(_rust.panics())))
        """,
        str(root),
    )
    assert said[0] == "6"
    assert int(said[1]) >= 4 * 8


WATCHED = """
import threading
import pytest
from deltaic import _rust

def test_reported():
    with pytest.raises(Exception):
        _rust.provoke("call")

def test_untold():
    _rust.provoke("task")

def test_on_a_thread():
    thread = threading.Thread(target=lambda: _rust.provoke("blocking"))
    thread.start()
    thread.join()

@pytest.mark.breaks_off
def test_by_intent():
    _rust.provoke("task")

def test_innocent():
    pass
"""


def test_the_watch_fails_a_test_in_which_deltaic_breaks_off(tmp_path: Path) -> None:
    (tmp_path / "test_watched.py").write_text(WATCHED)
    said = pytest_in(tmp_path, "tests.boundary.panic_watch")
    assert "3 failed, 2 passed" in said
    assert "broke off at rust/python/src/for_tests/provoke.rs" in said


def pytest_in(folder: Path, plugin: str, *arguments: str) -> str:
    """Returns pytest's output for the tests in a folder, with one of the watches."""
    command = [sys.executable, "-m", "pytest", "-p", plugin, "--rootdir", ".", "-c", os.devnull, "-q"]
    top = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(Path(deltaic.__file__).parents[1]), str(top)])
    done = subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr
