"""The names of options, their sources, and the errors for invalid ones."""

from __future__ import annotations

import contextlib
import re

import pyarrow as pa
import pytest

import deltaic
from tests.repository.markdown import TOP

from .emulators import AZURE_ACCOUNT, AZURE_KEY
from .store import Store, azure_sas

DATA = pa.table({"id": [1]})


def works(uri: str, options: dict[str, str] | None) -> None:
    deltaic.Table.create(uri, DATA.schema, storage_options=options).append(DATA)
    assert deltaic.Table(uri, storage_options=options).snapshot().num_rows == 1


def test_s3_under_every_spelling(s3: Store) -> None:
    endpoint = s3.options["aws_endpoint"]
    works(
        s3.fresh(),
        {"ACCESS_KEY_ID": "a", "secret_access_key": "b", "endpoint_url": endpoint, "AWS_ALLOW_HTTP": "true"},
    )
    works(
        s3.fresh().replace("s3://", "s3a://"),
        {
            "fs.s3a.access.key": "a",
            "spark.hadoop.fs.s3a.secret.key": "b",
            "fs.s3a.endpoint": endpoint,
            "fs.s3a.path.style.access": "true",
            "fs.s3a.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
        },
    )


def test_both_schemes_of_s3_are_one_table(s3: Store) -> None:
    uri = s3.fresh()
    works(uri, s3.options)
    other = deltaic.Table(uri.replace("s3://", "s3a://"), storage_options=s3.options)
    assert other.uri.startswith("s3a://")
    assert other.snapshot().num_rows == 1


def test_azure_under_every_spelling(azure: Store) -> None:
    endpoint = azure.options["azure_storage_endpoint"]
    reach = {"azure_storage_endpoint": endpoint, "allow_http": "true"}
    works(azure.fresh(), {"AZURE_STORAGE_ACCOUNT_NAME": AZURE_ACCOUNT, "access_key": AZURE_KEY, **reach})
    works(azure.fresh(), {"account_name": AZURE_ACCOUNT, "sas_token": azure_sas(), **reach})
    key = f"fs.azure.account.key.{AZURE_ACCOUNT}.dfs.core.windows.net"
    works(azure.fresh(), {key: AZURE_KEY, **reach})
    for scheme in ("abfs", "abfss", "az"):
        host = f"{scheme}://tables@{AZURE_ACCOUNT}.dfs.core.windows.net"
        works(azure.fresh().replace("az://tables", host), {key: AZURE_KEY, **reach})


def test_the_environment_is_enough(s3: Store, azure: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3.options["aws_endpoint"])
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_PROFILE", "what is not known in the environment is others' business")
    works(s3.fresh(), None)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", AZURE_ACCOUNT)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", AZURE_KEY)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", azure.options["azure_storage_endpoint"])
    monkeypatch.setenv("AZURE_ALLOW_HTTP", "true")
    works(azure.fresh(), None)


def test_options_win_over_the_environment(azure: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials are never mixed: the environment's key would have priority over the option's signature."""
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", AZURE_KEY.replace("Eby8", "Aby8"))
    options = {name: value for name, value in azure.options.items() if name != "account_key"}
    works(azure.fresh(), {**options, "sas_token": azure_sas()})


@pytest.mark.parametrize(
    ("uri", "options", "word"),
    [
        ("s3://b/t", {"aws_regoin": "x"}, "aws_region"),
        ("s3://b/t", {"fs.s3a.acces.key": "x"}, "fs.s3a.access.key"),
        ("az://c/t", {"acount_key": "x"}, "account_key"),
        ("gs://b/t", {"google_service_acount": "x"}, "google_service_account"),
        ("gs://b/t", {"aws_region": "x"}, "docs/reference/storage-options.md|did you mean"),
        ("s3://b/t", {"region": "x", "aws_region": "y"}, "contradict"),
        ("s3://b/t", {"bucket": "other"}, "contradicts the table's URI"),
        ("s3://b/t", {"max_retries": "many"}, "max_retries"),
        ("s3://b/t", {"max_retries": "1000000"}, "max_retries"),
        ("s3://b/t", {"retry_timeout": "soon"}, "retry_timeout"),
        ("s3://b/t", {"timeout": "soon"}, "options of the"),
        ("s3://b/t", {"aws_endpoint": "http://example.com"}, "allow_http"),
        ("s3://b/t", {"aws_endpoint": "example.com"}, "a URL such as"),
        ("az://c/t", {"account_key": "a2V5"}, "options of the"),
        ("abfss://c@acc.example.com/t", {"account_key": "a2V5"}, "not an Azure host"),
        ("s3://user:pw@b/t", {}, "storage_options"),
        ("s3:///t", {}, "bucket"),
        ("/data/t", {"aws_region": "x"}, "local tables"),
        ("memory://t", {"aws_region": "x"}, "local tables"),
    ],
)
def test_a_wrong_option_is_a_value_error_that_helps(uri: str, options: dict[str, str], word: str) -> None:
    with pytest.raises(ValueError, match=word) as caught:
        deltaic.Table(uri, storage_options=options)
    assert "\nhint: " in str(caught.value)


@pytest.mark.parametrize("scheme", ["hdfs", "wasbs", "dbfs", "https"])
def test_another_scheme_is_named(scheme: str) -> None:
    with pytest.raises(deltaic.UnsupportedFeature, match=f"{scheme}://"):
        deltaic.Table(f"{scheme}://somewhere/t")


def names_on_the_page() -> list[tuple[str, str]]:
    """Returns every option in docs/reference/storage-options.md, with a URI that it applies to."""
    places = {"Amazon S3": "s3://b/t", "Azure": "az://CONTAINER@ACCOUNT/t", "Google": "gs://b/t"}
    found: list[tuple[str, str]] = []
    place = ""
    for line in (TOP / "docs/reference/storage-options.md").read_text().splitlines():
        if line.startswith("## "):
            place = places.get(line.removeprefix("## "), "s3://b/t")
        cells = line.split("|")[1:3] if line.startswith("| `") and not line.startswith("| `/") else []
        names = re.findall(r"`([A-Za-z0-9_.]+)`", " ".join(cells))
        found += [(place, n) for n in names if "_" in n or n.startswith("fs.") or n == "timeout"]
    return found


def test_the_page_names_what_is_known() -> None:
    names = names_on_the_page()
    assert len(names) > 40
    for place, name in names:
        with contextlib.suppress(ValueError):
            deltaic.Table(place, storage_options={name: "x"})
            continue
        with pytest.raises(ValueError, match=r".") as caught:
            deltaic.Table(place, storage_options={name: "x"})
        assert "unknown storage option" not in str(caught.value), name
