"""Nothing outside of a table's folder is opened without the user's leave, whatever path a log names."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest

import deltaic

from .place import OUTSIDE, Place, add, data_file

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which files were opened")
ABSOLUTE = {
    "an absolute path": "{}",
    "an absolute path with two slashes": "/{}",
    "an absolute path with dots": "/x/..{}",
    "a file URI of one slash": "file:{}",
    "a file URI of three": "file://{}",
    "a file URI in capitals": "FILE:{}",
}
LEADING_OUT = {
    **ABSOLUTE,
    "dots": "../outside/rows.parquet",
    "dots behind a folder": "x/../../outside/rows.parquet",
    "dots behind a dot": "./../outside/rows.parquet",
    "encoded dots": "%2e%2e/outside/rows.parquet",
    "encoded dots in capitals": "%2E%2E/outside/rows.parquet",
    "half-encoded dots": ".%2e/outside/rows.parquet",
    "an encoded slash": "..%2foutside%2frows.parquet",
    "all encoded": "%2e%2e%2foutside%2frows%2eparquet",
    "an encoded absolute path": "%2f{}",
    "dots below the root's own path": "{root}/../outside/rows.parquet",
    "a neighbour with the root's name in front": "{root}-not/rows.parquet",
    "a file URI with dots": "file://{root}/../outside/rows.parquet",
    "a file URI with encoded dots": "file://{root}/%2e%2e/outside/rows.parquet",
    "a file URI of a host": "file://host{}",
    "S3": "s3://bucket/rows.parquet",
    "S3 of Hadoop": "s3a://bucket/rows.parquet",
    "Azure": "abfss://c@account.dfs.core.windows.net/rows.parquet",
    "Google": "gs://bucket/rows.parquet",
    "HDFS": "hdfs://host/rows.parquet",
    "HDFS without a host": "hdfs:/rows.parquet",
    "memory": "memory://rows.parquet",
    "http": "http://127.0.0.1:{port}/rows.parquet",
    "http in capitals": "HTTP://127.0.0.1:{port}/rows.parquet",
    "https": "https://127.0.0.1:{port}/rows.parquet",
    "ftp": "ftp://127.0.0.1:{port}/rows.parquet",
    "a drive": "C:/outside/rows.parquet",
    "nothing": "",
    "the root": "x/..",
}
OF_NO_FILE = {
    "dots encoded twice": "%252e%252e/outside/rows.parquet",
    "a slash encoded twice": "..%252foutside%252frows.parquet",
    "backslashes": "..\\outside\\rows.parquet",
    "encoded backslashes": "..%5coutside%5crows.parquet",
    "a drive with backslashes": "C:\\outside\\rows.parquet",
    "a share": "\\\\host\\share\\rows.parquet",
    "data": "data:;base64,UEFSMQ==",
    "a file URI without slashes": "file:../outside/rows.parquet",
    "dots of overlong UTF-8": "%c0%ae%c0%ae/outside/rows.parquet",
    "wide dots": "\uff0e\uff0e/outside/rows.parquet",
    "three dots": ".../outside/rows.parquet",
    "a NUL": "..%00/outside/rows.parquet",
    "a newline": "..%0a/outside/rows.parquet",
    "a tilde": "~/rows.parquet",
    "a variable": "$HOME/rows.parquet",
}


@pytest.fixture
def server() -> Iterator[socket.socket]:
    """Somebody who would notice a connection."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening
        listening.setblocking(False)
        with pytest.raises(BlockingIOError):
            listening.accept()


def path_of(form: str, place: Place, server: socket.socket) -> str:
    return (
        form.replace("{root}", str(place.root))
        .replace("{port}", str(server.getsockname()[1]))
        .replace("{}", str(place.rows))
    )


@pytest.mark.parametrize("form", LEADING_OUT)
def test_a_path_that_leads_out(place: Place, server: socket.socket, form: str) -> None:
    """protocol: add-file-and-remove-file.6."""
    path = path_of(LEADING_OUT[form], place, server)
    place.write(2, add(path))
    snapshot = deltaic.Table(place.root).snapshot()
    # The log is open to everybody; the file is not.
    assert path in snapshot.files().to_arrow()["path"].to_pylist()
    for read in [snapshot.scan().to_arrow, lambda: list(snapshot.scan()), lambda: [*tasks_of(snapshot)]]:
        with pytest.raises(deltaic.PathEscape):
            read()
    with pytest.raises(pa.ArrowInvalid, match="PathEscape"):
        pa.table(snapshot.scan())
    deltaic.Table(place.root).check(deep=True)
    assert place.watch.opened() == set()


def tasks_of(snapshot: deltaic.Snapshot) -> Iterator[int]:
    return (task.read().read_all().num_rows for task in snapshot.scan().tasks())


@pytest.mark.parametrize("form", OF_NO_FILE)
def test_a_path_that_only_looks_as_if_it_led_out(place: Place, server: socket.socket, form: str) -> None:
    """It names a file below the root, which is not there."""
    place.write(2, add(path_of(OF_NO_FILE[form], place, server)))
    with pytest.raises((deltaic.CorruptData, deltaic.CorruptLog, deltaic.PathEscape)):
        place.read()
    assert place.watch.opened() == set()


@pytest.mark.parametrize("form", ABSOLUTE)
@pytest.mark.parametrize("written", ["{}", "{}/", "file://{}", "file:{}", "{}/../outside"])
def test_an_allowed_root_lets_absolute_paths_through(
    place: Place, server: socket.socket, form: str, written: str
) -> None:
    place.write(2, add(path_of(ABSOLUTE[form], place, server)))
    allowed = written.replace("{}", str(place.outside))
    assert place.read(allowed_roots=[allowed]) == [1, OUTSIDE]
    assert place.watch.opened() == {place.rows}
    with pytest.raises(deltaic.PathEscape):
        place.read(allowed_roots=[f"{place.outside}-not", str(place.outside / "deeper")])


def test_an_allowed_root_may_hold_what_a_uri_encodes(place: Place) -> None:
    folder = place.outside / "a b%c"
    folder.mkdir()
    shutil.copy(place.rows, folder)
    place.write(2, add("file://" + str(folder / "rows.parquet").replace("%", "%25").replace(" ", "%20")))
    uri = folder.as_uri()
    assert "%20" in uri
    assert place.read(allowed_roots=[uri]) == [1, OUTSIDE]
    assert place.read(allowed_roots=[folder]) == [1, OUTSIDE]


@pytest.mark.parametrize("form", ["dots", "encoded dots", "a file URI of a host", "https", "S3"])
def test_an_allowed_root_lets_nothing_else_through(place: Place, server: socket.socket, form: str) -> None:
    place.write(2, add(path_of(LEADING_OUT[form], place, server)))
    with pytest.raises(deltaic.PathEscape):
        place.read(allowed_roots=[place.outside, "/", f"https://127.0.0.1:{server.getsockname()[1]}/"])
    assert place.watch.opened() == set()


@pytest.mark.parametrize("path", ["../../../outside/rows.parquet", "{}", "file://{}", "%2e%2e/x.parquet"])
def test_a_sidecar_s_path_leads_nowhere_else(place: Place, path: str) -> None:
    log = place.root / "_delta_log"
    first = [json.loads(line) for line in place.commit(0).read_text().splitlines()]
    kept = [action for action in first if "protocol" in action or "metaData" in action]
    sidecar = {"path": path.replace("{}", str(place.rows)), "sizeInBytes": 1, "modificationTime": 1}
    top = [{"checkpointMetadata": {"version": 1}}, *kept, {"sidecar": sidecar}]
    name = f"{1:020}.checkpoint.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json"
    (log / name).write_text("\n".join(map(json.dumps, top)))
    with pytest.warns(deltaic.DeltaicWarning, match="passed over"):
        assert place.read() == [1]
    assert place.watch.opened() == set()


VECTORS = [
    "p:{}",
    "p:file://{}",
    "p:../outside/rows.parquet",
    "p:http://127.0.0.1:{port}/x",
    "u:../../outside/x",
]


@pytest.mark.parametrize("form", VECTORS)
def test_a_deletion_vector_s_path_leads_nowhere_else(place: Place, server: socket.socket, form: str) -> None:
    kind, _, path = path_of(form, place, server).partition(":")
    first = [json.loads(line) for line in place.commit(0).read_text().splitlines()]
    [metadata] = [action for action in first if "metaData" in action]
    features = {"readerFeatures": ["deletionVectors"], "writerFeatures": ["deletionVectors"]}
    protocol = {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}
    action = add(data_file(place).name)
    vector = {"storageType": kind, "pathOrInlineDv": path, "offset": 1, "sizeInBytes": 8, "cardinality": 1}
    action["add"]["deletionVector"] = vector  # type: ignore[index]
    place.write(2, protocol, metadata, action)
    with pytest.raises(deltaic.DeltaicError):
        place.read()
    with contextlib.suppress(deltaic.DeltaicError):
        deltaic.Table(place.root).check(deep=True)
    assert place.watch.opened() == set()
