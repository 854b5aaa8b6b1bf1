"""No link to a place outside of a table's folder is followed without the user's permission."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from .place import OUTSIDE, SCHEMA, Place, add, data_file

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells which files were opened")

LINKS: dict[str, Callable[[Place], object]] = {
    "a commit": lambda place: place.move_out(place.commit(1)),
    "the first commit": lambda place: place.move_out(place.commit(0)),
    "the log": lambda place: place.move_out(place.root / "_delta_log"),
    "a data file": lambda place: place.move_out(data_file(place)),
    "a chain": lambda place: chained(place, place.move_out(data_file(place))),
    "a relative link": lambda place: relative(place, place.move_out(data_file(place))),
    "a folder of data": lambda place: foldered(place, "part/rows.parquet"),
    "a folder above a folder of data": lambda place: foldered(place, "part/deeper/rows.parquet"),
}


def chained(place: Place, there: Path) -> None:
    name = place.root / there.name
    name.unlink()
    for link, leads_to in [("one", "two"), ("two", "three")]:
        (place.root / link).symlink_to(place.root / leads_to)
    (place.root / "three").symlink_to(there)
    name.symlink_to("one")


def relative(place: Place, there: Path) -> None:
    name = place.root / there.name
    name.unlink()
    name.symlink_to(f"../outside/{there.name}")


def foldered(place: Place, path: str) -> None:
    (place.root / "part").symlink_to(place.outside)
    if not (place.root / path).exists():
        (place.root / path).parent.mkdir()
        shutil.copy(place.rows, place.root / path)
        place.watch_all()
    place.write(2, add(path, place.rows.stat().st_size))


@pytest.mark.parametrize("what", LINKS)
def test_a_link_that_leads_out(place: Place, what: str) -> None:
    LINKS[what](place)
    for read in [place.read, lambda: deltaic.Table(place.root).snapshot().scan(predicate="id > 0").count()]:
        with pytest.raises(deltaic.PathEscape, match="symbolic link") as caught:
            read()
        assert "allowed_roots" in (caught.value.hint or "")
    with contextlib.suppress(deltaic.PathEscape):
        assert not deltaic.Table(place.root).check(deep=True).is_healthy
    assert place.watch.touched() == set()
    assert place.read(allowed_roots=[place.outside])[0] == 1
    assert place.watch.touched()


@pytest.mark.parametrize("what", ["_last_checkpoint", "checkpoint", "checksum", "sidecar", "sidecars"])
def test_a_help_that_is_a_link_that_leads_out_is_passed_over(place: Place, what: str) -> None:
    """The commits determine the state."""
    log = place.root / "_delta_log"
    first = [json.loads(line) for line in place.commit(0).read_text().splitlines()]
    [protocol] = [action for action in first if "protocol" in action]
    [metadata] = [action for action in first if "metaData" in action]
    files = place.outside / "files.parquet"
    pq.write_table(pa.table({"add": [{**add(str(place.rows))["add"], "partitionValues": []}]}), files)  # type: ignore[dict-item]
    sidecar = {"path": "files.parquet", "sizeInBytes": files.stat().st_size, "modificationTime": 1}
    top = [{"checkpointMetadata": {"version": 1}}, protocol, metadata, {"sidecar": sidecar}]
    name = f"{1:020}.checkpoint.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json"
    text = "\n".join(map(json.dumps, top))
    (log / "_sidecars").mkdir()
    if what == "_last_checkpoint":
        (place.outside / "hint").write_text('{"version": 1, "size": 3}')
        (log / "_last_checkpoint").symlink_to(place.outside / "hint")
    elif what == "checkpoint":
        (place.outside / "checkpoint").write_text(text)
        (log / name).symlink_to(place.outside / "checkpoint")
    elif what == "checksum":
        (place.outside / "checksum").write_text("{}")
        (log / f"{1:020}.crc").unlink()
        (log / f"{1:020}.crc").symlink_to(place.outside / "checksum")
    else:
        (log / name).write_text(text)
        if what == "sidecar":
            (log / "_sidecars" / "files.parquet").symlink_to(files)
        else:
            (log / "_sidecars").rmdir()
            (log / "_sidecars").symlink_to(place.outside)
    place.watch_all()
    with pytest.warns(deltaic.DeltaicWarning, match="skipped"):
        assert place.read() == [1]
    assert place.watch.touched() == set()
    # With permission it is opened: readers do use this file.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        with contextlib.suppress(deltaic.DeltaicError):
            place.read(allowed_roots=[place.outside])
    assert place.watch.touched()


def test_links_that_stay_inside_are_fine(place: Place) -> None:
    inside = place.root / "elsewhere"
    inside.mkdir()
    for file in [place.commit(0), place.commit(1), data_file(place)]:
        shutil.move(file, inside / file.name)
        file.symlink_to(inside / file.name)
    assert place.read() == [1]
    deltaic.Table(place.root).append(pa.table({"id": [2]}))
    assert place.read() == [1, 2]


def test_the_root_may_be_a_link_and_may_be_directed_elsewhere(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other"
    deltaic.Table.create(other, SCHEMA).append(pa.table({"id": [2]}))
    link = tmp_path / "current"
    link.symlink_to(place.root)
    table = deltaic.Table(link)
    assert table.snapshot().scan().to_arrow()["id"].to_pylist() == [1]
    link.unlink()
    link.symlink_to(other)
    assert table.snapshot().scan().to_arrow()["id"].to_pylist() == [2]


@pytest.mark.parametrize("at", ["_delta_log/loop", "_delta_log/_sidecars/loop", "loop", "x=1"])
@pytest.mark.parametrize("leads_to", [".", "..", "{root}", "{outside}", "itself", "/", "nowhere"])
def test_other_links_are_no_client_s_business(place: Place, at: str, leads_to: str) -> None:
    """Listing the folder neither loops nor leaves the table."""
    link = place.root / at
    link.parent.mkdir(exist_ok=True)
    places = {"itself": link.name, "{root}": str(place.root), "{outside}": str(place.outside)}
    link.symlink_to(places.get(leads_to, leads_to))
    assert place.read() == [1]
    report = deltaic.Table(place.root).check(deep=True)
    assert "UNREADABLE_FILE" not in report.counts
    assert report.is_healthy or "_sidecars" in at
    assert place.watch.touched() == set()


@pytest.mark.parametrize("leads_to", ["nowhere", "itself", "{outside}/nowhere"])
def test_a_data_file_that_is_a_link_to_nothing(place: Place, leads_to: str) -> None:
    file = data_file(place)
    file.unlink()
    file.symlink_to({"itself": file.name}.get(leads_to, leads_to.replace("{outside}", str(place.outside))))
    with pytest.raises((deltaic.CorruptData, deltaic.StorageError)):
        place.read()


@pytest.mark.parametrize("where", ["root", "outside"])
@pytest.mark.parametrize("at", ["data", "commit"])
def test_a_pipe_is_not_waited_for(place: Place, at: str, where: str) -> None:
    pipe = (place.root if where == "root" else place.outside) / "pipe"
    os.mkfifo(pipe)
    link = data_file(place) if at == "data" else place.commit(1)
    link.unlink()
    link.symlink_to(pipe)
    place.watch_all(pipe)
    with pytest.raises((deltaic.CorruptData, deltaic.CorruptLog, deltaic.PathEscape)):
        place.read()
    assert place.watch.touched() == set()


@pytest.mark.parametrize("where", ["root", "outside"])
def test_a_hint_that_is_a_pipe_is_passed_over(place: Place, where: str) -> None:
    pipe = (place.root if where == "root" else place.outside) / "pipe"
    os.mkfifo(pipe)
    (place.root / "_delta_log" / "_last_checkpoint").symlink_to(pipe)
    place.watch_all(pipe)
    with pytest.warns(deltaic.DeltaicWarning, match="_last_checkpoint was skipped"):
        assert place.read() == [1]
    assert place.watch.touched() == set()


def test_nothing_is_written_through_a_folder_that_leads_out(place: Place, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("p", pa.string())])
    table = deltaic.Table.create(tmp_path / "parts", schema, partition_by=["p"])
    (tmp_path / "parts" / "p=x").symlink_to(place.outside)
    with pytest.raises(deltaic.PathEscape):
        table.append(pa.table({"id": [1], "p": ["x"]}))
    assert place.watch.touched() == set()
    assert table.snapshot().version == 0
    empty = tmp_path / "new"
    empty.mkdir()
    (empty / "_delta_log").symlink_to(place.outside)
    with pytest.raises(deltaic.PathEscape):
        deltaic.Table.create(empty, schema)
    assert place.watch.touched() == set()
    # With permission both are written, and the watch reports it.
    deltaic.Table(tmp_path / "parts", allowed_roots=[place.outside]).append(pa.table({"id": [1], "p": ["x"]}))
    assert place.watch.touched()


def test_a_link_that_changes_all_the_time_gives_nothing_away(place: Place) -> None:
    """Each opened file is checked by its actual path, not by the earlier target of its name."""
    file = data_file(place)
    inside = place.root / "inside.parquet"
    shutil.move(file, inside)
    outside = place.outside / "same-size.parquet"
    pq.write_table(pa.table({"id": [OUTSIDE]}), outside)
    file.symlink_to(inside)
    place.watch_all()
    over = threading.Event()

    def flip() -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            new = place.root / "new"
            new.symlink_to((inside, outside)[turn % 2])
            new.replace(file)

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        scan = deltaic.Table(place.root).snapshot().scan()
        outcomes = {outcome_of(scan) for _ in range(300)}
    finally:
        over.set()
        thread.join()
    assert outcomes <= {"[1]", "PathEscape", "CorruptData"}
    assert {"[1]", "PathEscape"} <= outcomes
    # An outside file may be opened, but is recognized before it is read.
    assert place.watch.read() == set()


def outcome_of(scan: deltaic.Scan) -> str:
    try:
        return str(scan.to_arrow()["id"].to_pylist())
    except deltaic.DeltaicError as error:
        return type(error).__name__
