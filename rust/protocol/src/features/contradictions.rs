//! Contradictions between the features and versions of a protocol. Readers report them and use the listed
//! features.
//!
//! Protocol: *Supported Features*, and the lists "To support this feature" of each feature.

use std::fmt;

use super::row::{Feature, Kind};
use super::table::feature;
use crate::actions::Protocol;

/// A requirement of a feature that the protocol does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    feature: String,
    message: String,
}

impl Contradiction {
    /// The feature, as spelled by the table.
    #[must_use]
    pub fn feature(&self) -> &str {
        &self.feature
    }
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the protocol has the feature {}, {}",
            self.feature, self.message
        )
    }
}

/// The requirements of listed features that the protocol does not meet; empty if it is consistent.
/// Unknown features have no requirements.
///
/// ```
/// use deltaic_protocol::actions::Protocol;
/// use deltaic_protocol::features::contradictions;
/// let protocol: Protocol = serde_json::from_str(
///     r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["clustering"]}"#,
/// )?;
/// let found: Vec<String> = contradictions(&protocol).iter().map(ToString::to_string).collect();
/// assert_eq!(found, ["the protocol has the feature clustering, which needs domainMetadata"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn contradictions(protocol: &Protocol) -> Vec<Contradiction> {
    let readers = protocol.reader_features.as_deref().unwrap_or_default();
    let writers = protocol.writer_features.as_deref().unwrap_or_default();
    // Reader version 2 implies column mapping without a list.
    let implied = |row: &Feature| row.legacy.0 > 0 && row.legacy.0 == protocol.min_reader_version;
    let mut found: Vec<Contradiction> = Vec::new();
    let mut say = |name: &str, message: String| {
        found.push(Contradiction {
            feature: name.to_owned(),
            message,
        });
    };
    for name in readers.iter().filter(|name| !writers.contains(name)) {
        say(name, "which is listed for readers and not for writers".to_owned());
    }
    for name in writers
        .iter()
        .chain(readers.iter().filter(|name| !writers.contains(name)))
    {
        let Some(known) = feature(name) else { continue };
        match known.kind {
            Kind::Writer if readers.contains(name) => {
                say(name, "which binds no readers and is listed for them".to_owned());
            }
            Kind::ReaderWriter if !readers.contains(name) && !implied(known) => {
                say(name, "which binds readers and is not listed for them".to_owned());
            }
            _ => {}
        }
        for needed in known.requires {
            if !has(protocol, needed) {
                say(name, format!("which needs {needed}"));
            }
        }
        for other in known.excludes {
            // It is enough to be listed on either side.
            if writers.iter().chain(readers).any(|listed| is(listed, other)) {
                say(name, format!("which cannot be together with {other}"));
            }
        }
    }
    found
}

/// Whether a listed name is that of a feature or an alias of it.
fn is(listed: &str, name: &str) -> bool {
    feature(listed).is_some_and(|row| row.name == name)
}

/// Whether the protocol has a feature for every client that it binds.
pub(super) fn has(protocol: &Protocol, name: &str) -> bool {
    let listed = |features: &Option<Vec<String>>| features.iter().flatten().any(|listed| is(listed, name));
    let Some(known) = feature(name) else { return false };
    let for_writers = match protocol.min_writer_version {
        7 => listed(&protocol.writer_features),
        version => known.legacy.1 > 0 && known.legacy.1 <= version,
    };
    let for_readers = match protocol.min_reader_version {
        3 => listed(&protocol.reader_features),
        version => known.legacy.0 > 0 && known.legacy.0 <= version,
    };
    for_writers && (for_readers || known.kind == Kind::Writer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::protocol;

    fn message(protocol: &Protocol) -> Vec<String> {
        let strip = |line: &Contradiction| format!("{} {}", line.feature(), line.message);
        contradictions(protocol).iter().map(strip).collect()
    }

    fn writer_only(reader: i32, features: &[&str]) -> Protocol {
        Protocol {
            reader_features: (reader == 3).then(Vec::new),
            ..protocol(reader, 7, features)
        }
    }

    /// protocol: clustered-table.1, clustered-table.2, row-tracking.5
    #[test]
    fn a_feature_that_needs_another_states_so() {
        for name in ["clustering", "rowTracking"] {
            assert_eq!(
                message(&protocol(1, 7, &[name])),
                [format!("{name} which needs domainMetadata")]
            );
            assert!(
                message(&protocol(1, 7, &[name, "domainMetadata"])).is_empty(),
                "{name}"
            );
        }
    }

    /// protocol: iceberg-compatibility-v1.1, iceberg-compatibility-v1.2, iceberg-compatibility-v1.3,
    /// iceberg-compatibility-v2.1, iceberg-compatibility-v2.2, iceberg-compatibility-v2.3
    #[test]
    fn iceberg_compatibility_needs_column_mapping_on_both_sides() {
        for name in ["icebergCompatV1", "icebergCompatV2"] {
            let needs = [format!("{name} which needs columnMapping")];
            assert!(message(&writer_only(2, &[name, "columnMapping"])).is_empty());
            let mut listed = protocol(3, 7, &["columnMapping"]);
            listed.writer_features = Some(vec!["columnMapping".to_owned(), name.to_owned()]);
            assert!(message(&listed).is_empty());
            assert_eq!(message(&writer_only(1, &[name])), needs);
            assert_eq!(message(&writer_only(2, &[name])), needs);
            assert!(message(&writer_only(3, &[name, "columnMapping"])).contains(&needs.concat()));
        }
        let mut both = writer_only(2, &["icebergCompatV1", "columnMapping", "deletionVectors"]);
        assert!(
            message(&both)
                .contains(&"icebergCompatV1 which cannot be together with deletionVectors".to_owned())
        );
        both.writer_features = Some(vec!["icebergCompatV2".to_owned(), "columnMapping".to_owned()]);
        assert!(message(&both).is_empty());
    }

    /// protocol: deletion-vectors.1, deletion-vectors.2, v2-checkpoint-table-feature.1, vacuum-protocol-check.1
    #[test]
    fn reader_features_are_listed_for_writers_too() {
        for name in [
            "deletionVectors",
            "v2Checkpoint",
            "vacuumProtocolCheck",
            "timestampNtz",
        ] {
            assert!(message(&protocol(3, 7, &[name])).is_empty(), "{name}");
            for one_sided in [
                writer_only(1, &[name]),
                writer_only(2, &[name]),
                writer_only(3, &[name]),
            ] {
                assert_eq!(
                    message(&one_sided),
                    [format!("{name} which binds readers and is not listed for them")]
                );
            }
            let mut readers = protocol(3, 7, &[name]);
            readers.writer_features = Some(Vec::new());
            assert_eq!(
                message(&readers),
                [format!("{name} which is listed for readers and not for writers")]
            );
        }
        assert_eq!(
            message(&protocol(3, 7, &["appendOnly"])),
            ["appendOnly which binds no readers and is listed for them"]
        );
        assert!(message(&protocol(3, 7, &["fromTheFuture"])).is_empty());
        for (reader, writer) in [(1, 1), (1, 2), (1, 6), (2, 5), (2, 6)] {
            assert!(message(&protocol(reader, writer, &[])).is_empty());
        }
    }
}
