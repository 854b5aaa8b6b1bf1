//! The support check. It fails closed: anything that is not known to be supported is refused by name.

use super::row::{Kind, Support, Verb};
use super::table::{FEATURES, feature};
use crate::actions::Protocol;
use crate::column_mapping;
use crate::schema::StructType;
use crate::{Error, ErrorKind, Result, TableConfiguration};

/// Whether the catalog of a table provided its newest commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogTail {
    /// Only the files listed in `_delta_log` are known.
    Absent,
    /// The catalog reported which commits follow the published ones.
    Given,
}

/// Verifies that deltaic can open the log of a table: metadata, schema, files, statistics and history.
/// Reading rows requires more: [`ensure_readable`].
///
/// Protocol: *Reader Version Requirements*, *Table Features*, *Catalog-managed tables*.
///
/// # Errors
///
/// Returns `UnsupportedFeature` with what is unknown or unsupported, as spelled by the table;
/// `CorruptLog` if the protocol action contradicts itself.
pub fn ensure_openable(table: &TableConfiguration, tail: CatalogTail) -> Result<()> {
    let names = binding_readers(table.protocol())?;
    let needs_tail =
        |name: &&&str| feature(name).is_some_and(|feature| feature.support(Verb::Open) == Support::WithTail);
    let mut refused = refused(names.clone(), Verb::Open);
    refused.retain(|name| !needs_tail(&name));
    refuse(&refused, "open")?;
    match names.iter().find(needs_tail) {
        Some(name) if tail == CatalogTail::Absent => Err(Error::new(
            ErrorKind::UnsupportedFeature,
            format!("the table has the feature {name}: only its catalog knows which commits are in it"),
        )
        .with("feature", *name)
        .hint("open the table through its catalog")),
        _ => Ok(()),
    }
}

/// Verifies that deltaic reads the rows of a table with this protocol and metadata correctly.
///
/// Protocol: *Reader Version Requirements*, *Table Features*.
pub fn ensure_readable(table: &TableConfiguration) -> Result<()> {
    let metadata = table.metadata();
    let schema = table.schema()?;
    let mut refused = refused(binding_readers(table.protocol())?, Verb::Read);
    // A table can map its columns although its protocol does not list the feature for readers. Reading
    // it with or without the mapping would then be wrong.
    let mode = table.column_mapping()?;
    if let Some(mapping) = feature("columnMapping")
        && (mapping.active)(metadata, &schema)
        && !mode.is_mapped()
    {
        refused.push(mapping.name);
    }
    refuse(&refused, "read")?;
    if metadata.schema_string.is_empty() {
        return Err(Error::new(
            ErrorKind::CorruptLog,
            "the table's metadata has no schema: it has no columns yet",
        )
        .with("field", "schemaString")
        .hint("give the table its columns with a client that changes schemas"));
    }
    refuse_unknown_types(&schema)?;
    schema.ensure_known_type_changes()?;
    column_mapping::validate(&schema, metadata, mode)
}

pub(super) fn refuse_unknown_types(schema: &StructType) -> Result<()> {
    match schema.first_unknown() {
        Some((path, data_type)) => Err(data_type.unknown().with("field", path)),
        None => Ok(()),
    }
}

/// The features that bind the readers of a table, as spelled by the table.
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
    // Known reader features bind readers even if they are listed only for writers. Only column mapping
    // is listed that way in tables that never mapped a column; their metadata determines whether they do.
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
                feature(name).is_some_and(|known| known.kind == Kind::ReaderWriter && known.legacy.0 == 0)
            }),
    );
    Ok(names)
}

/// Verifies that deltaic may append to a table with this protocol and metadata.
///
/// Protocol: *Writer Version Requirements*, *Requirements for Writers*.
pub fn ensure_appendable(table: &TableConfiguration) -> Result<()> {
    ensure_readable(table)?;
    let names = binding_writers(table.protocol())?;
    refuse(&refused(names, Verb::Append), "append to")
}

/// Verifies that the writer features of the table allow deltaic to remove rows without adding any. Constraints and
/// generated values restrict the rows that are written, so an active one does not have to be evaluated.
///
/// Protocol: *Writer Version Requirements*, *CHECK Constraints*, *Column Invariants*, *Generated Columns*.
pub(super) fn ensure_removal_supported(table: &TableConfiguration) -> Result<()> {
    ensure_readable(table)?;
    let names = binding_writers(table.protocol())?;
    refuse(&refused(names, Verb::Remove), "remove rows from")
}

/// Verifies that deltaic supports every feature that binds the readers and writers of a table, so that it knows which
/// files the table needs.
///
/// Protocol: *Vacuum Protocol Check*.
pub(super) fn ensure_vacuum_supported(table: &TableConfiguration) -> Result<()> {
    ensure_readable(table)?;
    let names = binding_writers(table.protocol())?;
    refuse(&refused(names, Verb::Remove), "vacuum")
}

/// Verifies that deltaic writes correct checkpoints of a table with this protocol and metadata: it knows
/// everything that a checkpoint may contain.
///
/// Protocol: *Checkpoints*, *Table Features*, and checkpoint protection, which requires a writer that
/// supports the protocol of the checkpointed version.
///
/// # Errors
///
/// Returns `UnsupportedFeature` with the unknown feature or type.
pub fn ensure_checkpointable(table: &TableConfiguration) -> Result<()> {
    let schema = table.schema()?;
    let mut names = binding_readers(table.protocol())?;
    let writers = binding_writers(table.protocol())?;
    names.extend(
        writers
            .into_iter()
            .filter(|name| !names.contains(name))
            .collect::<Vec<_>>(),
    );
    refuse(&refused(names, Verb::Checkpoint), "write a checkpoint of")?;
    refuse_unknown_types(&schema)
}

/// Verifies that deltaic may change the protocol, metadata and domains of a table: it meets what each of
/// its features requires of such changes. Rows are not affected; columns may be added to a table without
/// columns.
///
/// Protocol: *Writer Version Requirements*, *Table Features*.
///
/// # Errors
///
/// Returns `UnsupportedFeature` with what is not supported, as spelled by the table, and the errors of
/// [`ensure_readable`].
pub fn ensure_changeable(table: &TableConfiguration) -> Result<()> {
    table.schema()?;
    if table.metadata().schema_string.is_empty() {
        binding_readers(table.protocol())?;
    } else {
        ensure_readable(table)?;
    }
    let names = binding_writers(table.protocol())?;
    refuse(&refused(names, Verb::Alter), "change")
}

/// The features that bind the writers of a table, as spelled by the table.
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

/// Whether the protocol of a table has a feature for writers: by its name or an alias in the list, or by
/// a version that implies it.
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

/// The features, as spelled by the table, that do not allow a verb on it.
fn refused(mut names: Vec<&str>, verb: Verb) -> Vec<&str> {
    names.retain(|name| feature(name).is_none_or(|feature| feature.support(verb) != Support::Full));
    names
}

pub(super) fn unknown_version(side: &str, version: i32) -> Error {
    Error::new(
        ErrorKind::UnsupportedFeature,
        format!("the table needs {side} version {version}, which is not known"),
    )
    .with("feature", format!("{side} version {version}"))
    .hint("a newer deltaic may support it")
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
