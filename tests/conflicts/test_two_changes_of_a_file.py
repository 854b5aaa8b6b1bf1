"""Two writers delete or update rows of one file at once: a serial order is the result, or a conflict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
from deltaic import _rust
from deltaic.values.commit_options import CommitOptions, Isolation, to_options
from tests.api.log_files import of_kind

if TYPE_CHECKING:
    from typing_extensions import Unpack

SCHEMA = pa.schema([("id", pa.int64()), ("n", pa.int64())])
FORMS = {
    "rewriting": {},
    "vectors": {"delta.enableDeletionVectors": "true"},
    "rewriting with a feed": {"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": "name"},
    "vectors with a feed": {
        "delta.enableDeletionVectors": "true",
        "delta.enableChangeDataFeed": "true",
        "delta.enableRowTracking": "true",
    },
}
LEVELS: list[Isolation] = ["Serializable", "WriteSerializable"]
VERBS = ["delete", "update"]
WON = (1, 2)
LOST = {"other rows": (5, 6), "the same rows": (1, 2), "some of them": (2, 5)}
Rows = dict[int, int]


def made(root: Path, form: str) -> deltaic.Table:
    """Returns a table of one file: version 1."""
    table = deltaic.Table.create(root, SCHEMA, properties=FORMS[form])
    table.append(pa.table({"id": range(10), "n": range(10)}, schema=SCHEMA))
    return table


def where(ids: tuple[int, ...]) -> str:
    return f"id IN ({', '.join(map(str, ids))})"


def run(changer: deltaic.Table | deltaic.Transaction, verb: str, ids: tuple[int, ...]) -> None:
    if verb == "delete":
        changer.delete(where(ids))
    else:
        changer.update({"n": "2 * n + 100"}, where(ids))


def run_on(
    stale: _rust.Snapshot, root: Path, verb: str, ids: tuple[int, ...], **options: Unpack[CommitOptions]
) -> _rust.Commit:
    """Runs a verb that reads an older version first."""
    table, given = _rust.Table(str(root)), to_options(verb, **options)
    if verb == "delete":
        return table.delete(stale, predicate=where(ids), options=given)
    return table.update(stale, values=[("n", "2 * n + 100")], predicate=where(ids), options=given)


def after(rows: Rows, verb: str, ids: tuple[int, ...]) -> Rows:
    if verb == "delete":
        return {key: n for key, n in rows.items() if key not in ids}
    return {key: 2 * n + 100 if key in ids else n for key, n in rows.items()}


def rows_of(snapshot: deltaic.Snapshot) -> Rows:
    rows = snapshot.scan().to_arrow().to_pylist()
    assert len({row["id"] for row in rows}) == len(rows), "a row is doubled"
    return {row["id"]: row["n"] for row in rows}


def ensure_sound(root: Path, form: str) -> None:
    """Every version's feed is the difference of its rows, and no file remains that no version names."""
    table = deltaic.Table(root)
    versions = range(table.snapshot().version + 1)
    if "feed" in form:
        for version in versions[2:]:
            before, now = (rows_of(table.snapshot(version=at)) for at in (version - 1, version))
            changes = table.changes(version, version).to_arrow().to_pylist()
            for change in changes:
                if change["_change_type"] in ("delete", "update_preimage"):
                    assert before.pop(change["id"]) == change["n"]
            for change in changes:
                if change["_change_type"] in ("insert", "update_postimage"):
                    assert before.setdefault(change["id"], change["n"]) == change["n"]
            assert before == now, f"version {version}"
    named = {
        action["path"] for at in versions for kind in ("add", "cdc") for action in of_kind(root, at, kind)
    }
    data = (path for path in root.rglob("*.parquet") if "_delta_log" not in path.parts)
    assert {str(path.relative_to(root)) for path in data} == named
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("verbs", [(one, other) for one in VERBS for other in VERBS], ids="-".join)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("form", FORMS)
def test_verbs_run_again(
    tmp_path: Path, form: str, level: Isolation, verbs: tuple[str, str], lost: str
) -> None:
    """The second verb works on the rows that the first has left."""
    made(tmp_path, form)
    stale = _rust.Table(str(tmp_path)).snapshot()
    winner, loser = verbs
    run(deltaic.Table(tmp_path), winner, WON)
    commit = run_on(stale, tmp_path, loser, LOST[lost], isolation=level)
    expected = after(after({i: i for i in range(10)}, winner, WON), loser, LOST[lost])
    assert rows_of(deltaic.Table(tmp_path).snapshot()) == expected
    is_empty = winner == "delete" and lost == "the same rows"
    assert (commit.skipped, commit.version) == (is_empty, 2 if is_empty else 3)
    assert commit.conflicts_resolved
    ensure_sound(tmp_path, form)


def is_united(form: str, lost: str) -> bool:
    """Whether both delete different rows of the file by deletion vectors."""
    return "vectors" in form and lost == "other rows"


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("verbs", [(one, other) for one in VERBS for other in VERBS], ids="-".join)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("form", FORMS)
def test_transactions_conflict_or_unite(
    tmp_path: Path, form: str, level: Isolation, verbs: tuple[str, str], lost: str
) -> None:
    """A transaction runs once: it commits beside a vector for other rows, and conflicts otherwise."""
    table = made(tmp_path, form)
    winner, loser = verbs
    expected = after({i: i for i in range(10)}, winner, WON)

    def block() -> None:
        with table.transaction(operation=loser.upper(), isolation=level) as tx:
            run(tx, loser, LOST[lost])
            run(deltaic.Table(tmp_path), winner, WON)

    if is_united(form, lost):
        block()
        expected = after(expected, loser, LOST[lost])
    else:
        with pytest.raises(deltaic.CommitConflict):
            block()
    assert rows_of(deltaic.Table(tmp_path).snapshot()) == expected
    ensure_sound(tmp_path, form)


@pytest.mark.parametrize("verbs", [(one, other) for one in VERBS for other in VERBS], ids="-".join)
@pytest.mark.parametrize("form", FORMS)
def test_without_row_level_a_file_is_changed_once(tmp_path: Path, form: str, verbs: tuple[str, str]) -> None:
    made(tmp_path, form)
    stale = _rust.Table(str(tmp_path)).snapshot()
    winner, loser = verbs
    run(deltaic.Table(tmp_path), winner, WON)
    with pytest.raises(deltaic.CommitConflict):
        run_on(stale, tmp_path, loser, LOST["other rows"], row_level=False)
    assert rows_of(deltaic.Table(tmp_path).snapshot()) == after({i: i for i in range(10)}, winner, WON)
    ensure_sound(tmp_path, form)
