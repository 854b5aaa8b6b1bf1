//! The options of a store: their names, their precedence, and which are secret.
//!
//! Options have the names of the `object_store` crate, with or without the service's prefix and in any case,
//! or those of Hadoop. Options take precedence over the environment.

use std::collections::BTreeMap;
use std::fmt;

use deltaic_protocol::error::nearest;
use deltaic_protocol::{Error, ErrorKind, Result};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::hadoop::{self, Translated};
use super::names::{self, SAME, SECRET, TOGETHER, canonical};
use super::uri::RemoteFolder;

/// The options of a store as the user specified them. Values are never printed, not even by `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StorageOptions(BTreeMap<String, String>);

impl StorageOptions {
    /// The options by name.
    #[must_use]
    pub fn as_map(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

impl From<BTreeMap<String, String>> for StorageOptions {
    fn from(options: BTreeMap<String, String>) -> Self {
        Self(options)
    }
}

impl fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Settings of a store, with the names of `object_store`.
pub(in crate::location) type Settings = BTreeMap<String, String>;

/// Verifies that a value is valid in a request: a key that was read from a file may end with a line break,
/// which is not. A key that is a document may contain line breaks.
fn ensure_on_a_line(name: &str, value: &str) -> Result<()> {
    let is_document = value.trim_start().starts_with('{') || value.contains("-----BEGIN");
    if is_document || !value.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidArgument,
        format!("the value of {name:?} contains a line break or another control character"),
    )
    .hint("remove it: a value that was read from a file may end with a line break"))
}

/// Combines the options and the environment to the settings of a location.
///
/// An unknown option, two that contradict each other and one that contradicts the URI are `InvalidArgument`.
pub(in crate::location) fn settings(
    place: &RemoteFolder,
    options: &StorageOptions,
    environment: Vec<(String, String)>,
) -> Result<Settings> {
    // Of two values for one setting, the one for this bucket or account takes precedence; otherwise they must
    // be equal.
    let mut given: BTreeMap<String, (bool, &str, String)> = BTreeMap::new();
    for (name, value) in &options.0 {
        ensure_on_a_line(name, value)?;
        let translated = match canonical(place.service, name) {
            Some(canonical) => Translated {
                for_this_place: false,
                settings: vec![(canonical, value.clone())],
            },
            None => hadoop::translate(place, name, value)?.ok_or_else(|| unknown(place, name))?,
        };
        for (canonical, value) in translated.settings {
            match given.get(&canonical) {
                Some((for_this_place, _, _)) if *for_this_place && !translated.for_this_place => continue,
                Some((for_this_place, other, theirs))
                    if *for_this_place == translated.for_this_place && *theirs != value =>
                {
                    return Err(contradict(other, name));
                }
                _ => given.insert(canonical, (translated.for_this_place, name, value)),
            };
        }
    }
    for (one, other) in SAME {
        if let (Some((_, one, ours)), Some((_, other, theirs))) = (given.get(one), given.get(other))
            && ours != theirs
        {
            return Err(contradict(one, other));
        }
    }
    let mut settings: Settings = BTreeMap::new();
    for (name, value) in environment {
        let Some(canonical) = canonical(place.service, &name) else {
            continue;
        };
        let silenced = TOGETHER.iter().any(|group| {
            group.contains(&canonical.as_str()) && group.iter().any(|name| given.contains_key(*name))
        });
        if !silenced {
            ensure_on_a_line(&name, &value)?;
            settings.insert(canonical, value);
        }
    }
    settings.extend(
        given
            .iter()
            .map(|(name, (_, _, value))| (name.clone(), value.clone())),
    );
    // The bucket is determined by the URI.
    for name in ["aws_bucket", "azure_container_name", "google_bucket"] {
        match (given.get(name), settings.remove(name)) {
            (Some((_, message, _)), Some(value)) if value != place.bucket => {
                return Err(not_the_uris(message));
            }
            _ => {}
        }
    }
    if let Some(account) = place.account() {
        if let Some((_, message, value)) = given.get("azure_storage_account_name")
            && value != account
        {
            return Err(not_the_uris(message));
        }
        settings.insert("azure_storage_account_name".to_owned(), account.to_owned());
    }
    Ok(settings)
}

/// Returns the values to remove from texts, except short ones, which occur in any text.
pub(in crate::location) fn secrets(settings: &Settings) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (name, value) in settings {
        if SECRET.contains(&name.as_str()) {
            found.extend(spellings(value));
            // A SAS query is also recognized by its parts, and a key inside JSON by its lines.
            for part in value.split(['&', '?', '"', '\n', '@']) {
                let part = part.strip_prefix("sig=").unwrap_or(part);
                found.extend(spellings(part));
                found.extend(part.split('/').map(str::to_owned));
            }
        }
    }
    found.retain(|secret| secret.len() >= 6);
    found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    found.dedup();
    found
}

/// The characters besides letters and digits that are not encoded in a URI.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Returns the spellings of a secret that a server may return: as given, decoded, encoded, or encoded twice.
fn spellings(secret: &str) -> Vec<String> {
    let encode = |text: &str| utf8_percent_encode(text, ENCODED).to_string();
    let decoded = percent_decode_str(secret).decode_utf8_lossy().into_owned();
    let encoded = encode(&decoded);
    let again = encode(secret);
    let twice = encode(&encoded);
    let lower = |text: &str| {
        // Only the hexadecimal digits of encoded characters.
        let mut rest = 0;
        let lowered = text.chars().map(|c| {
            rest = if c == '%' { 2 } else { (rest - 1).max(-1) };
            if rest >= 0 { c.to_ascii_lowercase() } else { c }
        });
        lowered.collect::<String>()
    };
    let lowered = [lower(&encoded), lower(&again), lower(&twice)];
    [secret.to_owned(), decoded, encoded, again, twice]
        .into_iter()
        .chain(lowered)
        .collect()
}

/// Returns a text with the secret values removed.
pub(in crate::location) fn without(secrets: &[String], text: &str) -> String {
    secrets
        .iter()
        .fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "…"))
}

fn unknown(place: &RemoteFolder, name: &str) -> Error {
    let hint = match nearest(name, names::all(place.service)) {
        Some(near) => format!("did you mean {near:?}?"),
        None => "docs/reference/storage-options.md lists the options of each store".to_owned(),
    };
    Error::new(
        ErrorKind::InvalidArgument,
        format!("unknown storage option {name:?} for {}:// tables", place.scheme),
    )
    .hint(hint)
}

fn contradict(one: &str, other: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("the storage options {one:?} and {other:?} name the same setting and contradict each other"),
    )
    .hint("set only one of them")
}

fn not_the_uris(name: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("the storage option {name:?} contradicts the table's URI"),
    )
    .hint("omit the option: the URI contains the location")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(uri: &str, options: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Settings> {
        let place = RemoteFolder::parse(uri).expect("a store")?;
        let pairs = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect::<Vec<_>>()
        };
        let options = StorageOptions(pairs(options).into_iter().collect());
        settings(&place, &options, pairs(environment))
    }

    fn map(pairs: &[(&str, &str)]) -> Settings {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_setting_has_many_spellings() -> Result<()> {
        for name in ["aws_region", "region", "AWS_REGION", "fs.s3a.endpoint.region"] {
            assert_eq!(
                resolved("s3://b/t", &[(name, "x")], &[])?,
                map(&[("aws_region", "x")])
            );
        }
        assert_eq!(
            resolved("s3://b/t", &[("region", "x"), ("AWS_REGION", "x")], &[])?,
            map(&[("aws_region", "x")])
        );
        Ok(())
    }

    #[test]
    fn options_win_over_the_environment_and_never_mix_with_its_credentials() -> Result<()> {
        let environment = [
            ("aws_access_key_id", "theirs"),
            ("aws_secret_access_key", "theirs"),
            ("aws_session_token", "theirs"),
            ("aws_region", "there"),
            ("aws_endpoint_url_s3", "https://there"),
            ("aws_something_else", "x"),
        ];
        assert_eq!(
            resolved(
                "s3://b/t",
                &[
                    ("access_key_id", "ours"),
                    ("secret_access_key", "ours"),
                    ("default_region", "here")
                ],
                &environment
            )?,
            map(&[
                ("aws_access_key_id", "ours"),
                ("aws_secret_access_key", "ours"),
                ("aws_default_region", "here"),
                ("aws_endpoint_url_s3", "https://there"),
            ])
        );
        assert_eq!(
            resolved("s3://b/t", &[("endpoint", "https://here")], &environment)?.get("aws_endpoint_url_s3"),
            None
        );
        Ok(())
    }

    #[test]
    fn contradictions_and_unknown_names_are_errors_with_a_hint_and_without_values() {
        for (uri, options, hint) in [
            (
                "s3://b/t",
                vec![("region", "PlAnTeD1"), ("aws_region", "PlAnTeD2")],
                "set only one",
            ),
            (
                "s3://b/t",
                vec![("endpoint", "PlAnTeD1"), ("aws_endpoint_url_s3", "PlAnTeD2")],
                "set only one",
            ),
            ("s3://b/t", vec![("bucket", "PlAnTeD1")], "omit the option"),
            (
                "az://c@acc/t",
                vec![("account_name", "PlAnTeD1")],
                "omit the option",
            ),
            ("s3://b/t", vec![("aws_regoin", "PlAnTeD1")], "\"aws_region\""),
            (
                "s3://b/t",
                vec![("fs.s3a.acess.key", "PlAnTeD1")],
                "\"fs.s3a.access.key\"",
            ),
            ("az://c/t", vec![("acount_key", "PlAnTeD1")], "\"account_key\""),
            (
                "gs://b/t",
                vec![("google_service_acount", "PlAnTeD1")],
                "\"google_service_account\"",
            ),
            (
                "gs://b/t",
                vec![("retry_timeut", "PlAnTeD1")],
                "\"retry_timeout\"",
            ),
            (
                "s3://b/t",
                vec![("what is this", "PlAnTeD1")],
                "docs/reference/storage-options.md",
            ),
        ] {
            let error = resolved(uri, &options, &[]).expect_err(uri);
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
            assert!(
                error.hint_text().is_some_and(|text| text.contains(hint)),
                "{options:?}: {error:?}"
            );
            assert!(!format!("{error:?}").contains("PlAnTeD"), "{error:?}");
        }
    }

    #[test]
    fn secrets_leave_a_text_whole_and_in_parts() {
        let settings = map(&[
            ("azure_storage_sas_key", "?sv=2024-01-01&sig=abc%2Fdefghi"),
            ("proxy_url", "http://user:longpassword@proxy:8080"),
            ("aws_region", "eu-west-1"),
        ]);
        let secrets = secrets(&settings);
        let text = without(
            &secrets,
            "no sig=abc%2Fdefghi, no longpassword, in eu-west-1: user:longpassword",
        );
        assert!(
            !text.contains("abc%2F") && !text.contains("eu-west-1: user:long"),
            "{text}"
        );
        assert!(text.contains("eu-west-1"));
        // In every spelling that a server may return.
        for given in [
            "?sv=2024-01-01&sig=PlAn%2Fx%2Bx%3D",
            "sv=2024-01-01&sig=PlAn/x+x=",
        ] {
            let settings = map(&[("azure_storage_sas_key", given)]);
            for reported in [
                "PlAn/x+x=",
                "PlAn%2Fx%2Bx%3D",
                "PlAn%2fx%2bx%3d",
                "PlAn%252Fx%252Bx%253D",
            ] {
                let text = without(
                    &super::secrets(&settings),
                    &format!("the signature {reported} is wrong"),
                );
                assert!(!text.contains("PlAn"), "{given} {reported}: {text}");
            }
        }
        assert_eq!(
            format!("{:?}", StorageOptions(map(&[("key", "PlAnTeD")]))),
            "{\"key\"}"
        );
    }
}
