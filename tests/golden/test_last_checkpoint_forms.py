"""No content of `_last_checkpoint` changes the state of a reference table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.protocol import naive_log

from .opening import OPENED, assert_says, copy_of_the_log, dated, needs_golden, opened

FAR = 10**6


def hints(log: Path, own: bytes | None) -> Iterator[tuple[str, bytes]]:
    """Returns contents of the hint by name: valid, outdated, too new, corrupt."""
    bases = sorted(naive_log.checkpoints(log))
    last = naive_log.newest(log)
    for version in sorted({*bases[:1], *bases[-2:]}):
        yield f"of checkpoint {version}", hint(version)
    for version in sorted({0, last // 2, last} - set(bases)):
        yield f"of version {version}, that has no checkpoint", hint(version)
    yield "ahead of the log", hint(last + 1)
    yield "far ahead of the log", hint(FAR)
    base = bases[-1] if bases else 0
    yield "parts that there are not", hint(base, parts=7)
    yield "another UUID", hint(base, v2Checkpoint={"path": f"{base:020}.checkpoint.no-such.parquet"})
    yield "a wrong checksum", hint(base, checksum="0" * 32)
    yield "sizes that cannot be", hint(base, sizeInBytes=-1, numOfAddFiles=2**62)
    yield "another schema", hint(base, checkpointSchema={"type": "struct", "fields": []})
    for name, body in (("its own", own), ("a right one", hint(base))):
        if body:
            yield f"{name}, cut", body[:-3]
            yield f"{name}, with a NUL", body.replace(b"{", b"{\0", 1)
            yield f"{name}, twice", body + body
    yield "empty", b""
    yield "binary", bytes(range(256))


def hint(version: int, **others: object) -> bytes:
    return json.dumps({"version": version, "size": 1, **others}).encode()


@needs_golden
@pytest.mark.parametrize("name", OPENED)
def test_the_table_is_the_same(name: str, tmp_path: Path) -> None:
    root = copy_of_the_log(name, tmp_path / "t")
    log = root / "_delta_log"
    path = log / "_last_checkpoint"
    own = path.read_bytes() if path.exists() else None
    path.unlink(missing_ok=True)
    plain = dated(opened(root))
    assert_says(plain, naive_log.replay_log(log))
    for told, body in hints(log, own):
        path.write_bytes(body)
        assert dated(opened(root)) == plain, f"a hint {told}"
    if own is not None:
        path.write_bytes(own)
        assert dated(opened(root)) == plain
