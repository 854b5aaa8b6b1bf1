//! Hadoop's names for the options of a store, as used with Spark.

use deltaic_protocol::{Error, ErrorKind, Result};
use url::Url;

use super::uri::{RemoteFolder, Service};

/// A translated Hadoop option.
pub(in crate::location) struct Translated {
    /// Whether its name contains this bucket or account: then it takes precedence over a general one.
    pub(in crate::location) for_this_place: bool,
    /// Settings with names of `object_store`; empty if the option does not concern the store.
    pub(in crate::location) settings: Vec<(String, String)>,
}

/// Options with an equivalent setting.
const PLAIN: [(Service, &str, &str); 20] = [
    (Service::S3, "fs.s3a.access.key", "aws_access_key_id"),
    (Service::S3, "fs.s3a.secret.key", "aws_secret_access_key"),
    (Service::S3, "fs.s3a.session.token", "aws_session_token"),
    (Service::S3, "fs.s3a.endpoint.region", "aws_region"),
    (Service::S3, "fs.s3a.requester.pays.enabled", "aws_request_payer"),
    (Service::S3, "fs.s3a.attempts.maximum", "max_retries"),
    (Service::S3, "fs.s3a.retry.limit", "max_retries"),
    (Service::S3, "fs.s3a.assumed.role.arn", "aws_role_arn"),
    (
        Service::Azure,
        "fs.azure.account.key",
        "azure_storage_account_key",
    ),
    (
        Service::Azure,
        "fs.azure.sas.fixed.token",
        "azure_storage_sas_key",
    ),
    (
        Service::Azure,
        "fs.azure.account.oauth2.client.id",
        "azure_storage_client_id",
    ),
    (
        Service::Azure,
        "fs.azure.account.oauth2.client.secret",
        "azure_storage_client_secret",
    ),
    (
        Service::Azure,
        "fs.azure.account.oauth2.msi.tenant",
        "azure_storage_tenant_id",
    ),
    (
        Service::Azure,
        "fs.azure.account.oauth2.msi.endpoint",
        "azure_msi_endpoint",
    ),
    (
        Service::Azure,
        "fs.azure.account.oauth2.token.file",
        "azure_federated_token_file",
    ),
    (Service::Azure, "fs.azure.io.retry.max.retries", "max_retries"),
    (
        Service::Google,
        "fs.gs.auth.service.account.json.keyfile",
        "google_service_account",
    ),
    (
        Service::Google,
        "google.cloud.auth.service.account.json.keyfile",
        "google_service_account",
    ),
    (Service::Google, "fs.gs.storage.root.url", "google_base_url"),
    (Service::Google, "fs.gs.http.max.retry", "max_retries"),
];

/// Options whose values need translation.
const OTHERS: [(Service, &str); 11] = [
    (Service::S3, "fs.s3a.endpoint"),
    (Service::S3, "fs.s3a.path.style.access"),
    (Service::S3, "fs.s3a.connection.ssl.enabled"),
    (Service::S3, "fs.s3a.aws.credentials.provider"),
    (Service::S3, "fs.s3a.connection.timeout"),
    (Service::S3, "fs.s3a.connection.establish.timeout"),
    (Service::Azure, "fs.azure.account.auth.type"),
    (Service::Azure, "fs.azure.account.oauth.provider.type"),
    (Service::Azure, "fs.azure.account.oauth2.client.endpoint"),
    (Service::Google, "fs.gs.auth.type"),
    (Service::Google, "fs.gs.auth.service.account.enable"),
];

/// Options that only affect Spark and not the store.
const OF_SPARK_ALONE: [&str; 6] = [
    "fs.gs.project.id",
    "google.cloud.auth.service.account.enable",
    "fs.s3a.fast.upload",
    "fs.s3a.committer.name",
    "fs.azure.createRemoteFileSystemDuringInitialization",
    "fs.azure.skipUserGroupMetadataDuringInitialization",
];

const ACCOUNT: &str = "azure_storage_account_name";

/// Returns the names for a service, for suggestions.
pub(in crate::location) fn names(service: Service) -> impl Iterator<Item = &'static str> {
    let plain = PLAIN.iter().map(|(of, name, _)| (of, *name));
    plain
        .chain(OTHERS.iter().map(|(of, name)| (of, *name)))
        .filter(move |(of, _)| **of == service)
        .map(|(_, name)| name)
}

/// Translates an option for a location; `None` if it is not a Hadoop option.
///
/// A value without an equivalent is `InvalidArgument`.
pub(in crate::location) fn translate(
    place: &RemoteFolder,
    name: &str,
    value: &str,
) -> Result<Option<Translated>> {
    let name = name.strip_prefix("spark.hadoop.").unwrap_or(name);
    let is_class = (name.starts_with("fs.") && name.ends_with(".impl")) || OF_SPARK_ALONE.contains(&name);
    if is_class {
        return Ok(Some(about_something_else()));
    }
    let (name, for_this_place, account) = match of_this_place(place, name) {
        OptionTarget::Everybody => (name.to_owned(), false, None),
        OptionTarget::Ours(name, account) => (name, true, account),
        OptionTarget::Others => return Ok(Some(about_something_else())),
    };
    let plain = PLAIN
        .iter()
        .find(|(of, plain, _)| *of == place.service && *plain == name);
    let settings = match plain {
        Some((_, _, canonical)) => Some(vec![((*canonical).to_owned(), value.to_owned())]),
        None => by_value(place.service, &name, value)?,
    };
    Ok(settings.map(|mut settings| {
        settings.extend(account.map(|account| (ACCOUNT.to_owned(), account)));
        Translated {
            for_this_place,
            settings,
        }
    }))
}

fn about_something_else() -> Translated {
    Translated {
        for_this_place: false,
        settings: Vec::new(),
    }
}

/// The target of an option.
enum OptionTarget {
    Everybody,
    /// This location; with the general name of the option, and the account if the URI has none.
    Ours(String, Option<String>),
    /// Another bucket or account.
    Others,
}

fn of_this_place(place: &RemoteFolder, name: &str) -> OptionTarget {
    match place.service {
        Service::S3 => match name.strip_prefix("fs.s3a.bucket.") {
            None => OptionTarget::Everybody,
            Some(rest) => rest
                .strip_prefix(place.bucket.as_str())
                .and_then(|rest| rest.strip_prefix('.'))
                .map_or(OptionTarget::Others, |rest| {
                    OptionTarget::Ours(format!("fs.s3a.{rest}"), None)
                }),
        },
        Service::Azure => {
            // fs.azure.account.key.ACCOUNT.dfs.core.windows.net, fs.azure.sas.CONTAINER.ACCOUNT.blob.core.windows.net
            let Some((before, _)) = name
                .split_once(".dfs.core.")
                .or_else(|| name.split_once(".blob.core."))
            else {
                return OptionTarget::Everybody;
            };
            let Some((option, account)) = before.rsplit_once('.') else {
                return OptionTarget::Everybody;
            };
            if place.account().is_some_and(|ours| ours != account) {
                return OptionTarget::Others;
            }
            let account = place.account().is_none().then(|| account.to_owned());
            match option.strip_prefix("fs.azure.sas.") {
                None | Some("fixed.token") => OptionTarget::Ours(option.to_owned(), account),
                Some(container) if container == place.bucket => {
                    OptionTarget::Ours("fs.azure.sas.fixed.token".to_owned(), account)
                }
                Some(_) => OptionTarget::Others,
            }
        }
        Service::Google => OptionTarget::Everybody,
    }
}

fn by_value(service: Service, name: &str, value: &str) -> Result<Option<Vec<(String, String)>>> {
    if !OTHERS.contains(&(service, name)) {
        return Ok(None);
    }
    let one = |name: &str, value: String| vec![(name.to_owned(), value)];
    let class = value.rsplit('.').next().unwrap_or(value);
    Ok(Some(match name {
        "fs.s3a.endpoint" => match value.split_once("://") {
            None => one("aws_endpoint", format!("https://{value}")),
            // In Hadoop an http endpoint needs no further option.
            Some(("http", _)) => vec![
                ("aws_endpoint".to_owned(), value.to_owned()),
                ("allow_http".to_owned(), "true".to_owned()),
            ],
            Some(_) => one("aws_endpoint", value.to_owned()),
        },
        "fs.s3a.path.style.access" => one(
            "aws_virtual_hosted_style_request",
            (!is_true(name, value)?).to_string(),
        ),
        "fs.s3a.connection.ssl.enabled" => {
            if is_true(name, value)? {
                Vec::new()
            } else {
                one("allow_http", "true".to_owned())
            }
        }
        "fs.s3a.aws.credentials.provider" => match class {
            "AnonymousAWSCredentialsProvider" | "AnonymousCredentialsProvider" => {
                one("aws_skip_signature", "true".to_owned())
            }
            _ => Vec::new(),
        },
        "fs.s3a.connection.timeout" => one("read_timeout", in_milliseconds(value)),
        "fs.s3a.connection.establish.timeout" => one("connect_timeout", in_milliseconds(value)),
        "fs.azure.account.auth.type" if value.eq_ignore_ascii_case("custom") => {
            return Err(cannot(name, "it requires a Java class"));
        }
        "fs.azure.account.oauth.provider.type" if class == "UserPasswordTokenProvider" => {
            return Err(cannot(
                name,
                "signing in with a user's password is not implemented",
            ));
        }
        "fs.azure.account.oauth2.client.endpoint" => {
            let url = Url::parse(value).ok().filter(|url| url.has_host());
            let tenant = url
                .as_ref()
                .and_then(|url| url.path_segments()?.next().map(str::to_owned))
                .filter(|tenant| !tenant.is_empty());
            let (Some(url), Some(tenant)) = (url, tenant) else {
                return Err(cannot(
                    name,
                    "it is not of the form https://login.microsoftonline.com/TENANT/oauth2/token",
                ));
            };
            vec![
                ("azure_storage_tenant_id".to_owned(), tenant),
                (
                    "azure_storage_authority_host".to_owned(),
                    url.origin().ascii_serialization(),
                ),
            ]
        }
        "fs.gs.auth.type" if value.eq_ignore_ascii_case("unauthenticated") => {
            one("google_skip_signature", "true".to_owned())
        }
        _ => Vec::new(),
    }))
}

fn is_true(name: &str, value: &str) -> Result<bool> {
    match value.trim() {
        text if text.eq_ignore_ascii_case("true") => Ok(true),
        text if text.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(cannot(name, "it must be true or false")),
    }
}

fn in_milliseconds(value: &str) -> String {
    if value.chars().all(|c| c.is_ascii_digit()) {
        format!("{value}ms")
    } else {
        value.to_owned()
    }
}

fn cannot(name: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("the value of the storage option {name:?} cannot be used: {why}"),
    )
    .hint("docs/reference/storage-options.md lists the options of each store")
}

#[cfg(test)]
mod tests;
