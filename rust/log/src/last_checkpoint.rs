//! `_last_checkpoint`: a hint where to start. It is never trusted: what it leads to must prove itself.
//!
//! Protocol: *Last Checkpoint File*, *Last Checkpoint File Schema*.

use std::collections::HashSet;
use std::fmt;

use deltaic_protocol::Version;
use deltaic_protocol::log_path::{LAST_CHECKPOINT, LOG_FOLDER};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::location::TableLocation;

/// What the hint says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A checkpoint of this version.
    Version(Version),
    /// Nothing: there is no such file.
    Absent,
    /// Nothing that can be used, and why, for people.
    Unusable(String),
}

/// Reads the hint; whatever is wrong with it is no reason not to open the table.
pub async fn read_last_checkpoint(location: &TableLocation) -> Hint {
    match location.read(&format!("{LOG_FOLDER}/{LAST_CHECKPOINT}")).await {
        Ok(bytes) => parse(&bytes),
        Err(object_store::Error::NotFound { .. }) => Hint::Absent,
        Err(_) => Hint::Unusable("it cannot be read".to_owned()),
    }
}

#[derive(Deserialize)]
struct LastCheckpoint {
    version: i64,
}

fn parse(bytes: &[u8]) -> Hint {
    // No key may stand twice, at any depth; serde sees that only for the keys that it is asked for.
    if let Err(error) = serde_json::from_slice::<UniqueKeys>(bytes) {
        return Hint::Unusable(format!("it is not valid JSON: {error}"));
    }
    match serde_json::from_slice::<LastCheckpoint>(bytes) {
        Ok(hint) => match Version::try_new(hint.version) {
            Ok(version) => Hint::Version(version),
            Err(_) => Hint::Unusable(format!("its version is {}", hint.version)),
        },
        Err(error) => Hint::Unusable(format!("it holds no version: {error}")),
    }
}

/// Any JSON in which no object holds a key twice.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyVisitor;
        impl<'de> Visitor<'de> for AnyVisitor {
            type Value = UniqueKeys;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON without duplicate keys")
            }
            fn visit_bool<E>(self, _: bool) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_i64<E>(self, _: i64) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_u64<E>(self, _: u64) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_f64<E>(self, _: f64) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_str<E>(self, _: &str) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_unit<E>(self) -> Result<UniqueKeys, E> {
                Ok(UniqueKeys)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<UniqueKeys, A::Error> {
                while items.next_element::<UniqueKeys>()?.is_some() {}
                Ok(UniqueKeys)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<UniqueKeys, A::Error> {
                let mut seen = HashSet::new();
                while let Some(key) = entries.next_key::<String>()? {
                    if seen.contains(&key) {
                        return Err(A::Error::custom(format!("the key {key:?} stands twice")));
                    }
                    seen.insert(key);
                    entries.next_value::<UniqueKeys>()?;
                }
                Ok(UniqueKeys)
            }
        }
        deserializer.deserialize_any(AnyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// protocol: last-checkpoint-file-schema-json-checksum.1
    #[test]
    fn a_hint_is_read_or_passed_over() {
        assert_eq!(
            parse(br#"{"version":0,"size":3,"tags":{"a":"b"}}"#),
            Hint::Version(Version::ZERO)
        );
        for text in [
            "",
            "{}",
            "[]",
            "{\"version\":-1}",
            "{\"version\":1.5}",
            "{\"version\":\"1\"}",
            "{\"version\":9223372036854775808}",
            "{\"version\":1,\"size\":1,\"size\":1}",
            "{\"version\":1,\"tags\":{\"a\":1,\"a\":1}}",
        ] {
            assert!(matches!(parse(text.as_bytes()), Hint::Unusable(_)), "{text}");
        }
    }
}
