//! Verifies that the table's files may have deletion vectors.
//!
//! Protocol: *Deletion Vectors*, *Writer Requirement for Deletion Vectors*.

use deltaic_protocol::actions::Protocol;
use deltaic_protocol::features::supports_for_writers;
use deltaic_protocol::{Error, ErrorKind, Result};

use crate::reconcile::Survivors;
use deltaic_storage::location::without_secrets;

const FEATURE: &str = "deletionVectors";

/// Verifies that no live file has a deletion vector if the protocol lacks the feature: readers that follow the protocol
/// would return its deleted rows. Tombstones may have them, since the feature can be dropped.
pub(super) fn ensure_vectors_are_allowed(protocol: &Protocol, adds: &[Survivors]) -> Result<()> {
    let is_listed = protocol
        .reader_features
        .iter()
        .flatten()
        .any(|name| name == FEATURE);
    if is_listed || supports_for_writers(protocol, FEATURE) {
        return Ok(());
    }
    let with_vectors = adds.iter().filter(|adds| adds.files.keys.any_vector());
    let first = with_vectors.flat_map(|adds| {
        let rows = adds
            .live
            .set_indices()
            .filter(|row| adds.files.keys.has_vector(*row));
        rows.map(|row| (adds.files.as_ref(), row))
    });
    let Some((files, row)) = first.take(1).next() else {
        return Ok(());
    };
    let error = Error::new(
        ErrorKind::CorruptLog,
        format!(
            "a file has a deletion vector, but the table's protocol lacks the feature: {}",
            without_secrets(files.keys.path(row))
        ),
    )
    .with("field", "add.deletionVector")
    .with("feature", FEATURE)
    .hint(
        "its deleted rows are unknown: restore the commit that adds the file, or the protocol, from a backup",
    );
    Err(match files.file_of(row) {
        Some(file) => error.with("path", file.relative()),
        None => error,
    })
}
