"""No path in the log opens a file outside of a table's folder without the user's permission."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.protocol.handmade_vectors import FEATURE, VectorFile

from .careless import places
from .listener import Listener, listener
from .place import OUTSIDE, Place, add, data_file

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which files were opened")
SIDECAR = pa.schema(
    [
        (
            "add",
            pa.struct(
                [
                    ("path", pa.string()),
                    ("size", pa.int64()),
                    ("partitionValues", pa.map_(pa.string(), pa.string())),
                    ("modificationTime", pa.int64()),
                    ("dataChange", pa.bool_()),
                ]
            ),
        )
    ]
)
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
}
# Stores whose requests reach the test's server, by the variables below.
STORES = {
    "S3": "s3://bucket/rows.parquet",
    "S3 of Hadoop": "s3a://bucket/rows.parquet",
    "Azure": "abfss://c@account.dfs.core.windows.net/rows.parquet",
    "Google": "gs://bucket/rows.parquet",
}
# deltaic has no client for these, or they have no file outside.
ELSEWHERE = {
    **STORES,
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
    "a file URI without slashes": "file:../outside/rows.parquet",
    "dots of overlong UTF-8": "%c0%ae%c0%ae/outside/rows.parquet",
    "wide dots": "\uff0e\uff0e/outside/rows.parquet",
    "a NUL": "..%00/outside/rows.parquet",
    "a newline": "..%0a/outside/rows.parquet",
    "a tilde": "~/rows.parquet",
    "a variable": "$HOME/rows.parquet",
}
# Names with a special meaning on other systems.
OF_NO_FILE_HERE = {
    "a drive with backslashes": "C:\\outside\\rows.parquet",
    "a share": "\\\\host\\share\\rows.parquet",
    "data": "data:;base64,UEFSMQ==",
    "three dots": ".../outside/rows.parquet",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Listener]:
    """A server that also receives requests to the stores."""
    with listener() as server:
        monkeypatch.delenv("GOOGLE_SERVICE_ACCOUNT_KEY", raising=False)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.mark.parametrize("form", STORES)
def test_the_server_notices_a_request_to_a_store(server: Listener, form: str) -> None:
    with pytest.raises(deltaic.StorageError):
        deltaic.Table(STORES[form], storage_options={"max_retries": "0"}).snapshot()
    assert server.connections > 0


def path_of(form: str, place: Place, server: Listener | None = None) -> str:
    port = str(server.server_port) if server else ""
    return form.replace("{root}", str(place.root)).replace("{port}", port).replace("{}", str(place.rows))


@pytest.fixture
def bait(place: Place) -> Place:
    """The place, with everything that a careless reader needs to reach a file outside."""
    neighbour = place.root.with_name(f"{place.root.name}-not")
    shutil.copytree(place.outside, neighbour)
    (place.root / "x").mkdir()
    place.watch_all(neighbour, neighbour / "rows.parquet")
    return place


@pytest.mark.parametrize("form", LEADING_OUT)
def test_a_path_that_leads_out(bait: Place, form: str) -> None:
    """protocol: add-file-and-remove-file.6."""
    path = path_of(LEADING_OUT[form], bait)
    assert places(bait.root, path) & bait.watched()
    escapes(bait, path)


@pytest.mark.parametrize("form", ELSEWHERE)
def test_a_path_that_leads_elsewhere(bait: Place, server: Listener, form: str) -> None:
    """protocol: add-file-and-remove-file.6."""
    escapes(bait, path_of(ELSEWHERE[form], bait, server))
    assert server.connections == 0


def escapes(place: Place, path: str) -> None:
    """Asserts that no way to read the table opens the file."""
    place.write(2, add(path, place.rows.stat().st_size))
    snapshot = deltaic.Table(place.root).snapshot()
    # The path may be listed; the file may not be opened.
    assert path in snapshot.files().to_arrow()["path"].to_pylist()
    for read in [snapshot.scan().to_arrow, lambda: list(snapshot.scan()), lambda: [*tasks_of(snapshot)]]:
        with pytest.raises(deltaic.PathEscape):
            read()
    with pytest.raises(pa.ArrowInvalid, match="PathEscape"):
        pa.table(snapshot.scan())
    deltaic.Table(place.root).check(deep=True)
    assert place.watch.touched() == set()


def tasks_of(snapshot: deltaic.Snapshot) -> Iterator[int]:
    return (task.read().read_all().num_rows for task in snapshot.scan().tasks())


@pytest.mark.parametrize("form", [*OF_NO_FILE, *OF_NO_FILE_HERE])
def test_a_path_that_only_seems_to_lead_out(bait: Place, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """It refers to a file below the root, which does not exist."""
    monkeypatch.setenv("HOME", str(bait.outside))
    path = {**OF_NO_FILE, **OF_NO_FILE_HERE}[form]
    assert form in OF_NO_FILE_HERE or places(bait.root, path) & bait.watched()
    bait.write(2, add(path, bait.rows.stat().st_size))
    with pytest.raises((deltaic.CorruptData, deltaic.CorruptLog, deltaic.PathEscape)):
        bait.read()
    with contextlib.suppress(deltaic.DeltaicError):
        deltaic.Table(bait.root).check(deep=True)
    assert bait.watch.touched() == set()


@pytest.mark.parametrize("form", ABSOLUTE)
@pytest.mark.parametrize("written", ["{}", "{}/", "file://{}", "file:{}", "{}/../outside"])
def test_an_allowed_root_lets_absolute_paths_through(place: Place, form: str, written: str) -> None:
    place.write(2, add(path_of(ABSOLUTE[form], place)))
    allowed = written.replace("{}", str(place.outside))
    assert place.read(allowed_roots=[allowed]) == [1, OUTSIDE]
    assert place.watch.touched() == {place.rows}
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
def test_an_allowed_root_lets_nothing_else_through(place: Place, server: Listener, form: str) -> None:
    place.write(2, add(path_of({**LEADING_OUT, **ELSEWHERE}[form], place, server)))
    with pytest.raises(deltaic.PathEscape):
        place.read(allowed_roots=[place.outside, "/", f"https://127.0.0.1:{server.server_port}/"])
    assert place.watch.touched() == set()
    assert server.connections == 0


SIDECARS = ["../../../outside/sidecar.parquet", "{}", "file://{}", "%2e%2e/sidecar.parquet"]


@pytest.mark.parametrize("path", SIDECARS)
def test_a_sidecar_s_path_leads_nowhere_else(place: Place, path: str) -> None:
    """Not even to another folder of the log."""
    log = place.root / "_delta_log"
    (log / "_sidecars").mkdir()
    added = add(data_file(place).name, data_file(place).stat().st_size)["add"]
    bait = place.outside / "sidecar.parquet"
    pq.write_table(pa.Table.from_pylist([{"add": {**added, "partitionValues": None}}], SIDECAR), bait)  # type: ignore[dict-item]
    shutil.copy(bait, log)
    place.watch_all(log / bait.name)
    path = path.replace("{}", str(bait))
    assert places(log / "_sidecars", path) & place.watched()

    first = [json.loads(line) for line in place.commit(0).read_text().splitlines()]
    kept = [action for action in first if "protocol" in action or "metaData" in action]
    sidecar = {"path": path, "sizeInBytes": bait.stat().st_size, "modificationTime": 1}
    top = [{"checkpointMetadata": {"version": 1}}, *kept, {"sidecar": sidecar}]
    name = f"{1:020}.checkpoint.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json"
    (log / name).write_text("\n".join(map(json.dumps, top)))
    with pytest.warns(deltaic.DeltaicWarning, match="skipped"):
        assert place.read() == [1]
    assert place.watch.touched() == set()


VECTORS = {
    "p:{}": "it is absolute",
    "p:file://{}": "it is absolute",
    "p:../outside/{name}": "its path is not absolute",
    "p:http://127.0.0.1:{port}/{name}": "it names another store",
    "u:": "leads out of its folder",
}


@pytest.mark.parametrize("form", VECTORS)
def test_a_deletion_vector_s_path_leads_nowhere_else(place: Place, server: Listener, form: str) -> None:
    """protocol: deletion-vectors.4."""
    outside = VectorFile(place.root, "../outside")
    vector = outside.delete(0)
    outside.write()
    place.watch_all()
    there = place.outside / outside.path.name
    if form != "u:":
        path = path_of(form[2:].replace("{}", str(there)).replace("{name}", there.name), place, server)
        assert "{port}" in form or places(place.root, path) & place.watched()
        vector["deletionVector"] |= {"storageType": "p", "pathOrInlineDv": path}
    first = [json.loads(line) for line in place.commit(0).read_text().splitlines()]
    [metadata] = [action for action in first if "metaData" in action]
    action = add(data_file(place).name, data_file(place).stat().st_size)
    action["add"] |= {**vector, "stats": '{"numRecords": 1}'}  # type: ignore[operator]
    remove = {"remove": {"path": data_file(place).name, "deletionTimestamp": 1, "dataChange": True}}
    place.write(2, FEATURE, metadata, remove, action)
    with pytest.raises((deltaic.PathEscape, deltaic.CorruptLog), match=VECTORS[form]):
        place.read()
    with contextlib.suppress(deltaic.DeltaicError):
        deltaic.Table(place.root).check(deep=True)
    assert place.watch.touched() == set()
    assert server.connections == 0
