"""What is planted wherever the tests have a secret, and how it is known again: for Python and for Rust.

It needs nothing but Python, since `tests/run.py` looks with it into what the Rust tests print.
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
"""Variables of the environment that a store looks at, unless they are set."""

MARKS = {
    "PlAnTeD": "a planted secret",
    "UGxBblRlR": "a planted key",
    "planted-key-id": "the key id of a test's store",
    "planted-secret-key": "the key of a test's store",
    "planted-bearer-token": "the token of a test's store",
    "lmEtlCDXJ1OUzFT50uSRZ6IFsuF": "the key of Azurite",
    "Zv9D28xP1HaI4j2HHbA0rnmLJLO": "a signature with the key of Azurite",
}
"""What a secret is known by, in the environment and in the options and URIs that the tests use."""


def found_in(text: str) -> list[str]:
    """What of it stands in a text."""
    return [what for mark, what in MARKS.items() if mark in text]
