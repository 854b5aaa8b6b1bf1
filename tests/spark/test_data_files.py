"""How Spark is told of a data file: its URI, and its true size."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltaic import CorruptData, CorruptLog, PathEscape, UnsupportedFeature
from deltaic.spark.data_files import DataFile, data_files, data_uri

URIS = {
    "a.parquet": "file:///t%20a/b/a.parquet",
    "p=a%20b/a.parquet": "file:///t%20a/b/p=a%20b/a.parquet",
    "p=a b/a.parquet": "file:///t%20a/b/p=a%20b/a.parquet",
    "p=a%2520b/a.parquet": "file:///t%20a/b/p=a%2520b/a.parquet",
    "p=100%/a.parquet": "file:///t%20a/b/p=100%25/a.parquet",
    "p=ü/a.parquet": "file:///t%20a/b/p=%C3%BC/a.parquet",
    "p=%C3%BC/a.parquet": "file:///t%20a/b/p=%C3%BC/a.parquet",
    "p=[1]{2}^`|<>/a.parquet": "file:///t%20a/b/p=%5B1%5D%7B2%7D%5E%60%7C%3C%3E/a.parquet",
    "p=a+b&c;d=e/a?b#c.parquet": "file:///t%20a/b/p=a+b&c;d=e/a%3Fb%23c.parquet",
    "t=10:30/a.parquet": "file:///t%20a/b/t=10:30/a.parquet",
    "./p=1/./a.parquet": "file:///t%20a/b/p=1/a.parquet",
    "p=1/../a.parquet": "file:///t%20a/b/a.parquet",
    "p=%FF/a.parquet": "file:///t%20a/b/p=%FF/a.parquet",
    "/t%20a/b/a.parquet": "file:///t%20a/b/a.parquet",
    "/t a/b/c/../a.parquet": "file:///t%20a/b/a.parquet",
    "file:/t%20a/b/a.parquet": "file:///t%20a/b/a.parquet",
    "file:///t%20a/b/a.parquet": "file:///t%20a/b/a.parquet",
}


@pytest.mark.parametrize(("path", "uri"), URIS.items())
def test_a_path_of_the_log_becomes_one_uri_however_it_was_encoded(path: str, uri: str) -> None:
    assert data_uri("file:///t%20a/b/", path) == uri


def test_an_absolute_path_stays_in_the_tables_store() -> None:
    assert data_uri("s3://bucket/t/", "/t/a.parquet") == "s3://bucket/t/a.parquet"
    assert data_uri("s3://bucket/t/", "s3://bucket/t/a%20b.parquet") == "s3://bucket/t/a%20b.parquet"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "../a.parquet",
        "p=1/../../a.parquet",
        "%2E%2E/a.parquet",
        "..%2Fa.parquet",
        "/other/a.parquet",
        "/t a/b",
        "/t a/bc/a.parquet",
        "%2Fother/a.parquet",
        "/t%20a/b/../../other/a.parquet",
        "file:/other/a.parquet",
        "file:///other/a.parquet",
        "file://host/t%20a/b/a.parquet",
        "s3://bucket/t%20a/b/a.parquet",
        "FILE2:///t%20a/b/a.parquet",
    ],
)
def test_a_path_that_leaves_the_table_is_refused(path: str) -> None:
    with pytest.raises(PathEscape, match="outside") as raised:
        data_uri("file:///t%20a/b/", path)
    assert raised.value.context == {"path": path}


@pytest.mark.parametrize(
    "other", ["./a.parquet", "%61.parquet", "p=1/../a.parquet", "s3://bucket/t/a.parquet"]
)
def test_one_file_under_two_spellings_is_not_read_twice(other: str) -> None:
    with pytest.raises(CorruptLog, match="twice") as raised:
        list(data_files("s3://bucket/t/", 7, ["b.parquet", "a.parquet", other], [1, 1, 1]))
    assert raised.value.context == {"path": other, "version": 7, "field": "add.path"}


def test_a_local_file_is_measured(tmp_path: Path) -> None:
    (tmp_path / "ü b").mkdir()
    (tmp_path / "ü b" / "a.parquet").write_bytes(b"12345")
    uri = tmp_path.as_uri() + "/"
    found = list(data_files(uri, 3, ["%C3%BC%20b/a.parquet"], [4]))
    assert found == [DataFile(f"{uri}%C3%BC%20b/a.parquet", 5)]


def test_elsewhere_the_logs_size_stands() -> None:
    assert list(data_files("s3://bucket/t/", 3, ["a.parquet"], [4])) == [
        DataFile("s3://bucket/t/a.parquet", 4)
    ]


@pytest.mark.parametrize("size", [0, -1])
def test_a_size_by_which_spark_would_pass_over_the_file_is_an_error(size: int) -> None:
    with pytest.raises(CorruptLog, match=r"a\.parquet") as raised:
        list(data_files("s3://bucket/t/", 3, ["a.parquet"], [size]))
    assert raised.value.context == {"path": "a.parquet", "version": 3, "size": size}


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(CorruptData, match=r"p=1/a\.parquet of version 3") as raised:
        list(data_files(tmp_path.as_uri() + "/", 3, ["p=1/a.parquet"], [4]))
    assert raised.value.context == {"path": "p=1/a.parquet", "version": 3}
    assert raised.value.hint


def test_an_empty_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").touch()
    with pytest.raises(CorruptData, match=r"a\.parquet of version 3 is empty"):
        list(data_files(tmp_path.as_uri() + "/", 3, ["a.parquet"], [4]))


@pytest.mark.parametrize("name", ["_a.parquet", ".a.parquet", "%5Fa.parquet", "%2Ea.parquet"])
def test_a_name_that_spark_takes_for_hidden_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedFeature, match="skips"):
        list(data_files("s3://bucket/t/", 3, [f"p=1/{name}"], [4]))


@pytest.mark.parametrize("uri", ["memory:///t/", "az://container/t/"])
def test_a_store_that_spark_has_no_name_for_is_refused(uri: str) -> None:
    with pytest.raises(UnsupportedFeature, match="Spark cannot read") as raised:
        list(data_files(uri, 3, ["a.parquet"], [4]))
    assert raised.value.hint
