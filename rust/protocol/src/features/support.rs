//! The gate: it fails closed. What is not proved to be understood is refused by its name.

use super::table::{FEATURES, Kind, Support, feature};
use crate::actions::{Metadata, Protocol};
use crate::column_mapping::{self, ColumnMappingMode};
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result};

/// Whether the newest commits of a table were handed over by its catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogTail {
    /// Only what `_delta_log` lists is known.
    Absent,
    /// The catalog has said which commits follow the published ones.
    Given,
}

/// Proves that deltaic follows the log of such a table: its metadata, schema, files, statistics and history.
/// Rows need more: [`ensure_readable`].
///
/// Protocol: *Reader Version Requirements*, *Table Features*, *Catalog-managed tables*.
///
/// # Errors
///
/// `UnsupportedFeature` names what is not known or not followed, as the table spells it; `CorruptLog` says that the
/// protocol action contradicts itself.
pub fn ensure_openable(
    protocol: &Protocol,
    metadata: &Metadata,
    schema: &StructType,
    tail: LogTail,
) -> Result<()> {
    let names = binding_readers(protocol)?;
    let support = |name: &str| feature(name).map(|feature| feature.open);
    let refused: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| support(name) != Some(Support::WithTail))
        .filter(|name| !allows(support(name), name, metadata, schema))
        .collect();
    refuse(&refused, "open")?;
    match names.iter().find(|name| support(name) == Some(Support::WithTail)) {
        Some(name) if tail == LogTail::Absent => Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the table has the feature {name}: only its catalog knows which commits are in it"),
        )
        .with("feature", *name)
        .hint("open the table through its catalog")),
        _ => Ok(()),
    }
}

/// Proves that deltaic reads the rows of a table of this protocol and metadata rightly.
///
/// Protocol: *Reader Version Requirements*, *Table Features*.
pub fn ensure_readable(protocol: &Protocol, metadata: &Metadata, schema: &StructType) -> Result<()> {
    let mut refused: Vec<&str> = binding_readers(protocol)?
        .into_iter()
        .filter(|name| !allows(feature(name).map(|feature| feature.read), name, metadata, schema))
        .collect();
    // A table can map its columns where its protocol does not tell readers so; to read it as if it did not would be
    // wrong, and to read it as if it did, too.
    let mode = ColumnMappingMode::of(protocol, metadata)?;
    if let Some(mapping) = feature("columnMapping")
        && (mapping.active)(metadata, schema)
        && !mode.is_mapped()
    {
        refused.push(mapping.name);
    }
    refuse(&refused, "read")?;
    if metadata.schema_string.is_empty() {
        return Err(Error::new(
            ErrorKind::CorruptLog,
            "the table's metadata hold no schema: it has no columns yet",
        )
        .with("field", "schemaString")
        .hint("give the table its columns with a client that changes schemas"));
    }
    refuse_unknown_types(schema)?;
    schema.ensure_known_type_changes()?;
    column_mapping::validate(schema, metadata, mode)
}

pub(super) fn refuse_unknown_types(schema: &StructType) -> Result<()> {
    match schema.first_unknown() {
        Some((path, data_type)) => Err(data_type.unknown().with("field", path)),
        None => Ok(()),
    }
}

/// The features that bind the readers of a table, as the table spells them.
fn binding_readers(protocol: &Protocol) -> Result<Vec<&str>> {
    protocol.validate()?;
    let mut names: Vec<&str> = match protocol.min_reader_version {
        1 | 2 => FEATURES
            .iter()
            .filter(|feature| feature.legacy.0 > 0 && feature.legacy.0 <= protocol.min_reader_version)
            .map(|feature| feature.name)
            .collect(),
        3 => protocol
            .reader_features
            .iter()
            .flatten()
            .map(String::as_str)
            .collect(),
        other => return Err(unknown_version("reader", other)),
    };
    // What is known to bind readers binds them where only writers are told, too. Column mapping alone is found so
    // in tables that have never mapped a column; whether they do is asked of their metadata.
    names.extend(
        protocol
            .writer_features
            .iter()
            .flatten()
            .map(String::as_str)
            .filter(|name| {
                !protocol
                    .reader_features
                    .iter()
                    .flatten()
                    .any(|listed| listed == name)
            })
            .filter(|name| {
                feature(name)
                    .is_some_and(|known| known.kind == Kind::ReaderWriter && known.name != "columnMapping")
            }),
    );
    Ok(names)
}

/// Proves that deltaic may append to a table of this protocol and metadata.
///
/// Protocol: *Writer Version Requirements*, *Requirements for Writers*.
pub fn ensure_appendable(protocol: &Protocol, metadata: &Metadata, schema: &StructType) -> Result<()> {
    ensure_readable(protocol, metadata, schema)?;
    let refused: Vec<&str> = binding_writers(protocol)?
        .into_iter()
        .filter(|name| {
            !allows(
                feature(name).map(|feature| feature.append),
                name,
                metadata,
                schema,
            )
        })
        .collect();
    refuse(&refused, "append to")
}

/// Verifies that the writer features of the table allow deltaic to remove rows without adding any. Constraints and
/// generated values restrict the rows that are written, so an active one does not have to be evaluated.
///
/// Protocol: *Writer Version Requirements*, *CHECK Constraints*, *Column Invariants*, *Generated Columns*.
pub(super) fn ensure_removal_supported(
    protocol: &Protocol,
    metadata: &Metadata,
    schema: &StructType,
) -> Result<()> {
    ensure_readable(protocol, metadata, schema)?;
    let mut refused = binding_writers(protocol)?;
    refused.retain(|name| {
        !allows(
            feature(name).map(|feature| feature.remove),
            name,
            metadata,
            schema,
        )
    });
    refuse(&refused, "remove rows from")
}

/// Proves that deltaic writes a checkpoint of a table of this protocol and metadata rightly: that it knows everything
/// that may stand in one.
///
/// Protocol: *Checkpoints*, *Table Features*, and checkpoint protection, which asks for a writer that supports the
/// protocol of the version that it writes down.
///
/// # Errors
///
/// `UnsupportedFeature` names what is not known, or a type that is not.
pub fn ensure_checkpointable(protocol: &Protocol, metadata: &Metadata, schema: &StructType) -> Result<()> {
    let mut names = binding_readers(protocol)?;
    let writers = binding_writers(protocol)?;
    names.extend(
        writers
            .into_iter()
            .filter(|name| !names.contains(name))
            .collect::<Vec<_>>(),
    );
    let refused: Vec<&str> = names
        .into_iter()
        .filter(|name| {
            !allows(
                feature(name).map(|feature| feature.checkpoint),
                name,
                metadata,
                schema,
            )
        })
        .collect();
    refuse(&refused, "write a checkpoint of")?;
    refuse_unknown_types(schema)
}

/// Proves that deltaic may change the protocol, the metadata and the domains of such a table: it keeps what each of
/// its features asks of them. Rows are not touched; a table without columns may be given some.
///
/// Protocol: *Writer Version Requirements*, *Table Features*.
///
/// # Errors
///
/// `UnsupportedFeature` names what is not kept, as the table spells it; else as [`ensure_readable`].
pub fn ensure_changeable(protocol: &Protocol, metadata: &Metadata, schema: &StructType) -> Result<()> {
    if metadata.schema_string.is_empty() {
        binding_readers(protocol)?;
    } else {
        ensure_readable(protocol, metadata, schema)?;
    }
    let refused: Vec<&str> = binding_writers(protocol)?
        .into_iter()
        .filter(|name| {
            !allows(
                feature(name).map(|feature| feature.change),
                name,
                metadata,
                schema,
            )
        })
        .collect();
    refuse(&refused, "change")
}

/// The features that bind the writers of a table, as the table spells them.
fn binding_writers(protocol: &Protocol) -> Result<Vec<&str>> {
    match protocol.min_writer_version {
        1..=6 => Ok(FEATURES
            .iter()
            .filter(|feature| feature.legacy.1 > 0 && feature.legacy.1 <= protocol.min_writer_version)
            .map(|feature| feature.name)
            .collect()),
        7 => Ok(protocol
            .writer_features
            .iter()
            .flatten()
            .map(String::as_str)
            .collect()),
        other => Err(unknown_version("writer", other)),
    }
}

/// Whether a table's protocol has a feature for writers: by its name or an alias in the list, or by a version that
/// implies it.
#[must_use]
pub fn supports_for_writers(protocol: &Protocol, name: &str) -> bool {
    let Some(known) = feature(name) else {
        return protocol
            .writer_features
            .iter()
            .flatten()
            .any(|listed| listed == name);
    };
    match protocol.min_writer_version {
        7 => protocol
            .writer_features
            .iter()
            .flatten()
            .any(|listed| feature(listed).is_some_and(|row| row.name == known.name)),
        version => known.legacy.1 > 0 && known.legacy.1 <= version,
    }
}

fn allows(support: Option<Support>, name: &str, metadata: &Metadata, schema: &StructType) -> bool {
    match support {
        Some(Support::Full) => true,
        Some(Support::WhileInactive) => {
            feature(name).is_some_and(|feature| !(feature.active)(metadata, schema))
        }
        Some(Support::WithTail | Support::None) | None => false,
    }
}

pub(super) fn unknown_version(side: &str, version: i32) -> Error {
    Error::new(
        ErrorKind::UnsupportedFeature,
        format!("the table needs {side} version {version}, which is not known"),
    )
    .with("feature", format!("{side} version {version}"))
    .hint("a newer deltaic may know it")
}

pub(super) fn refuse(names: &[&str], verb: &str) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let list = names.join(", ");
    let (word, pronoun) = if names.len() == 1 {
        ("feature", "it")
    } else {
        ("features", "them")
    };
    Err(Error::new(
        ErrorKind::UnsupportedFeature,
        format!("the table has the {word} {list}, which deltaic does not implement yet"),
    )
    .with("feature", list)
    .hint(format!(
        "{verb} the table with a client that has {pronoun}, or with a newer deltaic"
    )))
}
