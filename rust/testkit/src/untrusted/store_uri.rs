//! Arbitrary strings as a table's URI and its options: a location whose URI parses to itself, or an error; neither
//! contains a secret.

use std::collections::BTreeMap;

use deltaic_protocol::{Error, ErrorKind};
use deltaic_storage::TableLocation;
use deltaic_storage::location::StorageOptions;
use percent_encoding::percent_decode_str;

use super::memory::{Bound, bounded};

/// A store client has its connections, certificates and settings, independent of the table's URI.
const BOUND: Bound = Bound {
    per_byte: 512,
    spare: 8 * 1024 * 1024,
};

/// Part of every option value, and inserted where a URI may contain a secret.
const SECRET: &str = "PlAnTeDSecret7";

/// The first line is the URI, all others are options: `name=value`.
fn parts(text: &str) -> (&str, BTreeMap<String, String>) {
    let (uri, rest) = text.split_once('\n').unwrap_or((text, ""));
    let options = rest.lines().filter_map(|line| line.split_once('='));
    let options = options.filter(|(name, _)| !is_a_file(name));
    (
        uri,
        options
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
    )
}

/// Options that name a file of the user, which would be read.
fn is_a_file(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["service_account", "application_credentials", "keyfile"]
        .iter()
        .any(|word| name.contains(word))
}

pub(super) fn check_invariants(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (uri, mut options) = parts(text);
    // Reading the system's certificates dominates the time, so it is done only for some inputs.
    if uri.contains("://")
        && !["file", "memory"].iter().any(|local| uri.starts_with(local))
        && text.len() % 64 > 0
    {
        options.insert("disable_system_certificates".to_owned(), "true".to_owned());
    }
    let open = |uri: &str, options: &BTreeMap<String, String>| {
        TableLocation::with_options(uri, StorageOptions::from(options.clone()), Vec::new())
    };
    match bounded(BOUND, bytes.len(), || open(uri, &options)) {
        Ok(location) => {
            let shown = location.uri();
            assert!(shown.ends_with('/'), "{shown}");
            let again = open(shown, &options);
            assert_eq!(again.as_ref().map(TableLocation::uri).ok(), Some(shown));
        }
        Err(error) => assert!(is_expected(&error), "{error:?}"),
    }
    // If the location or an option's name contains the secret, it is not a secret.
    if spells_it(uri) || options.keys().any(|name| spells_it(name)) {
        return;
    }
    // Repeated with a secret in every value, before the bucket, and after the path.
    let planted: BTreeMap<String, String> = options
        .into_iter()
        .map(|(name, value)| (name, format!("{value}{SECRET}")))
        .collect();
    reveals_nothing(open(uri, &planted));
    // In-memory locations have names and no credentials.
    if let Some((scheme, rest)) = uri.split_once("://")
        && scheme != "memory"
    {
        reveals_nothing(open(
            &format!("{scheme}://{SECRET}:{SECRET}@{rest}"),
            &BTreeMap::new(),
        ));
        reveals_nothing(open(&format!("{uri}?sig={SECRET}"), &BTreeMap::new()));
    }
}

/// Whether a string contains the secret after parsing: a URI is parsed without tabs and line breaks, and decoded.
fn spells_it(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| !c.is_control()).collect();
    let decoded = percent_decode_str(&plain).decode_utf8_lossy();
    plain.contains(SECRET) || decoded.contains(SECRET)
}

fn is_expected(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidArgument | ErrorKind::UnsupportedFeature
    )
}

fn reveals_nothing(opened: deltaic_protocol::Result<TableLocation>) {
    let message = match opened {
        Ok(location) => format!("{location:?}"),
        Err(error) => format!("{error} {error:?}"),
    };
    assert!(!message.contains(SECRET), "{message}");
}
