//! Creates a store's client from its settings: retries and timeouts.

use std::sync::Arc;
use std::time::Duration;

use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::{BackoffConfig, ObjectStore, RetryConfig};
use url::{Host, Url};

use super::network::Network;
use super::sent::Counting;
use crate::location::given::names::{MAX_RETRIES, RETRY_TIMEOUT};
use crate::location::given::options::{Settings, without};
use crate::location::given::uri::{RemoteFolder, Service};

/// Default number of retries of a request.
const RETRIES: usize = 6;
/// Maximum number of retries: with pauses of seconds it takes hours.
const MOST_RETRIES: usize = 1_000;
/// Default time after which a request is not retried.
const RETRY_FOR: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A complete response may be large and the connection slow, but a stalled connection must time out.
const DEFAULTS: [(&str, &str); 3] = [
    ("timeout", "10 minutes"),
    ("read_timeout", "30 seconds"),
    ("connect_timeout", "5 seconds"),
];

/// The settings that contain the address of a server.
const ADDRESSES: [&str; 4] = [
    "aws_endpoint",
    "aws_endpoint_url_s3",
    "azure_storage_endpoint",
    "google_base_url",
];

/// Creates the client. Sends no request; settings that contradict each other are `InvalidArgument`.
pub(in crate::location) fn connect(
    place: &RemoteFolder,
    settings: &Settings,
    network: &Network,
) -> Result<Arc<dyn ObjectStore>> {
    // There is one default provider per process; an existing one is not replaced.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = retry(settings)?;
    check_addresses(settings)?;
    let defaults = DEFAULTS
        .iter()
        .filter(|(name, _)| !settings.contains_key(*name))
        .map(|(name, value)| (*name, *value));
    let given = settings;
    let settings = settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| ![MAX_RETRIES, RETRY_TIMEOUT].contains(name))
        .chain(defaults);
    let network = Counting::over(network);
    let store: std::result::Result<Arc<dyn ObjectStore>, object_store::Error> = match place.service {
        Service::S3 => {
            let mut builder = AmazonS3Builder::new()
                .with_retry(retry)
                .with_http_connector(network);
            for (name, value) in settings {
                builder = builder.with_config(known(name.parse())?, value);
            }
            builder
                .with_bucket_name(&place.bucket)
                .build()
                .map(|store| Arc::new(store) as _)
        }
        Service::Azure => {
            let mut builder = MicrosoftAzureBuilder::new()
                .with_retry(retry)
                .with_http_connector(network);
            if let Some(endpoint) = endpoint_of(place)? {
                builder = builder.with_endpoint(endpoint);
            }
            for (name, value) in settings {
                builder = builder.with_config(known(name.parse())?, value);
            }
            builder
                .with_container_name(&place.bucket)
                .build()
                .map(|store| Arc::new(store) as _)
        }
        Service::Google => {
            let mut builder = GoogleCloudStorageBuilder::new()
                .with_retry(retry)
                .with_http_connector(network);
            for (name, value) in settings {
                builder = builder.with_config(known(name.parse())?, value);
            }
            builder
                .with_bucket_name(&place.bucket)
                .build()
                .map(|store| Arc::new(store) as _)
        }
    };
    store.map_err(|error| {
        let key_files = [
            "google_service_account",
            "google_service_account_key",
            "google_application_credentials",
        ];
        let why = if key_files.iter().any(|name| given.contains_key(*name)) {
            // The error messages for key files contain parts of the keys.
            "the service account's key cannot be read".to_owned()
        } else {
            without(&long_values(given), &innermost(&error))
        };
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the options of the {}:// store are invalid: {why}", place.scheme),
        )
        .hint("docs/reference/storage-options.md lists the options of each store")
    })
}

/// Returns every value that is long enough to be replaced in a text: users may set any option to a secret by
/// mistake.
fn long_values(settings: &Settings) -> Vec<String> {
    let mut values: Vec<String> = settings
        .values()
        .filter(|value| value.len() > 4)
        .cloned()
        .collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values
}

/// Whether the user set the endpoint: a compatible server may not honor all conditional requests of the original
/// service.
pub(in crate::location) fn is_elsewhere(settings: &Settings) -> bool {
    // By setting the method for conditional puts, the user confirms that the server supports it.
    ADDRESSES.iter().any(|name| settings.contains_key(*name)) && !settings.contains_key("aws_conditional_put")
}

/// Azure's clouds. Credentials are sent to no other host in a URI.
const CLOUDS: [&str; 6] = [
    "core.windows.net",
    "core.chinacloudapi.cn",
    "core.usgovcloudapi.net",
    "core.cloudapi.de",
    "fabric.microsoft.com",
    "storage.azure.net",
];

/// Azure: returns the endpoint of the account in the URI.
fn endpoint_of(place: &RemoteFolder) -> Result<Option<String>> {
    let Some((account, rest)) = place.host.as_deref().and_then(|host| host.split_once('.')) else {
        return Ok(None);
    };
    let domain = rest.strip_prefix("dfs.").or_else(|| rest.strip_prefix("blob."));
    let in_a_cloud = domain.is_some_and(|domain| {
        CLOUDS
            .iter()
            .any(|cloud| domain == *cloud || domain.ends_with(&format!(".{cloud}")))
    });
    match domain.filter(|_| in_a_cloud) {
        Some(domain) => Ok(Some(format!("https://{account}.blob.{domain}"))),
        None => Err(Error::new(
            ErrorKind::InvalidArgument,
            "the URI's host is not an Azure host",
        )
        .with("host", place.host.clone().unwrap_or_default())
        .hint("write az://container/path, and set azure_storage_endpoint and azure_storage_account_name")),
    }
}

fn retry(settings: &Settings) -> Result<RetryConfig> {
    let max_retries = match settings.get(MAX_RETRIES) {
        None => RETRIES,
        Some(text) => text
            .parse()
            .ok()
            .filter(|retries| *retries <= MOST_RETRIES)
            .ok_or_else(|| wrong(MAX_RETRIES, "a number from 0 to 1000"))?,
    };
    let retry_timeout = match settings.get(RETRY_TIMEOUT) {
        None => RETRY_FOR,
        Some(text) => humantime::parse_duration(text)
            .ok()
            .filter(|time| *time <= LONGEST)
            .ok_or_else(|| {
                wrong(
                    RETRY_TIMEOUT,
                    "a duration such as \"30s\" or \"2 minutes\", at most one day",
                )
            })?,
    };
    Ok(RetryConfig {
        backoff: BackoffConfig {
            init_backoff: FIRST_PAUSE,
            max_backoff: LONGEST_PAUSE,
            base: 2.0,
        },
        max_retries,
        retry_timeout,
    })
}

/// Verifies that addresses are URLs without a user name, and encrypted unless the options allow HTTP.
fn check_addresses(settings: &Settings) -> Result<()> {
    let allows_http = settings.get("allow_http").is_some_and(|text| {
        matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "1" | "yes" | "on" | "y"
        )
    });
    for name in ADDRESSES {
        let Some(text) = settings.get(name) else { continue };
        let url = Url::parse(text)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .filter(|url| matches!(url.host(), Some(Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_))))
            .ok_or_else(|| wrong(name, "a URL such as https://example.com"))?;
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(wrong(name, "a URL without user name and query"));
        }
        if url.scheme() == "http" && !allows_http {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("the storage option {name:?} is an http:// URL, which is not encrypted"),
            )
            .hint("use https://, or set allow_http=\"true\" if you trust the network"));
        }
    }
    Ok(())
}

fn wrong(name: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("the value of the storage option {name:?} is not {what}"),
    )
    .hint("docs/reference/storage-options.md lists the options of each store")
}

fn known<K>(key: std::result::Result<K, object_store::Error>) -> Result<K> {
    key.map_err(|_| Error::new(ErrorKind::InvalidArgument, "unknown storage option"))
}

fn innermost(error: &object_store::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
