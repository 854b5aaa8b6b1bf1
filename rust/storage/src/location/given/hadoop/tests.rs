//! Tests of the translation of Spark's options for stores.

use super::*;
use crate::location::given::options::{Settings, StorageOptions, settings};

fn resolved(uri: &str, options: &[(&str, &str)]) -> Result<Settings> {
    let place = RemoteFolder::parse(uri).expect("a store")?;
    let options = options
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect::<std::collections::BTreeMap<_, _>>();
    settings(&place, &StorageOptions::from(options), Vec::new())
}

fn check(uri: &str, options: &[(&str, &str)], expected: &[(&str, &str)]) -> Result<()> {
    let expected: Settings = expected
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    assert_eq!(resolved(uri, options)?, expected, "{options:?}");
    Ok(())
}

#[test]
fn hadoop_options_of_s3() -> Result<()> {
    check(
        "s3a://b.c/t",
        &[
            ("fs.s3a.access.key", "general"),
            ("spark.hadoop.fs.s3a.secret.key", "s"),
            ("fs.s3a.bucket.b.c.access.key", "ours"),
            ("fs.s3a.bucket.other.access.key", "theirs"),
            ("fs.s3a.endpoint", "http://127.0.0.1:9000"),
            ("fs.s3a.path.style.access", "true"),
            ("fs.s3a.connection.ssl.enabled", "false"),
            ("fs.s3a.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem"),
            ("fs.s3a.connection.timeout", "5000"),
        ],
        &[
            ("aws_access_key_id", "ours"),
            ("aws_secret_access_key", "s"),
            ("aws_endpoint", "http://127.0.0.1:9000"),
            ("aws_virtual_hosted_style_request", "false"),
            ("allow_http", "true"),
            ("read_timeout", "5000ms"),
        ],
    )?;
    check(
        "s3a://b/t",
        &[
            ("fs.s3a.endpoint", "s3.eu-west-1.amazonaws.com"),
            (
                "fs.s3a.aws.credentials.provider",
                "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider",
            ),
        ],
        &[
            ("aws_endpoint", "https://s3.eu-west-1.amazonaws.com"),
            ("aws_skip_signature", "true"),
        ],
    )
}

#[test]
fn hadoop_options_of_azure() -> Result<()> {
    let uri = "abfss://c@acc.dfs.core.windows.net/t";
    check(
        uri,
        &[
            ("fs.azure.account.key.acc.dfs.core.windows.net", "ours"),
            ("fs.azure.account.key.other.dfs.core.windows.net", "theirs"),
            ("fs.azure.account.auth.type.acc.dfs.core.windows.net", "SharedKey"),
        ],
        &[
            ("azure_storage_account_key", "ours"),
            ("azure_storage_account_name", "acc"),
        ],
    )?;
    check(
        "az://c/t",
        &[("fs.azure.account.key.acc.dfs.core.windows.net", "ours")],
        &[
            ("azure_storage_account_key", "ours"),
            ("azure_storage_account_name", "acc"),
        ],
    )?;
    check(
        uri,
        &[
            ("fs.azure.sas.c.acc.blob.core.windows.net", "sv=1&sig=2"),
            ("fs.azure.sas.d.acc.blob.core.windows.net", "sv=1&sig=3"),
        ],
        &[
            ("azure_storage_sas_key", "sv=1&sig=2"),
            ("azure_storage_account_name", "acc"),
        ],
    )?;
    check(
        uri,
        &[
            ("fs.azure.account.auth.type", "OAuth"),
            (
                "fs.azure.account.oauth.provider.type",
                "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider",
            ),
            ("fs.azure.account.oauth2.client.id", "id"),
            ("fs.azure.account.oauth2.client.secret", "secret"),
            (
                "fs.azure.account.oauth2.client.endpoint",
                "https://login.microsoftonline.com/tenant-1/oauth2/token",
            ),
        ],
        &[
            ("azure_storage_client_id", "id"),
            ("azure_storage_client_secret", "secret"),
            ("azure_storage_tenant_id", "tenant-1"),
            (
                "azure_storage_authority_host",
                "https://login.microsoftonline.com",
            ),
            ("azure_storage_account_name", "acc"),
        ],
    )
}

#[test]
fn hadoop_options_of_google() -> Result<()> {
    check(
        "gs://b/t",
        &[
            ("google.cloud.auth.service.account.enable", "true"),
            ("google.cloud.auth.service.account.json.keyfile", "/k.json"),
            ("fs.gs.project.id", "p"),
        ],
        &[("google_service_account", "/k.json")],
    )?;
    check(
        "gs://b/t",
        &[("fs.gs.auth.type", "UNAUTHENTICATED")],
        &[("google_skip_signature", "true")],
    )
}

#[test]
fn unsupported_changes_are_refused() {
    for (uri, name, value) in [
        ("az://c@acc/t", "fs.azure.account.auth.type", "Custom"),
        (
            "az://c@acc/t",
            "fs.azure.account.oauth2.client.endpoint",
            "PlAnTeD",
        ),
        ("s3://c/t", "fs.s3a.path.style.access", "PlAnTeD"),
        ("s3://c/t", "fs.azure.account.key", "PlAnTeD"),
        ("s3://c/t", "fs.s3a.nothing.like.it", "PlAnTeD"),
    ] {
        let error = resolved(uri, &[(name, value)]).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{name}");
        assert!(!format!("{error:?}").contains("PlAnTeD"), "{name}");
    }
}
