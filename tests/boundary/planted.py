"""The planted secrets of the tests and how they are detected, in Python and in Rust.

It needs only the standard library, since `tests/run.py` uses it to check the output of the Rust tests.
"""

from __future__ import annotations

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "PlAnTeDenvid",
    "AWS_SECRET_ACCESS_KEY": "PlAnTeDenvsecret",
    "AWS_SESSION_TOKEN": "PlAnTeDenvtoken",
    "AZURE_STORAGE_ACCOUNT_KEY": "UGxBblRlRGVudmtleQ==",
    "AZURE_STORAGE_SAS_KEY": "sv=1&sig=PlAnTeDenvsas",
    "GOOGLE_SERVICE_ACCOUNT_KEY": '{"private_key": "PlAnTeDenvkey"}',
}
"""Environment variables that stores read, unless they are already set."""

MARKS = {
    "PlAnTeD": "a planted secret",
    "UGxBblRlR": "a planted key",
    "planted-key-id": "the key id of a test's store",
    "planted-secret-key": "the key of a test's store",
    "planted-bearer-token": "the token of a test's store",
    "lmEtlCDXJ1OUzFT50uSRZ6IFsuF": "the key of Azurite",
    "Zv9D28xP1HaI4j2HHbA0rnmLJLO": "a signature with the key of Azurite",
}
"""Marks of the secrets in the environment and in the options and URIs that the tests use."""


def found_in(text: str) -> list[str]:
    """Returns the secrets that a text contains."""
    return [what for mark, what in MARKS.items() if mark in text]
