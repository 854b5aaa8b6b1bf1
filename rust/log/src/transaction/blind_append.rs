//! What a winner means for a blind append of the loop in `append`.

use deltaic_protocol::{Conflict, Error, ErrorKind, Result, Version};

use crate::decode::TableActions;

/// Checks a blind append against a commit that won its version. An append that read nothing fits behind any
/// commit that left protocol and metadata as they were.
pub fn check_blind_append(winner: &TableActions, version: Version) -> Result<()> {
    let conflict = |conflict: Conflict, what: &str, hint: &str| {
        Err(Error::new(
            ErrorKind::CommitConflict(conflict),
            format!("version {version} changed the table's {what}"),
        )
        .with("version", version)
        .hint(hint))
    };
    if winner.protocol.is_some() {
        return conflict(
            Conflict::ProtocolChanged,
            "protocol",
            "append again: the table is opened anew and judged by its new protocol",
        );
    }
    if winner.metadata.is_some() {
        return conflict(
            Conflict::MetadataChanged,
            "metadata",
            "append again: the data are checked against the new schema and partitioning",
        );
    }
    Ok(())
}
