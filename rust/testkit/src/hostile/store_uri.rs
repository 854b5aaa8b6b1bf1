//! Any text as a table's URI and its options: a place that leads to itself, or an error; and neither tells a secret.

use std::collections::BTreeMap;

use deltaic_log::TableLocation;
use deltaic_log::location::StorageOptions;
use deltaic_protocol::{Error, ErrorKind};
use percent_encoding::percent_decode_str;

use super::memory::{Bound, bounded};

/// A client of a store brings its connections, its certificates and its settings, whatever the table is called.
const BOUND: Bound = Bound {
    per_byte: 512,
    spare: 8 * 1024 * 1024,
};

/// What every value holds, and what is put where a URI may hold a secret.
const SECRET: &str = "PlAnTeDSecret7";

/// The first line is the URI, each other one an option: `name=value`.
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

/// Options that name a file of the user's, which would be read.
fn is_a_file(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["service_account", "application_credentials", "keyfile"]
        .iter()
        .any(|word| name.contains(word))
}

pub(super) fn law(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (uri, mut options) = parts(text);
    // Reading the system's certificates takes longer than all the rest, so it is done now and then.
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
    // Where the place itself, or the name of an option, spells the secret, it is none.
    if spells_it(uri) || options.keys().any(|name| spells_it(name)) {
        return;
    }
    // The same with a secret in every value, before the bucket, and behind the path.
    let planted: BTreeMap<String, String> = options
        .into_iter()
        .map(|(name, value)| (name, format!("{value}{SECRET}")))
        .collect();
    tells_nothing(open(uri, &planted));
    // What stands in the memory of this process has names and no keys.
    if let Some((scheme, rest)) = uri.split_once("://")
        && scheme != "memory"
    {
        tells_nothing(open(
            &format!("{scheme}://{SECRET}:{SECRET}@{rest}"),
            &BTreeMap::new(),
        ));
        tells_nothing(open(&format!("{uri}?sig={SECRET}"), &BTreeMap::new()));
    }
}

/// Whether a text is the secret to those who read it: a URI is read without its tabs and line breaks, and decoded.
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

fn tells_nothing(opened: deltaic_protocol::Result<TableLocation>) {
    let said = match opened {
        Ok(location) => format!("{location:?}"),
        Err(error) => format!("{error} {error:?}"),
    };
    assert!(!said.contains(SECRET), "{said}");
}
