//! Validates a table's protocol and metadata, and derives what they require of its files.

use deltaic_protocol::Result;
use deltaic_protocol::actions::{DomainMetadata, Metadata, Protocol};
use deltaic_protocol::column_mapping::{ColumnMappingMode, name_in_log, physical_schema, validate};
use deltaic_protocol::features::{
    CatalogTail, FEATURES, contradictions, ensure_openable, ensure_readable, supports_for_writers,
};
use deltaic_protocol::in_commit_timestamp::InCommitTimestamps;
use deltaic_protocol::properties::{data_file_settings, documented, indexed_columns};
use deltaic_protocol::row_tracking::{self, RowTracking};
use deltaic_protocol::schema::{DataType, PrimitiveType, StructField, StructType};
use deltaic_protocol::{ErrorKind, TableConfiguration, clustering, constraints};

use crate::check::findings::diagnosis::{
    BAD_DOMAIN, BAD_PROPERTY, BROKEN_COLUMN_MAPPING, BROKEN_METADATA, BROKEN_PROTOCOL, ODD_SCHEMA,
    PROPERTY_WITHOUT_FEATURE, PROTOCOL_CONTRADICTION, TYPE_WITHOUT_FEATURE, UNSUPPORTED_FEATURE,
};
use crate::check::findings::finding::{Finding, Findings};

/// The requirements for file actions.
#[derive(Clone, Debug)]
pub(in crate::check) struct FileRequirements {
    /// The partition columns, with their physical names.
    pub(in crate::check) partition_columns: Vec<StructField>,
    /// The schema, with its physical names.
    pub(in crate::check) schema: StructType,
    /// Whether files may have deletion vectors.
    pub(super) has_deletion_vectors: bool,
    /// Whether every row of the table has a row ID.
    pub(in crate::check) has_row_ids: bool,
    /// The in-commit timestamp configuration; `None` if it is invalid.
    pub(in crate::check) in_commit_timestamps: Option<InCommitTimestamps>,
}

impl FileRequirements {
    /// Derives the requirements from protocol and metadata. An error means invalid metadata.
    pub(in crate::check) fn of(protocol: Option<&Protocol>, metadata: &Metadata) -> Result<Self> {
        let schema = metadata.schema()?;
        let table = protocol.map(|protocol| TableConfiguration::new(protocol.clone(), metadata.clone()));
        let table = table.as_ref();
        let mode = match table {
            Some(table) => table.column_mapping()?,
            None => ColumnMappingMode::None,
        };
        let in_log = |name: &String| {
            let field = schema.field(name)?;
            Some(StructField {
                name: name_in_log(field, mode).to_owned(),
                ..field.clone()
            })
        };
        Ok(Self {
            partition_columns: metadata.partition_columns.iter().filter_map(in_log).collect(),
            schema: physical_schema(&schema, mode),
            has_deletion_vectors: protocol
                .is_none_or(|protocol| supports_for_writers(protocol, "deletionVectors")),
            has_row_ids: table
                .is_some_and(|table| matches!(RowTracking::of(table), Ok(RowTracking::Enabled(_)))),
            in_commit_timestamps: table.and_then(|table| InCommitTimestamps::of(table).ok()),
        })
    }
}

/// Reports invalid metadata and protocol of a version.
pub(in crate::check) fn examine_version(
    protocol: Option<&Protocol>,
    metadata: Option<&Metadata>,
    mut report: impl FnMut(Finding),
) {
    if let Some(protocol) = protocol
        && let Err(error) = protocol.validate()
    {
        report(Finding::of(&BROKEN_PROTOCOL, &error));
    }
    if let Some(metadata) = metadata
        && let Err(error) = FileRequirements::of(protocol, metadata)
    {
        report(Finding::of(
            if error.kind() == ErrorKind::UnsupportedFeature {
                &UNSUPPORTED_FEATURE
            } else {
                &BROKEN_METADATA
            },
            &error,
        ));
    }
}

/// Reports contradictions of the newest protocol, metadata and system domains.
pub(in crate::check) fn examine_newest<'a>(
    table: &TableConfiguration,
    domains: impl Iterator<Item = &'a DomainMetadata>,
    findings: &mut Findings,
) {
    let protocol = table.protocol();
    for contradiction in contradictions(protocol) {
        findings.add(
            Finding::new(&PROTOCOL_CONTRADICTION, contradiction.to_string())
                .in_field(contradiction.feature()),
        );
    }
    examine_properties(table, findings);
    let Ok(schema) = table.schema() else {
        return;
    };
    examine_schema(table, &schema, findings);
    let mode = table.column_mapping().unwrap_or(ColumnMappingMode::None);
    for domain in domains {
        let checked = match domain.domain.as_str() {
            clustering::DOMAIN => clustering::columns(domain, &schema, mode).map(|_| ()),
            row_tracking::DOMAIN => row_tracking::high_water_mark(domain).map(|_| ()),
            _ => Ok(()),
        };
        if let Err(error) = checked {
            findings.add(Finding::of(&BAD_DOMAIN, &error).in_field(domain.domain.as_str()));
        }
    }
    // Whether the log can be replayed is checked by loading a snapshot; this is about reading rows.
    if ensure_openable(table, CatalogTail::Given).is_ok()
        && let Err(error) = ensure_readable(table)
        && error.kind() == ErrorKind::UnsupportedFeature
    {
        findings.add(Finding::of(&UNSUPPORTED_FEATURE, &error));
    }
}

fn examine_properties(table: &TableConfiguration, findings: &mut Findings) {
    let (protocol, metadata) = (table.protocol(), table.metadata());
    for (name, value) in &metadata.configuration {
        let (Some(property), Some(value)) = (documented(name), value) else {
            continue;
        };
        if !property.property_type.accepts(value) {
            let what = format!("the property {name} is {value:?}, which is not a valid value");
            findings.add(Finding::new(&BAD_PROPERTY, what).in_field(name.as_str()));
        }
    }
    for error in [
        InCommitTimestamps::of(table).err(),
        RowTracking::of(table).err(),
        data_file_settings(metadata).err(),
        indexed_columns(metadata).err(),
    ]
    .into_iter()
    .flatten()
    .filter(|error| error.kind() == ErrorKind::CorruptLog)
    {
        let finding = Finding::of(&BAD_PROPERTY, &error);
        let is_told = |name: &String| {
            finding.field.as_deref() == Some(name)
                && documented(name).is_some_and(|property| {
                    let value = metadata.property(name).unwrap_or_default();
                    !property.property_type.accepts(value)
                })
        };
        if !metadata.configuration.keys().any(is_told) {
            findings.add(finding);
        }
    }
    for feature in FEATURES {
        let Some(name) = feature.property else { continue };
        let is_on = metadata.property(name).is_some_and(|value| {
            let value = value.trim();
            value.eq_ignore_ascii_case("true")
                || name == "delta.columnMapping.mode"
                    && ["id", "name"].iter().any(|mode| value.eq_ignore_ascii_case(mode))
        });
        if is_on && !supports_for_writers(protocol, feature.name) {
            let what = format!(
                "the property {name} is set, but the protocol lacks the feature {}",
                feature.name
            );
            findings.add(Finding::new(&PROPERTY_WITHOUT_FEATURE, what).in_field(name));
        }
    }
}

fn examine_schema(table: &TableConfiguration, schema: &StructType, findings: &mut Findings) {
    let mode = table.column_mapping().unwrap_or(ColumnMappingMode::None);
    if let Err(error) = validate(schema, table.metadata(), mode) {
        findings.add(Finding::of(&BROKEN_COLUMN_MAPPING, &error));
    }
    if let Ok(RowTracking::Enabled(columns)) = RowTracking::of(table)
        && let Err(error) = columns.validate(schema, mode)
    {
        findings.add(Finding::of(&ODD_SCHEMA, &error));
    }
    let mut odd: Vec<deltaic_protocol::Error> = Vec::new();
    odd.extend(schema.ensure_known_type_changes().err());
    odd.extend(constraints::invariants(schema).err());
    odd.extend(schema.fields.iter().filter_map(|field| field.identity().err()));
    for error in odd {
        findings.add(Finding::of(&ODD_SCHEMA, &error));
    }
    let mut checked: Vec<&str> = Vec::new();
    schema.for_each_part(&mut |path, part| {
        let needed = match part {
            DataType::Primitive(PrimitiveType::TimestampNtz) => "timestampNtz",
            DataType::Primitive(PrimitiveType::Variant) => "variantType",
            _ => return,
        };
        if !supports_for_writers(table.protocol(), needed) && !checked.contains(&needed) {
            checked.push(needed);
            let what = format!("the column's type needs the feature {needed}, which the protocol lacks");
            findings.add(Finding::new(&TYPE_WITHOUT_FEATURE, what).in_field(path));
        }
    });
}
