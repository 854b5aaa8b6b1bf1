//! In-commit timestamps: which commits contain their timestamp, and which use the modification time of
//! their file.
//!
//! Protocol: *In-Commit Timestamps*, *Recommendations for Readers of Tables with In-Commit Timestamps*.

use crate::features::supports_for_writers;
use crate::properties::boolean;
use crate::{Error, ErrorKind, Result, TableConfiguration, Version};

const ENABLED: &str = "delta.enableInCommitTimestamps";
pub(crate) const ENABLEMENT_VERSION: &str = "delta.inCommitTimestampEnablementVersion";
pub(crate) const ENABLEMENT_TIMESTAMP: &str = "delta.inCommitTimestampEnablementTimestamp";

/// Where in-commit timestamps were enabled in an existing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enablement {
    /// The first version with an in-commit timestamp.
    pub version: Version,
    /// The timestamp of that version in milliseconds since the epoch.
    pub timestamp_ms: i64,
}

/// Which commits of a table have in-commit timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InCommitTimestamps {
    /// None has to: the modification times of the files are used.
    Disabled,
    /// All commits.
    FromTheStart,
    /// The commits from a version on.
    Since(Enablement),
}

/// The source of the timestamp of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampSource {
    /// In the commit's `commitInfo.inCommitTimestamp`.
    InCommit,
    /// In the modification time of the commit's file.
    FileModification,
}

/// The versions that are searched for a timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Considered {
    /// All versions.
    All,
    /// This version and later ones.
    From(Version),
    /// The versions before this one.
    Before(Version),
}

impl InCommitTimestamps {
    /// Reads the configuration of a table.
    ///
    /// # Errors
    ///
    /// Returns `CorruptLog` with the property as `field` if it is neither true nor false, if a version or
    /// timestamp is invalid, or if only one of the two is set.
    ///
    /// ```
    /// use deltaic_protocol::TableConfiguration;
    /// use deltaic_protocol::actions::{Metadata, Protocol};
    /// use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
    /// let protocol: Protocol = serde_json::from_str(
    ///     r#"{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["inCommitTimestamp"]}"#,
    /// )?;
    /// let metadata: Metadata = serde_json::from_str(
    ///     r#"{"id":"t","format":{"provider":"parquet"},"partitionColumns":[],
    ///         "configuration":{"delta.enableInCommitTimestamps":"true"}}"#,
    /// )?;
    /// let table = TableConfiguration::new(protocol, metadata);
    /// assert_eq!(InCommitTimestamps::of(&table)?, InCommitTimestamps::FromTheStart);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(table: &TableConfiguration) -> Result<Self> {
        let (protocol, metadata) = (table.protocol(), table.metadata());
        if !supports_for_writers(protocol, "inCommitTimestamp") || !boolean(metadata, ENABLED)? {
            return Ok(Self::Disabled);
        }
        let number = |key: &'static str| {
            metadata
                .property(key)
                .map(|text| {
                    let number = text.trim().parse::<i64>().ok().filter(|number| *number >= 0);
                    number.ok_or_else(|| corrupt(key, format!("{key} is {text:?}, which is not valid")))
                })
                .transpose()
        };
        match (number(ENABLEMENT_VERSION)?, number(ENABLEMENT_TIMESTAMP)?) {
            (None, None) => Ok(Self::FromTheStart),
            (Some(version), Some(timestamp_ms)) => Ok(Self::Since(Enablement {
                version: Version::try_new(version)?,
                timestamp_ms,
            })),
            (Some(_), None) => Err(corrupt(
                ENABLEMENT_TIMESTAMP,
                format!("{ENABLEMENT_VERSION} is set without {ENABLEMENT_TIMESTAMP}"),
            )),
            (None, Some(_)) => Err(corrupt(
                ENABLEMENT_VERSION,
                format!("{ENABLEMENT_TIMESTAMP} is set without {ENABLEMENT_VERSION}"),
            )),
        }
    }

    /// The source of the timestamp of a version.
    #[must_use]
    pub fn source(&self, version: Version) -> TimestampSource {
        match self {
            Self::Disabled => TimestampSource::FileModification,
            Self::FromTheStart => TimestampSource::InCommit,
            Self::Since(enablement) if version >= enablement.version => TimestampSource::InCommit,
            Self::Since(_) => TimestampSource::FileModification,
        }
    }

    /// The versions to search for the state of the table at a time, in milliseconds since the epoch.
    #[must_use]
    pub fn considered(&self, timestamp_ms: i64) -> Considered {
        match self {
            Self::Disabled | Self::FromTheStart => Considered::All,
            Self::Since(enablement) if timestamp_ms >= enablement.timestamp_ms => {
                Considered::From(enablement.version)
            }
            Self::Since(enablement) => Considered::Before(enablement.version),
        }
    }
}

fn corrupt(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::CorruptLog, message)
        .with("field", field)
        .hint("open the table by version; its commit times are unknown")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{metadata, protocol};

    fn since(version: &str, timestamp: &str) -> Result<InCommitTimestamps> {
        InCommitTimestamps::of(&crate::samples::table(
            &protocol(1, 7, &["inCommitTimestamp"]),
            &metadata(&[
                (ENABLED, "true"),
                (ENABLEMENT_VERSION, version),
                (ENABLEMENT_TIMESTAMP, timestamp),
            ]),
        ))
    }

    /// protocol: in-commit-timestamps.1, in-commit-timestamps.2, in-commit-timestamps.3
    #[test]
    fn they_are_enabled_by_the_feature_and_the_property_together() -> Result<()> {
        let on = metadata(&[(ENABLED, "true")]);
        for name in [
            "inCommitTimestamp",
            "inCommitTimestamps",
            "inCommitTimestamp-preview",
        ] {
            assert_eq!(
                InCommitTimestamps::of(&crate::samples::table(&protocol(1, 7, &[name]), &on))?,
                InCommitTimestamps::FromTheStart,
                "{name}"
            );
        }
        for (protocol, metadata) in [
            (protocol(1, 7, &["appendOnly"]), &on),
            (protocol(1, 6, &[]), &on),
            (protocol(1, 7, &["inCommitTimestamp"]), &metadata(&[])),
            (
                protocol(1, 7, &["inCommitTimestamp"]),
                &metadata(&[(ENABLED, "false"), (ENABLEMENT_VERSION, "4")]),
            ),
        ] {
            assert_eq!(
                InCommitTimestamps::of(&crate::samples::table(&protocol, metadata))?,
                InCommitTimestamps::Disabled
            );
        }
        Ok(())
    }

    /// protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.1,
    /// recommendations-for-readers-of-tables-with-in-commit-timestamps.2,
    /// recommendations-for-readers-of-tables-with-in-commit-timestamps.3
    #[test]
    fn the_version_reports_where_its_time_remains() -> Result<()> {
        let version = |number| Version::try_new(number);
        let late = since("4", "1000")?;
        for (number, source) in [
            (0, TimestampSource::FileModification),
            (3, TimestampSource::FileModification),
            (4, TimestampSource::InCommit),
            (5, TimestampSource::InCommit),
        ] {
            assert_eq!(late.source(version(number)?), source, "{number}");
        }
        assert_eq!(
            InCommitTimestamps::FromTheStart.source(Version::ZERO),
            TimestampSource::InCommit
        );
        assert_eq!(
            InCommitTimestamps::Disabled.source(version(9)?),
            TimestampSource::FileModification
        );
        Ok(())
    }

    /// protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.5,
    /// recommendations-for-readers-of-tables-with-in-commit-timestamps.6
    #[test]
    fn a_time_is_looked_for_on_its_own_side_of_the_enablement() -> Result<()> {
        let late = since("4", "1000")?;
        let four = Version::try_new(4)?;
        assert_eq!(late.considered(999), Considered::Before(four));
        assert_eq!(late.considered(1000), Considered::From(four));
        assert_eq!(late.considered(i64::MAX), Considered::From(four));
        assert_eq!(InCommitTimestamps::FromTheStart.considered(1), Considered::All);
        assert_eq!(InCommitTimestamps::Disabled.considered(1), Considered::All);
        Ok(())
    }

    /// If the properties are invalid, the table is not treated as one without in-commit timestamps.
    #[test]
    fn an_enabling_property_that_does_not_parse_is_damage() -> Result<()> {
        for value in ["yes", "1", ""] {
            let odd = metadata(&[(ENABLED, value)]);
            let error = InCommitTimestamps::of(&crate::samples::table(
                &protocol(1, 7, &["inCommitTimestamp"]),
                &odd,
            ))
            .err();
            assert!(
                error.is_some_and(|error| error.kind() == ErrorKind::CorruptLog
                    && error.context().contains(&("field", ENABLED.into()))),
                "{value:?}"
            );
            assert_eq!(
                InCommitTimestamps::of(&crate::samples::table(&protocol(1, 2, &[]), &odd))?,
                InCommitTimestamps::Disabled
            );
        }
        Ok(())
    }

    #[test]
    fn half_an_enablement_is_damage() {
        for (version, timestamp, field) in [
            ("-1", "1000", ENABLEMENT_VERSION),
            ("four", "1000", ENABLEMENT_VERSION),
            ("4", "", ENABLEMENT_TIMESTAMP),
        ] {
            let error = since(version, timestamp).err();
            assert!(
                error
                    .as_ref()
                    .is_some_and(|error| error.context().contains(&("field", field.into()))),
                "{version} {timestamp}: {error:?}"
            );
        }
        for (key, missing) in [
            (ENABLEMENT_VERSION, ENABLEMENT_TIMESTAMP),
            (ENABLEMENT_TIMESTAMP, ENABLEMENT_VERSION),
        ] {
            let half = metadata(&[(ENABLED, "true"), (key, "4")]);
            let error = InCommitTimestamps::of(&crate::samples::table(
                &protocol(1, 7, &["inCommitTimestamp"]),
                &half,
            ))
            .err();
            assert!(error.is_some_and(|error| error.context().contains(&("field", missing.into()))));
        }
    }
}
