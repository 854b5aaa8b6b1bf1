"""Log compaction files do not change the state of a reference table, and faulty ones are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol import naive_log
from tests.protocol.handmade_log import add, metadata, protocol, remove

from .compaction_files import compaction, lines, take_away, whole_logs
from .opening import assert_says, copy_of_the_log, dated, needs_golden, opened


def compact(log: Path, first: int, last: int) -> None:
    """Writes the compaction of these commits, both included, as the protocol describes it.

    No file is written if there are no actions: a file without a line is considered incomplete.
    """
    actions = naive_log.reconciled(naive_log.commit(log, version) for version in range(first, last + 1))
    if actions:
        compaction(log, first, last).write_text(lines(actions))


def ranges(last: int) -> list[list[tuple[int, int]]]:
    """Returns sets of ranges: the whole log, its middle, adjacent, overlapping and nested ones."""
    middle = last // 2
    return [
        [(0, last)],
        [(1, last - 1)],
        [(0, middle), (middle + 1, last)],
        [(0, last - 1), (1, last)],
        [(0, last), (1, middle)],
        [(version, version + 1) for version in range(max(0, last - 20), last, 2)],
    ]


@needs_golden
@pytest.mark.parametrize("name", whole_logs())
def test_with_and_without(name: str, tmp_path: Path) -> None:
    root = copy_of_the_log(name, tmp_path / "t")
    log = root / "_delta_log"
    last = naive_log.newest(log)
    expected = dated(opened(root))
    assert_says(expected, naive_log.replay_log(log))
    older = dated(opened(root, last - 1))
    take_away(log)
    assert dated(opened(root)) == expected
    for spans in ranges(last):
        for first, end in spans:
            if first < end:
                compact(log, first, end)
        snapshot = opened(root)
        assert dated(snapshot) == expected, f"with {spans}"
        assert not [text for text in snapshot.warnings if "compact" in text]
        assert dated(opened(root, last - 1)) == older, f"with {spans}"
        take_away(log)


@needs_golden
@pytest.mark.parametrize("name", whole_logs())
def test_by_compactions_alone(name: str, tmp_path: Path) -> None:
    """There is no checkpoint, so that the state may come from compactions only."""
    root = copy_of_the_log(name, tmp_path / "t")
    log = root / "_delta_log"
    for path in (*log.glob("*.checkpoint*"), *log.glob("_last_checkpoint"), *log.glob("*.crc")):
        path.unlink()
    take_away(log)
    last = naive_log.newest(log)
    expected = dated(opened(root))
    assert_says(expected, naive_log.replay_log(log))
    for spans in ranges(last):
        for first, end in spans:
            if first < end:
                compact(log, first, end)
        assert dated(opened(root)) == expected, f"with {spans}"
        take_away(log)


def faults(log: Path, last: int) -> dict[str, str | bytes]:
    """Returns faulty contents for the compaction of the commits between the first and the last."""
    commits = [naive_log.commit(log, version) for version in range(1, last)]
    right = lines(naive_log.reconciled(commits))
    files = [action for commit in commits for action in commit if "add" in action]
    path = files[0]["add"]["path"] if files else "a.parquet"
    change = {"path": path, "partitionValues": {}, "size": 1, "dataChange": False}
    return {
        "empty": "",
        "cut within a line": right[:-10],
        "binary": b"PAR1" + bytes(range(256)),
        "a list": "[]\n",
        "not reconciled": lines([add("twice"), add("twice")]) + right,
        "a file both live and removed": right + lines([add("both"), remove("both")]),
        "two metadata": right + lines([metadata(), metadata()]),
        "two protocols": right + lines([protocol(), protocol()]),
        "provenance": right + lines([{"commitInfo": {"operation": "WRITE"}}]),
        "change data": right + lines([{"cdc": change}]),
        "an action that is none": right + '{"add":"a"}\n',
    }


@needs_golden
@pytest.mark.parametrize("name", whole_logs())
def test_a_faulty_one_is_passed_over(name: str, tmp_path: Path) -> None:
    root = copy_of_the_log(name, tmp_path / "t")
    log = root / "_delta_log"
    for path in (*log.glob("*.checkpoint*"), *log.glob("_last_checkpoint")):
        path.unlink()
    take_away(log)
    last = naive_log.newest(log)
    expected = dated(opened(root))
    for fault, body in faults(log, last).items():
        path = compaction(log, 1, last - 1)
        path.write_bytes(body if isinstance(body, bytes) else body.encode())
        assert dated(opened(root)) == expected, fault
        path.unlink()
    for first, end in ((last, 0), (last, last + 3), (last + 1, last + 2)):
        compaction(log, first, end).write_text(lines([add("from nowhere")]))
        assert dated(opened(root)) == expected, f"of {first} to {end}"
        take_away(log)
