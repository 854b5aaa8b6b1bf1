"""Every exception: an example that raises it, its code, and round trips through pickle and copy."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import _rust, exceptions
from tests.api.log_files import commit_file, of_kind, write_commit
from tests.required import skip_without_development_build

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), ("name", pa.string())])
DATA = pa.table({"id": [1], "name": ["x"]}, schema=SCHEMA)

CLASSES: dict[str, type[deltaic.DeltaicError]] = {
    name: value
    for name, value in vars(exceptions).items()
    if inspect.isclass(value) and issubclass(value, deltaic.DeltaicError)
}


def made(root: Path) -> deltaic.Table:
    table = deltaic.Table.create(root, SCHEMA)
    table.append(DATA)
    return table


def data_while(meanwhile: Callable[[], object]) -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        meanwhile()
        yield from DATA.to_batches()

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def table_not_found(root: Path) -> None:
    deltaic.Table(root).snapshot()


def table_exists(root: Path) -> None:
    made(root)
    made(root)


def version_not_found(root: Path) -> None:
    made(root).snapshot(version=9)


def unsupported_feature(root: Path) -> None:
    made(root)
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["noSuchFeature"]}
    write_commit(root, 2, {"protocol": {**protocol, "writerFeatures": ["noSuchFeature"]}})
    deltaic.Table(root).snapshot()


def unsupported_expression(root: Path) -> None:
    made(root).snapshot().scan(predicate="frobnicate(name) = 'X'")


def corrupt_log(root: Path) -> None:
    made(root)
    commit_file(root, 1).write_text('{"add":{"path":')
    deltaic.Table(root).snapshot()


def corrupt_data(root: Path) -> None:
    table = made(root)
    next(iter(root.rglob("*.parquet"))).write_bytes(b"PAR1 this is not a Parquet file PAR1")
    table.snapshot().scan().to_arrow()


def path_escape(root: Path) -> None:
    table = made(root)
    [add] = of_kind(root, 1, "add")
    write_commit(root, 2, {"add": {**add, "path": "../outside.parquet"}})
    table.snapshot().scan().to_arrow()


def invalid_predicate(root: Path) -> None:
    made(root).snapshot().scan(predicate="id >")


def schema_mismatch(root: Path) -> None:
    made(root).append(pa.table({"id": [1], "nmae": ["x"]}))


def constraint_violation(root: Path) -> None:
    made(root).append(pa.table({"id": pa.array([None], pa.int64()), "name": ["x"]}))


def storage_error(root: Path) -> None:
    root.parent.mkdir(exist_ok=True)
    root.write_text("a file where the table's folder should be")
    deltaic.Table.create(root, SCHEMA)


def metadata_changed(root: Path) -> None:
    table = made(root)
    [metadata] = of_kind(root, 0, "metaData")
    changed = {"metaData": {**metadata, "configuration": {"delta.appendOnly": "true"}}}
    table.append(data_while(lambda: write_commit(root, 2, changed)))


def protocol_changed(root: Path) -> None:
    table = made(root)
    unknown = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["noSuchFeature"]}
    table.append(data_while(lambda: write_commit(root, 2, {"protocol": unknown})))


def concurrent_transaction(root: Path) -> None:
    table = made(root)
    first = data_while(lambda: deltaic.Table(root).append(DATA, app_transaction=("nightly", 1)))
    table.append(first, app_transaction=("nightly", 2))


def concurrent_write(root: Path) -> None:
    made(root).append(data_while(lambda: deltaic.Table(root).append(DATA)), max_attempts=1)


def internal_error(_: Path) -> None:
    if not hasattr(_rust, "provoke"):
        skip_without_development_build("provoke")
    _rust.provoke("call")


EXAMPLES: dict[str, Callable[[Path], None]] = {
    "TableNotFound": table_not_found,
    "TableExists": table_exists,
    "VersionNotFound": version_not_found,
    "UnsupportedFeature": unsupported_feature,
    "UnsupportedExpression": unsupported_expression,
    "CorruptLog": corrupt_log,
    "CorruptData": corrupt_data,
    "PathEscape": path_escape,
    "InvalidPredicate": invalid_predicate,
    "SchemaMismatch": schema_mismatch,
    "ConstraintViolation": constraint_violation,
    "StorageError": storage_error,
    "MetadataChanged": metadata_changed,
    "ProtocolChanged": protocol_changed,
    "ConcurrentTransaction": concurrent_transaction,
    "ConcurrentWrite": concurrent_write,
    "InternalError": internal_error,
}
BASES = {"DeltaicError", "CommitConflict"}
# An append has no read set and removes nothing, and a local store always reports the commit's outcome,
# so that these have no example here.
NO_WAY_YET = {
    "ConcurrentAppend",
    "ConcurrentDeleteRead",
    "ConcurrentDeleteDelete",
    "CommitUnknown",
}


def test_every_class_has_an_example_or_a_reason() -> None:
    assert set(CLASSES) == set(EXAMPLES) | BASES | NO_WAY_YET
    assert not set(EXAMPLES) & NO_WAY_YET


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.breaks_off if name == "InternalError" else ())
        for name in EXAMPLES
    ],
)
def test_an_example_states_what_where_and_what_to_do(root: Path, name: str) -> None:
    with pytest.raises(deltaic.DeltaicError) as caught:
        EXAMPLES[name](root)
    error = caught.value
    assert type(error) is CLASSES[name]
    assert error.message
    assert error.hint, "an error tells what to do"
    assert str(error) == f"{error.message}\nhint: {error.hint}"
    # The position of a syntax error is shown within the predicate text.
    assert error.context or "id >" in error.message, "an error tells where"
    assert all(isinstance(value, (str, int)) for value in error.context.values())
    json.dumps(error.context)
    # Never after `CommitUnknown`: the commit may have succeeded.
    assert error.retryable == isinstance(error, deltaic.CommitConflict)
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), back.context, back.hint) == (
        type(error),
        str(error),
        error.context,
        error.hint,
    )


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_is_exported_with_its_code(name: str) -> None:
    error_class = CLASSES[name]
    assert getattr(deltaic, name) is error_class
    assert name in deltaic.__all__
    assert name in exceptions.__all__
    assert error_class.code.replace("_", "").lower() == name.lower()
    assert re.fullmatch(r"[A-Z]+(_[A-Z]+)*", error_class.code)
    assert error_class.__doc__


def test_codes_are_the_names_in_upper_snake_case() -> None:
    assert deltaic.TableNotFound.code == "TABLE_NOT_FOUND"
    assert deltaic.ConcurrentDeleteDelete("x").code == "CONCURRENT_DELETE_DELETE"
    assert len({error_class.code for error_class in CLASSES.values()}) == len(CLASSES)


@pytest.mark.parametrize("name", CLASSES)
def test_an_error_survives_pickle_and_copy(name: str) -> None:
    error = CLASSES[name]("lost", context={"path": "a", "version": 7}, hint="look", retryable=True)
    error.__notes__ = ["while reading"]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        check_same(pickle.loads(pickle.dumps(error, protocol)), error)
    check_same(copy.copy(error), error)
    check_same(copy.deepcopy(error), error)


def check_same(back: deltaic.DeltaicError, error: deltaic.DeltaicError) -> None:
    assert back is not error
    assert type(back) is type(error)
    assert (back.message, back.context, back.hint, back.retryable, back.code) == (
        "lost",
        {"path": "a", "version": 7},
        "look",
        True,
        error.code,
    )
    assert str(back) == "lost\nhint: look"
    assert back.__notes__ == ["while reading"]


def test_without_a_hint_the_text_is_the_message() -> None:
    error = deltaic.CorruptLog("a gap")
    assert (str(error), error.context, error.hint) == ("a gap", {}, None)


def test_conflicts_are_of_one_family() -> None:
    family = {name for name, value in CLASSES.items() if issubclass(value, deltaic.CommitConflict)}
    assert family == {
        "CommitConflict",
        "ConcurrentAppend",
        "ConcurrentDeleteRead",
        "ConcurrentDeleteDelete",
        "ConcurrentTransaction",
        "MetadataChanged",
        "ProtocolChanged",
        "ConcurrentWrite",
    }


def test_the_warning_is_a_user_warning() -> None:
    assert issubclass(deltaic.DeltaicWarning, UserWarning)
    assert not issubclass(deltaic.DeltaicWarning, deltaic.DeltaicError)


@pytest.mark.parametrize(
    "place",
    ["https://user:s3cret@example.com/table", "nosuchscheme://bucket/table", "http://example.com/table"],
)
def test_an_unknown_store_is_refused_without_its_secret(place: str) -> None:
    with pytest.raises((ValueError, deltaic.DeltaicError)) as caught:
        deltaic.Table(place).snapshot()
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in repr(caught.value)
