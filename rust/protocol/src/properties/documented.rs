//! Every documented table property with its type and default.

use super::interval::interval_ms;
use super::unreadable::unreadable;
use crate::Result;
use crate::actions::Metadata;

/// The type of a property value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyType {
    /// `true` or `false`, in any case.
    Boolean,
    /// An integer with this minimum.
    Integer(i64),
    /// An interval without months.
    Interval,
    /// One of these values, in any case.
    Choice(&'static [&'static str]),
    /// Any string.
    Text,
}

/// Who sets a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetBy {
    /// Users.
    Users,
    /// Writers, as a consequence of other changes; users cannot.
    Writers,
    /// Users, to change the protocol action; the value is not stored as a property.
    Protocol,
    /// Users of clients that support the feature; deltaic refuses any value but the default.
    Others,
}

/// A documented property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property {
    /// The key in `metaData.configuration`.
    pub name: &'static str,
    /// The type of its value.
    pub property_type: PropertyType,
    /// The value if the property is not set, if there is one.
    pub default: Option<&'static str>,
    /// Who sets it.
    pub set_by: SetBy,
}

const fn by(set_by: SetBy, property: Property) -> Property {
    Property { set_by, ..property }
}

const fn boolean_of(name: &'static str, default: Option<&'static str>) -> Property {
    Property {
        name,
        property_type: PropertyType::Boolean,
        default,
        set_by: SetBy::Users,
    }
}

const fn integer_from(name: &'static str, least: i64, default: Option<&'static str>) -> Property {
    Property {
        name,
        property_type: PropertyType::Integer(least),
        default,
        set_by: SetBy::Users,
    }
}

const fn interval(name: &'static str, default: Option<&'static str>) -> Property {
    Property {
        name,
        property_type: PropertyType::Interval,
        default,
        set_by: SetBy::Users,
    }
}

const fn choice(
    name: &'static str,
    choices: &'static [&'static str],
    default: Option<&'static str>,
) -> Property {
    Property {
        name,
        property_type: PropertyType::Choice(choices),
        default,
        set_by: SetBy::Users,
    }
}

const fn text_of(name: &'static str, default: Option<&'static str>) -> Property {
    Property {
        name,
        property_type: PropertyType::Text,
        default,
        set_by: SetBy::Users,
    }
}

const WRITERS: SetBy = SetBy::Writers;
const PROTOCOL: SetBy = SetBy::Protocol;
const OTHERS: SetBy = SetBy::Others;
const FALSE: Option<&str> = Some("false");
const TRUE: Option<&str> = Some("true");

/// Every property that the protocol, its proposals or the reference writer document. Constraints
/// (`delta.constraints.<name>`) and features (`delta.feature.<name>`) are not listed.
#[rustfmt::skip] // a table: one row a line
pub static PROPERTIES: &[Property] = &[
    by(PROTOCOL, integer_from("delta.minReaderVersion", 1, Some("1"))),
    by(PROTOCOL, integer_from("delta.minWriterVersion", 1, Some("2"))),
    by(PROTOCOL, boolean_of("delta.ignoreProtocolDefaults", FALSE)),
    interval("delta.logRetentionDuration", Some("interval 30 days")),
    interval("delta.sampleRetentionDuration", Some("interval 7 days")),
    interval("delta.checkpointRetentionDuration", Some("interval 2 days")),
    integer_from("delta.checkpointInterval", 1, Some("10")),
    boolean_of("delta.enableExpiredLogCleanup", TRUE),
    boolean_of("delta.enableFullRetentionRollback", TRUE),
    interval("delta.dropFeatureTruncateHistory.retentionDuration", Some("interval 24 hours")),
    interval("delta.deletedFileRetentionDuration", Some("interval 1 week")),
    interval("delta.setTransactionRetentionDuration", None),
    boolean_of("delta.randomizeFilePrefixes", FALSE),
    integer_from("delta.randomPrefixLength", 1, Some("2")),
    boolean_of("delta.appendOnly", FALSE),
    boolean_of("delta.enableDeletionVectors", FALSE),
    text_of("delta.parquet.format.version", Some("1.0.0")),
    text_of("delta.parquet.compression.codec", Some("zstd")),
    boolean_of("delta.enableVariantShredding", FALSE),
    boolean_of("delta.autoOptimize", None),
    choice("delta.autoOptimize.autoCompact", &["true", "false", "auto", "legacy"], None),
    boolean_of("delta.autoOptimize.optimizeWrite", None),
    integer_from("delta.dataSkippingNumIndexedCols", -1, Some("32")),
    text_of("delta.dataSkippingStatsColumns", None),
    integer_from("delta.dataSkippingStringPrefixLength", 0, Some("32")),
    boolean_of("delta.compatibility.symlinkFormatManifest.enabled", FALSE),
    boolean_of("delta.checkpoint.writeStatsAsJson", TRUE),
    boolean_of("delta.checkpoint.writeStatsAsStruct", TRUE),
    choice("delta.checkpointPolicy", &["classic", "v2"], Some("classic")),
    boolean_of("delta.enableChangeDataFeed", FALSE),
    by(OTHERS, boolean_of("delta.enableChangeDataCapture", FALSE)),
    choice("delta.columnMapping.mode", &["none", "id", "name"], Some("none")),
    by(WRITERS, integer_from("delta.columnMapping.maxColumnId", 0, Some("0"))),
    by(WRITERS, boolean_of("delta.columnMapping.hasDroppedOrRenamed", FALSE)),
    choice("delta.isolationLevel", &["Serializable", "WriteSerializable"], Some("Serializable")),
    boolean_of("delta.enableRowTracking", FALSE),
    boolean_of("delta.rowTrackingSuspended", FALSE),
    by(WRITERS, text_of("delta.rowTracking.materializedRowIdColumnName", None)),
    by(WRITERS, text_of("delta.rowTracking.materializedRowCommitVersionColumnName", None)),
    text_of("delta.universalFormat.enabledFormats", Some("")),
    by(OTHERS, boolean_of("delta.universalFormat.iceberg.atomicConversion.supported", FALSE)),
    boolean_of("delta.enableIcebergCompatV1", None),
    boolean_of("delta.enableIcebergCompatV2", None),
    boolean_of("delta.enableIcebergCompatV3", None),
    by(OTHERS, boolean_of("delta.enableIcebergWriterCompatV1", None)),
    by(OTHERS, boolean_of("delta.enableIcebergWriterCompatV3", None)),
    boolean_of("delta.castIcebergTimeType", FALSE),
    boolean_of("delta.ignoreIcebergBucketPartition", FALSE),
    boolean_of("delta.enableTypeWidening", FALSE),
    by(OTHERS, text_of("delta.coordinatedCommits.commitCoordinator-preview", None)),
    by(OTHERS, text_of("delta.coordinatedCommits.commitCoordinatorConf-preview", None)),
    by(OTHERS, text_of("delta.coordinatedCommits.tableConf-preview", None)),
    boolean_of("delta.enableInCommitTimestamps", FALSE),
    by(WRITERS, integer_from("delta.inCommitTimestampEnablementVersion", 0, None)),
    by(WRITERS, integer_from("delta.inCommitTimestampEnablementTimestamp", 0, None)),
    by(WRITERS, integer_from("delta.requireCheckpointProtectionBeforeVersion", 0, Some("0"))),
    boolean_of("delta.enableMaterializePartitionColumnsFeature", None),
    boolean_of("delta.writePartitionColumnsToParquet", None),
    by(OTHERS, text_of("delta.redirectReaderWriter-preview", None)),
    by(OTHERS, text_of("delta.redirectWriterOnly-preview", None)),
    text_of("delta.targetFileSize", None),
    boolean_of("delta.tuneFileSizesForRewrites", None),
];

/// The documented property with this name; case is ignored.
#[must_use]
pub fn documented(name: &str) -> Option<&'static Property> {
    PROPERTIES
        .iter()
        .find(|property| property.name.eq_ignore_ascii_case(name))
}

impl PropertyType {
    /// Whether a string is a valid value of this type.
    #[must_use]
    pub fn accepts(self, value: &str) -> bool {
        match self {
            Self::Boolean => parse_boolean(value).is_some(),
            Self::Integer(least) => value.trim().parse::<i64>().is_ok_and(|number| number >= least),
            Self::Interval => interval_ms(value).is_some(),
            Self::Choice(choices) => choices.iter().any(|choice| choice.eq_ignore_ascii_case(value)),
            Self::Text => true,
        }
    }
}

fn parse_boolean(value: &str) -> Option<bool> {
    let value = value.trim();
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else {
        value.eq_ignore_ascii_case("false").then_some(false)
    }
}

/// The value of a property or its documented default.
///
/// # Errors
///
/// Returns `CorruptLog` with the property as `field` if the value does not have the type of the property.
pub fn text<'a>(metadata: &'a Metadata, name: &str) -> Result<Option<&'a str>> {
    let known = documented(name);
    match metadata.property(name) {
        None => Ok(known.and_then(|property| property.default)),
        Some(value) if known.is_none_or(|property| property.property_type.accepts(value)) => Ok(Some(value)),
        Some(value) => Err(unreadable(name, value)),
    }
}

/// Whether a property is true, explicitly or by default.
///
/// # Errors
///
/// Returns `CorruptLog` with the property as `field` if it is neither true nor false.
pub fn boolean(metadata: &Metadata, name: &str) -> Result<bool> {
    match text(metadata, name)? {
        None => Ok(false),
        Some(value) => parse_boolean(value).ok_or_else(|| unreadable(name, value)),
    }
}

/// The integer value of a property or its documented default.
///
/// # Errors
///
/// Returns `CorruptLog` with the property as `field` if it is not an integer or too small.
pub fn integer(metadata: &Metadata, name: &str) -> Result<Option<i64>> {
    text(metadata, name)?
        .map(|value| value.trim().parse().map_err(|_| unreadable(name, value)))
        .transpose()
}

#[cfg(test)]
mod tests;
