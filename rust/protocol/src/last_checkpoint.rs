//! The hint `_last_checkpoint` and its optional checksum.
//!
//! Protocol: *Last Checkpoint File Schema*, *JSON checksum*, *How to URL encode keys and string values*.

use std::collections::HashSet;
use std::fmt;

use md5::{Digest, Md5};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::Version;

/// Maximum nesting of a hint.
const DEPTH: usize = 128;

/// Maximum length of the canonical form relative to the hint. Each leaf repeats all keys above it, so a
/// long key above many leaves would turn a small file into gigabytes; hints of real writers need a factor
/// of 4.
const MOST_TIMES: usize = 32;

/// Characters that are not escaped in the checksum: letters, digits and these.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Parses the version of a hint, or returns why the hint is unusable: for example because of a duplicate
/// key or a wrong checksum.
///
/// ```
/// use deltaic_protocol::last_checkpoint::parse_hint;
/// assert_eq!(parse_hint(r#"{"version":10,"size":3}"#).map(|version| version.as_i64()), Ok(10));
/// assert!(parse_hint(r#"{"version":10,"checksum":"of another text"}"#).is_err());
/// ```
pub fn parse_hint(text: &str) -> Result<Version, String> {
    let members: Members<'_> =
        serde_json::from_str(text).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let member = |name: &str| {
        members
            .0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    };
    // The complete hint is parsed even without a checksum: duplicate keys are invalid at any depth.
    let accepted = checksums(text)?;
    if let Some(given) = member("checksum") {
        let given: String =
            serde_json::from_str(given.get()).map_err(|_| "its checksum is not text".to_owned())?;
        if !accepted.iter().any(|sum| given.eq_ignore_ascii_case(sum)) {
            let [right, _] = accepted;
            return Err(format!("its checksum is {given}, but its content has {right}"));
        }
    }
    let version = member("version").ok_or("it contains no version")?.get();
    let number: i64 = version.parse().map_err(|_| format!("its version is {version}"))?;
    Version::try_new(number).map_err(|_| format!("its version is {version}"))
}

/// The counts in a hint. A missing or invalid count is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HintedCounts {
    /// Number of actions of every kind: `size`.
    pub actions: Option<u64>,
    /// Number of `add` actions: `numOfAddFiles`.
    pub adds: Option<u64>,
}

/// Parses the counts of a hint.
///
/// ```
/// use deltaic_protocol::last_checkpoint::hinted_counts;
/// let counts = hinted_counts(r#"{"version":10,"size":3,"numOfAddFiles":-1}"#);
/// assert_eq!((counts.actions, counts.adds), (Some(3), None));
/// ```
#[must_use]
pub fn hinted_counts(text: &str) -> HintedCounts {
    let members: Option<Members<'_>> = serde_json::from_str(text).ok();
    let count = |name: &str| {
        let members = members.as_ref()?;
        let (_, value) = members.0.iter().find(|(key, _)| key == name)?;
        value.get().parse().ok()
    };
    HintedCounts {
        actions: count("size"),
        adds: count("numOfAddFiles"),
    }
}

/// The MD5 checksum of a hint's canonical form, in lower-case hexadecimal digits, as delta-spark computes and requires it.
pub fn checksum(text: &str) -> Result<String, String> {
    checksums(text).map(|[checksum, _]| checksum)
}

/// The checksums that a hint may have: that of [`checksum`], and that of the protocol text.
///
/// delta-spark sorts pairs of path and value, while the protocol sorts paths: they differ if a list has
/// more than ten values, since `+10=` is less than `+1=`, and `+1` less than `+10`.
pub fn checksums(text: &str) -> Result<[String; 2], String> {
    fn pair((path, leaf): &(String, String)) -> impl Iterator<Item = u8> {
        path.bytes().chain(std::iter::once(b'=')).chain(leaf.bytes())
    }
    let mut leaves = leaves(text)?;
    leaves.sort_by(|left, right| pair(left).cmp(pair(right)));
    let by_pair = digest(&leaves);
    leaves.sort_by(|(left, _), (right, _)| left.as_bytes().cmp(right.as_bytes()));
    Ok([by_pair, digest(&leaves)])
}

fn digest(leaves: &[(String, String)]) -> String {
    let digest = Md5::digest(canonical(leaves).as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn canonical(leaves: &[(String, String)]) -> String {
    let pairs: Vec<String> = leaves
        .iter()
        .map(|(path, leaf)| format!("{path}={leaf}"))
        .collect();
    pairs.join(",")
}

/// Every leaf with the keys above it, without the top-level `checksum`.
fn leaves(text: &str) -> Result<Vec<(String, String)>, String> {
    let value: &RawValue =
        serde_json::from_str(text).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let mut leaves = Leaves {
        found: Vec::new(),
        left: text.len().saturating_mul(MOST_TIMES),
    };
    collect(value, "", DEPTH, &mut leaves)?;
    leaves.found.retain(|(path, _)| path != "\"checksum\"");
    Ok(leaves.found)
}

/// Leaves with the keys above them, and the remaining budget for their length.
struct Leaves {
    found: Vec<(String, String)>,
    left: usize,
}

impl Leaves {
    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| format!("its names make more than {MOST_TIMES} times its text"))?;
        Ok(())
    }

    fn push(&mut self, path: &str, leaf: String) -> Result<(), String> {
        self.spend(leaf.len())?;
        self.found.push((path.to_owned(), leaf));
        Ok(())
    }
}

fn collect(value: &RawValue, path: &str, depth: usize, leaves: &mut Leaves) -> Result<(), String> {
    // A raw value is skipped without recursion, so the depth must be limited here.
    let Some(depth) = depth.checked_sub(1) else {
        return Err(format!("it nests deeper than {DEPTH} levels"));
    };
    // The path was built, whatever the value is.
    leaves.spend(path.len())?;
    let wrong = |error: serde_json::Error| format!("it is not valid JSON: {error}");
    let below = |name: String| {
        if path.is_empty() {
            name
        } else {
            format!("{path}+{name}")
        }
    };
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let members: Members<'_> = serde_json::from_str(text).map_err(wrong)?;
            members
                .0
                .iter()
                .try_for_each(|(key, value)| collect(value, &below(quoted(key)), depth, leaves))
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(wrong)?;
            items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| collect(item, &below(index.to_string()), depth, leaves))
        }
        Some(b'"') => {
            let string: String = serde_json::from_str(text).map_err(wrong)?;
            leaves.push(path, quoted(&string))
        }
        _ => leaves.push(path, text.to_owned()),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", utf8_percent_encode(text, ENCODED))
}

/// The members of an object, without duplicates.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                let mut seen = HashSet::new();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    if !seen.insert(key.clone()) {
                        return Err(A::Error::custom(format!("the key {key:?} occurs twice")));
                    }
                    members.push((key, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{"k0":"'v 0'", "checksum": "adsaskfljadfkjadfkj", "k1":{"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]}}"#;

    /// protocol: last-checkpoint-file-schema-json-checksum.2
    #[test]
    fn the_protocols_own_sample_has_the_protocols_own_checksum() {
        let form = r#""k0"="%27v%200%27","k1"+"k2"=2,"k1"+"k3"+0="v3","k1"+"k3"+1+0=1,"k1"+"k3"+1+1=2,"k1"+"k3"+2+"k4"="v4","k1"+"k3"+2+"k5"+0="v5","k1"+"k3"+2+"k5"+1="v6","k1"+"k3"+2+"k5"+2="v7""#;
        let mut leaves = leaves(SAMPLE).unwrap_or_default();
        leaves.sort();
        assert_eq!(canonical(&leaves), form);
        assert_eq!(
            checksum(SAMPLE).as_deref(),
            Ok("6a92d155a59bf2eecbd4b4ec7fd1f875")
        );
    }

    /// delta-spark sorts whole `path=value` pairs, the protocol's text the paths: item 10 comes before or after item 1.
    #[test]
    fn a_list_of_more_than_ten_values_may_be_sorted_in_either_way() {
        let list = r#"["a","b","c","d","e","f","g","h","i","j","k","l"]"#;
        let with_sum = |sum: &str| {
            parse_hint(&format!(
                r#"{{"version":7,"size":3,"tags":{{"list":{list}}},"checksum":"{sum}"}}"#
            ))
            .map(|version| version.as_i64())
        };
        let (by_pair, by_path) = (
            "ccb5e91e686fac398527c10a07fedac7",
            "0260f59fd8925cfbd7fb3272aa918f1a",
        );
        assert_eq!(with_sum(by_pair), Ok(7));
        assert_eq!(with_sum(by_path), Ok(7));
        assert!(with_sum("ccb5e91e686fac398527c10a07fedac8").is_err());
        // We write the checksum that delta-spark accepts.
        let written = checksum(&format!(r#"{{"version":7,"size":3,"tags":{{"list":{list}}}}}"#));
        assert_eq!(written.as_deref(), Ok(by_pair));
    }

    /// protocol: how-to-url-encode-keys-and-string-values.1, how-to-url-encode-keys-and-string-values.2
    #[test]
    fn text_is_encoded_strictly() {
        assert_eq!(quoted("aZ0-._~"), "\"aZ0-._~\"");
        assert_eq!(
            quoted("https://delta.io >ü"),
            "\"https%3A%2F%2Fdelta.io%20%3E%C3%BC\""
        );
    }

    /// protocol: last-checkpoint-file-schema-json-checksum.1
    #[test]
    fn a_hint_is_read_or_passed_over() {
        assert_eq!(
            parse_hint(r#"{"version":0,"size":3,"tags":{"a":"b"}}"#),
            Ok(Version::ZERO)
        );
        let signed = r#"{"version":5,"size":3}"#;
        let sum = checksum(signed).unwrap_or_default();
        let with_sum = signed.replace("}", &format!(",\"checksum\":\"{sum}\"}}"));
        assert_eq!(parse_hint(&with_sum).map(|version| version.as_i64()), Ok(5));
        assert!(parse_hint(&with_sum.replace("\"size\":3", "\"size\":4")).is_err());
        for text in [
            "",
            "{}",
            "[]",
            "{\"version\":-1}",
            "{\"version\":1.5}",
            "{\"version\":\"1\"}",
            "{\"version\":9223372036854775808}",
            "{\"version\":1,\"checksum\":7}",
            "{\"version\":1,\"size\":1,\"size\":1}",
            "{\"version\":1,\"tags\":{\"a\":1,\"a\":1}}",
        ] {
            assert!(parse_hint(text).is_err(), "{text}");
        }
        assert!(parse_hint(&"{\"version\":".repeat(100_000)).is_err());
        let deep = format!(
            "{{\"version\":1,\"x\":{}{}}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(parse_hint(&deep).is_err());
        // A key of 10,000 bytes above 10,000 leaves: 100 MB of keys.
        for leaf in ["0", "[]"] {
            let many = format!("{leaf},").repeat(10_000);
            let wide = format!("{{\"version\":1,\"{}\":[{many}0]}}", "k".repeat(10_000));
            assert!(parse_hint(&wide).is_err_and(|why| why.contains("times its text")));
        }
    }
}
