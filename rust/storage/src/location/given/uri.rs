//! Parses a table's URI: the store, the bucket or container, and the table's path in it.

use deltaic_protocol::path_encoding::decode_path;
use deltaic_protocol::{Error, ErrorKind, Result};
use object_store::path::Path;
use url::Url;

/// The remote stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::location) enum Service {
    S3,
    Azure,
    Google,
}

impl Service {
    /// Returns the service of a URI scheme.
    fn of_scheme(scheme: &str) -> Option<Self> {
        match scheme {
            "s3" | "s3a" => Some(Self::S3),
            "az" | "abfs" | "abfss" => Some(Self::Azure),
            "gs" => Some(Self::Google),
            _ => None,
        }
    }
}

/// A folder on a remote store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::location) struct RemoteFolder {
    pub(in crate::location) service: Service,
    pub(in crate::location) scheme: String,
    /// The bucket or container.
    pub(in crate::location) bucket: String,
    /// Azure: the part after the `@`, an account or its host.
    pub(in crate::location) host: Option<String>,
    pub(in crate::location) root: Path,
}

impl RemoteFolder {
    /// Parses `scheme://bucket/path`, and for Azure `scheme://container@account.dfs.core.windows.net/path`.
    ///
    /// Returns `None` if the scheme is not that of a remote store. The path is percent-decoded once. Parts
    /// that may be secrets (a query, a user name) are an error, and are not printed.
    pub(in crate::location) fn parse(uri: &str) -> Option<Result<Self>> {
        let (scheme, rest) = uri.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let service = Service::of_scheme(&scheme)?;
        Some(Self::parse_rest(service, scheme, rest))
    }

    fn parse_rest(service: Service, scheme: String, rest: &str) -> Result<Self> {
        let invalid = |why: &str| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("The {scheme}:// URI is not the location of a table: {why}"),
            )
        };
        if rest.contains(['?', '#']) {
            return Err(invalid("it has a query or a fragment")
                .hint("pass keys and tokens in storage_options; write ? and # in a path as %3F and %23"));
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (bucket, host) = match authority.split_once('@') {
            None => (authority, None),
            Some((container, host)) if service == Service::Azure => (container, Some(host)),
            Some(_) => {
                return Err(invalid("it contains a user name before the bucket")
                    .hint("pass keys and tokens in storage_options, never in the URI"));
            }
        };
        if !is_name(bucket) || host.is_some_and(|host| !is_name(host)) {
            let what = match service {
                Service::Azure => "container or account",
                Service::S3 | Service::Google => "bucket",
            };
            let message = match bucket.is_empty() || host.is_some_and(str::is_empty) {
                true => format!("The {scheme}:// URI has no {what} name"),
                false => format!("The {scheme}:// URI has an invalid {what} name"),
            };
            return Err(
                Error::new(ErrorKind::InvalidArgument, message).hint(match service {
                    Service::Azure => {
                        "write az://container/path, or abfss://container@account.dfs.core.windows.net/path"
                    }
                    Service::S3 => "write s3://bucket/path",
                    Service::Google => "write gs://bucket/path",
                }),
            );
        }
        let root = decode_path(path.trim_matches('/'))
            .ok()
            .and_then(|path| Path::parse(path).ok())
            .ok_or_else(|| {
                invalid("its path contains an empty segment, a segment of dots, or bytes that are not UTF-8")
            })?;
        Ok(Self {
            bucket: bucket.to_owned(),
            host: host.map(str::to_ascii_lowercase),
            service,
            scheme,
            root,
        })
    }

    /// The scheme, bucket and host, with the slash before the path.
    pub(in crate::location) fn authority(&self) -> String {
        let host = self
            .host
            .as_ref()
            .map(|host| format!("@{host}"))
            .unwrap_or_default();
        format!("{}://{}{host}/", self.scheme, self.bucket)
    }

    /// Returns an equivalent URI that ends with a slash.
    pub(in crate::location) fn to_uri(&self) -> String {
        let base = self.authority();
        let Ok(mut url) = Url::parse(&base) else {
            return base;
        };
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.clear();
            segments.extend(self.root.parts().map(|part| part.as_ref().to_owned()));
            segments.push("");
        }
        url.to_string()
    }

    /// Whether another location is on the same store: a bucket has several schemes, an account several hosts.
    pub(in crate::location) fn is_beside(&self, other: &Self) -> bool {
        self.service == other.service
            && self.bucket == other.bucket
            && match (self.account(), other.account()) {
                (Some(ours), Some(theirs)) => ours == theirs,
                // Without a host the account is an option, which is the same for both.
                (ours, theirs) => ours.is_none() == theirs.is_none(),
            }
    }

    /// Azure: the account of the host.
    pub(in crate::location) fn account(&self) -> Option<&str> {
        let host = self.host.as_deref()?;
        Some(host.split_once('.').map_or(host, |(account, _)| account))
    }
}

/// Whether this is a valid name of a bucket, a container or a host. Other characters such as colons may
/// belong to a key.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '$'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(uri: &str) -> Result<RemoteFolder> {
        RemoteFolder::parse(uri).expect("a URI of a remote store")
    }

    #[test]
    fn a_uri_leads_to_the_same_place_again() -> Result<()> {
        for (uri, bucket, account, root, shown) in [
            ("s3://b/t", "b", None, "t", "s3://b/t/"),
            (
                "S3A://b.c-d/x/y z/",
                "b.c-d",
                None,
                "x/y z",
                "s3a://b.c-d/x/y%20z/",
            ),
            ("s3://b", "b", None, "", "s3://b/"),
            (
                "gs://b_c/day=1%252F2",
                "b_c",
                None,
                "day=1%2F2",
                "gs://b_c/day=1%252F2/",
            ),
            ("az://c/a%3Fb", "c", None, "a?b", "az://c/a%3Fb/"),
            (
                "abfss://c@Acc.dfs.core.windows.net/t",
                "c",
                Some("acc"),
                "t",
                "abfss://c@acc.dfs.core.windows.net/t/",
            ),
            ("az://c@acc/t", "c", Some("acc"), "t", "az://c@acc/t/"),
            (
                "gs://b/x%252Fy%20%25%C3%A4",
                "b",
                None,
                "x%2Fy %ä",
                "gs://b/x%252Fy%20%25%C3%A4/",
            ),
            ("s3://b/ä/ü", "b", None, "ä/ü", "s3://b/%C3%A4/%C3%BC/"),
        ] {
            let place = parse(uri)?;
            assert_eq!(
                (
                    place.bucket.as_str(),
                    place.account(),
                    place.root.as_ref(),
                    place.to_uri().as_str()
                ),
                (bucket, account, root, shown),
                "{uri}"
            );
            assert_eq!(parse(&place.to_uri())?, place, "{uri}");
        }
        Ok(())
    }

    #[test]
    fn possible_secrets_are_refused_and_not_printed() {
        for uri in [
            "s3://AKIA:PlAnTeD@b/t",
            "gs://PlAnTeD@b/t",
            "s3://b/t?X-Amz-Signature=PlAnTeD",
            "az://c/t?sig=PlAnTeD",
            "az://c:PlAnTeD@acc/t",
            "s3://b/t#PlAnTeD",
            "s3:///t/PlAnTeD",
            "s3://b/a//PlAnTeD",
            "s3://b/../PlAnTeD",
            "az://c@/PlAnTeD",
        ] {
            let error = parse(uri).expect_err(uri);
            assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{uri}");
            assert!(!format!("{error:?}").contains("PlAnTeD"), "{uri}");
        }
    }

    #[test]
    fn other_schemes_are_not_ours() {
        for uri in [
            "file:///x",
            "memory://x",
            "hdfs://x/y",
            "/x",
            "https://b.s3.amazonaws.com/x",
        ] {
            assert!(RemoteFolder::parse(uri).is_none(), "{uri}");
        }
    }
}
