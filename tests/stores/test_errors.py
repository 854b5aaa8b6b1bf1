"""Errors name the cause and the solution: missing bucket, wrong keys, no server."""

from __future__ import annotations

import socket

import pytest

import deltaic

from .emulators import AZURE_KEY
from .store import Store


def failure(uri: str, options: dict[str, str]) -> deltaic.StorageError:
    with pytest.raises(deltaic.StorageError) as caught:
        deltaic.Table(uri, storage_options=options).snapshot()
    assert caught.value.hint
    with pytest.raises(deltaic.StorageError):
        deltaic.Table.exists(uri, options)
    return caught.value


def test_a_bucket_that_is_not_there(s3: Store, azure: Store) -> None:
    for store in (s3, azure):
        error = failure(f"{store.scheme}://nosuchbucket/t", store.options)
        assert "the bucket or container does not exist" in error.message


def test_a_place_without_a_table(each: Store) -> None:
    uri = each.fresh()
    with pytest.raises(deltaic.TableNotFound):
        deltaic.Table(uri, storage_options=each.options).snapshot()
    each.put_all([(f"{each.key(uri)}/part-0.parquet", b"x")])
    assert not deltaic.Table.exists(uri, each.options)
    with pytest.raises(deltaic.TableNotFound):
        deltaic.Table(uri, storage_options=each.options).history()


def test_a_wrong_key(azure: Store) -> None:
    """Azure only, since moto does not check signatures."""
    error = failure(azure.fresh(), {**azure.options, "account_key": AZURE_KEY.replace("Eby8", "Aby8")})
    assert "rejected the credentials" in error.message


def test_no_client_there(each: Store) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        there = f"127.0.0.1:{held.getsockname()[1]}"
        options = {
            name: value.replace(f"127.0.0.1:{each.port}", there) for name, value in each.options.items()
        }
        error = failure(each.fresh(), {**options, "max_retries": "1"})
    assert "cannot be reached" in error.message


def test_a_host_without_a_name(s3: Store) -> None:
    options = {**s3.options, "aws_endpoint": "http://store.invalid", "max_retries": "0"}
    assert "cannot be reached" in failure(s3.fresh(), options).message
