//! Which tables take files that were written without their log.

use deltaic_log::Snapshot;
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::schema::PrimitiveType;
use deltaic_protocol::{Error, ErrorKind, Result};

use super::generate;

/// Verifies that the table requires nothing of the contents of its files that only their writer knows.
///
/// Protocol: *Materialize Partition Columns*, *Variant Data Type*, *Generated Columns*, *Identity Columns*.
pub(crate) fn ensure_addable(snapshot: &Snapshot) -> Result<()> {
    let table = snapshot.configuration();
    let mut has_variants = false;
    snapshot
        .schema()
        .for_each_part(&mut |_, part| has_variants |= part.as_primitive() == Some(PrimitiveType::Variant));
    let materializes = supports_for_writers(table.protocol(), "materializePartitionColumns")
        && !table.metadata().partition_columns.is_empty();
    let generates = !generate::names(table, snapshot.schema())?.is_empty();
    let mut numbers = false;
    for field in &snapshot.schema().fields {
        numbers |= field.identity()?.is_some();
    }
    let known_to_writers = [
        (
            snapshot.column_mapping().is_mapped(),
            "columnMapping",
            "column mapping",
        ),
        (has_variants, "variantType", "variants"),
        (
            materializes,
            "materializePartitionColumns",
            "partition columns in its files",
        ),
        (generates, "generatedColumns", "generated columns"),
        (numbers, "identityColumns", "identity columns"),
    ];
    let Some((_, feature, what)) = known_to_writers.into_iter().find(|(is_used, ..)| *is_used) else {
        return Ok(());
    };
    let message = format!("files of other engines cannot be added to a table with {what}");
    Err(Error::new(ErrorKind::UnsupportedFeature, message)
        .with("feature", feature)
        .hint("append their rows, or write them by Snapshot.write_task()"))
}
