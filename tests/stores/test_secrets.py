"""Secrets are planted in every option and URI, every error is provoked, and no message contains a secret."""

from __future__ import annotations

import base64
import io
import logging
import pickle
import traceback
from collections.abc import Callable

import pyarrow as pa
import pytest

import deltaic

from .store import Store, google, strict_s3
from .strict_store import Fault, StrictStore

PLANTED = "PlAnTeD"
DATA = pa.table({"id": [1]})
FOREVER = float("inf")


def secret(name: str) -> str:
    """Returns a unique value that looks like a key."""
    return base64.b64encode(f"{PLANTED}-{name}".encode()).decode().rstrip("=").ljust(40, "A")


def holds_a_secret(text: str) -> bool:
    marks = [PLANTED, base64.b64encode(PLANTED.encode()).decode()[:8], "sig=", "X-Amz-Signature"]
    return any(mark in text for mark in marks)


def told(call: Callable[[], object]) -> str:
    """Returns all output of a call: its error with context, hint, repr and traceback, and the log."""
    logged = io.StringIO()
    handler = logging.StreamHandler(logged)
    logging.getLogger().addHandler(handler)
    try:
        answer = repr(call())
    except Exception as error:  # noqa: BLE001 (any error is searched for secrets)
        context = repr(getattr(error, "context", "")) + repr(getattr(error, "hint", ""))
        text = "".join(traceback.format_exception(error))
        answer = "\n".join([str(error), repr(error), context, text.replace(__file__, "")])
    finally:
        logging.getLogger().removeHandler(handler)
    return answer + logged.getvalue()


def test_the_watch_over_all_tests_is_over_these(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.has_plugin("tests.boundary.secret_watch")


NAMES = {
    "s3://b/t": [
        "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_region", "aws_endpoint",
        "aws_endpoint_url_s3", "aws_endpoint_url_sts", "aws_virtual_hosted_style_request", "aws_role_arn",
        "aws_skip_signature", "aws_allow_http", "aws_conditional_put", "aws_unsigned_payload", "aws_bucket",
        "aws_checksum_algorithm", "aws_sse_customer_key_base64", "aws_server_side_encryption",
        "aws_metadata_endpoint", "aws_web_identity_token_file", "fs.s3a.access.key", "fs.s3a.secret.key",
        "fs.s3a.session.token", "fs.s3a.endpoint", "fs.s3a.path.style.access", "fs.s3a.connection.timeout",
        "fs.s3a.nonsense", "nonsense",
    ],
    "az://c@acc.dfs.core.windows.net/t": [
        "account_key", "sas_token", "bearer_token", "client_id", "client_secret", "tenant_id", "account_name",
        "azure_storage_endpoint", "azure_storage_authority_host", "azure_credential_type", "container_name",
        "azure_storage_encryption_key", "azure_msi_endpoint", "azure_federated_token_file",
        "fs.azure.account.key.acc.dfs.core.windows.net", "fs.azure.sas.c.acc.dfs.core.windows.net",
        "fs.azure.account.oauth2.client.endpoint", "fs.azure.account.auth.type", "nonsense",
    ],
    "gs://b/t": [
        "google_service_account", "google_service_account_key", "google_application_credentials",
        "google_bearer_token", "google_base_url", "google_bucket", "google_skip_signature", "nonsense",
    ],
}  # fmt: skip
EVERYWHERE = [
    "max_retries", "retry_timeout", "timeout", "connect_timeout", "proxy_url", "proxy_ca_certificate",
    "user_agent", "allow_http", "http1_only", "pool_max_idle_per_host",
]  # fmt: skip
SHAPES = [
    "{}",
    "https://user:{}@example.invalid/x?sig={}",
    "http://{}:x@example.invalid",
    '{{"private_key": "{}"}}',
    "?sv=1&sig={}",
    "{}\n",
]


@pytest.mark.parametrize("uri", NAMES)
def test_no_option_is_printed_when_a_table_is_made(uri: str) -> None:
    """No request is made: either the options are invalid, or only a handle is created."""
    for name in [*NAMES[uri], *EVERYWHERE]:
        for shape in SHAPES:
            value = shape.replace("{}", secret(name)).replace("{{", "{").replace("}}", "}")
            text = told(lambda name=name, value=value: deltaic.Table(uri, storage_options={name: value}))
            assert not holds_a_secret(text), (name, shape, text)


@pytest.mark.parametrize(
    "uri",
    [
        "s3://{}:{}@b/t",
        "s3://b/t?X-Amz-Signature={}",
        "s3://b/t#{}",
        "s3a://{}@b/t",
        "gs://{}@b/t",
        "gs://b/t?access_token={}",
        "az://c/t?sv=1&sig={}",
        "az://{}:{}@acc/t",
        "abfss://c@acc.dfs.core.windows.net/t?sig={}",
        "https://user:{}@example.invalid/t?sig={}",
        "nosuch://{}@b/t?sig={}",
        "file://user:{}@host/t",
    ],
)
def test_no_secret_of_a_uri_is_printed(uri: str) -> None:
    place = uri.replace("{}", f"{PLANTED}x")
    assert not holds_a_secret(told(lambda: deltaic.Table(place)))
    assert not holds_a_secret(told(lambda: deltaic.Table.exists(place)))
    assert not holds_a_secret(told(lambda: deltaic.Table("/data", allowed_roots=[place])))


def stores(port: int) -> list[Store]:
    """Returns stores with planted values for every secret."""
    s3 = strict_s3(port, max_retries="0")
    keys = {
        "aws_access_key_id": secret("id"),
        "aws_secret_access_key": secret("key"),
        "aws_session_token": secret("token"),
    }
    gs = google(port)
    return [
        Store(s3.name, s3.scheme, port, {**s3.options, **keys}),
        Store(
            gs.name,
            gs.scheme,
            port,
            {**gs.options, "google_bearer_token": secret("bearer"), "max_retries": "0"},
        ),
    ]


def azure_options(port: int) -> list[dict[str, str]]:
    reach = {
        "account_name": "acc",
        "azure_storage_endpoint": f"http://127.0.0.1:{port}",
        "allow_http": "true",
        "max_retries": "0",
    }
    return [
        {**reach, "account_key": base64.b64encode(f"{PLANTED}-key".encode()).decode()},
        {**reach, "sas_token": f"sv=2019-12-12&sig={PLANTED}%2Fsignature"},
        {**reach, "bearer_token": secret("bearer")},
    ]


ECHOES = [
    "<Error><Code>SignatureDoesNotMatch</Code><Message>{}</Message><StringToSign>{}</StringToSign></Error>",
    "<Error><Code>{}</Code><AWSAccessKeyId>{}</AWSAccessKeyId></Error>",
    '{"error": "{}"}',
    "{}",
    "<ListBucketResult><Contents><Key>{}</Key></ListBucketResult>",
]


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 409, 412, 500, 503, None])
def test_a_server_that_repeats_what_it_was_sent_is_not_repeated(
    strict: StrictStore, status: int | None
) -> None:
    cases = [(store.scheme, store.options) for store in stores(strict.port)]
    cases += [("az", options) for options in azure_options(strict.port)]
    for scheme, options in cases:
        for echo in ECHOES:
            said = " ".join(value for value in options.values() if holds_a_secret(value))
            body = echo.replace("{}", said)
            strict.faults = [
                Fault(method, "", status, body, times=FOREVER)
                for method in ("GET", "PUT", "HEAD", "POST", "DELETE")
            ]
            uri = f"{scheme}://tables/t"
            table = deltaic.Table(uri, storage_options=options)
            calls: list[Callable[[], object]] = [
                table.snapshot,
                table.history,
                lambda table=table: table.append(DATA),
                lambda uri=uri, options=options: deltaic.Table.exists(uri, options),
                lambda uri=uri, options=options: deltaic.Table.create(
                    uri, DATA.schema, storage_options=options
                ),
            ]
            for call in calls:
                text = told(call)
                assert not holds_a_secret(text), (scheme, echo, text)
            assert not holds_a_secret(repr(table) + str(table) + table.uri)


def test_pickles_and_reprs_show_no_secret(strict: StrictStore) -> None:
    for store in stores(strict.port):
        table = deltaic.Table.create(store.fresh(), DATA.schema, storage_options=store.options)
        commit = table.append(DATA)
        snapshot = table.snapshot()
        scan = snapshot.scan(predicate="id = 1")
        task = scan.tasks()[0]
        shown = [table, commit, snapshot, scan, scan.explain(), task, table.history(), snapshot.warnings]
        assert not holds_a_secret(" ".join(f"{thing!r} {thing}" for thing in shown))
        # The table contains none of it, either.
        assert not any(holds_a_secret(body.decode(errors="replace")) for body in strict.objects.values())
        sent = pickle.loads(pickle.dumps(task))
        assert not holds_a_secret(repr(sent) + str(sent))
        strict.faults = [Fault("GET", "parquet", 403, " ".join(store.options.values()), times=FOREVER)]
        assert not holds_a_secret(told(lambda sent=sent: sent.read().read_all()))
        strict.faults = []
        broken = pickle.dumps(task).replace(b"storage_options", b"storage_optionz")
        assert not holds_a_secret(told(lambda broken=broken: pickle.loads(broken)))
